"""The composer: keys, input methods, growth, Stop."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from assistant.ui.chat.composer import Composer
from assistant.ui.theme import Theme


def make(qtbot: QtBot, theme: Theme) -> tuple[Composer, list[str]]:
    composer = Composer(theme)
    qtbot.addWidget(composer)
    composer.resize(500, 100)
    composer.show()
    qtbot.waitExposed(composer)
    sent: list[str] = []
    composer.sent.connect(sent.append)
    return composer, sent


def test_enter_sends_and_shift_enter_breaks_the_line(qtbot: QtBot, theme: Theme) -> None:
    composer, sent = make(qtbot, theme)
    qtbot.keyClicks(composer.edit, "one")
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(composer.edit, "two")
    assert sent == []
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    assert sent == ["one\ntwo"]
    assert composer.text() == "one\ntwo", "the text stays until the window knows that it was taken"


def test_enter_of_an_input_method_does_not_send(qtbot: QtBot, theme: Theme) -> None:
    composer, sent = make(qtbot, theme)
    QApplication.sendEvent(composer.edit, QInputMethodEvent("nihao", []))
    assert composer.edit.composing()
    assert composer.edit.placeholderText() == ""
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    assert sent == []
    commit = QInputMethodEvent("", [])
    commit.setCommitString("你好")
    QApplication.sendEvent(composer.edit, commit)
    assert composer.edit.placeholderText() != ""
    assert sent == []
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    assert sent == ["你好"]


def test_blank_text_is_not_sent(qtbot: QtBot, theme: Theme) -> None:
    composer, sent = make(qtbot, theme)
    qtbot.keyClicks(composer.edit, "   ")
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    assert sent == []
    assert not composer.button.isEnabled()
    assert composer.button.toolTip() == "Write something first"


def test_it_grows_to_eight_lines(qtbot: QtBot, theme: Theme) -> None:
    composer, _ = make(qtbot, theme)
    one = composer.edit.height()
    composer.set_text("a\nb\nc")
    three = composer.edit.height()
    composer.set_text("\n".join("x" * 30))
    assert one < three < composer.edit.height()
    assert composer.edit.height() <= 8 * composer.edit.fontMetrics().lineSpacing() + 4


def test_stop_replaces_send_and_writing_goes_on(qtbot: QtBot, theme: Theme) -> None:
    composer, sent = make(qtbot, theme)
    stopped: list[bool] = []
    composer.stop_asked.connect(lambda: stopped.append(True))
    composer.set_streaming(True)
    assert composer.button.accessibleName() == "Stop"
    qtbot.keyClicks(composer.edit, "next")
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    assert sent == ["next"], "the window decides whether it waits"
    assert composer.text() == "next"
    composer.button.click()
    assert stopped == [True]
    composer.set_streaming(False)
    assert composer.button.accessibleName() == "Send"
