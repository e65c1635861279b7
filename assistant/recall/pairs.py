"""Pairs of memory units whose meaning is near, from the vectors that the index has anyway."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from assistant.recall.meaning.snapshot import Snapshot

_ALL_WITH_ALL = 10_000  # units, under a second; more are parted into cells, so that the work grows as n to the 1.5
_CELLS_A_UNIT = 4
_ENOUGH = 150  # units for the centre of a language to be more than the mean of the very pair that is looked at
_ROWS = 512


@dataclass(frozen=True, slots=True)
class NearPair:
    """Two units by their ids. nearness: cosine of their vectors, each less the centre of its language's units.

    Of few units, whose centre says little: how far their plain cosine lies above what any two units have, as a share
    of what is left to 1. Tried on the same pairs the two say nearly the same.
    """

    one: str
    other: str
    nearness: float


def memory_units(snapshot: Snapshot) -> np.ndarray:
    """Where in the snapshot live units of memory stand: no chats, no archive, nothing struck."""
    wanted = snapshot.has_vector & (snapshot.chat < 0) & ~snapshot.archived & ~snapshot.struck
    return np.flatnonzero(wanted)


def places_vectors(connection: sqlite3.Connection, snapshot: Snapshot, places: np.ndarray) -> np.ndarray:
    """What ``near_places`` takes of these units."""
    return snapshot.vectors_of(connection, places, centred=len(places) >= _ENOUGH)


def near_places(vectors: np.ndarray, places: np.ndarray, least: float, most: int) -> list[tuple[int, int, float]]:
    """Pairs of places with a nearness of at least ``least``, the nearest first, at most ``most``; each once.

    No more than those and the pairs of one step are kept at a time: ten years of one reading a day are millions.
    """
    if len(places) < 2:
        return []
    base = 0.0
    if len(places) < _ENOUGH:
        base = float(((vectors.sum(axis=0) ** 2).sum() - len(places)) / (len(places) * (len(places) - 1)))
    count = len(places)
    keys, cosines = np.zeros(0, np.int64), np.zeros(0, np.float32)
    for cell in _cells(vectors):
        for a, b, cosine in _near_in(vectors, cell, base + least * (1 - base)):
            keys = np.concatenate([keys, a * count + b])
            keys, cosines = _nearest(keys, np.concatenate([cosines, cosine]), most)
    nearness = (cosines - base) / max(1 - base, 1e-6)
    return [
        (int(places[n // count]), int(places[n % count]), float(near)) for n, near in zip(keys, nearness, strict=True)
    ]


def _nearest(keys: np.ndarray, cosines: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Each key once, the highest cosine first."""
    keys, first = np.unique(keys, return_index=True)
    order = np.argsort(-cosines[first], kind="stable")[:most]
    return keys[order], cosines[first][order]


def named(connection: sqlite3.Connection, snapshot: Snapshot, pairs: list[tuple[int, int, float]]) -> list[NearPair]:
    """The pairs by unit id; units that are gone from the index meanwhile are left out."""
    rows = {int(snapshot.ids[place]) for pair in pairs for place in pair[:2]}
    names = {}
    for row in rows:
        if found := connection.execute("SELECT uid FROM units WHERE id = ?", [row]).fetchone():
            names[row] = str(found[0])
    ids = [(int(snapshot.ids[a]), int(snapshot.ids[b]), nearness) for a, b, nearness in pairs]
    return [NearPair(names[a], names[b], nearness) for a, b, nearness in ids if a in names and b in names]


def _cells(vectors: np.ndarray) -> Iterator[np.ndarray]:
    """Groups of rows within which near rows are looked for: those nearest to some rows that stand for the others.

    Each row is in several cells. Some pairs are missed so: in the worst case, 10 000 vectors that cluster by nothing
    but the pairs themselves, 15 % of those above 0.6.
    """
    count = len(vectors)
    if count <= _ALL_WITH_ALL:
        yield np.arange(count)
        return
    middles = vectors[np.random.default_rng(0).choice(count, int(math.sqrt(count)), replace=False)]
    nearest = np.argpartition(-(vectors @ middles.T), _CELLS_A_UNIT, axis=1)[:, :_CELLS_A_UNIT]
    for middle in range(len(middles)):
        yield np.flatnonzero((nearest == middle).any(axis=1))


def _near_in(
    vectors: np.ndarray, cell: np.ndarray, least: float
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(lower row, higher row, cosine) of pairs, by only so many rows at once that the products fit a small memory.

    cell: rows, ascending.
    """
    for start in range(0, len(cell), _ROWS):
        cosine = vectors[cell[start : start + _ROWS]] @ vectors[cell].T
        a, b = np.nonzero(cosine >= least)
        once = start + a < b
        a, b = a[once], b[once]
        yield cell[start + a], cell[b], cosine[a, b]
