"""Recall: hybrid search over the workspace, from an index that keeps itself true to the files."""

from __future__ import annotations

import contextlib
import logging
import math
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from assistant.core.cancel import CancelToken
from assistant.core.clock import Clock
from assistant.core.errors import AssistantError
from assistant.core.ports import Embedder, Progress
from assistant.core.values import RecallAnswer, RecallQuery
from assistant.recall.index.database import IndexFile, birth, reading
from assistant.recall.index.file_states import FileState, file_states
from assistant.recall.index.open_index import OpenIndex
from assistant.recall.index.read_only import cannot_write
from assistant.recall.index.verification import Verification
from assistant.recall.meaning.quiet_embedder import QUERY_CHARACTERS, QuietEmbedder
from assistant.recall.meaning.vector_sync import count_lone_vectors
from assistant.recall.modes import BROKEN
from assistant.recall.reports import IndexStatus, SyncReport, in_words

if TYPE_CHECKING:
    from assistant.recall.pairs import NearPair

BUDGET_MS = 150.0
"""How long a search waits for the query's vector before it answers by keywords."""
_REFRESH_SECONDS = 0.05
_LOCK_SECONDS = 0.15
_log = logging.getLogger(__name__)


def _no_progress(done: int, total: int, what: str) -> None:
    """Nobody wants to know."""


class HasRoot(Protocol):
    """What recall needs of a workspace."""

    @property
    def root(self) -> Path: ...


