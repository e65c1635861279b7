"""Keys: between chats, deleted chats, finding words in a chat, the page that lists the keys."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QTextEdit
from pytestqt.qtbot import QtBot

from assistant.core.errors import AssistantError
from assistant.ui.chat.code_block import CodeBlock
from assistant.ui.chat.prose import LongTextView
from assistant.ui.chat.transcript import MAX_TURNS
from assistant.ui.errors import ErrorDialog
from assistant.ui.main_window import MainWindow
from assistant.ui.menus import ShortcutsDialog
from assistant.ui.theme import Theme

from .fakes import FakeServices, Turn, days_ago, make_chat
from .test_chat import open_chat

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def trigger(window: MainWindow, words: str) -> None:
    next(action for action in window.actions_by_name() if action.text() == words).trigger()


def put_three(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    for i, name in enumerate("abc"):
        services.put_chat(make_chat(name, name.upper(), (Turn(1, None, "", "x", f"about {name}"),), days_ago(i)))
    window.chats.refresh()
    qtbot.waitUntil(lambda: window.sidebar.model.row_of("c") > 0)


def test_next_and_previous_chat_go_around(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    put_three(qtbot, window, services)
    seen = []
    for words in ("Next chat", "Next chat", "Next chat", "Next chat", "Previous chat", "Previous chat"):
        trigger(window, words)
        seen.append(window.session.chat_id)
    assert seen == ["a", "b", "c", "a", "c", "b"]
    qtbot.waitUntil(lambda: window.session.title() == "B")


def test_deleted_chats_come_back_from_the_menu_newest_first(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    put_three(qtbot, window, services)
    assert not window.menus.bring_back.isEnabled()
    for chat in "ab":
        window.chats.delete(chat)
        qtbot.waitUntil(lambda chat=chat: window.sidebar.model.row_of(chat) < 0)  # type: ignore[misc]  # bound now
    window.toasts.clear()
    trigger(window, "Bring back deleted chat")
    qtbot.waitUntil(lambda: window.session.title() == "B")
    assert "a" not in services.chats
    trigger(window, "Bring back deleted chat")
    qtbot.waitUntil(lambda: window.session.title() == "A")
    assert not window.menus.bring_back.isEnabled()


def test_after_the_last_chat_is_deleted_one_can_write(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    services.put_chat(make_chat("a", "A", (Turn(1, None, "", "x", "y"),)))
    window.chats.refresh()
    qtbot.waitUntil(lambda: window.sidebar.model.row_of("a") > 0)
    window.activateWindow()
    window.sidebar.view.setFocus()
    qtbot.waitUntil(window.sidebar.view.hasFocus)
    window.chats.delete("a")
    qtbot.waitUntil(window.page.composer.edit.hasFocus)


def test_undo_in_the_toast_and_the_menu_are_one(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    put_three(qtbot, window, services)
    window.chats.delete("a")
    qtbot.waitUntil(lambda: bool(window.toasts.shown()))
    window.toasts.shown()[-1].action_button().click()
    qtbot.waitUntil(lambda: "a" in services.chats)
    assert not window.menus.bring_back.isEnabled()


def test_a_chat_that_could_not_come_back_can_be_tried_again(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    put_three(qtbot, window, services)
    window.chats.delete("a")
    qtbot.waitUntil(window.menus.bring_back.isEnabled)
    services.fail["restore_chat"] = AssistantError("disk.full", "The disk is full.")
    trigger(window, "Bring back deleted chat")
    qtbot.waitUntil(lambda: window.findChild(ErrorDialog) is not None)
    del services.fail["restore_chat"]
    trigger(window, "Bring back deleted chat")
    qtbot.waitUntil(lambda: "a" in services.chats)


def test_f2_renames_even_when_the_list_is_hidden(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    put_three(qtbot, window, services)
    window.open_chat("a")
    qtbot.waitUntil(lambda: window.session.title() == "A")
    window.room.toggle_chats()
    qtbot.keyClick(window.page.composer.edit, Qt.Key.Key_F2)
    assert window.sidebar.isVisible()
    assert window.sidebar.view.state() == window.sidebar.view.State.EditingState


def test_the_last_reply_is_copied_as_markdown(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    open_chat(qtbot, window, services, Turn(1, None, "", "a", "**bold**\n\n- x"), Turn(2, 1, "", "c", None))
    trigger(window, "Copy the last reply")
    assert QGuiApplication.clipboard().text() == "**bold**\n\n- x"


def test_the_keys_are_listed(qtbot: QtBot, window: MainWindow) -> None:
    window.show_shortcuts()
    dialog = window.findChild(ShortcutsDialog)
    assert dialog is not None
    words = [made.text() for made in dialog.findChildren(QLabel)]
    for expected in ("Find in this chat", "Ctrl+F", "Bring back deleted chat", "Change the last message", "↑"):
        assert expected in words
    dialog.accept()


def test_no_two_actions_share_a_key(window: MainWindow) -> None:
    keys = [key.toString() for action in window.actions_by_name() for key in action.shortcuts()]
    assert len(keys) == len(set(keys))


# --- finding ---


def long_chat(count: int) -> list[Turn]:
    words = {3: "the **azure** kettle, azure again", count - 2: "an Azure sky", count // 2: "azure"}
    return [
        Turn(i, i - 1 or None, "", f"question {i}", words.get(i, f"answer {i}\n\nmore")) for i in range(1, count + 1)
    ]


def marked(window: MainWindow) -> list[str]:
    """The places on screen that are coloured."""
    views = [text for view in window.page.transcript.views() for text in view.texts()]
    return [mark.cursor.selectedText() for view in views for mark in view.extraSelections()]


def find(qtbot: QtBot, window: MainWindow, words: str) -> None:
    trigger(window, "Find in this chat")
    window.page.find_bar.field.setText(words)
    window.page.find_bar.search()


def in_sight(window: MainWindow, n: int) -> bool:
    transcript = window.page.transcript
    view = next((view for view in transcript.views() if view.turn.n == n), None)
    if view is None:
        return False
    top = view.mapTo(transcript.viewport(), QPoint(0, 0)).y()
    return top < transcript.viewport().height() and top + view.height() > 0


def test_find_goes_through_a_chat_of_a_thousand_turns(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    open_chat(qtbot, window, services, *long_chat(1000))
    find(qtbot, window, "AZURE")
    bar = window.page.find_bar
    assert bar.count.text() == "Message 3 of 3"
    assert in_sight(window, 998)
    qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    assert bar.count.text() == "Message 2 of 3"
    assert in_sight(window, 500)
    qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    assert bar.count.text() == "Message 1 of 3"
    assert in_sight(window, 3)
    assert marked(window) == ["azure", "azure"]
    assert len(window.page.transcript.views()) <= MAX_TURNS
    qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    assert bar.count.text() == "Message 1 of 3", "the other place in the same message"
    qtbot.keyClick(bar.field, Qt.Key.Key_Return, SHIFT)
    qtbot.keyClick(bar.field, Qt.Key.Key_Return, SHIFT)
    assert bar.count.text() == "Message 2 of 3"
    qtbot.keyClick(bar.field, Qt.Key.Key_Escape)
    assert marked(window) == []
    assert bar.isHidden()


def test_after_finding_far_up_the_newest_message_is_one_click_away(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    open_chat(qtbot, window, services, *long_chat(300))
    find(qtbot, window, "kettle")
    transcript = window.page.transcript
    assert in_sight(window, 3)
    bar = transcript.verticalScrollBar()
    bar.setValue(bar.maximum())
    qtbot.waitUntil(lambda: len(transcript.views()) > 11)
    assert not in_sight(window, 300)
    numbers = transcript.shown_numbers()
    assert numbers == list(range(numbers[0], numbers[-1] + 1)), "newer turns follow below, none is left out"
    transcript.scroll_to_end()
    qtbot.waitUntil(lambda: in_sight(window, 300))
    assert transcript.following()


def test_what_streams_does_not_disturb_who_reads_far_up(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    open_chat(qtbot, window, services, *long_chat(200))
    find(qtbot, window, "kettle")
    window.session.send("more")
    services.reply("c", "Well.")
    qtbot.waitUntil(lambda: not window.session.streaming())
    assert in_sight(window, 3)
    window.page.transcript.scroll_to_end()
    qtbot.waitUntil(lambda: in_sight(window, 201))


def test_finding_leaves_the_width_of_messages_alone(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    words = "How long do the cardamom buns bake in my oven?"
    open_chat(qtbot, window, services, Turn(1, None, "", words, "12 minutes."), Turn(2, 1, "", "And bread?", "40."))
    bubble = window.page.transcript.views()[0].bubble
    width = bubble.width()
    find(qtbot, window, "bread")
    assert bubble.width() == width
    qtbot.keyClick(window.page.find_bar.field, Qt.Key.Key_Escape)
    assert bubble.width() == width


def test_find_sees_code_and_opens_long_messages(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    long = "\n".join(f"line {i}" for i in range(200)) + "\nneedle at the end"
    open_chat(qtbot, window, services, Turn(1, None, "", long, "```python\nneedle = 1\n```"))
    find(qtbot, window, "needle")
    assert marked(window) == ["needle"]
    view = window.page.transcript.views()[0]
    code = view.findChild(CodeBlock)
    assert code is not None
    assert isinstance(code.text_view(), QTextEdit)
    find(qtbot, window, "needle at")
    assert view.findChild(LongTextView) is not None
    assert marked(window) == ["needle at"]


def test_nothing_found_is_said(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    open_chat(qtbot, window, services, Turn(1, None, "", "a", "b"))
    find(qtbot, window, "zzz")
    assert window.page.find_bar.count.text() == "No match"
    assert not window.page.find_bar.earlier.isEnabled()
    qtbot.keyClick(window.page.find_bar.field, Qt.Key.Key_Return)
    qtbot.keyClick(window.page.composer.edit, Qt.Key.Key_Escape)
    assert window.page.find_bar.isHidden()


def test_without_a_conversation_there_is_nothing_to_find_in(window: MainWindow) -> None:
    trigger(window, "Find in this chat")
    assert window.page.find_bar.isHidden()


@pytest.mark.parametrize("up", [0, 3000])
def test_a_theme_switch_keeps_only_what_is_in_sight_and_the_place(
    qtbot: QtBot, window: MainWindow, services: FakeServices, theme: Theme, up: int
) -> None:
    open_chat(qtbot, window, services, *long_chat(60))
    transcript = window.page.transcript
    bar = transcript.verticalScrollBar()
    while len(transcript.views()) < 40:
        known = len(transcript.views())
        bar.setValue(0)
        qtbot.waitUntil(lambda known=known: len(transcript.views()) > known)  # type: ignore[misc]  # bound now
    assert bar.maximum() > 3000
    bar.setValue(bar.maximum() - up)
    qtbot.waitUntil(lambda: transcript.following() == (up == 0))
    before = [n for n in range(1, 61) if in_sight(window, n)]
    counts: list[int] = []
    theme.changed.connect(lambda: counts.append(len(transcript.views())))
    window.choose_theme("dark")
    assert counts[0] == len(before)
    qtbot.waitUntil(lambda: bar.maximum() >= transcript.viewport().height())
    assert [n for n in range(1, 61) if in_sight(window, n)] == before
    transcript.scroll_to_end()
    qtbot.waitUntil(lambda: in_sight(window, 60))


def test_finding_goes_on_in_the_branch_that_is_shown_now(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    long = [Turn(n, n - 1, "", f"question {n}", "kettle" if n > 8 else "tea") for n in range(2, 12)]
    open_chat(qtbot, window, services, Turn(1, None, "", "a", "b"), *long, Turn(12, 1, "", "c", "nothing here"))
    window.session.choose_branch(11)
    find(qtbot, window, "kettle")
    bar = window.page.find_bar
    assert bar.count.text() == "Message 3 of 3"
    window.session.choose_branch(12)
    assert bar.count.text() == "No match"
    qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    assert marked(window) == []
