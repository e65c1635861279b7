"""Units and their vectors in memory: one row a unit, searched by brute force.

Vectors lie in the index file as float16 blobs, keyed by model and by the hash of the text they were made from, so a
moved or renamed text is never embedded again. In memory they are one float32 matrix (about 15 MB for 10 000 units).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assistant.recall.database import writing

LANGUAGES = ("en", "zh", "xx")
_FEW = 3


@dataclass(frozen=True)
class Snapshot:
    """What a search needs of every unit, as arrays in the order of ``ids`` (ascending).

    day, until: ordinals of local days, 0 for none; chat: a number a chat, -1 outside chats; number: the turn's;
    language: index into LANGUAGES; vectors: shape (units, dimensions), rows of zeros where ``has_vector`` is false;
    centres: each language's mean vector; lengths: of each vector less its language's centre.
    """

    version: int
    model: int
    ids: np.ndarray
    day: np.ndarray
    until: np.ndarray
    struck: np.ndarray
    archived: np.ndarray
    renews: np.ndarray
    chat: np.ndarray
    number: np.ndarray
    group: np.ndarray
    vectors: np.ndarray
    has_vector: np.ndarray
    centres: np.ndarray
    lengths: np.ndarray

    def similarity(self, vector: np.ndarray, language: str) -> np.ndarray:
        """Cosine of every unit with a query's vector, both less the centre of their language; -1 where none is.

        Embedding models place languages apart; without the centres a question finds its own language first, with them
        it finds the answer (measured: recall@5 of cross-lingual questions 0.20 -> 0.87, of all 0.73 -> 0.77).
        """
        own = LANGUAGES.index(language)
        query = vector - (self.centres[own] + self.centres[own + len(LANGUAGES)]) / 2
        query /= max(float(np.linalg.norm(query)), 1e-9)
        cosine: np.ndarray = (self.vectors @ query - (self.centres @ query)[self.group]) / self.lengths
        return np.where(self.has_vector, cosine, -1.0)

    def cosine(self, one: int, others: np.ndarray) -> np.ndarray:
        """Cosine of a unit with others, all less the centres of their groups."""
        vector = (self.vectors[one] - self.centres[self.group[one]]) / self.lengths[one]
        product = self.vectors[others] @ vector - (self.centres @ vector)[self.group[others]]
        cosine: np.ndarray = product / self.lengths[others]
        return cosine

    def positions(self, rows: Sequence[int]) -> np.ndarray:
        """Where these units stand; rows that are not here (written a moment ago by others) are dropped."""
        wanted = np.asarray(rows, np.int64)
        at = np.searchsorted(self.ids, wanted)
        at = at[at < len(self.ids)]
        return at[np.isin(self.ids[at], wanted)]


def model_number(connection: sqlite3.Connection, identity: str, dimensions: int) -> int:
    """The number under which the index knows a model; a model that changed its dimensions is another one."""
    row = connection.execute("SELECT id, dimensions FROM models WHERE identity = ?", [identity]).fetchone()
    if row and row[1] == dimensions:
        return int(row[0])
    with writing(connection):
        if row:
            connection.execute("DELETE FROM vectors WHERE model = ?", [row[0]])
            connection.execute("DELETE FROM models WHERE id = ?", [row[0]])
        connection.execute("INSERT OR IGNORE INTO models(identity, dimensions) VALUES (?, ?)", [identity, dimensions])
    return int(connection.execute("SELECT id FROM models WHERE identity = ?", [identity]).fetchone()[0])


def store_vectors(connection: sqlite3.Connection, model: int, hashes: Sequence[bytes], vectors: np.ndarray) -> None:
    """Keep vectors (float32, one a hash) as float16."""
    rows = [(model, key, vector.astype("<f2").tobytes()) for key, vector in zip(hashes, vectors, strict=True)]
    with writing(connection):
        connection.executemany("INSERT OR IGNORE INTO vectors(model, hash, vector) VALUES (?, ?, ?)", rows)


def missing_vectors(connection: sqlite3.Connection, model: int) -> list[tuple[bytes, int]]:
    """Hash and length of every text that has no vector of this model yet, shortest first (batches pad little)."""
    return connection.execute(
        "SELECT hash, length(meaning) FROM units WHERE NOT EXISTS "
        "(SELECT 1 FROM vectors WHERE vectors.model = ? AND vectors.hash = units.hash) "
        "GROUP BY hash ORDER BY length(meaning)",
        [model],
    ).fetchall()


def load_snapshot(connection: sqlite3.Connection, model: int, dimensions: int, before: Snapshot | None) -> Snapshot:
    """The index as it is now; vectors that ``before`` has already are not read again. model 0: no vectors."""
    (version,) = connection.execute("PRAGMA data_version").fetchone()
    rows = connection.execute(
        "SELECT id, day, until, struck, kind = 'archive', chat, number, lang, renews FROM units ORDER BY id"
    ).fetchall()
    columns = list(zip(*rows, strict=True)) if rows else [()] * 9
    ids = np.array(columns[0], np.int64)
    chats = {"": -1}
    vectors, has_vector = _vectors(connection, model, dimensions, ids, before)
    group = np.array([LANGUAGES.index(one) for one in columns[7]], np.int8)
    group[np.array(columns[5]) != ""] += len(LANGUAGES)
    centres, lengths = _centres(vectors, has_vector, group)
    return Snapshot(
        version=version,
        model=model,
        ids=ids,
        day=np.array(columns[1], np.int32),
        until=np.array(columns[2], np.int32),
        struck=np.array(columns[3], bool),
        archived=np.array(columns[4], bool),
        renews=np.array(columns[8], bool),
        chat=np.array([chats.setdefault(chat, len(chats)) for chat in columns[5]], np.int32),
        number=np.array(columns[6], np.int32),
        group=group,
        vectors=vectors,
        has_vector=has_vector,
        centres=centres,
        lengths=lengths,
    )


def _centres(vectors: np.ndarray, has_vector: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean vector of each group and every unit's distance from it.

    A mean over few units says little: it counts as if some units of the whole were among them, and that as if some
    zeros were.
    """
    whole = vectors[has_vector].sum(axis=0) / (has_vector.sum() + _FEW)
    centres = np.zeros((2 * len(LANGUAGES), vectors.shape[1]), np.float32)
    for index in range(len(centres)):
        members = has_vector & (group == index)
        centres[index] = (vectors[members].sum(axis=0) + _FEW * whole) / (members.sum() + _FEW)
    squared = 1.0 - 2.0 * np.einsum("ij,ij->i", vectors, centres[group]) + (centres**2).sum(axis=1)[group]
    return centres, np.sqrt(np.maximum(squared, 1e-6)).astype(np.float32)


