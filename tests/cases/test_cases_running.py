"""CASES 4, 7, 13: what a person does while something else is under way."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from assistant.core.events import ModelLoading, ModelReady, TextArrived, TurnFailed, TurnFinished
from assistant.ui.errors import ErrorDialog
from tests.cases.conftest import HeldEngine, House, OpenHouse

LONG = "First line.\n" + "more\n" * 20


def streaming(house: House, text: str = "tell me") -> str:
    """Send a message and wait for the first words of the reply; the chat."""
    before = len(house.seen(TextArrived))
    house.write(text)
    house.wait(lambda: len(house.seen(TextArrived)) > before)
    return house.chat


def test_a_chat_renamed_before_its_first_message_keeps_its_name(scripted: OpenHouse) -> None:
    """Case 4."""
    house = scripted(["Hello."])
    chat = house.services.new_chat()
    house.services.rename_chat(chat, "My plan")
    house.window.open_chat(chat)
    house.wait(lambda: house.window.topbar.title.whole() == "My plan")
    house.say("hi there")
    assert [(info.title, info.turns) for info in house.services.list_chats()] == [("My plan", 1)]


def test_renaming_while_a_new_chat_is_open_renames_no_other_chat(scripted: OpenHouse) -> None:
    """Case 4: a chat without a message has no row in the list yet."""
    house = scripted(["Hello."])
    house.say("the first chat")
    house.window.new_chat()
    house.window.sidebar.rename_current()
    assert house.window.sidebar.view.state() != house.window.sidebar.view.State.EditingState


def test_a_chat_deleted_while_it_streams_goes_and_comes_back_with_what_there_was(scripted: OpenHouse) -> None:
    """Case 4."""
    house = scripted(lambda _: LONG, kind=HeldEngine)
    chat = streaming(house)
    house.window.chats.delete(chat)
    house.wait(lambda: bool(house.window.toasts.shown()))
    assert house.services.list_chats() == []
    assert house.chat == ""
    house.window.toasts.shown()[-1].action_button().click()
    house.wait(lambda: house.chat == chat and house.shown())
    assert house.shown() == [("tell me", "First line.\n")]
    assert house.turns()[0].mark == "stopped"
    assert house.window.findChildren(ErrorDialog) == []
    house.engine.go.set()
    house.say("and on")
    assert [turn.user for turn in house.turns()] == ["tell me", "and on"]


def test_a_chat_deleted_while_another_model_loads_stays_deleted(scripted: OpenHouse, tmp_path: Path) -> None:
    """Case 4."""
    house = scripted(lambda _: LONG, kind=HeldEngine)
    house.engine.loaded.clear()
    house.services.load_model("Tiny")
    house.wait(lambda: len(house.seen(ModelLoading)) == 2)
    house.write("waits for the model")
    house.wait(lambda: house.chat and house.turns())
    chat = house.chat
    house.window.chats.delete(chat)
    house.wait(lambda: bool(house.window.toasts.shown()))
    house.engine.loaded.set()
    house.engine.go.set()
    house.wait(lambda: len(house.seen(ModelReady)) == 2)
    house.window.new_chat()
    house.say("another chat")
    assert [info.title for info in house.services.list_chats()] == ["another chat"]
    assert house.window.findChildren(ErrorDialog) == []
    house.close()
    left = [path for path in tmp_path.rglob("*") if path.is_file() and b"waits for the model" in path.read_bytes()]
    assert left == []


def test_switching_away_and_back_while_it_streams_shows_and_saves_all(scripted: OpenHouse) -> None:
    """Case 4."""
    house = scripted(lambda messages: LONG if "tell" in messages[-1].text else "Short.", kind=HeldEngine)
    house.engine.go.set()
    other = house.say("short please").chat
    house.engine.go.clear()
    house.window.new_chat()
    chat = streaming(house)
    house.window.open_chat(other)
    house.wait(lambda: house.shown() == [("short please", "Short.")])
    house.engine.go.set()
    house.window.open_chat(chat)
    house.wait(lambda: len(house.seen(TurnFinished)) == 2 and house.shown() == [("tell me", LONG)])
    house.wait(lambda: not house.window.session.streaming())
    assert [(t.user, t.reply, t.mark) for t in house.turns(chat)] == [("tell me", LONG, "")]
    assert [(t.user, t.reply) for t in house.turns(other)] == [("short please", "Short.")]


def test_quitting_while_it_streams_keeps_the_words_and_the_half_reply(scripted: OpenHouse) -> None:
    """Case 4: also what was sent in the last moment."""
    house = scripted(lambda _: LONG, kind=HeldEngine)
    chat = streaming(house)
    house.services.lanes.files.submit(house.engine.go.wait, 0.3)
    house.services.send(chat, "the last words")
    house.close()
    again = scripted()
    turns = again.services.read_chat(chat).turns
    assert [turn.user for turn in turns] == ["tell me", "the last words"]
    assert turns[0].reply == "First line.\n"
    assert turns[0].mark == "stopped"


def test_a_window_that_closed_leaves_nothing_pending(scripted: OpenHouse, tmp_path: Path) -> None:
    """Case 4: nor is anything of it taken for the work of a dead process at the next start."""
    house = scripted(lambda _: LONG, kind=HeldEngine)
    house.services.workspace.chats.keep_partial(streaming(house), 1, "First")
    house.close()
    assert [path.name for path in tmp_path.rglob("pending/*")] == []


@pytest.mark.parametrize("key", [Qt.Key.Key_Delete, Qt.Key.Key_Backspace])
def test_delete_keys_outside_the_list_delete_no_chat(qtbot: QtBot, scripted: OpenHouse, key: Qt.Key) -> None:
    """Case 7: every control of the window in turn, but the list."""
    from PySide6.QtWidgets import QWidget

    house = scripted(["Hello."])
    house.say("keep me")
    window = house.window
    window.toggle_memory()
    house.wait(lambda: window.memory_panel().isVisible())
    focusable = [
        widget
        for widget in window.findChildren(QWidget)
        if widget.isVisible() and widget.focusPolicy() != Qt.FocusPolicy.NoFocus and widget is not window.sidebar.view
    ]
    assert len(focusable) > 10
    for widget in focusable:
        widget.setFocus()
        qtbot.keyClick(widget, key)
    assert [info.title for info in house.services.list_chats()] == ["keep me"]


@pytest.mark.parametrize("times", [1, 2])
def test_stopping_keeps_the_text_so_far(scripted: OpenHouse, times: int) -> None:
    """Case 13: once and twice, and after a setting was changed while it ran."""
    house = scripted(lambda _: LONG, kind=HeldEngine)
    chat = streaming(house)
    house.services.settings.update("model", temperature=0.1)
    for _ in range(times):
        house.window.session.stop()
    house.wait(lambda: not house.window.session.streaming())
    (turn,) = house.turns(chat)
    assert (turn.reply, turn.mark) == ("First line.\n", "stopped")
    house.engine.go.set()
    assert house.say("once more").done.text == LONG
    assert house.seen(TurnFailed) == []
