"""Saving a whole file that may have changed meanwhile: merged where that is clean, and never over something unseen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from assistant.workspace.changes import merge
from assistant.workspace.memory_values import Conflict, Saved
from assistant.workspace.text_files import TextFile, visible

_TRIES = 3  # another program may write again while we merge


class Door(Protocol):
    """The part of Memory that this needs."""

    def read(self, file: str) -> TextFile: ...
    def save(self, file: str, text: str, base_sha: str, *, keep_secrets: bool = False) -> Saved | Conflict: ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """result: a Conflict when the person has to choose; read: the file as it is now; merged: with another's change."""

    result: Saved | Conflict
    read: TextFile
    merged: bool = False


def save_merged(
    memory: Door, file: str, text: str, base_sha: str, base_text: str | None = None, *, keep_secrets: bool = False
) -> Outcome:
    """Save ``text``, made from the file when its checksum was ``base_sha`` and its text ``base_text``, where known.

    A file that is gone is written anew. The journal knows most texts by their checksums; base_text is for those that it
    does not know under this name, since the note was renamed, or since the text was kept from an earlier start.
    """
    result, merged = memory.save(file, text, base_sha, keep_secrets=keep_secrets), False
    for _ in range(_TRIES):
        if not isinstance(result, Conflict):
            break
        if not result.theirs_sha:
            result = memory.save(file, text, "", keep_secrets=keep_secrets)
        elif (both := _merged(result, base_text)) is not None:
            merged = True
            result = memory.save(file, both, result.theirs_sha, keep_secrets=keep_secrets)
        else:
            break
    return Outcome(result, memory.read(file), merged)


def _merged(conflict: Conflict, base_text: str | None) -> str | None:
    if conflict.merged is not None or base_text is None:
        return conflict.merged
    return merge(visible(base_text), conflict.theirs, conflict.mine)
