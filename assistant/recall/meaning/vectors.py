"""Vectors in the index file: float16 blobs, keyed by model and by the hash of the text that they were made from.

So a text that moved or was renamed is never embedded again. A text has one vector a window.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

import numpy as np

from assistant.recall.index.database import writing
from assistant.recall.index.sweeping import leave_unswept, without_unit

STORED = "<f2"
_ROWS_A_FETCH = 4_096
_AT_HAND = 4_096
"""Vectors that are not read again: 6 MB."""


def store_vectors(
    connection: sqlite3.Connection, model: int, hashes: Sequence[bytes], vectors: Iterable[np.ndarray]
) -> None:
    """Keep the vectors of texts: for each hash (windows, dimensions), or (dimensions,) for a single one.

    Where a text went while it was embedded, the next sync deletes them again.
    """
    rows = [
        (model, key, part, window.astype(STORED).tobytes(), None if part == 0 else b"")
        for key, windows in zip(hashes, vectors, strict=True)
        for part, window in enumerate(np.atleast_2d(windows))
    ]
    with writing(connection):
        connection.executemany(
            "INSERT OR IGNORE INTO vectors(model, hash, part, vector, pieces) VALUES (?, ?, ?, ?, ?)", rows
        )
        if without_unit(connection, hashes):
            leave_unswept(connection)


def store_pieces(connection: sqlite3.Connection, rows: Sequence[int], pieces: Iterable[np.ndarray]) -> None:
    """Keep the pieces of texts, each (pieces, dimensions), with their first windows. rows: ids of these vectors."""
    blobs = [(some.astype(STORED).tobytes(), row) for row, some in zip(rows, pieces, strict=True)]
    with writing(connection):
        connection.executemany("UPDATE vectors SET pieces = ? WHERE id = ?", blobs)


def read_pieces(connection: sqlite3.Connection, rows: np.ndarray, dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    """Pieces, float32 (pieces, dimensions), and of which of the rows (ids of first windows, each once) they are."""
    place = {row: n for n, row in enumerate(rows.tolist())}
    found = connection.execute(f"SELECT id, pieces FROM vectors WHERE id IN ({','.join(map(str, place))})").fetchall()
    size = 2 * dimensions
    found = [(row, blob) for row, blob in found if blob and len(blob) % size == 0]
    of = np.repeat([place[row] for row, _ in found], [len(blob) // size for _, blob in found]).astype(np.int64)
    return matrix([blob for _, blob in found], dimensions), of


class VectorReader:
    """Reads vectors by their ids; those read last are at hand, as one search asks for the same ones several times."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._ids = np.zeros(0, np.int64)
        self._vectors = np.zeros((0, dimensions), np.float32)

    def read(self, connection: sqlite3.Connection, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """float32 of shape (rows, dimensions), zeros where there is none, and which of them are (still) there."""
        wanted = np.unique(rows)
        unknown = wanted[~np.isin(wanted, self._ids)]
        ids, vectors = self._ids, self._vectors
        if len(unknown):
            new, read = _read(connection, unknown, self._dimensions)
            ids, vectors = np.concatenate([ids, new]), np.concatenate([vectors, read])
            order = np.argsort(ids)
            ids, vectors = ids[order], vectors[order]
            if len(ids) <= _AT_HAND:
                self._ids, self._vectors = ids, vectors
            elif len(new) <= _AT_HAND:
                self._ids, self._vectors = new, read
        if not len(ids):
            return np.zeros((len(rows), self._dimensions), np.float32), np.zeros(len(rows), bool)
        place = np.searchsorted(ids, rows).clip(max=len(ids) - 1)
        there = ids[place] == rows
        found = vectors[place]
        found[~there] = 0.0
        return found, there


def _read(connection: sqlite3.Connection, rows: np.ndarray, dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    """Ids, ascending, and vectors of those of the rows (ascending) that are there."""
    found: list[tuple[int, bytes]] = []
    for start in range(0, len(rows), _ROWS_A_FETCH):
        wanted = ",".join(map(str, rows[start : start + _ROWS_A_FETCH].tolist()))
        found += connection.execute(f"SELECT id, vector FROM vectors WHERE id IN ({wanted}) ORDER BY id")
    found = [(row, blob) for row, blob in found if len(blob) == 2 * dimensions]
    return np.array([row for row, _ in found], np.int64), matrix([blob for _, blob in found], dimensions)


def matrix(blobs: Sequence[bytes], dimensions: int) -> np.ndarray:
    """Stored vectors as float32 of shape (blobs, dimensions)."""
    return np.frombuffer(b"".join(blobs), STORED).reshape(-1, dimensions).astype(np.float32)
