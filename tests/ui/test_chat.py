"""A conversation in the window: sending, streaming, stopping, failing, branching, switching away and back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from assistant.core.errors import AssistantError
from assistant.core.events import (
    ChatsChanged,
    PromptProgress,
    Recalled,
    TextArrived,
    TurnFailed,
    TurnFinished,
    TurnSaved,
)
from assistant.core.values import Done, StopReason
from assistant.ui.chat.code_block import CodeBlock
from assistant.ui.chat.prose import ProseView
from assistant.ui.chat.shown import siblings_of
from assistant.ui.chat.turn_view import TurnView
from assistant.ui.errors import ErrorDialog
from assistant.ui.main_window import MainWindow
from assistant.ui.models.chats import BUSY_ROLE

from .fakes import FakeServices, HeldLane, Turn, make_chat, make_receipt


def write(qtbot: QtBot, window: MainWindow, text: str) -> None:
    window.page.composer.set_text(text)
    qtbot.keyClick(window.page.composer.edit, Qt.Key.Key_Return)


def last(window: MainWindow) -> TurnView:
    return window.page.transcript.views()[-1]


def reply_text(view: TurnView) -> str:
    return "\n".join(
        part.toPlainText() if isinstance(part, ProseView) else part.plain_text() for part in view.reply.parts()
    )


def open_chat(qtbot: QtBot, window: MainWindow, services: FakeServices, *turns: Turn, ident: str = "c") -> None:
    services.put_chat(make_chat(ident, "A chat", turns))
    with qtbot.waitSignal(window.session.opened):
        window.open_chat(ident)


def start(qtbot: QtBot, window: MainWindow, services: FakeServices, text: str = "hello") -> str:
    """Send the first message of a new chat; returns the chat."""
    write(qtbot, window, text)
    qtbot.waitUntil(lambda: any(call[0] == "send" for call in services.calls))
    return window.session.chat_id


def test_a_first_message_makes_a_chat_and_streams_the_reply(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    chat = start(qtbot, window, services, "Find me a hotel")
    assert window.page.composer.text() == ""
    assert last(window).turn.user == "Find me a hotel"
    assert last(window).state.text() == "Saving your message…"
    services.reply(chat, "Here are **two**.\n\n```python\nx = 1\n```")
    qtbot.waitUntil(lambda: not window.session.streaming())
    assert reply_text(last(window)) == "Here are two.\nx = 1"
    assert last(window).receipt_button.text().startswith("Memory used: 3 lines")
    assert window.topbar.gauge.used == 820
    assert "820" in window.topbar.gauge.toolTip()


def test_what_it_waits_for_is_said(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    chat = start(qtbot, window, services)
    n = services.save_turn(chat)
    qtbot.waitUntil(lambda: last(window).state.text() == "Looking through memory…")
    services.emit(Recalled(chat, n, make_receipt(chat, n)))
    qtbot.waitUntil(lambda: last(window).state.text() == "Thinking…")
    services.emit(PromptProgress(chat, n, 400, 800))
    qtbot.waitUntil(lambda: last(window).state.text() == "Reading prompt 50 %")
    services.emit(TextArrived(chat, n, "Yes"))
    qtbot.waitUntil(lambda: last(window).state.isHidden())
    assert reply_text(last(window)) == "Yes"


def test_esc_stops_and_the_text_so_far_is_kept(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    chat = start(qtbot, window, services)
    n = services.save_turn(chat)
    services.emit(TextArrived(chat, n, "Half a "))
    qtbot.waitUntil(lambda: reply_text(last(window)) == "Half a")
    qtbot.keyClick(window.page.composer.edit, Qt.Key.Key_Escape)
    assert ("stop", chat) in services.calls
    services.finish(chat, n, "Half a ", StopReason.STOPPED, make_receipt(chat, n))
    qtbot.waitUntil(lambda: last(window).mark.text() == "Stopped by you")
    assert reply_text(last(window)) == "Half a"


def test_a_failure_keeps_the_words_and_offers_another_try(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    chat = start(qtbot, window, services)
    n = services.save_turn(chat)
    services.emit(TextArrived(chat, n, "Half"))
    services.emit(TurnFailed(chat, n, AssistantError("engine.died", "The model stopped.", "Try a smaller one.")))
    qtbot.waitUntil(lambda: last(window).error_card() is not None)
    assert reply_text(last(window)) == "Half"
    card = last(window).error_card()
    assert card is not None
    again = card.findChild(QPushButton, "retry")
    assert again is not None
    again.click()
    assert services.calls[-1] == ("regenerate", chat, n)
    assert window.session.streaming()


def test_words_that_were_not_saved_return_to_the_composer(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    open_chat(qtbot, window, services, Turn(1, None, "", "a", "b"))
    write(qtbot, window, "precious words")
    services.emit(TurnFailed("c", 0, AssistantError("disk.full", "The disk is full.", "Free some space.")))
    qtbot.waitUntil(lambda: window.page.composer.text() == "precious words")
    dialog = window.findChild(ErrorDialog)
    assert dialog is not None
    assert len(window.page.transcript.views()) == 1
    dialog.accept()


def test_a_chat_that_cannot_be_made_gives_the_words_back(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    services.fail["new_chat"] = AssistantError("disk.full", "The disk is full.")
    write(qtbot, window, "precious words")
    qtbot.waitUntil(lambda: window.page.composer.text() == "precious words")
    dialog = window.findChild(ErrorDialog)
    assert dialog is not None
    dialog.accept()


def test_switching_away_and_back_while_it_streams(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    open_chat(qtbot, window, services, Turn(1, None, "", "other", "chat"), ident="other")
    window.new_chat()
    chat = start(qtbot, window, services)
    n = services.save_turn(chat)
    services.emit(TextArrived(chat, n, "One "))
    qtbot.waitUntil(lambda: reply_text(last(window)) == "One")
    window.open_chat("other")
    qtbot.waitUntil(lambda: reply_text(last(window)) == "chat")
    assert window.page.composer.button.accessibleName() == "Send"
    services.emit(TextArrived(chat, n, "two"))
    window.open_chat(chat)
    qtbot.waitUntil(lambda: window.session.chat_id == chat and reply_text(last(window)) == "One two")
    assert [view.turn.n for view in window.page.transcript.views()] == [n]
    services.finish(chat, n, "One two", StopReason.END, make_receipt(chat, n))
    qtbot.waitUntil(lambda: not window.session.streaming())
    assert len(window.page.transcript.views()) == 1


def test_drafts_stay_with_their_chat(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    open_chat(qtbot, window, services, Turn(1, None, "", "a", "b"), ident="one")
    window.page.composer.set_text("draft of one")
    open_chat(qtbot, window, services, Turn(1, None, "", "a", "b"), ident="two")
    assert window.page.composer.text() == ""
    window.page.composer.set_text("draft of two")
    window.open_chat("one")
    qtbot.waitUntil(lambda: window.page.composer.text() == "draft of one")
    window.open_chat("two")
    qtbot.waitUntil(lambda: window.page.composer.text() == "draft of two")


def test_edit_and_resend_makes_a_branch(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    open_chat(qtbot, window, services, Turn(1, None, "", "a", "b"), Turn(2, 1, "", "c", "d"))
    window.page.transcript.views()[0].edit.click()
    assert window.page.composer.text() == "a"
    write(qtbot, window, "a changed")
    assert services.calls[-1] == ("send", "c", "a changed", 0), "0: it stands at the start, beside the first"
    services.reply("c", "e")
    qtbot.waitUntil(lambda: last(window).which.text() == "2/2")
    assert [view.turn.n for view in window.page.transcript.views()] == [3]
    last(window).older.click()
    qtbot.waitUntil(lambda: [view.turn.n for view in window.page.transcript.views()] == [1, 2])
    assert window.page.transcript.views()[0].which.text() == "1/2"


def test_cancelling_an_edit_brings_the_draft_back(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    open_chat(qtbot, window, services, Turn(1, None, "", "a", "b"))
    window.page.composer.set_text("my draft")
    window.page.transcript.views()[0].edit.click()
    qtbot.keyClick(window.page.composer.edit, Qt.Key.Key_Escape)
    assert window.page.composer.text() == "my draft"


def test_regenerate_shows_the_new_reply_beside_the_old(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    open_chat(qtbot, window, services, Turn(1, None, "", "a", "b"), Turn(2, 1, "", "c", "d"))
    last(window).regenerate.click()
    assert services.calls[-1] == ("regenerate", "c", 2)
    known = services.chats["c"]
    services.chats["c"] = replace(known, turns=(*known.turns, Turn(3, 1, "", "c")))
    services.emit(TurnSaved("c", 3, 1, "c", 0))
    services.emit(TextArrived("c", 3, "better"))
    services.finish("c", 3, "better", StopReason.END, make_receipt("c", 3))
    qtbot.waitUntil(lambda: last(window).which.text() == "2/2")
    assert reply_text(last(window)) == "better"
    assert [view.turn.n for view in window.page.transcript.views()] == [1, 3]


def test_messages_go_to_the_end_of_the_branch_that_is_shown(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    services.put_chat(
        make_chat("c", "A chat", (Turn(1, None, "", "a", "b"), Turn(2, 1, "", "c", "d"), Turn(3, 1, "", "c2", "d2")))
    )
    window.open_chat("c")
    qtbot.waitUntil(lambda: len(window.page.transcript.views()) == 2)
    last(window).older.click()
    qtbot.waitUntil(lambda: last(window).turn.n == 2)
    write(qtbot, window, "next")
    assert services.calls[-1] == ("send", "c", "next", 2)


def test_siblings() -> None:
    turns = [Turn(1, None, "", "a"), Turn(2, 1, "", "b"), Turn(3, 1, "", "c"), Turn(4, 2, "", "d")]
    assert siblings_of(turns) == {1: (1,), 2: (2, 3), 3: (2, 3), 4: (4,)}


def test_interrupted_replies_say_so(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    open_chat(qtbot, window, services, Turn(1, None, "", "a", "half", "interrupted"))
    assert "Interrupted" in last(window).mark.text()


def test_a_message_whose_reply_never_began_says_that_too(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    open_chat(qtbot, window, services, Turn(1, None, "", "a", None))
    assert last(window).mark.text() == "Not answered yet" and last(window).regenerate.isVisible()


def test_copying(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    open_chat(qtbot, window, services, Turn(1, None, "", "mine", "**bold**\n\n```js\nlet x\n```"))
    view = last(window)
    view.copy_user.click()
    assert QGuiApplication.clipboard().text() == "mine"
    view.copy_reply.click()
    assert QGuiApplication.clipboard().text().startswith("**bold**")
    code = view.reply.parts()[1]
    assert isinstance(code, CodeBlock)
    code.copy_button().click()
    assert QGuiApplication.clipboard().text() == "let x"


def test_links_ask_first_and_other_schemes_never_open(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(window, "open_address", opened.append)
    window.ask_to_open("file:///etc/hostname")
    window.ask_to_open("javascript:1")
    assert window.findChildren(QMessageBox) == []
    window.ask_to_open("https://example.org")
    (box,) = window.findChildren(QMessageBox)
    assert "https://example.org" in box.informativeText()
    assert opened == []
    next(button for button in box.buttons() if button.text() == "Open in the browser").click()
    assert opened == ["https://example.org"]


def test_a_long_paste_is_shown_in_part(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    text = "\n".join(f"line {i}" for i in range(20_000))
    open_chat(qtbot, window, services, Turn(1, None, "", text, "ok"))
    view = last(window)
    assert view.height() < 1000
    assert view.bubble.more_button().text() == "Show all (20,000 lines)"
    view.bubble.more_button().click()
    assert view.bubble.more_button().text() == "Show less"
    assert view.height() < 1000
    view.copy_user.click()
    assert QGuiApplication.clipboard().text() == text


def test_a_line_of_a_megabyte(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    open_chat(qtbot, window, services, Turn(1, None, "", "x" * 1_000_000, "y" * 1_000_000))
    assert last(window).height() < 2000
    last(window).bubble.more_button().click()
    window.resize(900, 700)


def test_old_turns_page_in(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    turns = [Turn(n, n - 1 or None, "", f"question {n}", f"answer {n}\n\nmore\n\nmore") for n in range(1, 121)]
    services.put_chat(make_chat("c", "Long", tuple(turns)))
    window.open_chat("c")
    transcript = window.page.transcript
    qtbot.waitUntil(lambda: bool(transcript.views()) and transcript.verticalScrollBar().maximum() > 0)
    qtbot.waitUntil(lambda: transcript.verticalScrollBar().value() == transcript.verticalScrollBar().maximum())
    assert transcript.shown_numbers()[-1] == 120
    assert len(transcript.views()) < 30
    before = len(transcript.views())
    transcript.verticalScrollBar().setValue(0)
    qtbot.waitUntil(lambda: len(transcript.views()) > before)
    assert transcript.shown_numbers() == list(range(120 - len(transcript.views()) + 1, 121))


def test_it_follows_the_reply_only_from_the_bottom(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    turns = [Turn(n, n - 1 or None, "", f"question {n}", "answer\n\nmore\n\nmore") for n in range(1, 11)]
    open_chat(qtbot, window, services, *turns)
    bar = window.page.transcript.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0 and bar.value() == bar.maximum())
    write(qtbot, window, "go on")
    n = services.save_turn("c")
    services.emit(TextArrived("c", n, "word\n\n" * 40))
    qtbot.waitUntil(lambda: "word" in reply_text(last(window)))
    qtbot.waitUntil(lambda: bar.value() == bar.maximum())
    bar.setValue(bar.maximum() // 2)
    place = bar.value()
    services.emit(TextArrived("c", n, "word\n\n" * 40))
    qtbot.waitUntil(lambda: reply_text(last(window)).count("word") == 80)
    assert bar.value() == place
    services.finish("c", n, "word", StopReason.END, make_receipt("c", n))
    qtbot.waitUntil(lambda: not window.session.streaming())


def test_what_another_window_wrote_appears(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    open_chat(qtbot, window, services, Turn(1, None, "", "a", "b"))
    known = services.chats["c"]
    services.chats["c"] = replace(known, turns=(*known.turns, Turn(2, 1, "", "from elsewhere", "yes")))
    services.emit(ChatsChanged())
    qtbot.waitUntil(lambda: last(window).turn.user == "from elsewhere")
    assert len(window.page.transcript.views()) == 2


def test_a_secret_that_was_not_written_is_said(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    open_chat(qtbot, window, services, Turn(1, None, "", "a", "b"))
    write(qtbot, window, "my key is sk-123")
    services.emit(TurnSaved("c", 2, 1, "my key is «redacted 6 chars»", 1))
    qtbot.waitUntil(lambda: last(window).redacted.text() == "1 secret was not written to disk")
    assert last(window).turn.user == "my key is «redacted 6 chars»"
    services.emit(TurnFailed("c", 2, AssistantError("x", "No.")))
    qtbot.waitUntil(lambda: not window.session.streaming())


def test_old_receipts_are_found_again(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    services.receipts[("c", 1)] = make_receipt("c", 1)
    open_chat(qtbot, window, services, Turn(1, None, "", "a", "b"))
    view = last(window)
    qtbot.waitUntil(lambda: view.receipt_button.text().startswith("Memory used: 3 lines"))
    view.receipt_button.click()
    receipt = view.receipt_view()
    assert receipt is not None
    places = [button for button in receipt.findChildren(QPushButton) if button.text() == "travel:12"]
    (window.services.workspace.root / "memory" / "travel.md").write_text("\n" * 11 + "Prefers small, quiet hotels.\n")
    places[0].click()
    qtbot.waitUntil(lambda: window.memory_panel().files.current == "memory/travel.md")
    editor = window.memory_panel().files.editor
    qtbot.waitUntil(lambda: editor.textCursor().blockNumber() == 11)


def test_a_reply_that_waits_for_the_disk_does_not_hold_the_window(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    lane = HeldLane()
    services.lanes.files = lane
    write(qtbot, window, "hello")
    assert last(window).turn.user == "hello"
    assert window.page.composer.text() == ""
    lane.release()
    qtbot.waitUntil(lambda: any(call[0] == "send" for call in services.calls))
    lane.release()


def test_a_stop_before_a_new_chat_has_its_file_counts(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    lane = HeldLane()
    services.lanes.files = lane
    write(qtbot, window, "hello")
    window.session.stop()
    lane.release()
    qtbot.waitUntil(lambda: services.calls[-1][0] == "stop")
    chat = services.calls[-1][1]
    assert services.calls[-2][:2] == ("send", chat)
    lane.release()


def test_a_chat_deleted_while_it_is_read_again_shows_no_error(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    failed: list[object] = []
    window.session.failed.connect(failed.append)
    window.session._on_lost(AssistantError("chat.missing", "It is gone."))
    assert failed == []
    window.session._on_lost(AssistantError("workspace.io", "The disk is broken."))
    assert len(failed) == 1


def three_turns(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    turns = (Turn(1, None, "", "a", "b"), Turn(2, 1, "", "c", "d"), Turn(3, 2, "", "e", "f"))
    open_chat(qtbot, window, services, *turns)


FULL = AssistantError("disk.full", "The disk is full; c.md was not changed.", "Free some space, then try again.")


def test_a_reply_that_cannot_be_written_again_leaves_what_was_there(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    three_turns(qtbot, window, services)
    window.page.transcript.views()[1].regenerate.click()
    services.emit(TurnFailed("c", 2, FULL))
    qtbot.waitUntil(lambda: window.findChild(ErrorDialog) is not None)
    assert [(view.turn.n, view.turn.reply) for view in window.page.transcript.views()] == [(1, "b"), (2, "d"), (3, "f")]
    assert not window.session.streaming()
    window.findChild(ErrorDialog).accept()  # type: ignore[union-attr]  # it is there


def test_an_edited_message_that_is_not_saved_comes_back_and_takes_nothing_away(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    three_turns(qtbot, window, services)
    window.page.start_edit(2)
    write(qtbot, window, "c, but better")
    services.emit(TurnFailed("c", 0, FULL))
    qtbot.waitUntil(lambda: window.page.composer.text() == "c, but better")
    assert [view.turn.n for view in window.page.transcript.views()] == [1, 2, 3]
    window.findChild(ErrorDialog).accept()  # type: ignore[union-attr]  # it is there


def test_a_new_chat_is_not_taken_to_the_one_that_was_just_begun(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    services.lanes.files = held = HeldLane()
    write(qtbot, window, "first")
    window.new_chat()
    assert window.session.turns() == []
    held.release()
    qtbot.waitUntil(lambda: ("send", "20261129_153000", "first", None) in services.calls)
    assert window.session.chat_id == ""
    assert window.session.turns() == []


def test_a_chat_whose_message_was_not_saved_is_no_longer_marked_busy(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    three_turns(qtbot, window, services)
    services.put_chat(make_chat("d", "Another"))
    window.chats.refresh()
    qtbot.waitUntil(lambda: window.sidebar.model.row_of("d") > 0)
    window.session.send_after("d", "hello", None)
    index = window.sidebar.model.index(window.sidebar.model.row_of("d"))
    assert index.data(BUSY_ROLE)
    services.emit(TurnFailed("d", 0, FULL))
    qtbot.waitUntil(lambda: not window.session.streaming("d"))
    assert not index.data(BUSY_ROLE)
    window.findChild(ErrorDialog).accept()  # type: ignore[union-attr]  # it is there


def test_an_answer_without_a_model_leaves_the_gauge_as_it_is(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    open_chat(qtbot, window, services, Turn(1, None, "", "a", "b"))
    qtbot.waitUntil(lambda: window.topbar.gauge.total == 4096)
    write(qtbot, window, "Remember that I like tea")
    n = services.save_turn("c")
    services.emit(TurnFinished("c", n, Done(StopReason.END, "Remembered.", 0, 0, 0, 0.0, 0.0), make_receipt("c", n), 0))
    qtbot.waitUntil(lambda: not window.session.streaming())
    assert window.topbar.gauge.total == 4096


def test_a_reply_that_another_window_writes_is_shown_when_it_is_there(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    first, asked = Turn(1, None, "", "a", "b"), Turn(2, 1, "", "c")
    open_chat(qtbot, window, services, first)
    services.put_chat(make_chat("c", "A chat", (first, asked)))
    services.emit(ChatsChanged())
    qtbot.waitUntil(lambda: last(window).turn.user == "c")
    services.put_chat(make_chat("c", "A chat", (first, replace(asked, reply="d"))))
    services.emit(ChatsChanged())
    qtbot.waitUntil(lambda: last(window).turn.reply == "d")


def test_a_very_long_reply_leaves_the_screen_with_its_branch(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    long = "a few words\n" * 7_000
    open_chat(qtbot, window, services, Turn(1, None, "", "a", long), Turn(2, None, "", "a", "short"))
    window.session.choose_branch(1)
    (view,) = window.page.transcript.views()
    (shown,) = view.reply.texts()
    assert shown.toPlainText() == long
    window.session.choose_branch(2)
    (view,) = window.page.transcript.views()
    assert [text.toPlainText() for text in view.reply.texts()] == ["short"]


def test_who_reads_in_a_very_long_reply_is_not_taken_to_its_beginning(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    chat = start(qtbot, window, services)
    n = services.save_turn(chat)
    services.emit(TextArrived(chat, n, "a line of words\n" * 5_000))
    qtbot.waitUntil(lambda: len(last(window).reply.texts()) == 1 and bool(last(window).reply.texts()[0].toPlainText()))
    text = last(window).reply.texts()[0]
    text.verticalScrollBar().setValue(2_000)
    services.emit(TextArrived(chat, n, "and the end"))
    qtbot.waitUntil(lambda: last(window).reply.texts()[0].toPlainText().endswith("and the end"))
    assert last(window).reply.texts()[0].verticalScrollBar().value() == 2_000
