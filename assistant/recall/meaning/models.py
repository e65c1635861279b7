"""The embedding models that the index knows, and when their vectors may be searched.

A model's vectors take part in searches once it is published: once every text had one. That, and the end of the model
before it, is one transaction. Vectors whose model has no row any more belong to nobody and are deleted bit by bit.

Up to which unit every text has its vector is remembered, so that looking for what is missing costs nothing where
nothing is: only a text without a unit loses its vector.
"""

from __future__ import annotations

import sqlite3

from assistant.recall.index.database import meta, set_meta, writing

_DELETED_AT_ONCE = 5_000
"""Some 50 ms under the write lock, for which searches wait."""
_WITHOUT_VECTOR = "NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.model = :model AND vectors.hash = units.hash)"


def model_number(connection: sqlite3.Connection, identity: str, dimensions: int) -> int:
    """The number of a model, new ones unpublished; one that changed its dimensions is another one."""
    sql = "SELECT id FROM models WHERE identity = ? AND dimensions = ?"
    if row := connection.execute(sql, [identity, dimensions]).fetchone():
        return int(row[0])
    with writing(connection):
        connection.execute("DELETE FROM models WHERE identity = ? AND dimensions != ?", [identity, dimensions])
        insert = "INSERT OR IGNORE INTO models(identity, dimensions) VALUES (?, ?)"
        connection.execute(insert, [identity, dimensions])
    return int(connection.execute(sql, [identity, dimensions]).fetchone()[0])


def published_model(connection: sqlite3.Connection, identity: str, dimensions: int) -> int:
    """The number of a model whose vectors may be searched; 0 while there is none."""
    sql = "SELECT id FROM models WHERE identity = ? AND dimensions = ? AND published"
    row = connection.execute(sql, [identity, dimensions]).fetchone()
    return int(row[0]) if row else 0


def number_of(connection: sqlite3.Connection, identity: str) -> int:
    """The number of a model by its name alone, published or not; 0 for one that the index does not know."""
    return int(connection.execute("SELECT max(id) FROM models WHERE identity = ?", [identity]).fetchone()[0] or 0)


def newest_unit(connection: sqlite3.Connection) -> int:
    """Units that come later have higher numbers."""
    return int(connection.execute("SELECT coalesce(max(id), 0) FROM units").fetchone()[0])


def publish(connection: sqlite3.Connection, model: int, newest: int) -> bool:
    """Let a model's vectors be searched, in place of all others. False when a unit up to ``newest`` has none."""
    with writing(connection):
        sql = f"SELECT 1 FROM units WHERE id <= :newest AND {_WITHOUT_VECTOR} LIMIT 1"
        if connection.execute(sql, {"model": model, "newest": newest}).fetchone():
            return False
        connection.execute("DELETE FROM models WHERE id != ?", [model])
        connection.execute("DELETE FROM meta WHERE key LIKE 'learnt:%'")
        set_meta(connection, _key(model), str(newest))
        connection.execute("DELETE FROM questions WHERE model != ?", [model])
        connection.execute("DELETE FROM query_maps WHERE model != ?", [model])
        connection.execute("UPDATE models SET published = 1 WHERE id = ?", [model])
    return True


def drop_vectors_of_nobody(connection: sqlite3.Connection) -> None:
    """Delete the vectors of models that are not known any more; may be stopped and goes on the next time."""
    known = {model for (model,) in connection.execute("SELECT id FROM models")}
    sql = "SELECT id FROM vectors WHERE model = ? LIMIT ?"
    for model in _models_of_vectors(connection) - known:
        while rows := connection.execute(sql, [model, _DELETED_AT_ONCE]).fetchall():
            with writing(connection):
                connection.executemany("DELETE FROM vectors WHERE id = ?", rows)


def _models_of_vectors(connection: sqlite3.Connection) -> set[int]:
    """By leaps through the index that begins with the model: reading all vectors takes seconds for a million."""
    found: set[int] = set()
    last = -1
    while row := connection.execute(
        "SELECT model FROM vectors WHERE model > ? ORDER BY model LIMIT 1", [last]
    ).fetchone():
        last = int(row[0])
        found.add(last)
    return found


def learnt_up_to(connection: sqlite3.Connection, model: int) -> int:
    """The last unit up to which all have a vector of this model, as far as is known; 0 for none."""
    return int(meta(connection, _key(model)) or 0)


def _remember_learnt(connection: sqlite3.Connection, model: int, unit: int) -> None:
    if unit > learnt_up_to(connection, model):
        with writing(connection):
            set_meta(connection, _key(model), str(unit))


def _key(model: int) -> str:
    return f"learnt:{model}"


def count_missing(connection: sqlite3.Connection, model: int, newest: int) -> int:
    """How many texts of units up to ``newest`` have no vector of this model yet; that none is missing is remembered."""
    sql = f"SELECT count(DISTINCT hash) FROM units WHERE id > :after AND id <= :newest AND {_WITHOUT_VECTOR}"
    values = {"model": model, "after": learnt_up_to(connection, model), "newest": newest}
    missing = int(connection.execute(sql, values).fetchone()[0])
    if not missing:
        _remember_learnt(connection, model, newest)
    return missing


def without_pieces(connection: sqlite3.Connection, model: int, most: int) -> list[tuple[int, str, str]]:
    """(id of the first window's vector, head, body) of texts whose pieces are not made yet."""
    sql = (
        "SELECT vectors.id, head, body FROM vectors JOIN units ON units.hash = vectors.hash "
        "WHERE model = ? AND pieces IS NULL GROUP BY vectors.id ORDER BY vectors.id LIMIT ?"
    )
    return list(connection.execute(sql, [model, most]))


def count_without_pieces(connection: sqlite3.Connection, model: int) -> int:
    sql = "SELECT count(*) FROM vectors WHERE model = ? AND pieces IS NULL"
    return int(connection.execute(sql, [model]).fetchone()[0])


def missing_texts(
    connection: sqlite3.Connection, model: int, after: int, newest: int, most: int
) -> list[tuple[int, bytes, str, str]]:
    """(unit, hash, head, body) of texts without a vector, in the order of their units, which lie behind ``after``.

    after: a unit up to which there are all vectors by now, which is remembered; 0 for as far as is known.
    """
    _remember_learnt(connection, model, after)
    sql = (
        f"SELECT id, hash, head, body FROM units WHERE id > :after AND id <= :newest AND {_WITHOUT_VECTOR} "
        "ORDER BY id LIMIT :most"
    )
    after = max(after, learnt_up_to(connection, model))
    values = {"model": model, "after": after, "newest": newest, "most": most}
    return connection.execute(sql, values).fetchall()
