"""An index that can only be read, since its disk is full or its folder may not be written into.

Beside an index that is open SQLite writes a log and a map of it, even to read. Without room for them the file can be
read as it stands, as long as there is no log with something in it.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from assistant.core.errors import AssistantError

_HINDERED = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
_OF_THE_FILE = (sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_IOERR_CORRUPTFS)


def is_hindered(error: Exception) -> bool:
    """Whether an error says that nothing can be written here, and nothing against the index itself."""
    code = getattr(error, "sqlite_errorcode", None)
    if not isinstance(error, sqlite3.OperationalError) or code is None:
        return False
    primary = code & 0xFF
    return primary in _HINDERED or (primary == sqlite3.SQLITE_IOERR and code not in _OF_THE_FILE)


def opened_to_read(path: Path, timeout: float) -> sqlite3.Connection:
    """A connection that writes nothing anywhere, usable from any thread. Raises sqlite3.Error where there is none.

    Without a log it holds no locks, so it is for one search: others may write as soon as they can again.
    """
    log = path.with_name(f"{path.name}-wal")
    mode = "mode=ro" if log.exists() and log.stat().st_size else "mode=ro&immutable=1"
    uri = f"{path.absolute().as_uri()}?{mode}"
    connection = sqlite3.connect(uri, timeout=timeout, isolation_level=None, check_same_thread=False, uri=True)
    connection.execute("PRAGMA query_only=ON")
    return connection


def reads_only(connection: sqlite3.Connection) -> bool:
    """Whether it was opened to read."""
    return bool(connection.execute("PRAGMA query_only").fetchone()[0])


def cannot_write(folder: Path, why: object) -> AssistantError:
    """The same in words a person can act on; code "recall.index"."""
    return AssistantError(
        "recall.index",
        f"The search index in {folder} cannot be written: {why}.",
        "Check that the disk has room and that you may write there; what is indexed is found all the same.",
    )
