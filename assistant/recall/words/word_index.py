"""Reading the keyword index: where words and phrases stand, and how much a word there says.

Its own module because it needs numpy, which starting the app does not.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from assistant.recall.words.postings import BLOCK, HASH, MOST_TIMES, SHIFT, word_hash, word_key

CONTEXT_WEIGHT = 0.4
"""Of the context against the unit's own text (measured, see the design's "Recall, measured")."""
K1, B = 1.2, 0.75
"""Of BM25 as FTS5 has it: how fast repetition saturates, and how much a long text is held against it."""
_MOST_READ = 2_000
_TIMES = np.array(
    [text + CONTEXT_WEIGHT * context for context in range(MOST_TIMES + 1) for text in range(MOST_TIMES + 1)], np.float32
)


@dataclass(frozen=True, slots=True)
class Found:
    """Where a word stands. at: places, ascending; code: how often, in the text (two bits) and around it (two more)."""

    at: np.ndarray
    code: np.ndarray

    def codes(self, at: np.ndarray) -> np.ndarray:
        """Of each of some places how often the word stands there; 0 for not at all."""
        if not len(self.at):
            return np.zeros(len(at), np.uint16)
        place = np.minimum(np.searchsorted(self.at, at), len(self.at) - 1)
        return np.where(self.at[place] == at, self.code[place], 0)

    def is_in_text(self, at: np.ndarray) -> np.ndarray:
        """Which of some places have the word in their own text."""
        return self.codes(at) & MOST_TIMES > 0

    @property
    def in_text(self) -> np.ndarray:
        """The places whose own text has it."""
        return self.at[self.code & MOST_TIMES > 0]


class WordIndex:
    """The index as one read transaction sees it. Units are known by their place: 0 .. places-1, ids ascending."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        rows = connection.execute("SELECT block, sizes FROM word_blocks ORDER BY block").fetchall()
        self._blocks = np.array([block for block, _ in rows], np.int64)
        self._start = (rows[-1][0] + 1) << SHIFT if rows else 0
        self._in_blocks = len(rows) << SHIFT
        self._read_tail()
        sizes = [np.frombuffer(b"".join([sizes for _, sizes in rows]), "<u2"), self._tail_sizes]
        self._lengths = np.concatenate(sizes).astype(np.float32)
        self.units = int(np.count_nonzero(self._lengths))
        self._known: dict[str, Found] = {}

    def _read_tail(self) -> None:
        sql = "SELECT unit, text, context FROM unit_words WHERE unit >= ? ORDER BY unit"
        rows = self._connection.execute(sql, [self._start]).fetchall()
        units, texts, contexts = zip(*rows, strict=True) if rows else ((), (), ())
        self._tail_units = np.array(units, np.int64)
        sizes = [np.fromiter(map(len, parts), np.int64, len(rows)) for parts in (texts, contexts)]
        lengths = np.stack(sizes, axis=1) // HASH
        self._tail_sizes = lengths.sum(axis=1) + 1
        both = chain.from_iterable(zip(texts, contexts, strict=True))
        self._tail_words = np.frombuffer(b"".join(both), "<i8")
        self._tail_ends = np.cumsum(lengths.ravel())

    @property
    def places(self) -> int:
        return len(self._lengths)

    def ids(self, at: np.ndarray) -> np.ndarray:
        """The unit rows' ids at these places."""
        folded = at < self._in_blocks
        ids = np.empty(len(at), np.int64)
        ids[folded] = (self._blocks[at[folded] >> SHIFT] << SHIFT) + (at[folded] & (BLOCK - 1))
        ids[~folded] = self._tail_units[at[~folded] - self._in_blocks]
        return ids

    def mask(self, ids: np.ndarray) -> np.ndarray:
        """Which places are those of the units with these ids (ascending)."""
        mask = np.zeros(self.places, bool)
        split = int(np.searchsorted(ids, self._start))
        if split:
            number = np.full(int(self._blocks[-1]) + 1, -1, np.int64)
            number[self._blocks] = np.arange(len(self._blocks))
            old = ids[:split]
            block = number[old >> SHIFT]
            mask[((block << SHIFT) + (old & (BLOCK - 1)))[block >= 0]] = True
        mask[self._in_blocks :] = np.isin(self._tail_units, ids[split:], assume_unique=True)
        return mask

    def find(self, word: str) -> Found:
        """Where a word stands, in a text or around it."""
        if word not in self._known:
            self._known[word] = self._find(word)
        return self._known[word]

    def _find(self, word: str) -> Found:
        key = word_key(word)
        sql = "SELECT block, units FROM postings WHERE word = ? ORDER BY block"
        rows = self._connection.execute(sql, [key]).fetchall()
        values = np.frombuffer(b"".join([units for _, units in rows]), "<u2")
        first = np.searchsorted(self._blocks, [block for block, _ in rows]).astype(np.int32) << SHIFT
        at = np.repeat(first, [len(units) // 2 for _, units in rows]) + (values & (BLOCK - 1))
        tail, code = self._in_tail(key)
        if not len(tail):
            return Found(at, values >> SHIFT)
        return Found(np.concatenate([at, tail]), np.concatenate([values >> SHIFT, code]))

    def _in_tail(self, key: int) -> tuple[np.ndarray, np.ndarray]:
        hits = np.searchsorted(self._tail_ends, np.flatnonzero(self._tail_words == key), "right")
        at, where = np.unique(hits >> 1, return_inverse=True)
        around = np.bincount(where, hits & 1, len(at)).astype(np.int64)
        times = np.bincount(where, minlength=len(at)) - around
        code = np.minimum(times, MOST_TIMES) | np.minimum(around, MOST_TIMES) << 2
        return at.astype(np.int32) + self._in_blocks, code.astype(np.uint16)

    def phrase(self, words: Sequence[str], joints: Sequence[str]) -> Found:
        """Where the words stand one after the other in a unit's own text.

        joints: what tells of it without reading the text; used where the words themselves meet too often to read all.
        """
        at = self.all_of(words)
        if len(at) > _MOST_READ and joints:
            at = self.all_of(joints)
        elif len(at):
            at = at[-_MOST_READ:]
            wanted = b"".join(word_hash(word) for word in words)
            at = at[[self._holds(unit, wanted) for unit in self.ids(at).tolist()]]
        return Found(at, np.ones(len(at), np.uint16))

    def all_of(self, words: Sequence[str]) -> np.ndarray:
        """Places of the units whose own text has all the words."""
        lists = sorted((self.find(word) for word in dict.fromkeys(words)), key=lambda found: len(found.at))
        at = lists[0].in_text
        for found in lists[1:]:
            at = at[found.is_in_text(at)]
        return at

    def _holds(self, unit: int, wanted: bytes) -> bool:
        (text,) = self._connection.execute("SELECT text FROM unit_words WHERE unit = ?", [unit]).fetchone()
        at = text.find(wanted)
        while at >= 0 and at % HASH:
            at = text.find(wanted, at + 1)
        return bool(at >= 0)

    def saturation(self) -> np.ndarray:
        """For each place what BM25 adds to a word's count there."""
        total = float(self._lengths.sum()) - self.units
        mean = max(total / max(self.units, 1), 1.0)
        result: np.ndarray = np.float32(K1 * (1 - B)) + np.float32(K1 * B / mean) * (self._lengths - 1)
        return result

    @staticmethod
    def strength(found: Found, saturation: np.ndarray) -> np.ndarray:
        """BM25 of a word at the places where it stands, but for its idf; at most K1 + 1."""
        times = _TIMES[found.code]
        result: np.ndarray = times * np.float32(K1 + 1) / (times + saturation[found.at])
        return result
