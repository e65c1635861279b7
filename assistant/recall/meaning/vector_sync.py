"""Keeping the vectors true to the units: made where they are missing, gone with the texts they are of."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.ports import Embedder, Progress
from assistant.core.values import Passage
from assistant.recall.index.database import writing
from assistant.recall.meaning.models import (
    count_missing,
    count_without_pieces,
    drop_vectors_of_nobody,
    missing_texts,
    model_number,
    newest_unit,
    publish,
    published_model,
    without_pieces,
)

if TYPE_CHECKING:
    import numpy as np

_TEXTS_A_COMMIT = 64


def sync_vectors(connection: sqlite3.Connection, embedder: Embedder, cancel: CancelToken, progress: Progress) -> int:
    """Embed what has no vector of this model yet, then let the model be searched. Returns how many texts it embedded.

    Commits every 64 texts and goes on there when it was stopped. A model that is new to the index is published when no
    text lacks a vector; until then the one before it keeps its own, and whoever still has it loaded goes on with them.
    """
    made = 0
    while True:
        identity, dimensions = embedder.identity, embedder.dimensions
        model = model_number(connection, identity, dimensions)
        drop_vectors_of_nobody(connection)
        newest = newest_unit(connection)  # what comes meanwhile waits for the next pass
        made += _embed_missing(connection, embedder, (model, newest), cancel, progress)
        _embed_questions(connection, embedder, model, cancel)
        if embedder.identity != identity:  # its files were replaced, and its process was started anew
            continue
        if not published_model(connection, identity, dimensions) and not publish(connection, model, newest):
            continue
        drop_vectors_of_nobody(connection)
        if _embed_pieces(connection, embedder, model, cancel, progress):
            return made


def _embed_missing(
    connection: sqlite3.Connection, embedder: Embedder, what: tuple[int, int], cancel: CancelToken, progress: Progress
) -> int:
    """what: model, and the last unit to look at. Returns how many texts it embedded.

    Ends early when the embedder is another one all at once.
    """
    from assistant.recall.meaning.vectors import store_vectors  # numpy: not when the app starts

    model, newest = what
    identity, done, after = embedder.identity, 0, 0
    total = count_missing(connection, model, newest)
    while rows := missing_texts(connection, model, after, newest, _TEXTS_A_COMMIT) if total else []:
        cancel.check()
        progress(done, max(total, done), "vectors")
        texts = {key: Passage(head, body) for _, key, head, body in rows}
        vectors = embedder.embed_passages(list(texts.values()), cancel)
        if embedder.identity != identity:
            break
        _check(vectors, len(texts), embedder.dimensions)
        store_vectors(connection, model, list(texts), vectors)
        done, after = done + len(texts), rows[-1][0]
    if done:
        progress(done, done, "vectors")
    return done


def _embed_pieces(
    connection: sqlite3.Connection, embedder: Embedder, model: int, cancel: CancelToken, progress: Progress
) -> bool:
    """What texts say sentence by sentence: made when all is found by its whole already. False for another embedder."""
    from assistant.recall.meaning.vectors import store_pieces

    identity, done = embedder.identity, 0
    total = count_without_pieces(connection, model)
    while rows := without_pieces(connection, model, _TEXTS_A_COMMIT) if total else []:
        cancel.check()
        progress(done, max(total, done), "pieces")
        pieces = embedder.embed_pieces([Passage(head, body) for _, head, body in rows], cancel)
        if embedder.identity != identity:
            return False
        _check(pieces, len(rows), embedder.dimensions, least=0)
        store_pieces(connection, [row for row, _, _ in rows], pieces)
        done += len(rows)
    if done:
        progress(done, done, "pieces")
    return True


def _embed_questions(connection: sqlite3.Connection, embedder: Embedder, model: int, cancel: CancelToken) -> None:
    """The bank of questions, once a model (some 2 s), and where the model's questions point."""
    from assistant.recall.meaning.questions import bank_texts, has_questions, store_query_map, store_questions

    store_query_map(connection, model, embedder.query_map, embedder.dimensions)
    if has_questions(connection, model):
        return
    identity, dimensions = embedder.identity, embedder.dimensions
    vectors = embedder.embed(bank_texts(), cancel)
    if embedder.identity == identity:
        _check([vectors], 1, dimensions)
        store_questions(connection, model, vectors)


def _check(vectors: Sequence[np.ndarray], texts: int, dimensions: int, least: int = 1) -> None:
    """A damaged model must not spoil the index: neither other shapes nor what is not a number is stored.

    least: so many rows each has.
    """
    import numpy as np

    def is_good(one: np.ndarray) -> bool:
        return one.ndim == 2 and len(one) >= least and one.shape[1] == dimensions and bool(np.isfinite(one).all())

    if len(vectors) != texts or not all(is_good(one) for one in vectors):
        raise AssistantError(
            "embedding.shape",
            f"The embedding model answered with something else than vectors of {dimensions} numbers.",
            "Build or download the embedding model again.",
        )


def drop_lone_vectors(connection: sqlite3.Connection, texts: Collection[bytes] | None = None) -> None:
    """Delete the vectors of texts that no unit holds any more. texts: the hashes of those it may be, None for all."""
    sql = "DELETE FROM vectors WHERE hash NOT IN (SELECT hash FROM units)"
    with writing(connection):
        if texts is None:
            connection.execute(sql)
        else:
            models = connection.execute("SELECT id FROM models").fetchall()
            one = f"{sql} AND model = ? AND hash = ?"
            connection.executemany(one, [(model, text) for (model,) in models for text in texts])


def count_lone_vectors(connection: sqlite3.Connection) -> int:
    """How many vectors are of a text that no unit holds."""
    sql = "SELECT count(*) FROM vectors WHERE hash NOT IN (SELECT hash FROM units)"
    return int(connection.execute(sql).fetchone()[0])
