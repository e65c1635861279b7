"""Markdown in colour: headings, lists, code, links, front matter, entries with their marks."""

from __future__ import annotations

import re

from PySide6.QtGui import QColor, QFont, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from assistant.ui.palette import Palette
from assistant.ui.theme import Theme

_ENTRY = re.compile(r"^(\d{4}-\d{2}-\d{2})\|([^|]*)\|")
_HEADING = re.compile(r"^#{1,6}\s")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")
_FIELD = re.compile(r"^[^\s:#-][^:]*:")
_INLINE = (
    (re.compile(r"\*\*[^*]+\*\*"), "strong"),
    (re.compile(r"(?<![*\w])\*[^*\s][^*]*\*"), "emphasis"),
    (re.compile(r"\[\[[^\]]+\]\]|\[[^\]]+\]\([^)]*\)|<?https?://[^\s>)]+>?"), "link"),
    (re.compile(r"^\s*([-*+]|\d+[.)])\s(\[[ xX]\]\s)?"), "bullet"),
    (re.compile(r"^\s*>+\s?"), "mark"),
    (re.compile(r"^\s*([-*_])(\s*\1){2,}\s*$"), "mark"),
    (re.compile(r" · (until|updated|superseded|moved) \d{4}-\d{2}-\d{2}"), "mark"),
    (re.compile(r"~~[^~]+~~"), "struck"),
    (re.compile(r"`[^`]+`"), "code"),
)
_LONGEST = 4000  # characters of a line; a longer one is shown plain, or typing in it would stall

_PLAIN, _FRONT, _CODE, _LATER = 0, 1, 2, 1 << 16
"""Block states; a fence of n signs is _CODE + 2n, one more for tildes. _LATER is added while a line is not coloured."""
_AT_ONCE = 400
"""Lines coloured around what is seen; of a long file the others wait, since colouring them all would stall."""


class MarkdownHighlighter(QSyntaxHighlighter):
    """What spans lines (front matter, fenced code) is told from line to line by the block state."""

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._theme = theme
        self._formats = _formats(theme.palette)
        self._first, self._last, self._seen = 0, _AT_ONCE, True
        theme.changed.connect(self._on_theme_changed)

    def look(self, first: int, last: int) -> None:
        """These lines (from 0) are seen now: colour them, and some around them."""
        self._first, self._last = first - _AT_ONCE // 2, last + _AT_ONCE // 2
        block = self.document().findBlockByNumber(max(0, self._first))
        while block.isValid() and block.blockNumber() <= self._last:
            if block.userState() >= _LATER:
                self.rehighlightBlock(block)
            block = block.next()

    def _on_theme_changed(self) -> None:
        self._formats = _formats(self._theme.palette)
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        before = max(_PLAIN, self.previousBlockState()) & (_LATER - 1)
        number = self.currentBlock().blockNumber()
        first = number == 0
        self._seen = self._first <= number <= self._last
        if before == _FRONT or (first and text.rstrip() == "---"):
            self.setCurrentBlockState(self._front_matter(text, first))
        elif before >= _CODE:
            self._paint(0, len(text), "code")
            self.setCurrentBlockState(_PLAIN if _closes(text, before) else before)
        elif (fence := _FENCE.match(text)) and "`" not in fence[2]:
            self._paint(0, len(text), "mark")
            self.setCurrentBlockState(_CODE + 2 * len(fence[1]) + (fence[1][0] == "~"))
        else:
            self.setCurrentBlockState(_PLAIN)
            if self._seen:
                self._line(text)
        if not self._seen:
            self.setCurrentBlockState(self.currentBlockState() + _LATER)

    def _front_matter(self, text: str, first: bool) -> int:
        ends = not first and text.rstrip() in ("---", "...")
        if first or ends:
            self._paint(0, len(text), "mark")
        elif field := _FIELD.match(text):
            self._paint(0, field.end(), "field")
        return _PLAIN if ends else _FRONT

    def _line(self, text: str) -> None:
        if _HEADING.match(text):
            self._paint(0, len(text), "heading")
            return
        if len(text) > _LONGEST:
            return
        if entry := _ENTRY.match(text):
            self._paint(0, entry.end(1), "date")
            self._paint(entry.end(1), entry.end(), "mark")
            for at in (i for i, character in enumerate(text) if character == "；"):
                self._paint(at, at + 1, "bullet")
        for pattern, name in _INLINE:
            for found in pattern.finditer(text):
                self._paint(found.start(), found.end(), name)

    def _paint(self, start: int, end: int, name: str) -> None:
        if not self._seen:
            return
        self.setFormat(start, end - start, self._formats[name])


def _closes(text: str, state: int) -> bool:
    size, tilde = divmod(state - _CODE, 2)
    bare = text.strip()
    return len(bare) >= size and not bare.strip("~" if tilde else "`")


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
        "field": palette.keyword,
    }
    for name, colour in colours.items():
        style = QTextCharFormat()
        style.setForeground(QColor(colour))
        if name in ("heading", "strong"):
            style.setFontWeight(QFont.Weight.Bold)
        style.setFontItalic(name == "emphasis")
        style.setFontStrikeOut(name == "struck")
        style.setFontUnderline(name == "link")
        made[name] = style
    return made
