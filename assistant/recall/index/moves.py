"""Files that were renamed or moved: the same bytes under another name. Their units stay where the name is not in them.

A turn's id is its chat's and its number, so a chat that moves to another folder keeps its rows as they are.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from assistant.recall.index.files import Mark


class Moves:
    """Which of the files that are gone turn up again."""

    def __init__(self, known: Mapping[str, tuple[Mark, str]], gone: Iterable[str]) -> None:
        """known: stat and checksum of what is indexed; gone: which of it is not there any more."""
        self._known = known
        self._all = tuple(gone)
        self._gone: dict[str, list[str]] = {}
        for path in self._all:
            if known[path][1]:
                self._gone.setdefault(known[path][1], []).append(path)
        self._done: set[str] = set()
        self._is_waiting = False

    def wait(self, later: Iterable[str]) -> None:
        """These are left for a later pass; where new files are among them, any of those gone may be one of them."""
        self._is_waiting |= any(path not in self._known for path in later)

    @property
    def left(self) -> list[str]:
        """The files that are gone and turned up nowhere, as far as that is known yet."""
        return [] if self._is_waiting else [path for path in self._all if path not in self._done]

    @contextlib.contextmanager
    def followed(self, connection: sqlite3.Connection, path: str, sha256: str) -> Iterator[None]:
        """Let the row of the file that had these bytes be that of ``path`` from now on, where that is a new file.

        Within the block the file's units are written. A note without a title goes by its name, so what is embedded of
        it changes with that: its vectors are kept all the same, for what it says has not changed.
        """
        if not self._follow(connection, path, sha256):
            yield
            return
        before = _hashes(connection, path)
        yield
        _carry(connection, before, _hashes(connection, path))

    def _follow(self, connection: sqlite3.Connection, path: str, sha256: str) -> bool:
        there = self._gone.get(sha256)
        if not there or path in self._known:
            return False
        if connection.execute("SELECT 1 FROM files WHERE path = ?", [path]).fetchone():
            return False  # another process was quicker
        name = PurePosixPath(path).name
        old = next((each for each in there if PurePosixPath(each).name == name), there[0])
        there.remove(old)
        self._done.add(old)
        connection.execute("UPDATE files SET path = ? WHERE path = ?", [path, old])
        return True


def _hashes(connection: sqlite3.Connection, path: str) -> list[bytes]:
    """Of the passages of a file's units, in their order."""
    sql = (
        "SELECT hash FROM files JOIN places ON places.file = files.id JOIN units ON units.id = unit WHERE path = ? "
        "ORDER BY line, unit"
    )
    return [row[0] for row in connection.execute(sql, [path])]


def _carry(connection: sqlite3.Connection, before: list[bytes], after: list[bytes]) -> None:
    if len(before) != len(after):
        return
    sql = (
        "INSERT OR IGNORE INTO vectors(model, hash, part, vector, pieces) "
        "SELECT model, ?, part, vector, pieces FROM vectors WHERE hash = ? ORDER BY part"
    )
    connection.executemany(sql, [[new, old] for old, new in zip(before, after, strict=True) if old != new])
