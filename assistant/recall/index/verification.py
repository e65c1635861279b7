"""Files whose bytes are others than the index was made from, though their stat says nothing of it.

A stat can lie: a sync program or a backup tool that puts back time and size, a disk that was mended elsewhere.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path

from assistant.core.cancel import CancelToken
from assistant.recall.index.database import writing

_CHUNK = 1 << 20


class Verification:
    """One pass over all indexed files, in portions, so that whoever needs the disk or a processor gets it between."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._left: list[tuple[str, str]] | None = None
        self.looked_at = 0
        self.differing: list[str] = []

    def portion(self, connection: sqlite3.Connection, cancel: CancelToken, seconds: float) -> bool:
        """Read files for that long, one at least; False when none is left. Raises Cancelled.

        What differs counts as changed from now on, so that the next pass over the files takes it in.
        """
        if self._left is None:
            self._left = _indexed(connection)
        deadline = time.monotonic() + seconds
        differing = []
        while self._left:
            cancel.check()
            path, known = self._left.pop()
            self.looked_at += 1
            if (now := _sha256(self._root / path, cancel)) and now != known:
                differing.append(path)
            if time.monotonic() >= deadline:
                break
        _distrust(connection, differing)
        self.differing += differing
        return bool(self._left)


def _indexed(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """What was read of each file; what counts as changed anyway is left out. Memory comes last, to be popped first."""
    sql = "SELECT path, sha256 FROM files WHERE stat != '' AND sha256 != '' ORDER BY path LIKE 'chats/%' DESC, path"
    return connection.execute(sql).fetchall()


def _sha256(path: Path, cancel: CancelToken) -> str:
    """Of the bytes; "" where they cannot be read now: the pass over the files says so."""
    digest = hashlib.sha256()
    if path.is_fifo():  # a pipe in the file's place would be waited for without end
        return ""
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                cancel.check()
                digest.update(chunk)
    except OSError:
        return ""
    return digest.hexdigest()


def _distrust(connection: sqlite3.Connection, paths: Sequence[str]) -> None:
    if paths:
        with writing(connection):
            connection.executemany("UPDATE files SET stat = '' WHERE path = ?", [[path] for path in paths])
