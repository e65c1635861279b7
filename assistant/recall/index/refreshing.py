"""What a search does before it looks: take in what changed on the disk, within the time that a person waits."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from assistant.core.cancel import CancelToken
from assistant.recall.index.database import patience
from assistant.recall.index.known_files import KnownFiles
from assistant.recall.index.sync import Changes, sync_files

_NOT_NOW = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY)


def refresh(
    connection: sqlite3.Connection,
    root: Path,
    seconds: float,
    lock_seconds: float,
    *,
    private: bool,
    table: KnownFiles | None = None,
) -> Changes:
    """As sync_files; not complete where the index cannot be written into: the disk is full or read-only, or somebody
    else writes for longer than ``lock_seconds``.

    Then what is there is searched: reading needs no room and waits for nobody.
    """
    try:
        with patience(connection, lock_seconds):
            return sync_files(connection, root, CancelToken(), lambda *_: None, seconds, private=private, table=table)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in _NOT_NOW:
            raise
        return Changes(complete=False)
