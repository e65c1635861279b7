"""A real workspace, a real index without vectors, and an engine that says what it is told to."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assistant.chat.receipts import ReceiptStore
from assistant.core.clock import fixed_clock
from assistant.recall.search import Recall
from assistant.workspace.workspace import Workspace

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made = Workspace(tmp_path / "workspace", tmp_path / "data", tmp_path / "state", fixed_clock(NOW))
    made.prepare()
    return made


@pytest.fixture
def recall(workspace: Workspace, tmp_path: Path) -> Iterator[Recall]:
    made = Recall(workspace, tmp_path / "state", None, workspace.clock)
    yield made
    made.close()


@pytest.fixture
def receipts(tmp_path: Path) -> ReceiptStore:
    return ReceiptStore(tmp_path / "data" / "receipts")
