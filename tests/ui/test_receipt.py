"""The receipt under a reply: what was found first, short places, and it does not pull the person away."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from assistant.core.values import PromptLine, Receipt
from assistant.ui.application import use_language
from assistant.ui.chat.receipt_view import ReceiptView, place_of, words_of
from assistant.ui.chat.receipt_words import shown_words, summary
from assistant.ui.chat.word_diff import then_and_now
from assistant.ui.main_window import MainWindow
from assistant.ui.palette import LIGHT
from assistant.ui.theme import Theme

from .fakes import FakeServices, HeldLane, Turn, make_receipt
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


def test_opening_a_receipt_shows_its_beginning(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    turns = [Turn(n, n - 1 or None, "", f"question {n}", "answer\n\nmore") for n in range(1, 9)]
    lines = tuple(PromptLine("MEMORY.md", n, f"- fact {n}", "pinned") for n in range(1, 30))
    services.receipts[("c", 8)] = Receipt("c", 8, "m", lines, (), 10, 0, "hybrid")
    open_chat(qtbot, window, services, *turns)
    transcript = window.page.transcript
    bar = transcript.verticalScrollBar()
    qtbot.waitUntil(lambda: transcript.views()[-1].receipt_button.isVisible() and bar.value() == bar.maximum() > 0)
    place = bar.value()
    transcript.views()[-1].receipt_button.click()
    receipt = transcript.views()[-1].receipt_view()
    assert receipt is not None
    qtbot.waitUntil(lambda: bar.maximum() > place + 200 and bar.value() > place)
    assert bar.value() < bar.maximum(), "the end does not pull it away"
    top = receipt.mapTo(transcript.viewport(), QPoint(0, 0)).y()
    assert 0 < top < transcript.viewport().height() // 2
    assert transcript.views()[-1].receipt_button.mapTo(transcript.viewport(), QPoint(0, 0)).y() >= 0


def test_a_short_receipt_at_the_end_is_seen_whole(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    turns = [Turn(n, n - 1 or None, "", f"question {n}", "answer\n\nmore") for n in range(1, 9)]
    services.receipts[("c", 8)] = Receipt("c", 8, "m", (), (), 10, 0, "hybrid")
    open_chat(qtbot, window, services, *turns)
    transcript = window.page.transcript
    bar = transcript.verticalScrollBar()
    qtbot.waitUntil(lambda: transcript.views()[-1].receipt_button.isVisible() and bar.value() == bar.maximum() > 0)
    transcript.views()[-1].receipt_button.click()
    receipt = transcript.views()[-1].receipt_view()
    assert receipt is not None
    height = transcript.viewport().height()
    qtbot.waitUntil(lambda: receipt.mapTo(transcript.viewport(), receipt.rect().bottomLeft()).y() < height)


def test_a_later_message_says_that_earlier_memory_is_still_read(qtbot: QtBot, theme: Theme) -> None:
    for turn, button, words in ((1, "No memory used", "Nothing in"), (2, "No memory added", "Nothing more in")):
        receipt = Receipt("c", turn, "m", (), (), 10, 0, "hybrid")
        view = ReceiptView(receipt, theme)
        qtbot.addWidget(view)
        assert summary(receipt) == button
        assert any(made.text().startswith(words) for made in view.findChildren(QLabel))


def test_a_long_receipt_is_built_step_by_step_and_the_rest_on_demand(qtbot: QtBot, theme: Theme) -> None:
    lines = tuple(PromptLine("MEMORY.md", n, f"- fact {n}", "pinned", f"MEMORY.md:{n:010x}") for n in range(1, 101))
    view = ReceiptView(Receipt("c", 1, "m", lines, (), 10, 0, "hybrid"), theme)
    qtbot.addWidget(view)
    assert len(view.rows) < 20, "a screen full at once"
    qtbot.waitUntil(lambda: len(view.rows) == 40)
    assert view.rest is not None and view.rest.text() == "and 60 more"
    view.rest.click()
    qtbot.waitUntil(lambda: len(view.rows) == 80)
    view.rest.click()
    qtbot.waitUntil(lambda: len(view.rows) == 100)
    assert view.rest.isHidden()


def test_lines_from_private_chats_are_named_in_the_summary() -> None:
    private = PromptLine("chats/2026-11/x.md", 3, "[x] you: hi", "meaning", "x#1", private=True)
    other = PromptLine("chats/2026-11/y.md", 3, "[y] you: hi", "meaning", "y#1", private=True)
    one = Receipt("c", 1, "m", (private, PromptLine("MEMORY.md", 1, "- a", "pinned")), (), 10, 0, "hybrid")
    assert summary(one) == "Memory used: 2 lines, from 1 private chat"
    assert summary(Receipt("c", 1, "m", (private, other), (), 10, 0, "hybrid")).endswith("from 2 private chats")


def test_ranks_score_and_cost_stand_with_a_line(theme: Theme, qtbot: QtBot) -> None:
    line = PromptLine("memory/t.md", 4, "found", "meaning", "memory/t.md:0123456789", 10, 0.83, 1, 3)
    view = ReceiptView(Receipt("c", 1, "m", (line,), (), 10, 0, "hybrid"), theme)
    qtbot.addWidget(view)
    assert view.rows[0].state.text() == "words 1st · meaning 3rd · fits 0.83 · 10 tokens"


@pytest.mark.parametrize(
    ("english", "shown"),
    [
        (
            "[2026, T, chats/x.md] you: hello there Keepsake: Hi. Keepsake: 2",
            "你：hello there Keepsake：Hi. Keepsake: 2",
        ),
        ("[2026, T, chats/x.md] … you: hello", "… 你：hello"),
        ("[2026, T, chats/x.md] Anna: you: hello", "Anna: you: hello"),
    ],
)
def test_who_speaks_in_a_recalled_turn_is_named_in_chinese(qapp: QApplication, english: str, shown: str) -> None:
    use_language(qapp, "zh_CN")
    try:
        assert shown_words(PromptLine("chats/2026-11/x.md", 3, english, "meaning", "x#1")) == shown
        assert shown_words(PromptLine("memory/x.md", 3, "[x] you: hello", "meaning", "x:1")) == "you: hello"
    finally:
        use_language(qapp, "en")


@pytest.mark.parametrize("then", ["a <b> & c", "", "~~x~~", "喜欢茶", "x" * 5000])
@pytest.mark.parametrize("now", ["a <i> & d ~~gone~~", "", "喜欢绿茶 ~~没有~~", "~~y~~ · superseded 2026-11-30"])
def test_two_wordings_are_shown_whole_and_as_text(then: str, now: str) -> None:
    document = QTextDocument()
    document.setHtml(then_and_now(then, now, LIGHT))
    said = " ".join(document.toPlainText().split())
    assert said == " ".join(f"then {then} now {now.replace('~~', '')}".split())


def test_receipts_are_looked_for_while_a_message_waits_for_the_disk(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    open_chat(qtbot, window, services, Turn(1, None, "", "a", "b"))
    services.receipts[("c", 1)] = make_receipt("c", 1)
    services.lanes.files = HeldLane()
    window.session.ask_receipts([1])
    qtbot.waitUntil(lambda: window.session.turns()[0].receipt is not None)


def test_a_receipt_that_was_read_before_its_words_were_forgotten_is_not_shown(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    open_chat(qtbot, window, services, Turn(1, None, "", "a", "b"))
    services.receipts[("c", 1)] = make_receipt("c", 1)
    services.lanes.recall = slow = HeldLane()
    window.session.ask_receipts([1])
    window.session.reread()
    qtbot.waitUntil(lambda: len(slow.held) == 2)
    first, _ = slow.held
    first[0].set_result({1: make_receipt("c", 1)})
    del slow.held[0]
    services.receipts[("c", 1)] = make_receipt("c", 1, lines=0)
    slow.release()
    qtbot.waitUntil(lambda: window.session.turns()[0].receipt is not None)
    assert window.session.turns()[0].receipt == make_receipt("c", 1, lines=0)
