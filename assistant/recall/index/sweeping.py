"""Vectors whose text went: which pass over the files left some, so that a later one looks at all of them, once.

A pass deletes the vectors of what it removed when it has seen every file, as a text may turn up in another one. What a
pass that was stopped or killed left is marked in the index; looking for it takes seconds for a million vectors.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from uuid import uuid4

from assistant.recall.index.database import meta, set_meta, writing
from assistant.recall.meaning.vector_sync import drop_lone_vectors

_KEY = "unswept"
_ALL = "all"


class Sweep:
    """One pass over the files."""

    def __init__(self) -> None:
        self._own = uuid4().hex
        self._texts: set[bytes] = set()

    def leave(self, connection: sqlite3.Connection, rows: Sequence[int]) -> None:
        """These units are about to be deleted, in the transaction of the caller."""
        if not rows:
            return
        for row in rows:
            self._texts.update(connection.execute("SELECT hash FROM units WHERE id = ?", [row]).fetchone())
        leave_unswept(connection, self._own)

    def done(self, connection: sqlite3.Connection) -> None:
        """All files were seen."""
        if self._texts:
            drop_lone_vectors(connection, self._texts)
            _forget(connection, self._own)


def leave_unswept(connection: sqlite3.Connection, who: str = _ALL) -> None:
    """Mark that vectors may be left, in the transaction of the caller; the mark of somebody else becomes one of all."""
    if (before := meta(connection, _KEY)) != who:
        set_meta(connection, _KEY, _ALL if before else who)


def sweep_left(connection: sqlite3.Connection) -> None:
    """Delete what passes before left, if they left any."""
    if before := meta(connection, _KEY):
        drop_lone_vectors(connection)
        _forget(connection, before)


def without_unit(connection: sqlite3.Connection, texts: Collection[bytes]) -> bool:
    """Whether one of these texts is of no unit any more."""
    sql = "SELECT 1 FROM units WHERE hash = ?"
    return not all(connection.execute(sql, [text]).fetchone() for text in texts)


def _forget(connection: sqlite3.Connection, mark: str) -> None:
    with writing(connection):
        connection.execute("DELETE FROM meta WHERE key = ? AND value = ?", [_KEY, mark])
