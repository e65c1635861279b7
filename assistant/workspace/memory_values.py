"""What the one door to the memory files answers."""

from __future__ import annotations

from dataclasses import dataclass

from assistant.core.errors import AssistantError


@dataclass(frozen=True, slots=True)
class Written:
    """Something was remembered. id: the line's unit id; text: its items, without date and source.

    redacted: secrets replaced in it; journal_id: "" when nothing was written since it was there already (duplicate);
    superseded: the older items that it struck, as they were.
    """

    id: str
    file: str
    line: int
    text: str
    redacted: int
    journal_id: str
    duplicate: bool = False
    superseded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Saved:
    """A file was written. journal_id: "" when it did not change; sha256: of the file now, "" when it is gone."""

    journal_id: str
    sha256: str
    redacted: int = 0


@dataclass(frozen=True, slots=True)
class Conflict:
    """Nothing was written: the file changed meanwhile.

    base: what both started from ("" when it is not known); mine: what should have been written; theirs: what is on
    disk; merged: both changes in one text, None where they touch the same lines; theirs_sha: what save takes next;
    file: which one it is about.
    """

    base: str
    mine: str
    theirs: str
    merged: str | None
    theirs_sha: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class Located:
    """Where a unit stands now. first, last: lines, from 1; text: the entry's line, or the bullet or paragraph."""

    file: str
    first: int
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """A whole file's new text, None to remove it. base_sha: of the file it was made from, "" for a new one."""

    file: str
    text: str | None
    base_sha: str


@dataclass(frozen=True, slots=True)
class MemoryFileInfo:
    """A memory file. kind: "memory", "topic", "archive" or "log"; size in bytes; modified: ISO; problem: or "".

    actor: who wrote it last, as in the journal; "" where nobody knows.
    """

    file: str
    kind: str
    size: int
    modified: str
    problem: str = ""
    actor: str = ""


def undo_clash(conflict: Conflict) -> AssistantError:
    """What to say where nobody is there to choose between the texts of an undo."""
    return AssistantError(
        "memory.conflict",
        f"{conflict.file} has changed since in the same place, so this cannot be taken back by itself.",
        "Open the journal in the window: it shows both texts side by side.",
    )
