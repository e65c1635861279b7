"""Saving a whole file that may have changed meanwhile: merged where that is clean, and never over something unseen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from assistant.workspace.memory_values import Conflict, Saved
from assistant.workspace.text_files import TextFile

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


def save_merged(memory: Door, file: str, text: str, base_sha: str, keep_secrets: bool = False) -> Outcome:
    """Save ``text``, made from the file when its checksum was ``base_sha``. A file that is gone is written anew."""
    result, merged = memory.save(file, text, base_sha, keep_secrets=keep_secrets), False
    for _ in range(_TRIES):
        if not isinstance(result, Conflict):
            break
        if not result.theirs_sha:
            result = memory.save(file, text, "", keep_secrets=keep_secrets)
        elif result.merged is not None:
            merged = True
            result = memory.save(file, result.merged, result.theirs_sha, keep_secrets=keep_secrets)
        else:
            break
    return Outcome(result, memory.read(file), merged)
