"""Vectors in the index file: float16 blobs, keyed by model and by the hash of the text that they were made from.

So a text that moved or was renamed is never embedded again. A text has one vector a window.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

import numpy as np

from assistant.recall.database import writing

STORED = "<f2"
_ROWS_A_FETCH = 4_096


def store_vectors(
    connection: sqlite3.Connection, model: int, hashes: Sequence[bytes], vectors: Iterable[np.ndarray]
) -> None:
    """Keep the vectors of texts: for each hash (windows, dimensions), or (dimensions,) for a single one."""
    rows = [
        (model, key, part, window.astype(STORED).tobytes())
        for key, windows in zip(hashes, vectors, strict=True)
        for part, window in enumerate(np.atleast_2d(windows))
    ]
    with writing(connection):
        connection.executemany("INSERT OR IGNORE INTO vectors(model, hash, part, vector) VALUES (?, ?, ?, ?)", rows)


def read_vectors(connection: sqlite3.Connection, rows: np.ndarray, dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    """float32 of shape (rows, dimensions) by the ids of vectors, and which of them are (still) there."""
    result = np.zeros((len(rows), dimensions), np.float32)
    there = np.zeros(len(rows), bool)
    order = np.argsort(rows, kind="stable")
    for start in range(0, len(rows), _ROWS_A_FETCH):
        some = order[start : start + _ROWS_A_FETCH]
        wanted = ",".join(map(str, rows[some].tolist()))
        found = connection.execute(f"SELECT id, vector FROM vectors WHERE id IN ({wanted})").fetchall()
        fitting = [(row, blob) for row, blob in found if len(blob) == 2 * dimensions]
        if not fitting:
            continue
        ids = np.array([row for row, _ in fitting], np.int64)
        block = matrix([blob for _, blob in fitting], dimensions)
        place = np.searchsorted(ids, rows[some]).clip(max=len(ids) - 1)
        hit = ids[place] == rows[some]
        result[some[hit]] = block[place[hit]]
        there[some[hit]] = True
    return result, there


def matrix(blobs: Sequence[bytes], dimensions: int) -> np.ndarray:
    """Stored vectors as float32 of shape (blobs, dimensions)."""
    return np.frombuffer(b"".join(blobs), STORED).reshape(-1, dimensions).astype(np.float32)
