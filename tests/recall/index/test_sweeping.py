"""Nothing is left of texts that went, nothing is missing, and to know both costs nothing where nothing changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from assistant.core.cancel import CancelToken
from assistant.core.values import Passage
from assistant.recall.index.database import IndexFile
from assistant.recall.index.sweeping import Sweep, sweep_left
from assistant.recall.meaning.vector_sync import sync_vectors
from assistant.recall.search import Recall
from tests.recall.helpers import CLOCK, FakeEmbedder, SmallWorkspace, found, quiet


def test_what_a_killed_process_left_goes_with_the_next_sync(
    workspace: SmallWorkspace, recall: Recall, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.remember("2026-11-01|you|kayak", "2026-11-02|you|paddle")
    recall.sync(CancelToken(), quiet)
    with monkeypatch.context() as killed:
        killed.setattr(Sweep, "done", lambda *_: None)
        workspace.write("MEMORY.md", "2026-11-01|you|kayak\n")
        assert found(recall, "kayak") and recall.lone_vectors() == 1
    workspace.write("MEMORY.md", "2026-11-03|you|rudder\n")
    assert found(recall, "rudder") and recall.lone_vectors() == 1
    other = Recall(workspace, state, FakeEmbedder(), CLOCK)
    other.sync(CancelToken(), quiet)
    other.close()
    assert recall.lone_vectors() == 0


class _Interrupted(FakeEmbedder):
    """Does something while it embeds."""

    meanwhile: Callable[[], object] = staticmethod(lambda: None)

    def embed_passages(self, passages: Sequence[Passage], cancel: CancelToken) -> list[np.ndarray]:
        self.meanwhile()
        return super().embed_passages(passages, cancel)


def test_a_text_that_goes_while_it_is_embedded_leaves_no_vector(
    workspace: SmallWorkspace, by_words: Recall, state: Path
) -> None:
    def meanwhile() -> None:
        workspace.write("MEMORY.md", "2026-11-01|you|kayak\n")
        assert not found(by_words, "paddle")

    embedder = _Interrupted()
    recall = Recall(workspace, state, embedder, CLOCK)
    workspace.remember("2026-11-01|you|kayak", "2026-11-02|you|paddle")
    embedder.meanwhile = meanwhile
    recall.sync(CancelToken(), quiet)
    embedder.meanwhile = lambda: None
    recall.sync(CancelToken(), quiet)
    assert recall.lone_vectors() == 0 and (recall.status().vectors, recall.status().stale) == (1, 0)
    recall.close()


def test_a_sync_with_nothing_to_do_does_as_little_among_many_units(
    workspace: SmallWorkspace, recall: Recall, state: Path
) -> None:
    def steps() -> int:
        """Of the database: thousands each."""
        connection, count = IndexFile(state / "index.sqlite3").connect(), [0]
        connection.set_progress_handler(lambda: count.__setitem__(0, count[0] + 1), 1_000)
        assert sync_vectors(connection, FakeEmbedder(), CancelToken(), quiet) == 0
        sweep_left(connection)
        connection.close()
        return count[0]

    workspace.remember(*(f"2026-11-01|you|kayak {n}" for n in range(1_000)))
    recall.sync(CancelToken(), quiet)
    assert steps() <= 1
    workspace.remember("2026-11-02|you|paddle")
    assert recall.sync(CancelToken(), quiet).vectors == 1
    assert steps() <= 1 and recall.status().stale == 0
