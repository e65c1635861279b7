"""Keeping the vectors true to the units: made where they are missing, gone with the texts they are of."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.ports import Embedder, Progress
from assistant.recall.database import writing

_VECTORS_A_COMMIT = 64


def sync_vectors(connection: sqlite3.Connection, embedder: Embedder, cancel: CancelToken, progress: Progress) -> int:
    """Embed what has no vector of this model yet, shortest first; commits every 64 texts. Returns how many it made.

    Vectors of other models go first: nothing ever mixes.
    """
    from assistant.recall.vectors import missing_vectors, model_number, store_vectors  # numpy: not when the app starts

    model = model_number(connection, embedder.identity, embedder.dimensions)
    with writing(connection):
        connection.execute("DELETE FROM vectors WHERE model != ?", [model])
        connection.execute("DELETE FROM models WHERE id != ?", [model])
    missing = [key for key, _ in missing_vectors(connection, model)]
    for start in range(0, len(missing), _VECTORS_A_COMMIT):
        cancel.check()
        progress(start, len(missing), "vectors")
        texts = _texts(connection, missing[start : start + _VECTORS_A_COMMIT])
        vectors = embedder.embed([text for _, text in texts], cancel)
        if vectors.shape != (len(texts), embedder.dimensions):
            raise AssistantError(
                "embedding.shape",
                f"The embedding model answered with an array of shape {vectors.shape}.",
                "Build or download the embedding model again.",
            )
        store_vectors(connection, model, [key for key, _ in texts], vectors)
    if missing:
        progress(len(missing), len(missing), "vectors")
    return len(missing)


def drop_lone_vectors(connection: sqlite3.Connection) -> None:
    """Delete the vectors of texts that no unit holds any more."""
    with writing(connection):
        connection.execute("DELETE FROM vectors WHERE hash NOT IN (SELECT hash FROM units)")


def count_lone_vectors(connection: sqlite3.Connection) -> int:
    """How many vectors are of a text that no unit holds."""
    sql = "SELECT count(*) FROM vectors WHERE hash NOT IN (SELECT hash FROM units)"
    return int(connection.execute(sql).fetchone()[0])


def _texts(connection: sqlite3.Connection, keys: Sequence[bytes]) -> list[tuple[bytes, str]]:
    """The texts behind hashes; those that were removed meanwhile are left out."""
    marks = ",".join("?" * len(keys))
    return connection.execute(
        f"SELECT hash, min(head || body) AS said FROM units WHERE hash IN ({marks}) "
        "GROUP BY hash ORDER BY length(said)",
        list(keys),
    ).fetchall()
