"""One memory file as it is now, taken apart once, to find in it lines that stood there earlier."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise

from assistant.workspace.ids import line_id

Found = tuple[int, str]
"""A line's number, from 1, and its text."""
ALIKE = 0.6
"""Below it two lines are different lines: by trial with edited and with unrelated facts, which come up to 0.55."""
_COMPARED = 12
_LONGEST = 2_000  # characters of a line that are compared
_DAY = r"\d{4}-\d{2}-\d{2}"
_STRUCK = re.compile(rf"~~(.+?)~~((?: · (?:until|updated|moved) {_DAY})*)(?: · superseded ({_DAY}))?", re.DOTALL)
_MOVED = re.compile(rf" · moved {_DAY}")
_WORD = re.compile(r"[^\W_]+")
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]+")


class FileNow:
    """Each way of finding is prepared when it is first needed. blocks: the pieces of text that span several lines."""

    def __init__(self, text: str, blocks: Callable[[], Iterable[Found]] = list) -> None:
        self.lines = [line.removesuffix("\r") for line in text.split("\n")]
        self._given = blocks

    def exact(self, key: str, near: int) -> Found | None:
        """The line or block with this hash, the nearest to line ``near``."""
        found = self._by_key.get(key)
        if not found and not (found := self._blocks.get(key)):
            return None
        return min(found, key=lambda each: abs(each[0] - near))

    def struck(self, key: str) -> Found | None:
        """The line that had this hash before it, or one of its items, was struck."""
        return self._struck.get(key)

    def moved(self, key: str) -> Found | None:
        """Of the archive: the line that had this hash before it was moved here, struck since or not."""
        return self._moved.get(key)

    def alike(self, words: str, taken: set[int]) -> tuple[float, Found] | None:
        """The line most like ``words``, and how much (0..1); not one of the ``taken`` lines."""
        counts: Counter[int] = Counter()
        for token in set(tokens(words)):
            places = self._places.get(token, ())
            if len(places) < max(50, len(self.lines) // 4):  # a word of every other line tells nothing
                counts.update(places)
        best: tuple[float, Found] | None = None
        for number, _ in counts.most_common(_COMPARED):
            how = likeness(words, bare(self.lines[number - 1]))
            if number not in taken and how >= ALIKE and (best is None or how > best[0]):
                best = how, (number, self.lines[number - 1])
        return best

    @cached_property
    def _by_key(self) -> dict[str, list[Found]]:
        found: dict[str, list[Found]] = {}
        for number, line in enumerate(self.lines, 1):
            if line.strip():
                found.setdefault(key_of(line), []).append((number, line))
        return found

    @cached_property
    def _blocks(self) -> dict[str, list[Found]]:
        found: dict[str, list[Found]] = {}
        for number, text in self._given():
            found.setdefault(key_of(text), []).append((number, text))
        return found

    @cached_property
    def _struck(self) -> dict[str, Found]:
        found: dict[str, Found] = {}
        blocks = (each for several in self._blocks.values() for each in several)
        for number, text in (*enumerate(self.lines, 1), *blocks):
            if "~~" in text:
                found |= {key_of(each): (number, text) for each in unstruck(text)}
        return found

    @cached_property
    def _moved(self) -> dict[str, Found]:
        found: dict[str, Found] = {}
        for number, line in enumerate(self.lines, 1):
            if line.strip():
                here = _MOVED.sub("", line)
                found |= {key_of(each): (number, line) for each in (*unstruck(here), here)}
        return found

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, line in enumerate(self.lines, 1):
            for token in set(tokens(line)):
                found.setdefault(token, []).append(number)
        return found


def key_of(text: str) -> str:
    """The part of a unit id that comes from the text alone."""
    return line_id("", text)[1:]


def unstruck(text: str) -> Iterator[str]:
    """What a line with struck parts can have been: without any strike, without those of one day, without one."""
    matches = list(_STRUCK.finditer(text))
    days = {match[3] for match in matches}
    wanted = [matches, *([m for m in matches if m[3] == day] for day in days), *([m] for m in matches[:20])]
    for some in wanted:
        was, end = "", 0
        for match in some:
            was += text[end : match.start()] + match[1] + match[2]
            end = match.end()
        yield was + text[end:]


def bare(line: str) -> str:
    """A line without the date and source of an entry, and without its bullet."""
    return re.sub(rf"^\s*(?:[-*+]\s+|{_DAY}[ \t]*\|[^|]*\|)", "", line)


def likeness(one: str, other: str) -> float:
    """0..1; 1 for equal texts."""
    one, other = one[:_LONGEST], other[:_LONGEST]
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def tokens(text: str) -> Iterator[str]:
    """Words in small letters; of scripts without spaces each pair of neighbours."""
    for word in _WORD.findall(text[:_LONGEST].casefold()):
        if wide := _WIDE.findall(word):
            yield from (a + b for run in wide for a, b in pairwise(run))
        else:
            yield word
