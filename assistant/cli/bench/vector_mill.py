"""Vectors for a benchmark of more texts than can be embedded: made from real ones, as near each other as those are."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

_ROWS = 8_192
_WITHOUT = (
    "SELECT DISTINCT hash FROM units WHERE NOT EXISTS "
    "(SELECT 1 FROM vectors WHERE vectors.model = ? AND vectors.hash = units.hash)"
)


def fill(connection: sqlite3.Connection, model: int, real: Sequence[np.ndarray], pieces: Sequence[np.ndarray]) -> int:
    """Give every text without vectors one that is made of two of ``real`` (of length 1) and noise; how many.

    pieces: of texts; each text gets those of one of them.
    """
    import numpy as np

    from assistant.recall.meaning.vectors import store_vectors

    missing = [row[0] for row in connection.execute(_WITHOUT, [model])]
    made = _mixed(np.concatenate(real), len(missing))
    for start in range(0, len(missing), _ROWS):
        store_vectors(connection, model, missing[start : start + _ROWS], next(made))
    _fill_pieces(connection, model, pieces)
    return len(missing)


def _fill_pieces(connection: sqlite3.Connection, model: int, pieces: Sequence[np.ndarray]) -> None:
    from assistant.recall.meaning.vectors import store_pieces

    sql = "SELECT id FROM vectors WHERE model = ? AND pieces IS NULL LIMIT ?"
    while rows := [row for (row,) in connection.execute(sql, [model, _ROWS])]:
        store_pieces(connection, rows, [pieces[row % len(pieces)] for row in rows])


def _mixed(real: np.ndarray, count: int) -> Iterator[np.ndarray]:
    import numpy as np

    chance = np.random.default_rng(1)
    middle = real.mean(axis=0)
    for start in range(0, count, _ROWS):
        rows = min(_ROWS, count - start)
        one, other = chance.integers(0, len(real), (2, rows))
        share = chance.uniform(0.1, 0.7, (rows, 1)).astype(np.float32)
        noise = chance.standard_normal((rows, real.shape[1]), dtype=np.float32)
        mixed = real[one] + share * (real[other] - middle) + 0.006 * noise
        yield mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
