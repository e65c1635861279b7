"""The embedder as recall uses it: what goes wrong with it is kept in words, and search goes on without."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.ports import Embedder, Progress
from assistant.recall.meaning.embedders import PatientEmbedder
from assistant.recall.meaning.vector_sync import sync_vectors
from assistant.recall.modes import WhyWords, why_by_words

if TYPE_CHECKING:
    import numpy as np

QUERY_CHARACTERS = 2_000
"""So much of a query is looked at."""
_REMEMBERED_QUERIES = 64


class QuietEmbedder:
    """None as embedder: there is none. problem: why it did not answer the last time, "" where it did.

    ``query`` and ``forget`` are called one at a time; the others from any thread.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder
        self._queries: dict[tuple[str, str], np.ndarray] = {}  # by the model, too
        self.problem = ""

    @property
    def identity(self) -> str:
        """The name of its model; "" without one."""
        try:
            return self._embedder.identity if self._embedder else ""
        except AssistantError as error:
            self.problem = str(error)
            return ""

    @property
    def dimensions(self) -> int:
        """Of its vectors; 0 without one, or without a model that can be read."""
        return self._embedder.dimensions if self._embedder and self.identity else 0

    @property
    def ready(self) -> bool:
        """Whether a query would be answered at once."""
        return self._embedder is not None and (not isinstance(self._embedder, PatientEmbedder) or self._embedder.ready)

    def why_by_words(self, has_vectors: bool) -> WhyWords:
        """As in recall.modes. has_vectors: whether any of its model take part."""
        return why_by_words(self.identity, self.problem, has_vectors, self.ready)

    def warm(self, cancel: CancelToken) -> bool:
        """Block until it answers; False when it cannot."""
        if self._embedder is None:
            return False
        try:
            self._embedder.embed(["ready"], cancel)
        except AssistantError as error:
            self.problem = str(error)
            return False
        self.problem = ""
        return True

    def query(self, text: str, seconds: float) -> np.ndarray | None:
        """The vector of a query; None where it is not ready, or not within that time. The last ones are remembered."""
        text = text[:QUERY_CHARACTERS].encode("utf-8", "replace").decode()
        key = self.identity, text
        if key in self._queries:
            return self._queries[key]
        try:
            vector = self._asked(text, seconds)
        except AssistantError as error:
            self.problem = str(error)
            return None
        if vector is None:
            return None
        self.problem = ""
        if key[0] != self.identity:  # its files were replaced: the index does not know it yet
            return None
        if len(self._queries) >= _REMEMBERED_QUERIES:
            self._queries.pop(next(iter(self._queries)))
        self._queries[key] = vector
        return vector

    def forget(self) -> None:
        """Remember no query."""
        self._queries.clear()

    def sync(self, connection: sqlite3.Connection, cancel: CancelToken, progress: Progress, errors: list[str]) -> int:
        """Make the vectors that are missing; how many it made. What goes wrong is added to the errors."""
        if self._embedder is None:
            return 0
        try:
            made = sync_vectors(connection, self._embedder, cancel, progress)
        except AssistantError as error:
            self.problem = str(error)
            errors.append(str(error))
            return 0
        self.problem = ""
        return made

    def _asked(self, text: str, seconds: float) -> np.ndarray | None:
        embedder = self._embedder
        if embedder is None:
            return None
        if not isinstance(embedder, PatientEmbedder):
            vector: np.ndarray = embedder.embed([text], CancelToken())[0]
            return vector
        if embedder.ready:
            return embedder.embed_query(text, seconds)
        embedder.warm_up()
        return None
