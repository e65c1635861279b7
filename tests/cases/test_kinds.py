"""Private and temporary chats in the real window over real files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtWidgets import QApplication, QMenu, QMessageBox
from pytestqt.qtbot import QtBot

from assistant.core.cancel import CancelToken
from assistant.core.events import TextArrived
from assistant.core.values import RecallQuery
from assistant.ui.chat.kinds import Kind
from assistant.ui.models.chats import DETAIL_ROLE
from tests.cases.conftest import HeldEngine, House, OpenHouse
from tests.runtime.test_temporary import WORD, traces


def press(words: str) -> None:
    """Presses the button of the question that comes up next, as soon as it is up."""

    def look() -> None:
        boxes = [w for w in QApplication.topLevelWidgets() if isinstance(w, QMessageBox) and w.isVisible()]
        if not boxes:
            QTimer.singleShot(5, look)
            return
        next(button for button in boxes[0].buttons() if button.text() == words).click()

    QTimer.singleShot(0, look)


def choose(house: House, chat: str, words: str) -> None:
    """An entry of the menu of a chat in the list."""
    view = house.window.sidebar.view
    view._on_menu_requested(view.visualRect(view.model().index(house.window.sidebar.model.row_of(chat), 0)).center())
    menu = next(menu for menu in house.window.sidebar.findChildren(QMenu) if menu.isVisible())
    next(action for action in menu.actions() if action.text() == words).trigger()
    menu.close()


def begin(house: House, words: str) -> None:
    """An entry of the menu beside the plus."""
    house.window.sidebar.kinds.click()
    menu = next(menu for menu in house.window.sidebar.findChildren(QMenu) if menu.isVisible())
    next(action for action in menu.actions() if action.text() == words).trigger()
    menu.close()
    house.wait(lambda: house.window.session.kind() is not Kind.ORDINARY)


def detail(house: House, chat: str) -> str:
    model = house.window.sidebar.model
    return str(model.index(model.row_of(chat)).data(DETAIL_ROLE))


def found(house: House) -> list[str]:
    house.services.recall.sync(CancelToken(), vectors=False)
    return [hit.id for hit in house.services.search(RecallQuery(f"{WORD} soup")).hits]


# --- private ---


def test_a_chat_is_made_private_from_the_list_and_ordinary_again_from_its_head(scripted: OpenHouse) -> None:
    house = scripted()
    chat = house.say(f"I cooked {WORD} soup").chat
    assert found(house) == [f"{chat}#1"]
    house.wait(lambda: house.window.sidebar.model.row_of(chat) >= 0)
    choose(house, chat, "Make private")
    house.wait(house.window.topbar.private.isVisible)
    house.wait(lambda: detail(house, chat).startswith("Private · "))
    assert found(house) == []
    assert house.window.menus.private.isChecked()
    house.window.topbar.private.click()
    menu = next(menu for menu in house.window.topbar.private.findChildren(QMenu) if menu.isVisible())
    assert not menu.actions()[0].isEnabled()
    menu.actions()[-1].trigger()
    menu.close()
    house.wait(lambda: not house.window.topbar.private.isVisible())
    assert found(house) == [f"{chat}#1"]


def test_a_new_private_chat_is_private_from_its_first_word(scripted: OpenHouse) -> None:
    house = scripted()
    begin(house, "New private chat")
    assert house.window.topbar.private.isVisible()
    assert house.window.topbar.title.whole() == "New private chat"
    assert "nothing of it becomes memory" in house.window.page.empty.words.text()
    chat = house.say(f"I cooked {WORD} soup").chat
    assert house.services.read_chat(chat).private
    assert not list((house.folder / "ws" / "memory").rglob("*.md"))
    house.window.new_chat()
    assert house.window.session.kind() is Kind.ORDINARY
    assert WORD not in "".join(line.text for line in house.say("what soup?").receipt.lines)


def test_the_filter_of_the_list_finds_a_private_chat(qtbot: QtBot, scripted: OpenHouse) -> None:
    house = scripted()
    house.window.kinds.new_private()
    chat = house.say(f"{WORD} soup").chat
    house.window.sidebar.filter.setText(WORD)
    house.wait(lambda: house.window.sidebar.model.shown_chats() == [chat])


def test_the_chat_menu_marks_the_open_chat_and_a_toast_takes_it_back(scripted: OpenHouse) -> None:
    house = scripted()
    chat = house.say("hello").chat
    house.window.menus.private.trigger()
    house.wait(lambda: house.services.read_chat(chat).private)
    house.wait(lambda: house.window.session.kind() is Kind.PRIVATE)
    toast = house.window.toasts.shown()[-1]
    assert toast.text() == "Private now: other chats are told nothing of it"
    toast.action_button().click()
    house.wait(lambda: not house.services.read_chat(chat).private)
    house.wait(lambda: house.window.session.kind() is Kind.ORDINARY)


# --- temporary ---


def test_a_temporary_conversation_in_the_window_leaves_no_byte(scripted: OpenHouse, tmp_path: Path) -> None:
    """Turns, another reply, an edit, a draft, an unsent message, the window's state, logs: searched byte by byte."""
    house = scripted(lambda _: f"I like {WORD} 石榴汤.\nYes.")
    begin(house, "New temporary chat")
    assert house.window.page.banner.isVisible()
    house.say(f"I cooked {WORD} 石榴汤")
    house.say(f"more {WORD}")
    house.turn(lambda: house.window.session.regenerate(2))
    house.window.page.start_edit(1)
    house.window.page.composer.set_text(f"I baked {WORD}")
    house.turn(lambda: house.window.page._on_sent(f"I baked {WORD}"))
    assert house.shown() == [(f"I baked {WORD}", f"I like {WORD} 石榴汤.\nYes.")]
    assert [turn.receipt is not None for turn in house.window.session.turns()] == [True]
    house.window.page.composer.set_text(f"unsent {WORD}")
    house.window.keeper.keep_now()
    house.services.recall.sync(CancelToken(), vectors=False)
    assert traces(tmp_path) == []
    press("Close it")
    house.window.close()
    house.close()
    assert traces(tmp_path) == []


