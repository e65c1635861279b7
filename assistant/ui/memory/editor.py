"""The editor of a memory file: Markdown in colour, and lines that do not load shaded."""

from __future__ import annotations

import difflib
import re

from PySide6.QtCore import QRectF
from PySide6.QtGui import (
    QColor,
    QFont,
    QPainter,
    QPaintEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)

from assistant.ui.i18n import tr
from assistant.ui.palette import Palette
from assistant.ui.plain_edit import PlainEdit
from assistant.ui.theme import Theme

_ENTRY = re.compile(r"^(\d{4}-\d{2}-\d{2})\|([^|]*)\|")
_RULES = (
    (re.compile(r"\*\*[^*]+\*\*"), "strong"),
    (re.compile(r"(?<![*\w])\*[^*\s][^*]*\*"), "emphasis"),
    (re.compile(r"`[^`]+`"), "code"),
    (re.compile(r"\[\[[^\]]+\]\]|\[[^\]]+\]\([^)]*\)"), "link"),
    (re.compile(r"~~[^~]+~~"), "struck"),
    (re.compile(r" · (until|updated|superseded|moved) \d{4}-\d{2}-\d{2}"), "mark"),
    (re.compile(r"^\s*([-*+]|\d+\.)\s"), "bullet"),
)


class MarkdownHighlighter(QSyntaxHighlighter):
    """Headings, emphasis, code, links, entries and their marks."""

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._theme = theme
        self._formats = _formats(theme.palette)
        theme.changed.connect(self._on_theme_changed)

    def _on_theme_changed(self) -> None:
        self._formats = _formats(self._theme.palette)
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        if text.startswith("#"):
            self.setFormat(0, len(text), self._formats["heading"])
            return
        if len(text) > 4000:
            return
        entry = _ENTRY.match(text)
        if entry:
            self.setFormat(0, entry.end(1), self._formats["date"])
            self.setFormat(entry.end(1), entry.end() - entry.end(1), self._formats["mark"])
        for pattern, name in _RULES:
            for found in pattern.finditer(text):
                self.setFormat(found.start(), found.end() - found.start(), self._formats[name])


def _formats(palette: Palette) -> dict[str, QTextCharFormat]:
    made = {}
    colours = {
        "heading": palette.accent,
        "strong": palette.text,
        "emphasis": palette.text,
        "code": palette.name,
        "link": palette.accent,
        "struck": palette.muted,
        "mark": palette.muted,
        "bullet": palette.accent,
        "date": palette.number,
    }
    for name, colour in colours.items():
        style = QTextCharFormat()
        style.setForeground(QColor(colour))
        if name in ("heading", "strong"):
            style.setFontWeight(QFont.Weight.Bold)
        style.setFontItalic(name == "emphasis")
        style.setFontStrikeOut(name == "struck")
        made[name] = style
    return made


class ShadedTextEdit(PlainEdit):
    """Plain text in which whole lines (from 1) can have a ground of their own, also where they wrap."""

    def __init__(self) -> None:
        super().__init__()
        self._grounds: dict[int, str] = {}

    def set_grounds(self, grounds: dict[int, str]) -> None:
        """Colours by line."""
        self._grounds = grounds
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._grounds:
            self._paint_grounds()
        super().paintEvent(event)

    def _paint_grounds(self) -> None:
        painter = QPainter(self.viewport())
        offset, width = self.contentOffset(), self.viewport().width()
        block = self.firstVisibleBlock()
        while block.isValid():
            rect = self.blockBoundingGeometry(block).translated(offset)
            if rect.top() > self.viewport().height():
                break
            colour = self._grounds.get(block.blockNumber() + 1)
            if colour:
                painter.fillRect(QRectF(0, rect.top(), width, rect.height()), QColor(colour))
            block = block.next()
        painter.end()


class MemoryEditor(ShadedTextEdit):
    """Plain text with highlighting. Positions are lines from 1."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("editor")
        self.setAccessibleName(tr("Text of the file"))
        self.setTabChangesFocus(True)
        self._theme = theme
        self._shaded: tuple[int, ...] = ()
        self._target = 0
        self._highlighter = MarkdownHighlighter(self.document(), theme)
        theme.changed.connect(self._mark)

    def show_text(self, text: str) -> None:
        """Replace the text; the cursor and the view stay about where they were."""
        line, place = self.textCursor().blockNumber(), self.verticalScrollBar().value()
        self._target = 0
        self.setPlainText(text)
        self._move_to(line)
        self.verticalScrollBar().setValue(place)
        self._mark()

    def shade(self, lines: tuple[int, ...]) -> None:
        """Lines that do not load."""
        self._shaded = lines
        self._mark()

    def shaded(self) -> tuple[int, ...]:
        return self._shaded

    def go_to(self, line: int) -> None:
        """Show a line in the middle, and mark it."""
        self._target = line
        self._move_to(line - 1)
        self.centerCursor()
        self._mark()

    def _move_to(self, block: int) -> None:
        found = self.document().findBlockByNumber(max(0, min(block, self.document().blockCount() - 1)))
        self.setTextCursor(QTextCursor(found))

    def _mark(self) -> None:
        colours = self._theme.palette
        grounds = dict.fromkeys(self._shaded, colours.red_soft)
        if self._target:
            grounds[self._target] = colours.accent_soft
        self.set_grounds(grounds)


def restore_endings(original: str, edited: str, newline: str) -> str:
    r"""``edited`` (lines end with ``\n``) with the line endings that unchanged lines have in ``original``.

    New and changed lines end with ``newline``, so that a save never rewrites what the person did not touch.
    """
    if "\r" not in original:
        return edited
    before = _lines(original)
    bare = [line.rstrip("\r\n") for line in before]
    after = edited.split("\n")
    endings = [newline] * len(after)
    for a, b, size in difflib.SequenceMatcher(None, bare, after, autojunk=False).get_matching_blocks():
        for i in range(size):
            endings[b + i] = before[a + i][len(bare[a + i]) :] or newline
    endings[-1] = ""
    return "".join(line + ending for line, ending in zip(after, endings, strict=True))


def _lines(text: str) -> list[str]:
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + [parts[-1]]
