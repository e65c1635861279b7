"""CASES 16-18: showing text in the window."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QInputMethodEvent
from PySide6.QtWidgets import QApplication, QTextBrowser
from pytestqt.qtbot import QtBot

from assistant.ui.memory.editor import ShadedTextEdit
from tests.cases.conftest import OpenHouse

WORDS = " ".join(f"word{n}" + ("。这是一些中文" if n % 50 == 0 else "") for n in range(5000))
PASTE = "\n".join(f"line {n} of a log file, with some text" for n in range(20_000))
LINE = "x" * 1_000_000
MARKDOWN = "\n\n".join(f"## Part {n}\n\nSome **bold** text and `code`.\n\n```python\nx = {n}\n```" for n in range(150))
HANG = 30.0
"""Seconds; a guard, no measure of speed (``make bench`` measures): what it is to find, text laid out in one piece,
takes a minute, and a busy machine still stays far below it."""


class Stalls(QObject):
    """The longest time in which the window's thread did not come round, in seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.longest = 0.0
        self._last = time.perf_counter()
        self._timer = QTimer(self)
        self._timer.setInterval(1)
        self._timer.timeout.connect(self._on_tick)
        self._timer.start()

    def _on_tick(self) -> None:
        now = time.perf_counter()
        self.longest = max(self.longest, now - self._last)
        self._last = now


@contextmanager
def watched() -> Iterator[Stalls]:
    stalls = Stalls()
    yield stalls
    stalls._timer.stop()


@pytest.mark.parametrize(
    ("text", "reply"), [(WORDS, WORDS), (PASTE, "ok"), (LINE, "ok"), ("write", MARKDOWN)], ids=range(4)
)
def test_large_texts_do_not_hold_the_window(scripted: OpenHouse, qtbot: QtBot, text: str, reply: str) -> None:
    """Case 16: pasted, sent, answered, opened again. Nothing may hang."""
    house = scripted(lambda _: reply, window=10_000_000)
    chat = house.say("hello").chat
    edit = house.window.page.composer.edit
    with watched() as stalls:
        QGuiApplication.clipboard().setText(text)
        edit.setFocus()
        edit.paste()
        assert house.window.page.composer.text() == text
        house.turn(lambda: qtbot.keyClick(edit, Qt.Key.Key_Return))
        house.window.new_chat()
        house.window.page.composer.set_text(text)
        house.window.open_chat(chat)
        house.wait(lambda: len(house.shown()) == 2)
        qtbot.waitUntil(lambda: len(house.window.page.transcript.views()) == 2)
    assert house.turns(chat)[1].user == text
    assert house.shown()[1] == (text, reply)
    assert stalls.longest < HANG


def test_a_memory_file_with_an_endless_line_opens_at_once(scripted: OpenHouse, tmp_path: Path) -> None:
    """Cases 16 and 27."""
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "MEMORY.md").write_text(f"# About me\n\n{LINE}\n\n2026-11-01|you|likes tea\n")
    house = scripted()
    with watched() as stalls:
        house.window.toggle_memory()
        house.window.show_place("MEMORY.md", 5)
        house.wait(lambda: "likes tea" in house.window.memory_panel().findChildren(ShadedTextEdit)[0].toPlainText())
    assert stalls.longest < HANG


@pytest.mark.parametrize(
    "text",
    [
        "<smirk> waffles!",
        "$5 and $10",
        "a < b > c",
        "![x](file:///etc/hostname)",
        "[x](javascript:1)",
        "<img src='file:///etc/hostname'><script>alert(1)</script><b>bold</b>",
        "<!-- hidden -->",
    ],
)
def test_what_the_model_or_the_person_writes_is_shown_as_text(scripted: OpenHouse, text: str) -> None:
    """Case 17: in the transcript itself, for both sides; nothing is fetched or opened."""
    house = scripted([text])
    house.say(text)
    (view,) = house.window.page.transcript.views()
    shown = [browser.toPlainText() for browser in view.findChildren(QTextBrowser) if browser.isVisible()]
    assert [seen.strip() for seen in shown] == [text, text]
    for browser in view.findChildren(QTextBrowser):
        assert "file:" not in browser.toHtml().replace("file:///etc/hostname)", "").replace("file:///etc/hostname'", "")
        assert 'href="javascript' not in browser.toHtml()


def test_bold_money_is_bold_and_whole(scripted: OpenHouse) -> None:
    """Case 17."""
    house = scripted(["It is **$1.50** now."])
    house.say("price?")
    (view,) = house.window.page.transcript.views()
    assert "It is $1.50 now." in [browser.toPlainText().strip() for browser in view.findChildren(QTextBrowser)]


def test_enter_of_an_input_method_sends_nothing_in_the_whole_window(scripted: OpenHouse, qtbot: QtBot) -> None:
    """Case 18."""
    house = scripted(["你好！"])
    edit = house.window.page.composer.edit
    edit.setFocus()
    QApplication.sendEvent(edit, QInputMethodEvent("nihao", []))
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert house.window.session.turns() == []
    commit = QInputMethodEvent("", [])
    commit.setCommitString("你好")
    QApplication.sendEvent(edit, commit)
    house.turn(lambda: qtbot.keyClick(edit, Qt.Key.Key_Return))
    assert house.shown() == [("你好", "你好！")]


def test_right_to_left_and_mixed_text_survive_and_the_theme_may_change_meanwhile(scripted: OpenHouse) -> None:
    """Case 18."""
    mixed = "שלום world مرحبا 123 مرحبا"
    house = scripted(lambda _: f"{mixed}\n\n- שלום\n- two\n\n```python\nx = 'שלום'\n```")
    house.say(mixed)
    for choice in ("dark", "light", "dark"):
        house.window.choose_theme(choice)
        (view,) = house.window.page.transcript.views()
        shown = " ".join(browser.toPlainText() for browser in view.findChildren(QTextBrowser))
        assert shown.count(mixed) == 2
        assert house.window.page.composer.palette().window().color().isValid()
    house.say("and on")
    assert [turn.user for turn in house.turns()] == [mixed, "and on"]


_SCALED = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from assistant.runtime.composition import Places, compose
from assistant.ui.application import build_application, find_theme
from assistant.ui.main_window import MainWindow
base = Path(sys.argv[1])
app = build_application(["keepsake"], "en", "light")
services = compose(Places(base / "ws", base / "config", base / "state"), {})
window = MainWindow(services, find_theme(app))
window.resize(700, 520)
window.show()
window.toggle_memory()
app.processEvents()
picture = window.grab()
print(window.devicePixelRatio(), picture.width(), picture.height(), window.page.composer.edit.height())
composer = window.page.composer
assert composer.mapTo(window, composer.rect().bottomRight()).y() <= window.height()
window.close()
window.release()
services.close()
"""


def test_the_window_works_at_200_percent(tmp_path: Path) -> None:
    """Case 18: a process of its own, since the scale is chosen at its start."""
    env = {**os.environ, "QT_SCALE_FACTOR": "2", "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-c", _SCALED, str(tmp_path)], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    ratio, width, height, edit = (float(number) for number in done.stdout.split())
    assert (ratio, width, height) == (2.0, 1400.0, 1040.0)
    assert edit > 15
