"""The index after a forgetting: nothing to be found by a search, and nothing in the bytes of its files."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import BinaryIO

from assistant.core.values import RecallQuery
from assistant.recall.search import Recall
from assistant.workspace.disk import as_error
from assistant.workspace.forgotten_text import found_in_bytes, holds

_MOST_LOOKS = 50  # of many lines that go at once the longest ones are looked for
_QUERY_CHARACTERS = 200
_LONG = 20
_PIECE = 1 << 24
"""Bytes that are looked through at once."""
_LONGEST_WORD = 1_024
_AROUND, _BYTES_A_CHARACTER = 4_096, 16
"""More than ``found_in_bytes`` looks at around a place, and for each character of a text; bytes."""


class IndexPlace:
    """Units, keywords and the write-ahead log. It follows the files, so they are scrubbed first."""

    name = "index"

    def __init__(self, recall: Recall) -> None:
        self._recall = recall

    def scrub(self, texts: Sequence[str]) -> None:
        self._recall.erase()

    def erase(self, texts: Sequence[str], units: Collection[str], skip: Collection[str]) -> None:
        """As scrub; of the long files ``skip`` only these units go, the rest is read again later."""
        self._recall.erase(units, skip)
        if any(holds(said, texts) for text in texts[:_MOST_LOOKS] for _, said in self._recall.with_words(text)):
            self._recall.erase()  # the index was of an older text of those files

    def remaining(self, texts: Sequence[str]) -> int:
        """SQLite stores text as UTF-8, and the texts of a row without a gap, so that their words may run on."""
        return sum(_stands_in(path, texts) for path in self._recall.files)


def _stands_in(path: Path, texts: Sequence[str]) -> bool:
    """Whether one of the texts stands in a file. By pieces that overlap, as an index may have gigabytes."""
    around = _AROUND + _BYTES_A_CHARACTER * max(map(len, texts), default=0)
    try:
        with path.open("rb") as file:
            starts = range(0, file.seek(0, os.SEEK_END), _PIECE)
            return any(_holds(_piece(file, start - around, start + _PIECE + around), texts) for start in starts)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise as_error(error, path) from error


def _piece(file: BinaryIO, start: int, end: int) -> bytes:
    """The bytes there, without the parts of words at both ends, which would look like words."""
    file.seek(max(start, 0))
    data = file.read(end - max(start, 0))
    first = data.find(b" ", 0, _LONGEST_WORD) + 1 if start > 0 else 0
    last = data.rfind(b" ", max(len(data) - _LONGEST_WORD, 0)) if len(data) == end - max(start, 0) else len(data)
    return data[first : last if last >= 0 else len(data)]


def _holds(data: bytes, texts: Sequence[str]) -> bool:
    return bool(found_in_bytes(data, texts, ("utf-8",))) or _runs_on(data, texts)


def _runs_on(data: bytes, texts: Sequence[str]) -> bool:
    """Whether a text that is too long for chance stands there, whatever stands around it."""
    lowered = data.lower()
    return any(text.encode("utf-8", "replace").lower() in lowered for text in texts if len(text) >= _LONG)


class VectorPlace:
    """Vectors of texts that no unit holds any more."""

    name = "vectors"

    def __init__(self, recall: Recall) -> None:
        self._recall = recall

    def scrub(self, texts: Sequence[str]) -> None:
        """IndexPlace has done it."""

    def remaining(self, texts: Sequence[str]) -> int:
        return self._recall.lone_vectors()


def found_again(recall: Recall, texts: Sequence[str], units: Collection[str]) -> int:
    """How many units the index still has that say one of the texts for all its words, or that are one of the units.

    Where a search is ready, it is asked too: all that it can find are units of the index.
    """
    found = {unit for text in texts[:_MOST_LOOKS] for unit, said in recall.with_words(text) if holds(said, texts)}
    found |= recall.known(unit for unit in units if "#" not in unit)  # a turn stays, and says «forgotten»
    if texts and recall.is_ready:
        hits = recall.search(RecallQuery(texts[0][:_QUERY_CHARACTERS], limit=10), 0.0).hits
        found |= {hit.id for hit in hits if holds(hit.text, texts)}
    return len(found)
