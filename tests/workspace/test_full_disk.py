"""The disk is full, or breaks, at any write of a change: then nothing of it happened, and nothing is left beside it."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from assistant.core.errors import AssistantError
from assistant.workspace.budget import Limits
from assistant.workspace.layout import MEMORY
from assistant.workspace.memory_values import Edit
from assistant.workspace.tidy import apply_tidy, plan_tidy
from assistant.workspace.workspace import Workspace

NOTE, NEW = "memory/a.md", "memory/z.md"
TEXT = "# Facts\n\n- fact one\n2026-01-01|you|old · until 2026-02-01\n2026-01-02|you|dup\n2026-01-03|you|dup\n"


def save(ws: Workspace) -> None:
    read = ws.memory.read(MEMORY)
    ws.memory.save(MEMORY, read.text.replace("fact", "other fact"), read.sha256)


def move(ws: Workspace) -> None:
    read, note = ws.memory.read(MEMORY), ws.memory.read(NOTE)
    shorter = Edit(MEMORY, read.text.replace("- fact one\n", ""), read.sha256)
    ws.memory.change_many([shorter, Edit(NOTE, "# a\n- fact one\n", note.sha256), Edit(NEW, "z\n", "")], "you", "move")


def tidy(ws: Workspace) -> None:
    apply_tidy(ws.memory, plan_tidy(ws.memory, Limits(), date(2026, 11, 29)))


DONE: dict[str, Callable[[Workspace], object]] = {
    "remember": lambda ws: ws.memory.remember("something new"),
    "correct": lambda ws: ws.memory.remember("dentist on Wednesday"),
    "save": save,
    "new": lambda ws: ws.memory.save(NEW, "# new\n", ""),
    "move": move,
    "undo": lambda ws: ws.memory.undo(ws.journal.entries(1)[0].id),
    "tidy": tidy,
    "delete": lambda ws: ws.memory.change_many([Edit(NOTE, None, ws.memory.read(NOTE).sha256)], "you", "delete"),
}


class Disk:
    """Fails at the n-th write or sync; for_good: at every write from then on."""

    def __init__(self, n: int, for_good: bool) -> None:
        self._n, self._for_good, self._calls = n, for_good, 0
        self._write, self._sync = os.write, os.fsync

    @property
    def failed(self) -> bool:
        return self._calls >= self._n

    def write(self, descriptor: int, data: bytes) -> int:
        self._count(self._for_good)
        return self._write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        self._count(False)
        self._sync(descriptor)

    def _count(self, again: bool) -> None:
        self._calls += 1
        if self._calls == self._n or (again and self.failed):
            raise OSError(errno.ENOSPC, "No space left on device")


def files(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def fail_once(
    make: Callable[..., Workspace], root: Path, monkeypatch: pytest.MonkeyPatch, do: Callable[..., object], disk: Disk
) -> bool:
    """Whether the change failed; then all is as before, also for who looks later."""
    ws = make()
    before, entries = files(root), ws.journal.entries()
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", disk.write)
        patched.setattr(os, "fsync", disk.sync)
        try:
            do(ws)
        except AssistantError as error:
            assert error.code == "disk.full"
        else:
            return False
    assert files(root) == before
    assert make().journal.entries() == entries and make().memory.note_disk_changes() == []
    return True


@pytest.mark.parametrize("for_good", [False, True])
@pytest.mark.parametrize("name", DONE)
def test_a_change_that_meets_a_full_disk_did_not_happen(
    ws: Workspace, make: Callable[..., Workspace], monkeypatch: pytest.MonkeyPatch, name: str, for_good: bool
) -> None:
    ws.memory.save(MEMORY, TEXT, "")
    ws.memory.save(NOTE, "# a\n", "")
    ws.memory.remember("dentist on Tuesday")
    failures = 0
    while fail_once(make, ws.root, monkeypatch, DONE[name], Disk(failures + 1, for_good)):
        failures += 1
    assert failures >= 2, "the file and the journal"
