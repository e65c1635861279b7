"""The embedding models that the index knows, and when their vectors may be searched.

A model's vectors take part in searches once it is published: once every text had one. That, and the end of the model
before it, is one transaction. Vectors whose model has no row any more belong to nobody and are deleted bit by bit.
"""

from __future__ import annotations

import sqlite3

from assistant.recall.database import writing

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
        connection.execute("DELETE FROM questions WHERE model != ?", [model])
        connection.execute("DELETE FROM query_maps WHERE model != ?", [model])
        connection.execute("UPDATE models SET published = 1 WHERE id = ?", [model])
    return True


def drop_vectors_of_nobody(connection: sqlite3.Connection) -> None:
    """Delete the vectors of models that are not known any more; may be stopped and goes on the next time."""
    sql = "SELECT id FROM vectors WHERE model NOT IN (SELECT id FROM models) LIMIT ?"
    while rows := connection.execute(sql, [_DELETED_AT_ONCE]).fetchall():
        with writing(connection):
            connection.executemany("DELETE FROM vectors WHERE id = ?", rows)


def count_missing(connection: sqlite3.Connection, model: int, newest: int) -> int:
    """How many texts of units up to ``newest`` have no vector of this model yet."""
    sql = f"SELECT count(DISTINCT hash) FROM units WHERE id <= :newest AND {_WITHOUT_VECTOR}"
    return int(connection.execute(sql, {"model": model, "newest": newest}).fetchone()[0])


def missing_texts(
    connection: sqlite3.Connection, model: int, after: int, newest: int, most: int
) -> list[tuple[int, bytes, str, str]]:
    """(unit, hash, head, body) of texts without a vector, in the order of their units, which lie behind ``after``."""
    sql = (
        f"SELECT id, hash, head, body FROM units WHERE id > :after AND id <= :newest AND {_WITHOUT_VECTOR} "
        "ORDER BY id LIMIT :most"
    )
    values = {"model": model, "after": after, "newest": newest, "most": most}
    return connection.execute(sql, values).fetchall()
