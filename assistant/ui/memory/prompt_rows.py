"""The prompt as rows: a heading for each block and each rule, the lines under it, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QTextLayout, QTextOption
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from assistant.chat.laid_out import laid_out
from assistant.core.values import LeftOut, Prompt
from assistant.ui.chat.receipt_words import why_words
from assistant.ui.i18n import tr, translate_message
from assistant.ui.icons import paint_icon
from assistant.ui.models.plain import ITEM_ROLE, Index
from assistant.ui.theme import Theme

FOLDED = frozenset({"persona", "tools", "history"})
"""Blocks that are shut until the person opens them: they are long, and not memory."""
_MOST_CHARACTERS = 3_000  # painted of one line; what is copied is whole
_MOST_LEFT = 200
_INDENT = 24  # pixels
_CHEVRON = 14  # pixels
_SCROLL_BAR = 16
_RIGHT = 104  # pixels for tokens and running total


@dataclass(frozen=True, slots=True)
class PromptRow:
    """kind: "block", "line", "rule" or "left". key: what folds; file, line: where it goes to, "" for nowhere.

    tokens: its own; total: of the prompt up to and with it; -1: it has none.
    """

    kind: str
    text: str
    key: str = ""
    open: bool = False
    file: str = ""
    line: int = 0
    unit: str = ""
    why: str = ""
    tokens: int = -1
    total: int = -1


def block_title(name: str) -> str:
    """What a block of the prompt is called."""
    titles = {
        "persona": tr("Persona and rules"),
        "facts": tr("Facts"),
        "tail": tr("The latest entries"),
        "brief": tr("Other chats"),
        "tools": tr("Tools that the model may use"),
        "history": tr("The conversation so far"),
        "recalled": tr("Recalled for this message"),
        "message": tr("Your message"),
    }
    return titles.get(name, name)


def rows_of(prompt: Prompt, turned: frozenset[str]) -> list[PromptRow]:
    """turned: keys of the blocks and rules that are not as they are at first (see FOLDED; rules are shut)."""
    rows: list[PromptRow] = []
    total = 0
    for block in prompt.blocks:
        is_open = (block.name in FOLDED) == (block.name in turned)
        total += block.tokens
        rows.append(PromptRow("block", block_title(block.name), block.name, is_open, tokens=block.tokens, total=total))
        if is_open:
            so_far = total - block.tokens
            for each in laid_out(block):
                so_far += each.tokens
                here = each.line
                place = (here.file, here.line, here.unit, here.why) if here else ("", 0, "", "")
                rows.append(PromptRow("line", each.text, block.name, False, *place, each.tokens, so_far))
    frame = prompt.tokens - total
    if frame > 0:
        rows.append(PromptRow("block", tr("Marks of the model's template"), tokens=frame, total=prompt.tokens))
    return [*rows, *_left_out(prompt, turned)]


def _left_out(prompt: Prompt, turned: frozenset[str]) -> Iterator[PromptRow]:
    groups: dict[str, list[LeftOut]] = {}
    for left in prompt.left_out:
        groups.setdefault(left.why, []).append(left)
    for why, several in groups.items():
        is_open = f"left:{why}" in turned
        words = tr("Left out: {why} ({n})", why=translate_message(why), n=f"{len(several):,}")
        yield PromptRow("rule", words, f"left:{why}", is_open)
        if is_open:
            for left in several[:_MOST_LEFT]:
                place = f"{left.file}:{left.line}" if left.line else left.file
                yield PromptRow("left", place, file=left.file, line=left.line)
            if len(several) > _MOST_LEFT:
                yield PromptRow("left", tr("and {n} more", n=len(several) - _MOST_LEFT))


def describe_row(row: PromptRow) -> dict[int, Any]:
    """A row for those who hear it, and its tooltip."""
    place = f"{row.file}:{row.line}" if row.file and row.kind == "line" else ""
    cost = tr("{n} tokens", n=f"{row.tokens:,}") if row.tokens >= 0 else ""
    fold = (tr("unfolded") if row.open else tr("folded")) if row.kind in ("block", "rule") and row.key else ""
    return {
        Qt.ItemDataRole.DisplayRole: row.text,
        Qt.ItemDataRole.AccessibleTextRole: ", ".join(part for part in (row.text, place, cost, fold) if part),
        Qt.ItemDataRole.ToolTipRole: " · ".join(part for part in (place, why_words(row.why)) if part),
    }


class PromptDelegate(QStyledItemDelegate):
    """Words in the fixed-width font, wrapped; at the right the tokens and the running total."""

    def __init__(self, theme: Theme, view: QAbstractItemView) -> None:
        super().__init__(view)
        self._theme, self._view = theme, view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row: PromptRow = index.data(ITEM_ROLE)
        if row.kind in ("block", "rule"):
            return QSize(100, 34)
        words = self._words(row)
        return QSize(100, max(18, round(words.boundingRect().height())) + (4 if row.file else 2))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: PromptRow = index.data(ITEM_ROLE)
        colours = self._theme.palette
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if selected or (option.state & QStyle.StateFlag.State_MouseOver and (row.key or row.file)):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.selected if selected else colours.hover))
            painter.drawRoundedRect(option.rect.adjusted(2, 0, -2, 0), 6, 6)
        if row.kind in ("block", "rule"):
            self._paint_head(painter, option.rect, row)
        else:
            self._paint_line(painter, option.rect, row)
        painter.restore()

    def _paint_head(self, painter: QPainter, rect: QRect, row: PromptRow) -> None:
        colours = self._theme.palette
        painter.setFont(_font(painter.font(), 13, bold=True))
        painter.setPen(QColor(colours.text if row.kind == "block" else colours.muted))
        if row.key:
            at = QRectF(rect.left() + 6, rect.center().y() - _CHEVRON / 2 + 2.5, _CHEVRON, _CHEVRON)
            paint_icon(painter, at, "down" if row.open else "right", colours.muted)
        room = rect.adjusted(_INDENT, 4, -10 - (_RIGHT if row.tokens >= 0 else 0), 0)
        words = QFontMetrics(painter.font()).elidedText(row.text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, words)
        self._paint_cost(painter, rect.adjusted(0, 4, 0, 0), row, bold=True)

    def _paint_line(self, painter: QPainter, rect: QRect, row: PromptRow) -> None:
        colours = self._theme.palette
        linked = row.kind == "left" and row.file
        painter.setPen(QColor(colours.accent if linked else colours.text if row.file else colours.muted))
        self._words(row).draw(painter, QPointF(rect.left() + _INDENT, rect.top() + 1))
        self._paint_cost(painter, QRect(rect.left(), rect.top(), rect.width(), 20), row)

    def _paint_cost(self, painter: QPainter, rect: QRect, row: PromptRow, bold: bool = False) -> None:
        if row.tokens < 0 or (row.kind == "line" and not row.tokens):
            return
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.setFont(_font(painter.font(), 12, bold=bold, family=self._view.font().families()))
        painter.setPen(QColor(self._theme.palette.text if bold else self._theme.palette.muted))
        painter.drawText(rect.adjusted(0, 0, -62, 0), right, f"{row.tokens:,}")
        painter.setFont(_font(painter.font(), 12))
        painter.setPen(QColor(self._theme.palette.muted))
        painter.drawText(rect.adjusted(0, 0, -12, 0), right, f"{row.total:,}")

    def _words(self, row: PromptRow) -> QTextLayout:
        """The words of a line, as wide as there is room beside a scroll bar, whether there is one yet or not."""
        room = self._view.width() - _SCROLL_BAR - _INDENT - (_RIGHT if row.kind == "line" else 12)
        return _laid_out(row.text, _font(QFont(), 12, family=self._theme.mono), max(60, room))


def _laid_out(text: str, font: QFont, width: int) -> QTextLayout:
    """The text broken at words, and within what is longer than a line."""
    layout = QTextLayout(text[:_MOST_CHARACTERS] or " ", font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.beginLayout()
    height = 0.0
    while (line := layout.createLine()).isValid():
        line.setLineWidth(width)
        line.setPosition(QPointF(0, height))
        height += line.height()
    layout.endLayout()
    return layout


def _font(base: QFont, pixels: int, bold: bool = False, family: list[str] | None = None) -> QFont:
    font = QFont(base)
    font.setPixelSize(pixels)
    font.setBold(bold)
    if family:
        font.setFamilies(family)
    return font