def _vectors(
    connection: sqlite3.Connection, model: int, dimensions: int, ids: np.ndarray, before: Snapshot | None
) -> tuple[np.ndarray, np.ndarray]:
    vectors = np.zeros((len(ids), dimensions), np.float32)
    has_vector = np.zeros(len(ids), bool)
    if not model:
        return vectors, has_vector
    known = 0
    if before is not None and before.model == model and len(before.ids):
        old = before.ids[before.has_vector]
        keep = np.isin(ids, old)
        vectors[keep] = before.vectors[before.has_vector][np.isin(old, ids)]
        has_vector |= keep
        known = int(keep.sum())
    sql = "SELECT units.id, vector FROM units JOIN vectors ON vectors.hash = units.hash AND vectors.model = ?"
    if known > 0.5 * len(ids):
        for at in np.flatnonzero(~has_vector):
            row = connection.execute(sql + " WHERE units.id = ?", [model, int(ids[at])]).fetchone()
            _place(vectors, has_vector, int(at), row[1] if row else b"")
        return vectors, has_vector
    position = {int(row): at for at, row in enumerate(ids)}
    for row, blob in connection.execute(sql, [model]):
        if row in position:
            _place(vectors, has_vector, position[row], blob)
    return vectors, has_vector


def _place(vectors: np.ndarray, has_vector: np.ndarray, at: int, blob: bytes) -> None:
    """Put a stored vector into its row; one of another length is not this model's and is left out."""
    if len(blob) == 2 * vectors.shape[1]:
        vectors[at] = np.frombuffer(blob, "<f2")
        has_vector[at] = True
