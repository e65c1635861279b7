"""Which workspace files are indexed, and how a change is noticed without reading them."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from assistant.core.cancel import CancelToken
from assistant.workspace.layout import (
    CHATS,
    LOGS,
    MEMORY,
    MOST_FOREIGN,
    SESSIONS,
    TOPICS,
    is_conflict_copy,
    is_foreign,
    is_text,
    leads_inside,
)

_FRESH_NS = 50_000_000
"""A file written this short a time ago may be written again within the same tick of the file system's clock."""
_AHEAD_NS = 60_000_000_000
"""So much later than now is while we look; what is of a later time than that comes from another clock."""

Mark = tuple[int, ...]
"""Size, time of the last change, of the last change of its place or rights, and number of a file. Equal marks mean an
unchanged file; that of a file that was only just written is empty, and equals nothing."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a look at the folders saw.

    marks: by the relative POSIX name of every file to index; closed: folders that cannot be read; what is known of
    the files in them holds on.
    """

    marks: dict[str, Mark] = field(default_factory=dict)
    closed: dict[str, str] = field(default_factory=dict)

    def hides(self, path: str) -> bool:
        """Whether a file that was not seen may well be there."""
        return any(path.startswith(f"{folder}/") for folder in self.closed)


def look(root: Path, cancel: CancelToken | None = None) -> Look:
    """Look at every file to index, by stat alone. Symlinks are not followed; day logs are left out.

    So is what a sync program made of a conflict: it is another state of a file that is there. Raises Cancelled. Some
    3 us a file, most of it the stat call: every search pays it.
    """
    found = Look()
    memory = root / MEMORY
    with contextlib.suppress(OSError):  # or deleted since it was looked at
        if memory.is_file() and not memory.is_symlink():
            found.marks[MEMORY] = _mark(memory.stat(), time.time_ns())
    for folder in (TOPICS, CHATS, SESSIONS):
        if leads_inside(root, root / folder):
            _walk(os.fspath(root / folder), folder, found, cancel or CancelToken())
    return found


def _walk(folder: str, name: str, found: Look, cancel: CancelToken) -> None:
    cancel.check()
    try:
        with _listed(folder) as entries:
            now = time.time_ns()
            for entry in entries:
                path = f"{name}/{entry.name}"
                sort = _sort(path)
                if sort > _FOLDER and entry.is_file(follow_symlinks=False):
                    try:
                        stat = entry.stat(follow_symlinks=False)
                    except OSError:  # deleted since the folder was read
                        continue
                    if sort != _FOREIGN or stat.st_size <= MOST_FOREIGN:
                        found.marks[path] = _mark(stat, now)
                elif sort and entry.is_dir(follow_symlinks=False):
                    _walk(f"{folder}/{entry.name}", path, found, cancel)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:  # no permission, or a disk that stutters
        found.closed[name] = error.strerror or str(error)


@contextlib.contextmanager
def _listed(folder: str) -> Iterator[Iterator[os.DirEntry[str]]]:
    """What is in a folder. Through a descriptor, where the system can, so that a stat need not find the folder anew."""
    if os.scandir not in os.supports_fd:
        with os.scandir(folder) as entries:
            yield entries
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with os.scandir(descriptor) as entries:
            yield entries
    finally:
        os.close(descriptor)


_NONE, _FOLDER, _OURS, _FOREIGN = range(4)
"""What a name may be of: nothing to look at, a folder at most, a file of ours, one in another program's form."""


@lru_cache(65_536)
def _sort(path: str) -> int:
    """Asked of the same names at every search."""
    name = path.rpartition("/")[2]
    if name.startswith(".") or path == LOGS or not is_text(name):
        return _NONE
    if is_conflict_copy(path):
        return _FOLDER
    if is_foreign(path):
        return _FOREIGN
    return _OURS if path.endswith(".md") and not path.startswith(f"{SESSIONS}/") else _FOLDER


def _mark(stat: os.stat_result, now: int) -> Mark:
    changed = stat.st_mtime_ns
    if -_AHEAD_NS < now - changed < _FRESH_NS:
        return ()
    return stat.st_size, changed, stat.st_ctime_ns, stat.st_ino


def mark_text(mark: Mark) -> str:
    """As the index keeps it."""
    return ":".join(map(str, mark))


@lru_cache(65_536)
def read_mark(text: str) -> Mark:
    """What ``mark_text`` made; of anything else one that no file has."""
    try:
        return tuple(map(int, text.split(":"))) if text else ()
    except ValueError:
        return (-1,)
