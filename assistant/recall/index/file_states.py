"""What the index has of each file, and why it has not what it has not."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from assistant.recall.index.files import Look, look
from assistant.recall.index.known_files import HIDDEN
from assistant.recall.meaning.models import number_of
from assistant.workspace.assistants import PERSONA
from assistant.workspace.layout import ARCHIVE, LOGS, MEMORY, MOST_FOREIGN, is_conflict_copy, is_foreign, is_text

State = Literal["indexed", "partly", "failed", "private", "ignored"]
_FOLDERS = ("memory", "chats", "sessions")


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as the index has it.

    path: relative to the workspace; kind: "memory", "archive", "note", "chat", "other" (another program's), "log" or
    "file"; units: what can be found in it; vectors: how many of them can be found by meaning. state: "partly": found
    by words, some meanings are still to be learnt; "private": in a private chat, and left out. why: what is wrong with
    it or keeps it out, "" for nothing; fix: what to do about it.
    """

    path: str
    kind: str
    units: int
    vectors: int
    state: State
    why: str = ""
    fix: str = ""

    @property
    def has_problem(self) -> bool:
        """Whether something is wrong with it, though it may be found in part."""
        return self.state == "failed" or (self.state in ("indexed", "partly") and self.why not in ("", _NEW[0]))


_SELECT = """
SELECT path, problem, sha256, private, count(units.id), sum(EXISTS(
    SELECT 1 FROM vectors WHERE vectors.model = ? AND vectors.hash = units.hash))
FROM files LEFT JOIN places ON places.file = files.id LEFT JOIN units ON units.id = unit GROUP BY files.id ORDER BY path
"""


def file_states(connection: sqlite3.Connection, root: Path, identity: str) -> list[FileState]:
    """Each file by name. identity: of the model whose vectors count; "" for none."""
    seen, model = look(root), number_of(connection, identity)
    rows = connection.execute(_SELECT, [model]).fetchall()
    known = {row[0] for row in rows}
    states = [_state(row, bool(identity)) for row in rows]
    states += [FileState(path, kind_of(path), 0, 0, "partly", *_NEW) for path in seen.marks if path not in known]
    states += [
        FileState(folder, "file", 0, 0, "failed", f"The folder cannot be read: {why}.", _ACCESS)
        for folder, why in seen.closed.items()
    ]
    return sorted([*states, *_ignored(root, seen)], key=lambda state: state.path)


def kind_of(path: str) -> str:
    """What a file is, by its name."""
    if path.startswith("chats/"):
        return "chat"
    if is_foreign(path):
        return "other"
    return {MEMORY: "memory", ARCHIVE: "archive"}.get(path, "note")


def _state(row: tuple[str, str, str, int, int, int | None], by_meaning: bool) -> FileState:
    path, problem, sha256, private, units, vectors = row
    vectors = vectors or 0
    state: State = "indexed"
    if problem and (not units or not sha256):
        state = "failed"
    elif private == HIDDEN:
        return FileState(path, "chat", 0, 0, "private", "What was said in private chats is not searched.")
    elif by_meaning and vectors < units:
        state = "partly"
    return FileState(path, kind_of(path), units, vectors, state, problem, fix_of(problem))


# --- what to do ---------------------------------------------------------------------------------------------------

_NEW = ("It is new and has not been read yet.", "Search, or run: keepsake index sync")
_ACCESS = "Check its permissions and its disk; it is read again at each search."
_FIXES = (
    ("cannot be read", _ACCESS),
    ("is not there", _ACCESS),
    ("not understood", "It is kept as it is. Please report this."),
    ("no text", "Save it as UTF-8 in an editor, or move it elsewhere."),
    ("UTF-16", "Save it as UTF-8 in an editor."),
    ("bytes that are not", "Save it as UTF-8 in an editor."),
)


def fix_of(problem: str) -> str:
    """What to do about a file's problem; "" for none."""
    if not problem:
        return ""
    words = "Open it in an editor; nothing in it was changed or dropped."
    return next((fix for sign, fix in _FIXES if sign in problem), words)


# --- what is left out ---------------------------------------------------------------------------------------------

_LINK = ("It is a link; links are not followed.", "Put the file itself there.")
_NAMELESS = ("Its name is no text.", "Give it another name.")
_COPY = ("It is a sync program's copy of a conflict.", "Compare it with the original, then delete it.")
_LARGE = (f"It is larger than {MOST_FOREIGN // 1_000_000} MB.", "Split it.")
_KIND = ("Only Markdown is read, and what other assistants wrote as JSON.", "Save its text as .md.")
_BESIDE = ("Notes are read in the folder memory only.", "Move it into memory/.")


def _ignored(root: Path, seen: Look) -> Iterator[FileState]:
    """What a person may miss in a search. Hidden files, ours among them, are nobody's notes."""
    for path, name, is_link in _all_files(root):
        if path in seen.marks:
            continue
        why, fix = _why_ignored(root, path, name, is_link)
        yield FileState(os.fsencode(path).decode("utf-8", "backslashreplace"), "file", 0, 0, "ignored", why, fix)
    logs = Counter(name.endswith(".md") for _, name, _ in _walk(root / LOGS, LOGS))[True]
    if logs:
        why = f"Day logs ({logs}) are for people to read; what they tell of is found in the chats."
        yield FileState(f"{LOGS}/", "log", 0, 0, "ignored", why)


def _why_ignored(root: Path, path: str, name: str, is_link: bool) -> tuple[str, str]:
    if is_link:
        return _LINK
    if not is_text(name):
        return _NAMELESS
    if is_conflict_copy(path):
        return _COPY
    if "/" not in path:
        return _BESIDE
    return _LARGE if is_foreign(path) else _KIND


def _all_files(root: Path) -> Iterator[tuple[str, str, bool]]:
    """(path, name, whether it is a link) of every file but hidden ones and day logs."""
    for path, name, is_link in _walk(root, "", deep=False):
        if name.endswith(".md") and name not in (MEMORY, PERSONA):
            yield path, name, is_link
    for folder in _FOLDERS:
        if not (root / folder).is_symlink():
            yield from _walk(root / folder, folder)


def _walk(folder: Path, name: str, *, deep: bool = True) -> Iterator[tuple[str, str, bool]]:
    try:
        with os.scandir(folder) as opened:
            entries = list(opened)
    except OSError:
        return
    for entry in entries:
        path = f"{name}/{entry.name}" if name else entry.name
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            if deep and path != LOGS:
                yield from _walk(folder / entry.name, path)
        else:
            yield path, entry.name, entry.is_symlink()
