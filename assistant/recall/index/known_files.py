"""What is indexed of each file, kept in memory between two looks at the folders."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field

from assistant.recall.index.files import Mark, read_mark

OPEN, HIDDEN, FOUND = 0, 1, 2
"""files.private: not private; private and without units; private, and found because the person allows it."""


@dataclass(frozen=True, slots=True)
class Known:
    """files: stat mark and checksum by path; marks: the marks alone."""

    files: Mapping[str, tuple[Mark, str]]
    marks: Mapping[str, Mark]


@dataclass(slots=True)
class KnownFiles:
    """Reads the table of files through one connection, and again only after anybody wrote into the index."""

    _state: tuple[int, ...] = ()
    _known: Known = field(default_factory=lambda: Known({}, {}))

    def read(self, connection: sqlite3.Connection, private: bool) -> Known:
        """private: whether private chats are found; those that went by the other rule count as changed."""
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        state = (id(connection), version, connection.total_changes, private)
        if state != self._state:
            other = HIDDEN if private else FOUND
            rows = connection.execute("SELECT path, stat, sha256, private FROM files")
            files = {
                path: (read_mark("?"), "") if rule == other else (read_mark(stat), sha256)
                for path, stat, sha256, rule in rows
            }
            self._known = Known(files, {path: mark for path, (mark, _) in files.items()})
            self._state = state
        return self._known
