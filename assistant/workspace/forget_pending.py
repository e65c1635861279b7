"""What is being forgotten, put down before anything goes, so that a killed process leaves nothing half forgotten.

A folder for each forgetting in the data folder, mode 0700: the plan, and what chats said before, for undo. It is
overwritten and removed when all is done. A process shows that it lives by a lock, as with pending replies.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock, Timeout

from assistant.core.errors import AssistantError
from assistant.core.folders import make_private
from assistant.core.json_text import parse_json
from assistant.workspace.disk import as_error, read_bytes
from assistant.workspace.forget_values import ForgetPlan, plan_from_json, plan_to_json
from assistant.workspace.safe_files import write_atomic

FOLDER = "forgetting"
_RECORD = "plan.json"
_log = logging.getLogger(__name__)


@dataclass
class Pending:
    """A forgetting under way. batch: of the journal, "" before the files changed; erasing: undo is over.

    chats: file -> the name under which is kept what it was before. long_files: of files that are too long to be taken
    apart again at once, the ids of the units that went; they are not kept on disk.
    """

    folder: Path
    plan: ForgetPlan
    batch: str = ""
    erasing: bool = False
    chats: dict[str, str] = field(default_factory=dict)
    long_files: dict[str, list[str]] = field(default_factory=dict)
    lock: FileLock | None = field(default=None, repr=False, compare=False)

    @property
    def id(self) -> str:
        return self.folder.name

    def write(self) -> None:
        """Put it down as it is now, durably."""
        record = {"plan": plan_to_json(self.plan), "batch": self.batch, "erasing": self.erasing, "chats": self.chats}
        write_atomic(self.folder / _RECORD, json.dumps(record).encode())

    def keep_chat(self, file: str, before: bytes, after: bytes) -> None:
        """Keep what a chat's file is and will be, before it changes."""
        name = str(len(self.chats))
        write_atomic(self.folder / f"{name}.before", before)
        write_atomic(self.folder / f"{name}.after", after)
        self.chats[file] = name
        self.write()

    def chat_texts(self, file: str) -> tuple[str, str]:
        """What a chat's file was before, and what the forgetting made of it."""
        name = self.chats[file]
        raws = [read_bytes(self.folder / f"{name}.{side}") for side in ("before", "after")]
        return raws[0].decode("utf-8", "surrogateescape"), raws[1].decode("utf-8", "surrogateescape")

    def destroy(self) -> None:
        """All is done: overwrite what was kept, and remove it."""
        try:
            for path in sorted(self.folder.iterdir()):
                if path.is_file() and path.suffix != ".lock":
                    _overwrite(path)
                    path.unlink()
            self.release()
            for path in self.folder.iterdir():
                path.unlink(missing_ok=True)
            self.folder.rmdir()
        except OSError as error:
            raise as_error(error, self.folder) from error

    def release(self) -> None:
        """This process does nothing about it any more."""
        if self.lock:
            self.lock.release()
            self.lock = None


class PendingForgets:
    """The forgettings of a workspace. data: its data folder."""

    def __init__(self, data: Path) -> None:
        self._folder = data / FOLDER

    def begin(self, plan: ForgetPlan) -> Pending:
        """Put a plan down before anything of it is done."""
        folder = self._folder / secrets.token_hex(8)
        try:
            make_private(folder)
        except OSError as error:
            raise as_error(error, folder) from error
        pending = Pending(folder, plan, lock=_locked(folder))
        pending.write()
        return pending

    def left_behind(self) -> Iterator[Pending]:
        """What processes that died had begun; this process is to finish it."""
        for folder in sorted(self._folder.iterdir()) if self._folder.is_dir() else ():
            if not folder.is_dir() or (lock := _locked(folder)) is None:
                continue
            if pending := _read(folder, lock):
                yield pending
            else:  # killed before the plan was whole, so before anything was done
                Pending(folder, ForgetPlan("", (), (), ()), lock=lock).destroy()


def _locked(folder: Path) -> FileLock | None:
    lock = FileLock(folder / "alive.lock", mode=0o600, thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return None
    except OSError as error:
        raise as_error(error, folder) from error
    return lock


def _read(folder: Path, lock: FileLock) -> Pending | None:
    raw = read_bytes(folder / _RECORD)
    if not raw.strip(b"\0"):  # never written, or overwritten since all was done
        return None
    try:
        record = parse_json(raw)
        chats = {str(file): str(name) for file, name in record["chats"].items()}
        plan = plan_from_json(record["plan"])
        return Pending(folder, plan, str(record["batch"]), bool(record["erasing"]), chats, lock=lock)
    except (AssistantError, ValueError, KeyError, TypeError, AttributeError) as error:
        _log.warning("a forgetting that was begun cannot be read: %s", error)
        return None


def _overwrite(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError), path.open("r+b") as file:
        file.write(bytes(path.stat().st_size))
        file.flush()
        os.fsync(file.fileno())
