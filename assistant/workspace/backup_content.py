"""What a backup holds: the workspace and what is kept about it, without what is rebuilt, temporary or a link."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from assistant.core.errors import AssistantError
from assistant.workspace.disk import as_error
from assistant.workspace.forget_pending import FOLDER as FORGETTING
from assistant.workspace.layout import CHATS, TEMP_PREFIX
from assistant.workspace.safe_files import locked

WORKSPACE, DATA, OTHERS, SETTINGS = "workspace", "data", "assistants-data", "settings.toml"
_LEFT_OUT = frozenset({"trash", FORGETTING})
"""Folders of the data folder that do not go in: what was deleted or is being forgotten must not come back."""
_REPOSITORY = ".git"
LARGEST_FILE = 1024**3
"""Bytes; a larger file stays out and is named: each is taken as a whole, to be of one moment."""
_TEMPORARY = (".lock", ".tmp")
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Part:
    """An assistant. name: "" for the default one; root: its memory and chats; data: what is kept about them; lock: that
    of its memory files.
    """

    name: str
    root: Path
    data: Path
    lock: Path


@dataclass(frozen=True, slots=True)
class Source:
    """parts: the default assistant first; settings: settings.toml, which need not exist; skip: files that stay out."""

    parts: tuple[Part, ...]
    settings: Path
    skip: frozenset[Path] = frozenset()


@dataclass(frozen=True, slots=True)
class Item:
    """One file and its name in the backup."""

    name: str
    path: Path


def items(source: Source, skipped: list[str]) -> Iterator[Item]:
    """All files; what is no plain file, or too large, is named in ``skipped`` instead.

    Memory and journal of an assistant are taken under the lock of its memory files, so that they fit each other.
    """
    skip = {Path(os.path.realpath(path)) for path in (*source.skip, *(part.root for part in source.parts))}
    for part in source.parts:
        root, data = f"{WORKSPACE}/assistants/{part.name}", f"{OTHERS}/{part.name}"
        root, data = (root, data) if part.name else (WORKSPACE, DATA)
        with locked(part.lock):
            yield from _walk(root, part.root, skip, skipped, {CHATS})
            yield from _walk(data, part.data, skip, skipped, _LEFT_OUT)
        yield from _walk(f"{root}/{CHATS}", part.root / CHATS, skip, skipped, ())
    if source.settings.is_file():
        yield Item(SETTINGS, source.settings)


def belongs(name: str, assistant: str, others: Collection[str]) -> bool:
    """Whether a file of a backup is one of this assistant's ("" for the default one, who has what is nobody else's)."""

    def owned(by: str) -> bool:
        return name.startswith((f"{WORKSPACE}/assistants/{by}/", f"{OTHERS}/{by}/"))

    return owned(assistant) if assistant else not any(owned(other) for other in others)


def read_steady(path: Path) -> tuple[bytes, os.stat_result] | None:
    """The bytes of a file at one moment, read again if it was written meanwhile; None when it has gone.

    A file that does not come to rest is taken up to the size it had, which for files that only grow is a state it had.
    """
    try:
        for _ in range(_TRIES):
            with path.open("rb") as file:
                before = os.fstat(file.fileno())
                data = file.read(before.st_size)
            now = path.stat()
            if (now.st_size, now.st_mtime_ns, now.st_ino) == (before.st_size, before.st_mtime_ns, before.st_ino):
                break
        return data, before
    except FileNotFoundError:
        return None
    except OSError as error:
        raise as_error(error, path) from error


def _walk(
    name: str, folder: Path, skip: Collection[Path], skipped: list[str], left_out: Collection[str]
) -> Iterator[Item]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    except OSError as error:
        raise as_error(error, folder) from error
    for entry in entries:
        inner, path = f"{name}/{entry.name}", Path(entry.path)
        if entry.name in left_out or entry.name == _REPOSITORY or entry.name.startswith(TEMP_PREFIX):
            continue
        if Path(os.path.realpath(path)) in skip and not entry.is_symlink():
            continue
        if _stays_out(entry):
            skipped.append(inner)
        elif entry.is_dir():
            yield from _walk(inner, path, skip, skipped, ())
        elif entry.is_file() and not (name.startswith((DATA, OTHERS)) and _temporary(entry.name)):
            yield Item(inner, path)
        elif not entry.is_file():
            skipped.append(inner)


def _stays_out(entry: os.DirEntry[str]) -> bool:
    """A link, what is too large, and a name that would part folders on Windows, which no backup may hold."""
    if entry.is_symlink() or "\\" in entry.name:
        return True
    try:
        return entry.is_file() and entry.stat().st_size > LARGEST_FILE
    except FileNotFoundError:  # it has just gone
        return False


def _temporary(name: str) -> bool:
    return name.endswith(_TEMPORARY) or ".tmp." in name


def free_of(own: Path, target: Path) -> None:
    """Raise AssistantError("backup.inside") for a target in ``own``, where nothing but the app writes."""
    if Path(os.path.realpath(target)).is_relative_to(os.path.realpath(own)):
        raise AssistantError(
            "backup.inside", "This folder is Keepsake's own.", "Choose a place outside it, best on another disk."
        )
