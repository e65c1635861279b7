"""Markdown lines parted into the blocks that are found one by one: bullets, paragraphs, tables, code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.*)")
_BULLET = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+\S")
_FENCE = re.compile(r"\s{0,3}(```+|~~~+)")
_WORD = re.compile(r"\w")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？\n])\s*")
_MOST_CHARACTERS = 1_200
"""A block longer than this is parted at sentences; about what the embedding model reads at once."""


class TextBlock(
    NamedTuple
):  # made in a quarter of the time of a frozen dataclass, and a note may hold a hundred thousand
    """A bullet or paragraph. line, last: its first and last line, from 1; headings: the ones it stands under."""

    line: int
    text: str
    headings: tuple[str, ...]
    last: int


def text_blocks(lines: Sequence[tuple[int, str]]) -> list[TextBlock]:
    """The blocks of numbered lines, in order. A heading is not a block; one with nothing under it is."""
    splitter = _Splitter()
    feed = splitter.feed
    for number, text in lines:
        feed(number, text)
    splitter.end()
    return splitter.blocks


class _Splitter:
    """Takes lines one by one. blocks: those that are complete."""

    def __init__(self) -> None:
        self.blocks: list[TextBlock] = []
        self._headings: list[tuple[int, int, str]] = []  # level, line, text
        self._above: tuple[str, ...] = ()  # their texts
        self._bare = False  # the last heading has nothing under it yet
        self._start = 0
        self._lines: list[str] = []
        self._fence = ""

    def feed(self, number: int, text: str) -> None:
        if self._fence:
            self._add(number, text)
            if text.strip().startswith(self._fence):
                self._fence = ""
            return
        first = text.lstrip()[:1]  # tells of most lines what they are not, without the patterns
        if first == "#" and (heading := _HEADING.match(text)):
            self.end()
            level, words = len(heading[1]), heading[2].rstrip().rstrip("#").rstrip()
            self._headings = [h for h in self._headings if h[0] < level] + [(level, number, words)]
            self._above = tuple(h[2] for h in self._headings)
            self._bare = bool(words)
        elif not first:
            self._finish()
        else:
            if _BULLET.match(text):
                self._finish()
            if first in "`~" and (fence := _FENCE.match(text)):
                self._fence = fence[1]
            self._add(number, text)

    def end(self) -> None:
        self._finish()
        if self._bare:
            self._bare = False
            _, line, text = self._headings[-1]
            self.blocks.append(TextBlock(line, text, self._above[:-1], line))

    def _add(self, number: int, text: str) -> None:
        if not self._lines:
            self._start = number
        self._lines.append(text)

    def _finish(self) -> None:
        if not self._lines:
            return
        lines, self._lines = self._lines, []
        text = (lines[0] if len(lines) == 1 else "\n".join(lines)).strip()
        if not text or not _WORD.search(text):
            return
        self._bare = False
        line = self._start
        if len(text) <= _MOST_CHARACTERS:
            self.blocks.append(TextBlock(line, text, self._above, line + text.count("\n")))
            return
        for piece in _pieces(text):
            first = line + piece[: len(piece) - len(piece.lstrip())].count("\n")
            self.blocks.append(TextBlock(first, piece.strip(), self._above, first + piece.strip().count("\n")))
            line += piece.count("\n")


def _pieces(text: str) -> Iterator[str]:
    """The text, parted where it is too long: between sentences, else anywhere."""
    piece = ""
    for sentence in _sentences(text):
        for start in range(0, len(sentence), _MOST_CHARACTERS):
            part = sentence[start : start + _MOST_CHARACTERS]
            if piece and len(piece) + len(part) > _MOST_CHARACTERS:
                yield piece
                piece = ""
            piece += part
    if piece.strip():
        yield piece


def _sentences(text: str) -> Iterator[str]:
    if len(text) <= _MOST_CHARACTERS:
        yield text
        return
    start = 0
    for end in _SENTENCE_END.finditer(text):
        if end.end() > start:
            yield text[start : end.end()]
            start = end.end()
    if start < len(text):
        yield text[start:]
