"""A workspace in a temporary folder, at a fixed time."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from assistant.core.clock import fixed_clock
from assistant.workspace.workspace import Workspace

NOW = datetime.fromisoformat("2026-11-29T15:30:22+08:00")


@pytest.fixture
def make(tmp_path: Path):
    """Opens the workspace at a time; each call is another program's view of the same folder."""

    def open_it(now: str = "2026-11-29T15:30:22+08:00") -> Workspace:
        clock = fixed_clock(datetime.fromisoformat(now))
        workspace = Workspace(tmp_path / "ws", tmp_path / "data", tmp_path / "state", clock)
        workspace.prepare()
        return workspace

    return open_it


@pytest.fixture
def ws(make) -> Workspace:
    return make()
