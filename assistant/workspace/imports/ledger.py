"""Which imports were made, so that each can be undone as one: ids, counts and digests, no words.

A file of JSON lines an import, outside the workspace: its head, a line a chat, then the batch of the journal.
"""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from assistant.core.clock import Clock, stamp
from assistant.core.errors import AssistantError
from assistant.core.json_text import parse_json
from assistant.workspace.safe_files import append_lines, as_error, read_bytes
from assistant.workspace.stored import fits

_TEXTS, _NUMBERS, _FLAGS = ("id", "system", "time", "batch"), ("entries", "notes"), ("done", "undone")
_HEAD: dict[str, type] = {**dict.fromkeys(_TEXTS, str), **dict.fromkeys(_NUMBERS, int), **dict.fromkeys(_FLAGS, bool)}
_ID = re.compile(r"import-\d{14}-[0-9a-f]{6}")


@dataclass(frozen=True, slots=True)
class ImportedChat:
    """A chat that an import wrote. digest: of its turns then."""

    id: str
    turns: int
    digest: str


@dataclass(frozen=True, slots=True)
class ImportRecord:
    """An import as it was made. batch: what the journal takes to undo its memory changes, "" for none."""

    id: str
    system: str
    time: str
    batch: str = ""
    entries: int = 0
    notes: int = 0
    chats: tuple[ImportedChat, ...] = field(default=())
    done: bool = False
    undone: bool = False


class Ledger:
    """folder: in the workspace's data folder. What is noted is durable when a call returns, or it raises."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder, self._clock = folder, clock

    def begin(self, system: str) -> str:
        """A new import's id; from now on what is written of it is known."""
        ident = f"import-{self._clock():%Y%m%d%H%M%S}-{secrets.token_hex(3)}"
        self._add(ident, {"id": ident, "system": system, "time": stamp(self._clock)})
        return ident

    def note_chat(self, ident: str, chat: ImportedChat) -> None:
        """Before it is written: a killed import can then be taken back whole."""
        self._add(ident, {"chat": asdict(chat)})

    def note_batch(self, ident: str, batch: str) -> None:
        """Before the memory files are written, as note_chat."""
        self._add(ident, {"batch": batch})

    def finish(self, ident: str, batch: str, entries: int, notes: int) -> None:
        """All of it was written; batch: its changes of memory in the journal, "" for none."""
        self._add(ident, {"batch": batch, "entries": entries, "notes": notes, "done": True})

    def note_undone(self, ident: str) -> None:
        """It was taken back."""
        self._add(ident, {"undone": True})

    def drop(self, ident: str) -> None:
        """Forget an import that wrote nothing. Raises AssistantError."""
        path = self._path(ident)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise as_error(error, path) from error

    def get(self, ident: str) -> ImportRecord:
        """Raises ("import.record") for an id that is not known."""
        record = _read(self._path(ident)) if _ID.fullmatch(ident) else None
        if record is None:
            raise AssistantError(
                "import.record", f"There is no import {ident[:60]!r}.", "`keepsake import --list` shows them."
            )
        return record

    def list(self) -> list[ImportRecord]:
        """All imports, newest first."""
        paths = sorted(self._folder.glob("import-*.jsonl"), reverse=True) if self._folder.is_dir() else []
        return [record for path in paths if (record := _read(path))]

    def _path(self, ident: str) -> Path:
        return self._folder / f"{ident}.jsonl"

    def _add(self, ident: str, values: dict[str, Any]) -> None:
        append_lines(self._path(ident), json.dumps(values).encode() + b"\n")


def _read(path: Path) -> ImportRecord | None:
    """None for what names no import; lines and values that are not of the form count as not there."""
    values: dict[str, Any] = {}
    chats: dict[str, ImportedChat] = {}
    for line in read_bytes(path).split(b"\n"):
        try:
            found = parse_json(line)
        except ValueError:
            continue  # a line that a crash cut off
        if not isinstance(found, dict):
            continue
        if isinstance(chat := found.get("chat"), dict):
            if fits(chat, ImportedChat):
                chats[chat["id"]] = ImportedChat(**chat)
        else:
            values |= {name: value for name, value in found.items() if type(value) is _HEAD.get(name)}
    if any(not values.get(name) for name in ("id", "system", "time")) or values["id"] != path.stem:
        return None
    return ImportRecord(**values, chats=tuple(chats.values()))
