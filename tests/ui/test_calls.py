"""Tools in the transcript: what was used stands above the reply, unfolds, leads to its place, and is taken back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from assistant.core.events import MemoryChanged, Recalled, ToolUsed
from assistant.core.values import MadeCall, PromptLine
from assistant.ui.chat.calls import CallRow, call_words, outcome_words
from assistant.ui.main_window import MainWindow
from assistant.ui.memory.forget import ForgetDialog
from assistant.workspace.chat_calls import SavedCall
from tests.cases.conftest import House, OpenHouse, scripted
from tests.fakes import asks

from .fakes import FakeServices, Turn, make_chat, make_entry, make_receipt
from .test_chat import last, open_chat, start

__all__ = ["scripted"]
LINES = (
    PromptLine("memory/garden.md", 3, "[2026-03-01, memory/garden.md] The hydrangea needs lime", "tool", "u1"),
    PromptLine(
        "chats/2026-11/20261101_101010.md", 9, "[2026-11-01, Boiler] you: 240 euros", "tool", "20261101_101010#2"
    ),
)
SEARCH = MadeCall("memory_search", {"query": "hydrangea"}, "found", "memory/garden.md:3; 20261101_101010#2", "r", LINES)
WRITE = MadeCall("memory_write", {"text": "Cello is on Tuesdays"}, "written", "MEMORY.md:6", "r", journal="j7")


def rows(window: MainWindow) -> list[CallRow]:
    return last(window).calls.rows


def told(window: MainWindow) -> list[str]:
    return [f"{row.words.whole()} | {row.state.text()}" for row in rows(window)]


def test_a_call_is_shown_when_it_is_made_and_stays_behind_the_reply(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    chat = start(qtbot, window, services, "When do I lime it?")
    n = services.save_turn(chat)
    services.emit(Recalled(chat, n, make_receipt(chat, n)), ToolUsed(chat, n, SEARCH))
    qtbot.waitUntil(lambda: told(window) == ["Searched memory: hydrangea | 2 found"])
    services.finish(chat, n, "In March.", "end", replace(make_receipt(chat, n), calls=(SEARCH,)))  # type: ignore[arg-type]
    qtbot.waitUntil(lambda: not window.session.streaming())
    assert told(window) == ["Searched memory: hydrangea | 2 found"]
    assert last(window).calls.y() < last(window).reply.y()


@pytest.mark.parametrize("seen", ["the reply", "another chat", "a message that waits"])
def test_what_is_noted_for_a_reply_has_no_toast_beside_its_line(
    qtbot: QtBot, window: MainWindow, services: FakeServices, seen: str
) -> None:
    chat, shown = start(qtbot, window, services, "I play the cello on Tuesdays"), seen == "the reply"
    n = services.save_turn(chat)
    services.emit(Recalled(chat, n, make_receipt(chat, n)))
    if not shown:
        window.session.open_new()
    if seen == "a message that waits":
        window.session.send("And now?")
        qtbot.waitUntil(lambda: window.session.chat_id != "")
    noted = MemoryChanged("MEMORY.md", "assistant", "j7", "Remembered: Cello is on Tuesdays")
    services.emit(noted, MemoryChanged("MEMORY.md", "upkeep", "j8", "Tidied up"))  # the second always shows itself
    qtbot.waitUntil(lambda: bool(window.toasts.shown()))
    assert [toast.text() for toast in window.toasts.shown()] == ["Tidied up" if shown else "2 changes of your memory"]


def test_a_call_is_read_back_from_the_chats_file_with_or_without_a_receipt(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    saved = SavedCall("memory_write", (("text", "Cello is on Tuesdays"),), "written", "MEMORY.md:6")
    open_chat(qtbot, window, services, Turn(1, None, "2026-11-29T15:30:00", "hi", "Noted.", calls=(saved,)))
    assert told(window) == ["Remembered: Cello is on Tuesdays | "]
    assert not rows(window)[0].can_unfold()
    services.receipts[("c", 1)] = replace(make_receipt("c", 1), calls=(WRITE,))
    window.session.reread()
    qtbot.waitUntil(lambda: rows(window)[0].call.journal == "j7")


def test_the_result_unfolds_and_each_line_leads_to_its_place(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    services.receipts[("c", 1)] = replace(make_receipt("c", 1), calls=(SEARCH,))
    open_chat(qtbot, window, services, Turn(1, None, "2026-11-29T15:30:00", "hi", "In March."))
    qtbot.waitUntil(lambda: len(rows(window)) == 1)
    row = rows(window)[0]
    assert row.details is None
    QTest.mouseClick(row.fold, Qt.MouseButton.LeftButton)
    assert row.details is not None
    assert [each.text() for each in row.details.findChildren(QLabel)] == ["The hydrangea needs lime", "you: 240 euros"]
    links = row.details.findChildren(QPushButton)
    with qtbot.waitSignal(window.page.place_chosen) as gone:
        QTest.mouseClick(links[0], Qt.MouseButton.LeftButton)
    assert gone.args == ["memory/garden.md", 3]
    with qtbot.waitSignal(window.calls.turn_chosen) as turned:
        QTest.mouseClick(links[1], Qt.MouseButton.LeftButton)
    assert turned.args == ["20261101_101010", 2]
    QTest.mouseClick(row.fold, Qt.MouseButton.LeftButton)
    assert row.details is None


def test_a_write_is_taken_back_where_the_journal_still_can(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    services.workspace.journal.found = [make_entry("j7", "MEMORY.md", "assistant", "+x")]
    services.receipts[("c", 1)] = replace(make_receipt("c", 1), calls=(WRITE,))
    open_chat(qtbot, window, services, Turn(1, None, "2026-11-29T15:30:00", "hi", "Noted."))
    qtbot.waitUntil(lambda: bool(rows(window)) and rows(window)[0].undo.isVisible())
    QTest.mouseClick(rows(window)[0].undo, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: services.workspace.memory.undone == ["j7"])
    services.workspace.journal.found = [make_entry("j7", "MEMORY.md", "assistant", "+x", can_undo=False)]
    window.calls.look_again()
    qtbot.waitUntil(lambda: rows(window)[0].undo.isHidden())
    assert told(window) == ["Remembered: Cello is on Tuesdays | Taken back"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (MadeCall("memory_write", {"text": "a"}, "waits", "p1"), "Wants to remember: a waits for your yes"),
        (MadeCall("memory_write", {"text": "a"}, "known", "MEMORY.md:1"), "Remembered already: a "),
        (MadeCall("memory_write", {}, "failed", "memory_write needs text."), "Not remembered:  did not work"),
        (
            MadeCall("chats_search", {"query": "b", "since": "May"}, "nothing"),
            "Searched earlier chats: b · May nothing found",
        ),
        (MadeCall("memory_read", {"file": "x.md"}, "found", "x.md:1"), "Read x.md "),
        (MadeCall("launch", {}, "failed", "There is no tool."), "launch did not work"),
    ],
)
def test_each_outcome_is_said(qtbot: QtBot, window: MainWindow, call: MadeCall, words: str) -> None:
    assert f"{call_words(call)} {outcome_words(call)}" == words


def test_an_old_chat_of_another_program_with_odd_calls_is_shown(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    odd = (SavedCall(""), SavedCall("x", (("a", "b"),)), SavedCall("memory_write", (), "written", "no place"))
    services.put_chat(make_chat("c", "A chat", (Turn(1, None, "2026-11-29T15:30:00", "hi", "Yes.", calls=odd),)))
    with qtbot.waitSignal(window.session.opened):
        window.open_chat("c")
    assert len(rows(window)) == 3


def test_over_real_services_a_call_survives_reopening_and_its_undo_reaches_the_file(scripted: OpenHouse) -> None:
    house: House = scripted([asks("memory_write", text="Cello is on Tuesdays"), "Noted."])
    house.engine.tools = True
    house.services.remember("likes tea")
    house.say("My cello lessons are on Tuesdays")
    memory = house.folder / "ws" / "MEMORY.md"
    assert "|tool|Cello is on Tuesdays" in memory.read_text()
    chat = house.chat
    house.window.new_chat()
    house.window.open_chat(chat)
    house.wait(lambda: house.window.session.turns())
    house.wait(lambda: rows(house.window) and rows(house.window)[0].undo.isVisible())
    QTest.mouseClick(rows(house.window)[0].undo, Qt.MouseButton.LeftButton)
    house.wait(lambda: "Cello" not in memory.read_text())
    house.wait(lambda: rows(house.window)[0].state.text() == "Taken back")


def test_forget_in_words_opens_the_question_and_forgets_nothing_by_itself(scripted: OpenHouse) -> None:
    house: House = scripted(["Never said."])
    house.services.remember("my old address was Elm Street 5")
    house.say("Forget my old address")
    house.wait(lambda: isinstance(house.window.forgetting.dialog, ForgetDialog))
    dialog = house.window.forgetting.dialog
    assert isinstance(dialog, ForgetDialog)
    assert "Elm Street 5" in "\n".join(each.text() for each in dialog.findChildren(QLabel))
    assert "Elm Street 5" in (house.folder / "ws" / "MEMORY.md").read_text()
    QTest.mouseClick(dialog.cancel, Qt.MouseButton.LeftButton)
    assert "Elm Street 5" in (house.folder / "ws" / "MEMORY.md").read_text()
    assert told(house.window) == ["You asked to forget: my old address | nothing is forgotten yet"]


def test_of_a_write_that_the_journal_does_not_know_nothing_is_said(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    services.receipts[("c", 1)] = replace(make_receipt("c", 1), calls=(WRITE,))
    open_chat(qtbot, window, services, Turn(1, None, "2026-11-29T15:30:00", "hi", "Noted."))
    qtbot.waitUntil(lambda: bool(rows(window)) and bool(rows(window)[0].call.journal))
    with qtbot.waitSignal(rows(window)[0].size_changed):
        window.calls.look_again()
    assert told(window) == ["Remembered: Cello is on Tuesdays | "]
    assert rows(window)[0].undo.isHidden()
