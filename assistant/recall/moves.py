"""Files that were renamed or moved: the same bytes under another name. Their units stay where the name is not in them.

A turn's id is its chat's and its number, so a chat that moves to another folder keeps its rows as they are.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath


class Moves:
    """Which of the files that are gone turn up again. done: the old names of those that did."""

    def __init__(self, known: Mapping[str, tuple[str, str]], gone: Iterable[str]) -> None:
        """known: stat and checksum of what is indexed; gone: which of it is not there any more."""
        self._known = known
        self._gone: dict[str, list[str]] = {}
        for path in gone:
            if known[path][1]:
                self._gone.setdefault(known[path][1], []).append(path)
        self.done: set[str] = set()

    def follow(self, connection: sqlite3.Connection, path: str, sha256: str) -> None:
        """Let the row of the file that had these bytes be that of ``path`` from now on, where that is a new file."""
        there = self._gone.get(sha256)
        if not there or path in self._known:
            return
        if connection.execute("SELECT 1 FROM files WHERE path = ?", [path]).fetchone():
            return  # another process was quicker
        name = PurePosixPath(path).name
        old = next((each for each in there if PurePosixPath(each).name == name), there[0])
        there.remove(old)
        self.done.add(old)
        connection.execute("UPDATE files SET path = ? WHERE path = ?", [path, old])
