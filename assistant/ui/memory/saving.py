"""Writing what was typed: merged with what came meanwhile where that is clean, and never over something unseen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant.ui.backend import Memory
from assistant.ui.memory.unsaved import Unsaved
from assistant.workspace.memory_values import Conflict, Saved

if TYPE_CHECKING:
    from assistant.workspace.text_files import TextFile

_TRIES = 3  # another program may write again while we merge


@dataclass(frozen=True, slots=True)
class Outcome:
    """result: a Conflict when the person has to choose; read: the file as it is now; merged: with another's change."""

    result: Saved | Conflict
    read: TextFile
    merged: bool = False


def save_typed(memory: Memory, file: str, typed: Unsaved, keep_secrets: bool = False) -> Outcome:
    """Blocking. A file that is gone is written anew; a change that was made meanwhile is merged where it is clean."""
    result, merged = memory.save(file, typed.whole(), typed.base.sha256, keep_secrets=keep_secrets), False
    for _ in range(_TRIES):
        if not isinstance(result, Conflict):
            break
        if not result.theirs_sha:
            result = memory.save(file, typed.whole(), "", keep_secrets=keep_secrets)
        elif result.merged is not None:
            merged = True
            result = memory.save(file, result.merged, result.theirs_sha, keep_secrets=keep_secrets)
        else:
            break
    return Outcome(result, memory.read(file), merged)
