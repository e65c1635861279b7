"""What the model was told for a reply: every line of memory, where it stands, why it came, and what was left out."""

from __future__ import annotations

import re
from functools import partial
from pathlib import PurePosixPath

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from assistant.core.values import PromptLine, Receipt
from assistant.ui.i18n import tr, translate_message
from assistant.ui.theme import Theme
from assistant.ui.widgets import button, label, rule, spread

_SHOWN = 40  # rows built at once; the rest on demand
_TOOLTIP = 600


def why_words(why: str) -> str:
    """The reason a line came, in one word of the person's language."""
    words = {
        "pinned": tr("pinned"),
        "tail": tr("latest"),
        "brief": tr("brief"),
        "keyword": tr("words"),
        "meaning": tr("meaning"),
        "recent": tr("recent"),
        "date": tr("date"),
    }
    return words.get(why, why)


def why_sentence(why: str) -> str:
    """The reason a line came, in full, for a tooltip."""
    sentences = {
        "pinned": tr("A fact of MEMORY.md, part of every prompt"),
        "tail": tr("One of the latest entries of MEMORY.md"),
        "brief": tr("What other chats were about in the last two days"),
        "keyword": tr("Found by the words of your message"),
        "meaning": tr("Found by the meaning of your message"),
        "recent": tr("Written or changed a short while ago"),
        "date": tr("The day it is"),
    }
    return sentences.get(why, why)


_FOUND = ("keyword", "meaning", "recent")
_BULLET = re.compile(r"^\s*(?:[-*+]\s+)?")
_SOURCE = re.compile(r"^\[[^\]\n]{1,200}\] (?=\S)")
_ENTRY = re.compile(r"^(\d{4}-\d{2}-\d{2})\|[^|\n]*\|")


def words_of(line: PromptLine) -> str:
    """A line without what stands beside it anyway: its bullet, its place, who wrote it."""
    bare = _BULLET.sub("", line.text.strip(), count=1)
    if line.why == "date":
        return bare.strip("[]")
    entry = _ENTRY.match(bare)
    if entry:
        return f"{entry[1]}: {bare[entry.end() :]}"
    return _BULLET.sub("", _SOURCE.sub("", bare, count=1), count=1) if line.why in _FOUND else bare


def place_of(line: PromptLine) -> str:
    """Where a line stands, short: the day of a chat, the name of a note."""
    name = PurePosixPath(line.file).stem if line.file != "MEMORY.md" else line.file
    if line.file.startswith("chats/"):
        day = re.match(r"(\d{4})(\d{2})(\d{2})_", name)
        return tr("chat of {day}", day="-".join(day.groups()) if day else name)
    return f"{name}:{line.line}" if line.line else name


def in_order(lines: tuple[PromptLine, ...]) -> list[PromptLine]:
    """What was found for this message first; then what every prompt has. Each part as in the prompt."""
    return sorted(lines, key=lambda line: line.why not in _FOUND)


def summary(receipt: Receipt) -> str:
    """The quiet line under a reply."""
    count = len(receipt.lines)
    if count == 0:
        return tr("No memory used")
    return tr("Memory used: 1 line") if count == 1 else tr("Memory used: {n} lines", n=count)


def costs(receipt: Receipt) -> str:
    """Model, tokens and how memory was searched, on one line."""
    modes = {
        "hybrid": tr("searched by words and meaning"),
        "keyword": tr("searched by words only"),
        "time": tr("searched by time"),
    }
    parts = [
        receipt.model,
        tr("{n} tokens of prompt", n=f"{receipt.prompt_tokens:,}"),
        tr("{n} of them reused", n=f"{receipt.reused_tokens:,}") if receipt.reused_tokens else "",
        modes.get(receipt.recall_mode, receipt.recall_mode),
    ]
    return " · ".join(part for part in parts if part)


class ReceiptView(QFrame):
    """The open receipt. ``place_chosen(file, line)`` when the person goes to a line."""

    place_chosen = Signal(str, int)

    def __init__(self, receipt: Receipt, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("card")
        self.setAccessibleName(tr("Receipt"))
        self._column = QVBoxLayout(self)
        spread(self._column, (16, 12, 16, 12), 8)
        self._column.addWidget(label(tr("What the model was told"), "section"))
        if receipt.lines:
            self._add_lines(receipt.lines)
        else:
            self._column.addWidget(label(tr("Nothing in your memory was about this."), "muted"))
        if receipt.left_out:
            self._add_left_out(receipt)
        self._column.addWidget(rule())
        self._column.addWidget(label(costs(receipt), "small", wrap=True))

    def _add_lines(self, lines: tuple[PromptLine, ...]) -> None:
        holder = QWidget()
        grid = QGridLayout(holder)
        spread(grid, (0, 0, 0, 0), 8)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(1, 1)
        for row, line in enumerate(in_order(lines)[:_SHOWN]):
            chip = label(why_words(line.why), "chip")
            chip.setToolTip(why_sentence(line.why))
            chip.setAlignment(Qt.AlignmentFlag.AlignCenter)
            words = label(words_of(line), wrap=True)
            words.setToolTip(line.text if len(line.text) < _TOOLTIP else "")
            words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            top = Qt.AlignmentFlag.AlignTop
            grid.addWidget(chip, row, 0, top)
            grid.addWidget(words, row, 1, top)
            if line.score:
                grid.addWidget(self._score(line), row, 2, top)
            if line.file:
                grid.addWidget(self._place(line), row, 3, top | Qt.AlignmentFlag.AlignRight)
        self._column.addWidget(holder)
        if len(lines) > _SHOWN:
            self._column.addWidget(label(tr("and {n} more", n=len(lines) - _SHOWN), "small"))

    def _score(self, line: PromptLine) -> QWidget:
        score = label(f"{line.score:.2f}", "small")
        score.setToolTip(tr("How well it fits, and what it costs: {n} tokens", n=line.tokens))
        return score

    def _place(self, line: PromptLine) -> QWidget:
        place = button(place_of(line), "link", lambda: self.place_chosen.emit(line.file, line.line))
        place.setToolTip(f"{line.file}:{line.line}")
        place.setAccessibleName(tr("Open {place} in memory", place=f"{line.file}:{line.line}"))
        return place

    def _add_left_out(self, receipt: Receipt) -> None:
        count = len(receipt.left_out)
        words = tr("Left out: 1 line") if count == 1 else tr("Left out: {n} lines", n=count)
        toggle = button(words, "quiet")
        rows = QWidget()
        column = QVBoxLayout(rows)
        spread(column, (8, 0, 0, 0), 4)
        for left in receipt.left_out[:_SHOWN]:
            place = f"{left.file}:{left.line}" if left.line else left.file
            row = QHBoxLayout()
            spread(row, spacing=8)
            link = button(place, "link", partial(self.place_chosen.emit, left.file, left.line))
            row.addWidget(link)
            row.addWidget(label(translate_message(left.why), "small", wrap=True), 1)
            column.addLayout(row)
        rows.hide()
        toggle.clicked.connect(lambda: rows.setVisible(rows.isHidden()))
        line = QHBoxLayout()
        line.addWidget(toggle)
        line.addStretch()
        self._column.addLayout(line)
        self._column.addWidget(rows)
