"""The receipt under a reply: what was found first, short places, and it does not pull the person away."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from assistant.core.values import PromptLine, Receipt
from assistant.ui.chat.receipt_view import ReceiptView, place_of, words_of
from assistant.ui.main_window import MainWindow
from assistant.ui.theme import Theme

from .fakes import FakeServices, Turn
from .test_chat import open_chat


@pytest.mark.parametrize(
    ("line", "words", "place"),
    [
        (PromptLine("MEMORY.md", 3, "- I live in Lisbon.", "pinned"), "I live in Lisbon.", "MEMORY.md:3"),
        (PromptLine("MEMORY.md", 9, "2026-11-20|you|likes tea", "tail"), "2026-11-20: likes tea", "MEMORY.md:9"),
        (
            PromptLine("memory/travel.md", 4, "[Travel, memory/travel.md] - small hotels", "meaning"),
            "small hotels",
            "travel:4",
        ),
        (PromptLine("chats/2026-11/20261128_174000.md", 11, "- Ideas", "brief"), "Ideas", "chat of 2026-11-28"),
        (PromptLine("", 0, "[today is 2026-11-30, a Monday]", "date"), "today is 2026-11-30, a Monday", ""),
        (PromptLine("MEMORY.md", 0, "[no longer in MEMORY.md] x", "recent"), "x", "MEMORY.md"),
        (PromptLine("MEMORY.md", 2, "- [ ] buy milk", "pinned"), "[ ] buy milk", "MEMORY.md:2"),
    ],
)
def test_lines_are_short(theme: Theme, line: PromptLine, words: str, place: str) -> None:
    assert words_of(line) == words
    assert place_of(line) == place


def test_what_was_found_for_the_message_stands_first(qtbot: QtBot, theme: Theme) -> None:
    lines = (
        PromptLine("MEMORY.md", 1, "- first", "pinned"),
        PromptLine("", 0, "[today is 2026-11-30, a Monday]", "date"),
        PromptLine("memory/travel.md", 4, "found", "meaning", score=0.8),
    )
    view = ReceiptView(Receipt("c", 1, "m", lines, (), 10, 0, "hybrid"), theme)
    qtbot.addWidget(view)
    words = [made.text() for made in view.findChildren(QLabel) if made.text() in ("first", "found")]
    assert words == ["found", "first"]
    links = [made.text() for made in view.findChildren(QPushButton)]
    assert links == ["travel:4", "MEMORY.md:1"], "the date stands nowhere"


def test_opening_a_receipt_stays_there(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    turns = [Turn(n, n - 1 or None, "", f"question {n}", "answer\n\nmore") for n in range(1, 9)]
    lines = tuple(PromptLine("MEMORY.md", n, f"- fact {n}", "pinned") for n in range(1, 30))
    services.receipts[("c", 8)] = Receipt("c", 8, "m", lines, (), 10, 0, "hybrid")
    open_chat(qtbot, window, services, *turns)
    transcript = window.page.transcript
    bar = transcript.verticalScrollBar()
    qtbot.waitUntil(lambda: transcript.views()[-1].receipt_button.isVisible() and bar.value() == bar.maximum() > 0)
    place = bar.value()
    transcript.views()[-1].receipt_button.click()
    qtbot.waitUntil(lambda: bar.maximum() > place + 200)
    assert bar.value() == place
