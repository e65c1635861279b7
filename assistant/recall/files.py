"""Which workspace files are indexed, and how a change is noticed without reading them."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from assistant.core.cancel import CancelToken
from assistant.workspace.layout import MOST_FOREIGN, SESSIONS, is_conflict_copy, is_foreign, is_text, leads_inside

_TEMPORARY = ".~keepsake-"
_FRESH_NS = 50_000_000
"""A file written this short a time ago may be written again within the same tick of the file system's clock."""
LOGS = "memory/log"


@dataclass(frozen=True, slots=True)
class Look:
    """What a look at the folders saw.

    marks: relative POSIX name -> stat mark of every file to index. Equal marks mean an unchanged file; the mark of a
    file that was only just written is empty: it equals nothing. closed: folders that cannot be read; what is known of
    the files in them holds on.
    """

    marks: dict[str, str] = field(default_factory=dict)
    closed: dict[str, str] = field(default_factory=dict)

    def hides(self, path: str) -> bool:
        """Whether a file that was not seen may well be there."""
        return any(path.startswith(f"{folder}/") for folder in self.closed)


def scan(root: Path) -> dict[str, str]:
    """The marks of a look."""
    return look(root).marks


def look(root: Path, cancel: CancelToken | None = None) -> Look:
    """Look at every file to index, by stat alone. Symlinks are not followed; day logs are left out.

    So is what a sync program made of a conflict: it is another state of a file that is there. Raises Cancelled.
    """
    found = Look()
    memory = root / "MEMORY.md"
    with contextlib.suppress(OSError):  # or deleted since it was looked at
        if memory.is_file() and not memory.is_symlink():
            found.marks["MEMORY.md"] = _mark(memory.stat())
    for folder in ("memory", "chats", SESSIONS):
        if leads_inside(root, root / folder):
            _walk(root / folder, folder, found, cancel or CancelToken())
    return found


def _walk(folder: Path, name: str, found: Look, cancel: CancelToken) -> None:
    cancel.check()
    try:
        with os.scandir(folder) as opened:
            entries = list(opened)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:  # no permission, or a disk that stutters
        found.closed[name] = error.strerror or str(error)
        return
    for entry in entries:
        path = f"{name}/{entry.name}"
        if entry.name.startswith((".", _TEMPORARY)) or path == LOGS or not is_text(entry.name):
            continue
        if entry.is_dir(follow_symlinks=False):
            _walk(folder / entry.name, path, found, cancel)
        elif _is_indexed(path) and entry.is_file(follow_symlinks=False):
            try:
                stat = entry.stat(follow_symlinks=False)
                if stat.st_size <= MOST_FOREIGN or not is_foreign(path):
                    found.marks[path] = _mark(stat)
            except OSError:  # deleted since the folder was read
                continue


@lru_cache(32_768)
def _is_indexed(path: str) -> bool:
    """Asked of the same names at every search."""
    ours = is_foreign(path) or (path.endswith(".md") and not path.startswith(f"{SESSIONS}/"))
    return ours and not is_conflict_copy(path)


def _mark(stat: os.stat_result) -> str:
    changed = stat.st_mtime_ns
    if abs(time.time_ns() - changed) < _FRESH_NS:
        return ""
    return f"{stat.st_size}:{changed}:{stat.st_ctime_ns}:{stat.st_ino}"
