"""The memory files as their folders list them: quick also for thousands, since none of them is read."""

from __future__ import annotations

import contextlib
from datetime import datetime
from pathlib import Path

from assistant.workspace import layout
from assistant.workspace.memory_values import MemoryFileInfo


def kind_of(file: str) -> str:
    """ "memory", "archive", "log" or "topic"."""
    if file.startswith(f"{layout.LOGS}/"):
        return "log"
    return {layout.MEMORY: "memory", layout.ARCHIVE: "archive"}.get(file, "topic")


def list_files(root: Path) -> list[MemoryFileInfo]:
    """All memory files that exist, the day logs last; problem is "" since that takes reading them."""
    found = []
    for file in (*layout.memory_files(root), *layout.log_files(root)):
        with contextlib.suppress(OSError):  # it went away meanwhile
            found.append(info_of(root, file))
    return found


def info_of(root: Path, file: str, problem: str = "") -> MemoryFileInfo:
    """One file. Raises OSError where it is not there."""
    stat = (root / file).stat()
    modified = datetime.fromtimestamp(stat.st_mtime).astimezone().replace(microsecond=0).isoformat()
    return MemoryFileInfo(file, kind_of(file), stat.st_size, modified, problem)
