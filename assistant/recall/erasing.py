"""Letting the index follow the files with nothing left of what was in them, for forgetting."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from pathlib import Path

from assistant.core.cancel import CancelToken
from assistant.core.ports import Progress
from assistant.recall.index.sweeping import Sweep, sweep_left
from assistant.recall.index.sync import drop_units, purge, sync_files


def erase(
    connection: sqlite3.Connection,
    root: Path,
    units: Collection[str],
    skip: Collection[str],
    progress: Progress,
    *,
    private: bool,
) -> bool:
    """Drop units by their ids and take in what changed, but the files ``skip``; all that went is overwritten.

    False where somebody reads beside us, so that the index's log still holds what it held.
    """
    sweep = Sweep()
    drop_units(connection, units, sweep)
    sync_files(connection, root, CancelToken(), progress, private=private, skip=skip, sweep=sweep)
    sweep.done(connection)
    sweep_left(connection)  # a process that was killed may have left some
    return purge(connection)  # waits some seconds for who reads beside us