def test_it_stands_in_the_list_and_can_be_gone_back_to(scripted: OpenHouse) -> None:
    house = scripted()
    house.window.kinds.new_temporary()
    house.wait(house.window.page.banner.isVisible)
    temporary = house.say("hello").chat
    house.wait(lambda: detail(house, temporary) == "not kept · 1 message")
    assert house.window.sidebar.model.index(0).data() == "Temporary"
    house.window.page.composer.set_text("half a thought")
    house.window.new_chat()
    assert not house.window.page.banner.isVisible()
    assert house.window.page.composer.text() == ""
    house.window.open_chat(temporary)
    house.wait(lambda: house.shown() == [("hello", "Fine.")])
    assert house.window.page.composer.text() == "half a thought"
    house.window.page.composer.set_text("")
    press("Close it")
    house.window.page.banner.close_it.click()
    house.wait(lambda: house.window.sidebar.model.row_of(temporary) < 0)
    assert house.chat == ""


def test_one_that_was_left_before_anything_was_said_is_gone_without_a_question(scripted: OpenHouse) -> None:
    house = scripted()
    house.window.kinds.new_temporary()
    house.wait(lambda: len(house.window.sidebar.model.shown_chats()) == 1)
    house.window.new_chat()
    house.wait(lambda: house.window.sidebar.model.shown_chats() == [])


def test_keep_this_chat_makes_an_ordinary_one_of_it(scripted: OpenHouse) -> None:
    house = scripted()
    house.window.kinds.new_temporary()
    house.wait(house.window.page.banner.isVisible)
    assert not house.window.page.banner.keep.isEnabled()
    temporary = house.say("hello").chat
    house.window.page.composer.set_text("and then")
    house.window.page.banner.keep.click()
    house.wait(lambda: house.chat and house.chat != temporary)
    house.wait(lambda: not house.window.page.banner.isVisible())
    assert house.window.page.composer.text() == "and then"
    assert [(turn.user, turn.reply) for turn in house.turns()] == [("hello", "Fine.")]
    house.wait(lambda: house.window.sidebar.model.shown_chats() == [house.chat])
    house.wait(lambda: house.window.session.turns()[0].receipt is not None)
    house.say("go on")
    assert len(house.turns()) == 2


def test_closing_the_window_asks_once_and_stays_keeps_or_goes(scripted: OpenHouse) -> None:
    house = scripted()
    house.window.kinds.new_temporary()
    house.wait(house.window.page.banner.isVisible)
    house.say("hello")
    press("Cancel")
    house.window.close()
    assert house.window.isVisible()
    press("Keep this chat")
    house.window.close()
    assert not house.window.isVisible()
    assert [info.title for info in house.services.workspace.chats.list()] == ["hello"]