class Recall:
    """Search, sync and status over one workspace's index. Any method may be called from any thread.

    state: the workspace's folder for derived data; embedder None: keywords alone; private: whether the person lets what
    was said in private chats be found, asked anew each time. Searches share one connection and
    take turns; a sync has a connection of its own, so a search never waits for more than one small commit of it.
    """

    def __init__(
        self,
        workspace: HasRoot,
        state: Path,
        embedder: Embedder | None,
        clock: Clock,
        budget_ms: float = BUDGET_MS,
        private: Callable[[], bool] = lambda: False,
    ) -> None:
        self._root = workspace.root
        self._clock = clock
        self._embedder = QuietEmbedder(embedder)
        self._budget_ms = budget_ms
        self._private = private
        self._file = IndexFile(state / "index.sqlite3")
        self._index = OpenIndex(self._file, self._embedder)
        self._lock = threading.RLock()
        self._problem = ""
        self._counting = threading.Lock()  # not the searches' own: a sync must not wait for a slow one
        self._syncing = 0
        self.on_behind: Callable[[], None] | None = None
        """Who takes in what a search has no time for; without one a search takes in all that changed."""
        self._unpurged = True  # by a search of an earlier process, for all we know

    # --- searching ---

    def search(self, query: RecallQuery, budget_ms: float | None = None) -> RecallAnswer:
        """The hits for a query, best first; abstained when nothing known answers it. Never raises for a query.

        budget_ms: how long to wait for the query's vector before the answer goes by keywords; None: as constructed.
        """
        budget_ms = self._budget_ms if budget_ms is None else budget_ms
        started = time.perf_counter()
        with self._lock:
            try:
                answer = self._search(query, budget_ms)
                self._problem = ""  # whatever it was, it is over
            except (sqlite3.Error, OSError) as error:
                answer = self._search_anew(query, budget_ms, error)
        return replace(answer, took_ms=(time.perf_counter() - started) * 1000)

    def _search(self, query: RecallQuery, budget_ms: float) -> RecallAnswer:
        from assistant.recall.lookup import by_time, look_up, without_private

        connection, private = self._opened(), self._private()
        self._refresh(connection, budget_ms / 1000, private)
        snapshot = self._index.snapshot()
        if text := query.text.strip():
            vector = self._embedder.query(text, budget_ms / 1000) if snapshot.has_vector.any() else None
            answer = look_up(connection, snapshot, query, vector, (query.now or self._clock()).date())
            if answer.mode == "keyword":
                answer = replace(answer, by_words=self._embedder.why_by_words(bool(snapshot.has_vector.any())))
        else:
            answer = by_time(connection, snapshot, query)
        return answer if private else without_private(answer)

    def _search_anew(self, query: RecallQuery, budget_ms: float, error: Exception) -> RecallAnswer:
        """Once more after the index failed: a damaged file is replaced, a busy one is left to the next search."""
        _log.warning("search failed: %s", error)
        self._problem = f"The index could not be used: {error}."
        is_damaged = self._index.is_damaged(error)
        self._index.close()
        if is_damaged:
            self._file.discard(f"The index was damaged and is built anew ({error}).")
        try:
            return self._search(query, budget_ms)
        except (sqlite3.Error, OSError) as again:
            _log.error("search failed again: %s", again)
            return RecallAnswer((), True, 0.0, "keyword", BROKEN)

    def near_pairs(self, least: float, most: int) -> list[NearPair]:
        """Units of memory that are near in meaning, nearest first; none without vectors. Raises ("recall.index")."""
        from assistant.recall.pairs import memory_units, named, near_places, places_vectors

        with in_words(self._file.path.parent):
            with self._lock:
                connection, snapshot = self._opened(), self._index.snapshot()
                places = memory_units(snapshot)
                vectors = places_vectors(connection, snapshot, places)
            pairs = near_places(vectors, places, least, most)  # searches need not wait for it
            with self._lock:
                connection = self._opened()
                return named(connection, snapshot, pairs) if birth(connection) == snapshot.marks.birth else []

    def warm(self, cancel: CancelToken) -> bool:
        """Block until the embedder answers; False when it cannot (search then goes by keywords)."""
        return self._embedder.warm(cancel)

    # --- the index ---

    def sync(self, cancel: CancelToken, progress: Progress = _no_progress, vectors: bool = True) -> SyncReport:
        """Bring keywords and then vectors up to date. Blocking; may be stopped (Cancelled) and goes on where it was.

        What cannot be indexed or embedded is in the report's errors; the rest is done. Raises AssistantError
        ("recall.index") when the index itself cannot be used.
        """
        from assistant.recall.index.sweeping import sweep_left
        from assistant.recall.index.sync import purge, sync_files  # many patterns, which the window's start need not

        with in_words(self._file.path.parent), self._writable() as connection:
            changes = sync_files(connection, self._root, cancel, progress, private=self._private())
            sweep_left(connection)
            made = self._embedder.sync(connection, cancel, progress, changes.errors) if vectors else 0
            if changes.removed or self._unpurged:
                self._unpurged = False  # before: what a search takes out meanwhile is for the next one
                if not purge(connection):
                    self._unpurged = True
        return SyncReport(changes.files, changes.added, changes.removed, made, tuple(changes.errors))

    def verify(self, verification: Verification, cancel: CancelToken, seconds: float = math.inf) -> bool:
        """Read files for that long and compare them with what was indexed; False when all are done.

        Those that differ are taken in by the next sync or search. Raises Cancelled and ("recall.index").
        """
        with in_words(self._file.path.parent), contextlib.closing(self._file.connect()) as connection:
            return verification.portion(connection, cancel, seconds)

    def file_states(self) -> list[FileState]:
        """What is indexed of each file. May take seconds for a large index. Raises AssistantError("recall.index")."""
        with in_words(self._file.path.parent), contextlib.closing(self._file.connect()) as connection:
            return file_states(connection, self._root, self._embedder.identity)

    def erase(self, units: Collection[str] = (), skip: Collection[str] = ()) -> None:
        """Let the index follow the files, and leave no trace of what is not in them any more: for forgetting.

        units: ids of what is gone from the files ``skip``; those are so long that they are read again later, by the
        next sync or search. Raises AssistantError("recall.index").
        """
        from assistant.recall.erasing import erase

        with self._lock:
            self._embedder.forget()
        with in_words(self._file.path.parent), self._writable() as connection:
            emptied = erase(connection, self._root, units, skip, _no_progress, private=self._private())
        if not emptied:
            self._unpurged = True
            raise AssistantError(
                "recall.busy",
                "Another program is reading the search index, so its log cannot be emptied yet.",
                "Close other Keepsake windows; it is done at the next start.",
            )

    def with_words(self, text: str) -> list[tuple[str, str]]:
        """(id, text) of the units that the keyword index finds for all words of a text; some, if they are many."""
        from assistant.recall.words.keywords import query_terms, units_with_all

        terms = query_terms(text[:QUERY_CHARACTERS])
        with in_words(self._file.path.parent), self._lock, reading(self._opened()) as connection:
            rows = units_with_all(connection, terms, 100)
            sql = "SELECT uid, text FROM units WHERE id = ?"
            return [connection.execute(sql, [row]).fetchone() for row in rows]

    def known(self, units: Iterable[str]) -> set[str]:
        """Those of the ids that the index has."""
        with in_words(self._file.path.parent), self._lock:
            sql = "SELECT uid FROM units WHERE uid = ?"
            connection = self._opened()
            return {unit for unit in units if connection.execute(sql, [unit]).fetchone()}

    def prepare(self) -> None:
        """Read the index into memory, so that the first search need not; seconds for a million units."""
        with in_words(self._file.path.parent), self._lock:
            self._index.snapshot()

    @property
    def is_ready(self) -> bool:
        """Whether a search need not read the whole index first."""
        return self._index.is_read

    def lone_vectors(self) -> int:
        """How many vectors are of a text that no unit holds any more; 0 where all is well."""
        with in_words(self._file.path.parent), self._lock:
            return count_lone_vectors(self._opened())

    @property
    def files(self) -> tuple[Path, ...]:
        """The index file with its companions, as far as they exist."""
        own = self._file.path
        return tuple(path for path in (own, own.with_name(own.name + "-wal")) if path.exists())

    def rebuild(self, cancel: CancelToken, progress: Progress = _no_progress) -> SyncReport:
        """Throw the index away and build it anew."""
        with in_words(self._file.path.parent), self._lock:
            self._index.close()
            self._file.discard("")
        return self.sync(cancel, progress)

    def status(self) -> IndexStatus:
        """How the index stands now. Raises AssistantError("recall.index")."""
        with in_words(self._file.path.parent), self._lock:
            self._opened()
            status = self._index.status()
        hindrance = cannot_write(self._file.path.parent, self._file.hindrance).message if self._file.hindrance else ""
        notes = tuple(note for note in (self._file.note, hindrance, self._problem, status.problem) if note)
        return replace(status, errors=(*status.errors, *notes))

    def identity(self) -> tuple[str, str]:
        """Names of this build of the index and of the embedding model ("" without one). Raises ("recall.index")."""
        with in_words(self._file.path.parent), self._lock:
            return birth(self._opened()), self._embedder.identity

    def close(self) -> None:
        """Give the connection back; the object can be used again. The embedder is its owner's to close."""
        with self._lock:
            self._index.close()

    @contextlib.contextmanager
    def _writable(self) -> Iterator[sqlite3.Connection]:
        """A connection of a sync's own."""
        connection = self._file.connect_to_write()
        with self._counting:
            self._syncing += 1
        try:
            yield connection
        finally:
            with self._counting:
                self._syncing -= 1
            connection.close()

    def _opened(self) -> sqlite3.Connection:
        """The searches' connection, to the index that is there now."""
        if self._index.let_go() and (behind := self.on_behind):  # what was made anew may be without meanings
            behind()
        return self._index.connection

    def _refresh(self, connection: sqlite3.Connection, budget: float, private: bool) -> None:
        """See what changed on disk, so that what was written a moment ago is found.

        Beside a running sync, and where somebody takes in the rest, only so much that a person does not wait for it.
        """
        from assistant.recall.index.refreshing import refresh

        seconds = _REFRESH_SECONDS if self._syncing or self.on_behind else math.inf
        patience = min(budget, _LOCK_SECONDS)
        changes = refresh(connection, self._root, seconds, patience, private=private, table=self._index.table)
        if changes.removed:
            self._unpurged = True
        if (behind := self.on_behind) and not changes.complete:
            behind()
