"""Units in memory: what a search needs of each at once, and a small code for each window of its text.

The vectors themselves stay in the index file: codes tell which windows may be near (see ``codes``), and only the
vectors of those are read. About 300 bytes a unit.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assistant.recall.meaning.codes import Codes, edge
from assistant.recall.meaning.questions import Questions
from assistant.recall.meaning.vectors import VectorReader, read_pieces
from assistant.recall.words.text import LANGUAGES

GROUPS = 2 * len(LANGUAGES)
"""Units are centred by language, and those of chats apart from the others."""
UNIT_ARRAYS = tuple("ids day until struck archived renews chat number group first parts has_vector".split())
_SIFTED = 16_000
_SIFTED_SHARES = 2.5, 32
_FEWEST_SIFTED = 4_000
"""Windows that pass the first sieve: so many at most, of fewer two in five, and one in 32 of a great number."""
_WEIGHED = 200
"""More than asked for pass the second."""
_FEW = 3


@dataclass(frozen=True)
class Marks:
    """How far a snapshot has followed the index: the highest ids of units, vectors and gone units that it has seen.

    birth: of which index; questions: with which edition of the bank and the query map.
    """

    birth: str
    questions: str
    units: int
    vectors: int
    gone: int


@dataclass(frozen=True)
class Windows:
    """The windows of texts, in the order in which they were read.

    codes: of each, less the centres as they were when the first were made; rows: ids of vectors; units: the place of
    each window's unit, -1 once that is gone; sorted: numbers of windows, those of one unit side by side.
    """

    codes: Codes
    rows: np.ndarray
    units: np.ndarray
    sorted: np.ndarray

    @property
    def count(self) -> int:
        return len(self.units)


@dataclass(frozen=True)
class Centres:
    """The middle of each group. sums: (GROUPS, dimensions) of all vectors; counts: (GROUPS,).

    frozen: the middles that codes are made with; added: vectors since these were taken, lost: units that had one.
    """

    sums: np.ndarray
    counts: np.ndarray
    frozen: np.ndarray
    added: int = 0
    lost: int = 0

    def now(self, questions: Questions | None) -> np.ndarray:
        """float32 (GROUPS, dimensions), by all vectors that were seen.

        A mean over few units says little: it counts as if some units of the whole were among them, and that as if
        some questions were (some zeros, where the model has no bank).
        """
        first = 0.0 if questions is None else questions.centres.mean(axis=0)
        whole = (self.sums.sum(axis=0) + _FEW * first) / (self.counts.sum() + _FEW)
        middles: np.ndarray = (self.sums + _FEW * whole) / (self.counts[:, None] + _FEW)
        return middles.astype(np.float32)


@dataclass(frozen=True)
class Snapshot:
    """What a search needs of every unit, as arrays in the order of ``ids`` (ascending).

    day, until: ordinals of local days, 0 for none; chat: a number a chat (see ``chats``), -1 outside chats; number: the
    turn's; group: index into LANGUAGES, higher by their number for turns of chats; first, parts: where in
    ``windows.sorted`` the unit's stand; centres: (GROUPS, dimensions).
    """

    marks: Marks
    model: int
    dimensions: int
    ids: np.ndarray
    day: np.ndarray
    until: np.ndarray
    struck: np.ndarray
    archived: np.ndarray
    renews: np.ndarray
    chat: np.ndarray
    number: np.ndarray
    group: np.ndarray
    first: np.ndarray
    parts: np.ndarray
    has_vector: np.ndarray
    chats: dict[str, int]
    windows: Windows
    middles: Centres
    centres: np.ndarray
    reader: VectorReader
    questions: Questions | None

    def nearest(
        self, connection: sqlite3.Connection, vector: np.ndarray, language: str, allowed: np.ndarray, most: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Places and cosines (see ``cosines``) of the ``most`` allowed units nearest to a query's vector, in no order.

        vector: (dimensions,) as the embedder gave it; allowed: a bool a unit. The cosines are exact, the choice is so
        as far as the codes go.
        """
        query = self._query(vector, language)
        windows = self._candidates(query, allowed, most)
        cosine = self._window_cosines(connection, query, windows)
        at, best = _best_of_each(self.windows.units[windows], cosine)
        at, best = at[best >= -1.0], best[best >= -1.0]
        if len(at) > most:
            keep = np.argpartition(best, len(at) - most)[-most:]
            at, best = at[keep], best[keep]
        return at, best

    def cosines(self, connection: sqlite3.Connection, vector: np.ndarray, language: str, at: np.ndarray) -> np.ndarray:
        """Cosine of the units at these places with a query's vector, their best window counting; -1 where none is.

        Both are taken less the centre of their language: embedding models place languages apart; without the centres a
        question finds its own language first, with them it finds the answer (measured: recall@5 of cross-lingual
        questions 0.20 -> 0.87, of all 0.73 -> 0.77). What all questions have in common goes, too (see ``questions``).
        """
        windows = self._windows_of(at)
        cosine = self._window_cosines(connection, self._query(vector, language), windows)
        places, best = _best_of_each(self.windows.units[windows], cosine)
        result = np.full(len(self.ids), -1.0, np.float32)
        result[places] = np.maximum(best, -1.0)
        found: np.ndarray = result[at]
        return found

    def vectors_of(self, connection: sqlite3.Connection, at: np.ndarray, *, centred: bool = True) -> np.ndarray:
        """float32 (units, dimensions): of each unit's first window, less its group's centre and of length 1.

        Zeros where there is none. centred False: as they are stored.
        """
        result = np.zeros((len(at), self.dimensions), np.float32)
        have = np.flatnonzero(self.has_vector[at])
        windows = self.windows.sorted[self.first[at[have]]]
        vectors, there = self.reader.read(connection, self.windows.rows[windows])
        if centred:
            vectors -= self.centres[self.group[at[have]]]
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
        result[have[there]] = vectors[there]
        return result

    def pieces_of(
        self, connection: sqlite3.Connection, vector: np.ndarray, language: str, at: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What the units at these places say sentence by sentence (see ``pieces``).

        float32 (pieces, dimensions), less their group's centre and of length 1; the index into ``at`` of each; their
        cosines with a query's vector.
        """
        have = np.flatnonzero(self.has_vector[at])
        rows = self.windows.rows[self.windows.sorted[self.first[at[have]]]]
        once, inverse = np.unique(rows, return_inverse=True)
        stored, of = read_pieces(connection, once, self.dimensions)
        # Texts that several units have in common are read once.
        order = np.argsort(of, kind="stable")
        edges = np.searchsorted(of[order], np.arange(len(once) + 1))
        lengths = np.diff(edges)[inverse]
        vectors = stored[order[ranges(edges[:-1][inverse], lengths)]]
        owner = np.repeat(have, lengths)
        vectors -= self.centres[self.group[at[owner]]]
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
        return vectors, owner, vectors @ self._query(vector, language)

    def positions(self, rows: Sequence[int]) -> np.ndarray:
        """Where these units stand; rows that are not here (written a moment ago by others) are dropped."""
        wanted = np.asarray(rows, np.int64)
        at = np.searchsorted(self.ids, wanted)
        inside = at < len(self.ids)
        at, wanted = at[inside], wanted[inside]
        found: np.ndarray = at[self.ids[at] == wanted]
        return found

    def _query(self, vector: np.ndarray, language: str) -> np.ndarray:
        own = LANGUAGES.index(language)
        middle = (self.centres[own] + self.centres[own + len(LANGUAGES)]) / 2
        if self.questions is not None:
            return self.questions.direction(vector, language, middle)
        query: np.ndarray = vector - middle
        query /= max(float(np.linalg.norm(query)), 1e-9)
        return query

    def _candidates(self, query: np.ndarray, allowed: np.ndarray, most: int) -> np.ndarray:
        """Windows of allowed units that may be among the nearest."""
        usable = np.append(allowed, False)[self.windows.units]  # -1, of units that are gone, is the last
        count = int(np.count_nonzero(usable))
        if count > (sifted := _sifted(count)):
            apart = self.windows.codes.apart(query, self.windows.count)
            usable &= apart <= edge(apart[usable], sifted)
        at = np.flatnonzero(usable)
        if len(at) > (weighed := most + _WEIGHED):
            likeness = self.windows.codes.likeness(query, at)
            at = at[np.argpartition(likeness, len(at) - weighed)[-weighed:]]
        return at

    def _window_cosines(self, connection: sqlite3.Connection, query: np.ndarray, windows: np.ndarray) -> np.ndarray:
        """Exact, from the stored vectors; -2 for those that are not there any more."""
        vectors, there = self.reader.read(connection, self.windows.rows[windows])
        group = self.group[self.windows.units[windows]]
        product = np.einsum("ij,j->i", vectors, query) - (self.centres @ query)[group]
        squared = 1.0 - 2.0 * np.einsum("ij,ij->i", vectors, self.centres[group]) + (self.centres**2).sum(axis=1)[group]
        cosine: np.ndarray = np.where(there, product / np.sqrt(np.maximum(squared, 1e-6)), -2.0)
        return cosine

    def _windows_of(self, at: np.ndarray) -> np.ndarray:
        at = np.unique(at[self.has_vector[at]])
        windows: np.ndarray = self.windows.sorted[ranges(self.first[at], self.parts[at])]
        return windows


def _sifted(windows: int) -> int:
    """How many of so many windows pass the first sieve."""
    most, least = (int(windows / share) for share in _SIFTED_SHARES)
    return max(min(_SIFTED, most), least, _FEWEST_SIFTED)


def ranges(first: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The numbers of several ranges, one after the other."""
    ends = np.cumsum(lengths, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    result: np.ndarray = np.arange(total) + np.repeat(first - (ends - lengths), lengths)
    return result


def _best_of_each(units: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each unit once, with its highest value."""
    order = np.argsort(-values, kind="stable")
    places, first = np.unique(units[order], return_index=True)
    return places, values[order][first]
