"""What the model thinks is one quiet line, which opens."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from assistant.core.events import TextArrived, TurnFinished
from assistant.core.values import Done, StopReason
from assistant.ui.main_window import MainWindow
from assistant.workspace.thoughts import Thought

from .fakes import FakeServices, Turn, make_receipt
from .test_chat import last, open_chat, reply_text, start


def shown(window: MainWindow) -> str:
    """The text of the open thought, "" while it is shut."""
    return "".join(view.toPlainText() for view in last(window).thought.texts())


def finish(
    services: FakeServices, chat: str, n: int, text: str, thought: str, stop: StopReason = StopReason.END
) -> None:
    done = Done(stop, text, 20, 800, 640, 900.0, 21.0, thought, thought_s=3.6)
    services.emit(TurnFinished(chat, n, done, make_receipt(chat, n), 4096))


def test_a_thought_streams_into_its_fold(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    chat = start(qtbot, window, services)
    n = services.save_turn(chat)
    services.emit(TextArrived(chat, n, "They greet ", thought=True))
    qtbot.waitUntil(lambda: last(window).thought.isVisible())
    line = last(window).thought.line
    assert line.text().startswith("Thinking…") and last(window).state.isHidden()
    assert shown(window) == "" and reply_text(last(window)) == ""
    qtbot.mouseClick(line, Qt.MouseButton.LeftButton)
    assert shown(window) == "They greet"
    services.emit(TextArrived(chat, n, "me.", thought=True))
    qtbot.waitUntil(lambda: shown(window) == "They greet me.")
    services.emit(TextArrived(chat, n, "Hello!"))
    qtbot.waitUntil(lambda: reply_text(last(window)) == "Hello!")
    finish(services, chat, n, "Hello!", "They greet me.")
    qtbot.waitUntil(lambda: line.text().startswith("Thought for 4 s"))
    assert shown(window) == "They greet me."
    qtbot.mouseClick(line, Qt.MouseButton.LeftButton)
    assert shown(window) == "" and reply_text(last(window)) == "Hello!"


def test_the_thought_of_a_saved_turn_is_there_and_shut(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    turn = Turn(1, None, "2026-11-29T15:30:25+08:00", "Hi", "Hello", thought=Thought("a greeting", 2))
    open_chat(qtbot, window, services, turn, replace(turn, n=2, after=1, thought=Thought()))
    first, second = window.page.transcript.views()
    assert first.thought.line.text().startswith("Thought for 2 s") and not first.thought.is_open
    assert second.thought.isHidden()
    first.thought.line.setFocus()
    qtbot.keyClick(first.thought.line, Qt.Key.Key_Space)
    assert [view.toPlainText() for view in first.thought.texts()] == ["a greeting"]


def test_a_thought_that_nothing_was_said_after_is_open(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    chat = start(qtbot, window, services)
    n = services.save_turn(chat)
    services.emit(TextArrived(chat, n, "on and on", thought=True))
    qtbot.waitUntil(lambda: last(window).thought.isVisible())
    finish(services, chat, n, "", "on and on", StopReason.LENGTH)
    qtbot.waitUntil(lambda: shown(window) == "on and on")
    assert last(window).mark.text() == "Ended at the length limit"


def test_a_very_long_thought_scrolls_inside_itself(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    turn = Turn(1, None, "2026-11-29T15:30:25+08:00", "Hi", "Hello", thought=Thought("word " * 20_000, 900))
    open_chat(qtbot, window, services, turn)
    qtbot.mouseClick(last(window).thought.line, Qt.MouseButton.LeftButton)
    view = last(window).thought.texts()[0]
    assert view.height() < 600 and view.toPlainText().startswith("word word")


def test_a_long_thought_that_grows_stays_where_it_was_scrolled_to(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    chat = start(qtbot, window, services)
    n = services.save_turn(chat)
    services.emit(TextArrived(chat, n, "a line\n" * 10_000, thought=True))
    qtbot.waitUntil(lambda: last(window).thought.isVisible())
    qtbot.mouseClick(last(window).thought.line, Qt.MouseButton.LeftButton)
    view = last(window).thought.texts()[0]
    view.verticalScrollBar().setValue(77)
    services.emit(TextArrived(chat, n, "the end", thought=True))
    qtbot.waitUntil(lambda: view.toPlainText().endswith("the end"))
    assert view.verticalScrollBar().value() == 77
