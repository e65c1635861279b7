"""A workspace, and recall over it by words alone or with a small embedder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant.recall.search import Recall
from tests.recall.helpers import CLOCK, FakeEmbedder, SmallWorkspace


@pytest.fixture
def workspace(tmp_path: Path) -> SmallWorkspace:
    return SmallWorkspace(tmp_path / "Keepsake")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def by_words(workspace: SmallWorkspace, state: Path) -> Iterator[Recall]:
    recall = Recall(workspace, state, None, CLOCK)
    yield recall
    recall.close()


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


@pytest.fixture
def recall(workspace: SmallWorkspace, state: Path, embedder: FakeEmbedder) -> Iterator[Recall]:
    recall = Recall(workspace, state, embedder, CLOCK)
    yield recall
    recall.close()
