"""Files that are there and cannot be read: kept in the index with the reason, and tried again at each pass."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from assistant.recall.index.database import writing

_STORED = (
    "INSERT INTO files(path, stat, sha256, problem, private) VALUES (?, '', '', ?, 0) ON CONFLICT(path) DO UPDATE "
    "SET stat = '', sha256 = '', problem = excluded.problem"
)
"""Neither stat nor checksum, so that the file is read as soon as it can be; what was known of it can be found on."""


def note_unreadable(connection: sqlite3.Connection, problems: Mapping[str, str]) -> None:
    """Keep why these files could not be read. Writes only what is new, for a search comes by here each time."""
    sql = "SELECT problem FROM files WHERE path = ?"
    new = [[path, why] for path, why in problems.items() if connection.execute(sql, [path]).fetchone() != (why,)]
    if new:
        with writing(connection):
            connection.executemany(_STORED, new)
