"""Appends that a killed process cannot leave in part: what is to be added is put down first, and finished later."""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import dataclass
from pathlib import Path

from assistant.core.errors import AssistantError
from assistant.core.folders import make_private
from assistant.core.json_text import parse_json
from assistant.workspace.safe_files import append_durably, as_error, read_bytes, write_atomic

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Begun:
    """What was to be added to the file ``name`` of a chat when it had ``size`` bytes."""

    chat: str
    name: str
    size: int
    data: bytes


class AppendLog:
    """One small file a chat, there only while something is appended. The caller holds the chat's lock."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def append(self, chat: str, path: Path, data: bytes) -> None:
        """Add bytes to the end of a file of the chat: all of them, even if this process is killed half-way.

        Where it cannot be put down first, because the state folder's disk is full, it is added all the same. Raises as
        append_durably does, with nothing added.
        """
        put_down = self._put_down(chat, path, data)
        try:
            append_durably(path, data, create=False)
        finally:
            if put_down:
                _remove(self._note(chat))

    def _put_down(self, chat: str, path: Path, data: bytes) -> bool:
        head = json.dumps({"chat": chat, "name": path.name, "size": path.stat().st_size})
        try:
            make_private(self._folder)
            write_atomic(self._note(chat), head.encode() + b"\n" + data)
        except (AssistantError, OSError) as error:
            _log.info("what is added to %s is not put down first: %s", path.name, error)
            return False
        return True

    def waits(self, chat: str) -> bool:
        """Whether a killed process left an append of this chat."""
        return self._note(chat).exists()

    def finish(self, chat: str, paths: list[Path]) -> None:
        """Complete what a killed process began to append to one of the chat's files."""
        note = self._note(chat)
        begun = _read(note)
        path = next((path for path in paths if begun and path.name == begun.name), None)
        if begun and path:
            _complete(path, begun)
        _remove(note)

    def begun(self) -> list[str]:
        """The chats in which an append was begun and not finished (or runs now)."""
        notes = sorted(self._folder.glob("*.append")) if self._folder.is_dir() else []
        return [begun.chat for note in notes if (begun := _read(note))]

    def _note(self, chat: str) -> Path:
        digest = hashlib.sha256(chat.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return self._folder / f"{digest}.append"


def _complete(path: Path, begun: _Begun) -> None:
    now, data = read_bytes(path), begun.data
    if data in now:
        return
    torn = now[begun.size :]
    there = next((n for n, (a, b) in enumerate(zip(torn, data, strict=False)) if a != b), min(len(torn), len(data)))
    if len(now) - begun.size == there:
        append_durably(path, data[there:], create=False)
    elif there:  # an editor added something behind the torn text
        write_atomic(path, now[: begun.size] + data + now[begun.size + there :])
    else:  # an editor changed what stands before it
        append_durably(path, (b"" if now.endswith(b"\n") else b"\n") + data, create=False)


def _read(note: Path) -> _Begun | None:
    try:
        head, _, data = read_bytes(note).partition(b"\n")
        fields = parse_json(head)
        return _Begun(str(fields["chat"]), str(fields["name"]), int(fields["size"]), data)
    except (AssistantError, ValueError, KeyError, TypeError) as error:
        _log.debug("%s tells of no append: %s", note.name, error)
        return None


def _remove(note: Path) -> None:
    try:
        note.unlink(missing_ok=True)
    except OSError as error:
        raise as_error(error, note) from error
