"""The index as searches have it open: one connection, and what was read through it kept in memory and current."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from assistant.recall.index.database import IndexFile
from assistant.recall.index.known_files import KnownFiles
from assistant.recall.index.read_only import reads_only
from assistant.recall.meaning.models import learnt_up_to, number_of, published_model
from assistant.recall.meaning.quiet_embedder import QuietEmbedder
from assistant.recall.reports import IndexStatus, index_status

if TYPE_CHECKING:
    from assistant.recall.meaning.snapshot import Snapshot

_SOUND = (sqlite3.OperationalError, sqlite3.ProgrammingError)


class OpenIndex:
    """Opens when it is first used, and anew after it was closed. For one caller at a time.

    table: what was read of the indexed files.
    """

    def __init__(self, file: IndexFile, embedder: QuietEmbedder) -> None:
        self._file = file
        self._embedder = embedder
        self._connection: sqlite3.Connection | None = None
        self._snapshot: Snapshot | None = None
        self._place = file.place()
        self.table = KnownFiles()

    @property
    def connection(self) -> sqlite3.Connection:
        """To search by; a sync has one of its own."""
        if self._connection is None:
            self._connection = self._file.connect()
            self._place = self._file.place()
        return self._connection

    def let_go(self) -> bool:
        """Close what is out of date; True when another process threw the index away, to build it anew.

        One that could only be opened to read is, too: perhaps it can be written again, and is by others.
        """
        is_replaced = self._connection is not None and self._file.place() != self._place
        if is_replaced or self._reads_only:
            self.close()
        return is_replaced

    def is_damaged(self, error: Exception) -> bool:
        """Whether an error tells against the file: it is neither busy nor full, nor was it closed or opened to read."""
        return isinstance(error, sqlite3.DatabaseError) and not isinstance(error, _SOUND) and not self._reads_only

    @property
    def _reads_only(self) -> bool:
        return self._connection is not None and reads_only(self._connection)

    @property
    def is_read(self) -> bool:
        """Whether a search need not read the whole index first."""
        return self._snapshot is not None

    def snapshot(self) -> Snapshot:
        """All units as they are now; only what changed is read, but for the first time: seconds for a million."""
        from assistant.recall.meaning.following import followed, load_snapshot

        model = self._searched_model()
        before, self._snapshot = self._snapshot, None  # two whole ones at once would take twice the memory
        after = followed(self.connection, *model, before) if before else None
        del before
        self._snapshot = after or load_snapshot(self.connection, *model)
        return self._snapshot

    def status(self) -> IndexStatus:
        """How it stands, by what is in memory as far as can be: it is asked again and again."""
        connection, embedder, units = self.connection, self._embedder, self.snapshot()
        identity = embedder.identity
        if published := bool(self._searched_model()[0]):
            vectors = int(units.has_vector.sum())
        else:
            vectors = int((units.ids <= learnt_up_to(connection, number_of(connection, identity))).sum())
        return index_status(connection, len(units.ids), vectors, identity, embedder.problem, published=published)

    def close(self) -> None:
        """Close it, so that its file may be replaced."""
        connection, self._connection, self._snapshot = self._connection, None, None
        self.table = KnownFiles()
        if connection is not None:
            connection.close()

    def _searched_model(self) -> tuple[int, int]:
        """Number and dimensions of the embedder's model in this index; (0, 1) while its vectors cannot be searched."""
        identity, dimensions = self._embedder.identity, self._embedder.dimensions
        model = published_model(self.connection, identity, dimensions) if identity else 0
        return (model, dimensions) if model else (0, 1)
