"""Replies that are still arriving, one small file a turn in the state folder, so that a crash costs no text."""

from __future__ import annotations

import json
import logging
import os
import secrets
import time
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from assistant.core.errors import AssistantError
from assistant.core.folders import make_private
from assistant.core.json_text import parse_json
from assistant.workspace.safe_files import as_error, read_bytes, write_atomic

_ALIVE = ".alive"
_SETTLED_SECONDS = 60.0  # a lock younger than this may just be being taken
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PendingReply:
    """A reply that a process left behind."""

    chat: str
    turn: int
    text: str
    file: Path


class PendingReplies:
    """The partial replies of this process, and those of dead ones.

    A process shows that it lives by a lock which the system takes back when it ends, however it ends: a process number
    alone may have been given to another one since.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._owner = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._alive: FileLock | None = None

    def keep(self, chat: str, turn: int, text: str) -> None:
        """Put down the reply so far, replacing what was put down before."""
        self._show_life()
        record = {"chat": chat, "turn": turn, "text": text, "owner": self._owner}
        write_atomic(self._path(chat, turn), json.dumps(record).encode())

    def drop(self, chat: str, turn: int) -> None:
        """The reply is in its chat now."""
        self._path(chat, turn).unlink(missing_ok=True)

    def drop_chat(self, chat: str) -> None:
        for path in self._files():
            if (record := _read(path)) and record[0].chat == chat:
                path.unlink(missing_ok=True)

    def left_behind(self) -> list[PendingReply]:
        """The replies whose process is dead, oldest turn first."""
        found = [record for path in self._files() if (record := _read(path))]
        owners = {owner for _, owner in found} | self._old_owners()
        dead = {owner for owner in owners if owner != self._owner and self._is_dead(owner)}
        return sorted((reply for reply, owner in found if owner in dead), key=lambda reply: (reply.chat, reply.turn))

    def close(self) -> None:
        """This process has no reply under way any more."""
        if self._alive:
            self._alive.release()
            self._lock_path(self._owner).unlink(missing_ok=True)
            self._alive = None

    def _old_owners(self) -> set[str]:
        """Processes that showed life a while ago: one that was killed between two replies leaves nothing else."""
        before = time.time() - _SETTLED_SECONDS
        try:
            with os.scandir(self._folder) as entries:
                locks = [e for e in entries if e.name.endswith(_ALIVE) and e.stat().st_mtime < before]
        except OSError:  # there is no folder yet, or a lock went just now: the next start looks again
            return set()
        return {entry.name.removesuffix(_ALIVE) for entry in locks}

    def _show_life(self) -> None:
        if self._alive and self._lock_path(self._owner).exists():
            return
        if self._alive:  # the state folder was deleted while we run
            self._alive.release()
        try:
            make_private(self._folder)
            lock = FileLock(self._lock_path(self._owner), mode=0o600, thread_local=False)
            lock.acquire(timeout=0)
        except OSError as error:
            raise as_error(error, self._folder) from error
        self._alive = lock

    def _is_dead(self, owner: str) -> bool:
        path = self._lock_path(owner)
        if not path.exists():
            return True
        lock = FileLock(path, mode=0o600, thread_local=False)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return False
        lock.release()
        path.unlink(missing_ok=True)
        return True

    def _lock_path(self, owner: str) -> Path:
        return self._folder / f"{owner}{_ALIVE}"

    def _path(self, chat: str, turn: int) -> Path:
        return self._folder / f"{chat}.{turn}.json"

    def _files(self) -> list[Path]:
        return sorted(self._folder.glob("*.json")) if self._folder.is_dir() else []


def _read(path: Path) -> tuple[PendingReply, str] | None:
    try:
        record = parse_json(read_bytes(path))
        return PendingReply(str(record["chat"]), int(record["turn"]), str(record["text"]), path), str(record["owner"])
    except (AssistantError, ValueError, KeyError, TypeError) as error:
        _log.debug("%s is no pending reply: %s", path.name, error)
        return None