def test_closing_while_it_streams_keeps_the_text_so_far(scripted: OpenHouse) -> None:
    house = scripted(["one\ntwo\nthree"], kind=HeldEngine)
    house.window.kinds.new_temporary()
    house.wait(house.window.page.banner.isVisible)
    house.write("hello")
    house.wait(lambda: house.seen(TextArrived))
    assert not house.window.page.banner.keep.isEnabled()
    press("Keep this chat")
    house.window.close()
    (info,) = house.services.workspace.chats.list()
    (turn,) = house.services.workspace.chats.read(info.id).turns
    assert (turn.reply, turn.mark) == ("one\n", "stopped")


def test_memory_can_be_left_out_of_a_temporary_chat(qtbot: QtBot, scripted: OpenHouse) -> None:
    house = scripted()
    house.services.remember("my cat is called Quince")
    house.window.kinds.new_temporary()
    house.wait(house.window.page.banner.isVisible)
    qtbot.mouseClick(
        house.window.page.banner.memory,
        Qt.MouseButton.LeftButton,
        pos=QPoint(8, house.window.page.banner.memory.height() // 2),
    )
    house.wait(lambda: not house.services.temporary.uses_memory(house.chat))
    assert house.say("what is my cat called?").receipt.lines == ()


def test_remember_in_a_temporary_chat_asks_before_it_writes(scripted: OpenHouse, tmp_path: Path) -> None:
    house = scripted()
    house.window.kinds.new_temporary()
    house.wait(house.window.page.banner.isVisible)
    house.say("remember that I like tea")
    assert house.services.workspace.memory.document().entries == ()
    toast = house.window.toasts.shown()[-1]
    assert toast.text() == "A temporary chat writes nothing to memory by itself"
    toast.action_button().click()
    memory = tmp_path / "ws" / "MEMORY.md"
    house.wait(lambda: memory.exists() and "I like tea" in memory.read_text())


def test_the_window_forgets_it_when_it_comes_back(scripted: OpenHouse, tmp_path: Path) -> None:
    house = scripted()
    house.window.kinds.new_temporary()
    house.wait(house.window.page.banner.isVisible)
    house.say("hello")
    press("Close it")
    house.window.close()
    house.close()
    kept = json.loads((tmp_path / "state" / "state" / "window.json").read_text())
    assert [own["chat"] for own in kept["workspaces"].values()] == [""]
    assert scripted().chat == ""


@pytest.mark.parametrize("choice", ["off", "on"])
def test_the_setting_is_one_choice_in_the_settings(qtbot: QtBot, scripted: OpenHouse, choice: str) -> None:
    from assistant.ui.settings.dialog import SettingsDialog

    house = scripted()
    house.window.open_settings()
    dialog = house.window.findChild(SettingsDialog)
    assert dialog is not None
    house.wait(dialog.save_button.isEnabled)
    field = dialog.memory.fields["private_recall"]
    assert field.currentData() == "off"  # type: ignore[union-attr]
    field.setCurrentIndex(field.findData(choice))  # type: ignore[union-attr]
    dialog.save_button.click()
    house.wait(lambda: house.services.settings.load().memory.private_recall == choice)
    house.wait(lambda: house.window.findChild(SettingsDialog) is None)


@pytest.mark.real
def test_with_the_real_models_a_temporary_chat_is_in_no_log_and_no_index(real: OpenHouse, tmp_path: Path) -> None:
    """With worker processes, their logs, and the vectors, while it is open and after."""
    house = real("window = 1024\nmax_tokens = 4")
    house.say("a quiet day")
    house.window.kinds.new_temporary()
    house.wait(house.window.page.banner.isVisible)
    house.say(f"the {WORD} soup of 石榴汤 is what I cooked")
    house.services.recall.sync(CancelToken())
    assert house.services.recall.status().vectors > 0
    words = (WORD, "石榴汤")
    files = [path for path in tmp_path.rglob("*") if path.is_file() and not path.is_symlink()]
    assert [path for path in files if any(word.encode() in path.read_bytes() for word in words)] == []
    press("Close it")
    house.window.close()
    house.close()
    files = [path for path in tmp_path.rglob("*") if path.is_file() and not path.is_symlink()]
    assert [path for path in files if any(word.encode() in path.read_bytes() for word in words)] == []
