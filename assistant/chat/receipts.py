"""Receipts: what the model was told for each turn, kept beside the workspace for ever.

One JSON-lines file a chat. A fixed row (facts, tail, brief) is written once, when it is taken, and named by the turns
that used it, so that a long chat does not repeat it; a turn's line holds what was recalled for it, byte for byte.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from assistant.chat.call_records import call_to_json, calls_from_json
from assistant.chat.deleted_receipts import without_chat
from assistant.chat.never import Never
from assistant.chat.row import (
    FixedRow,
    left_from_json,
    left_to_json,
    line_from_json,
    line_to_json,
    row_from_json,
    row_to_json,
)
from assistant.core.folders import make_private
from assistant.core.json_text import parse_json
from assistant.core.values import LeftOut, MadeCall, PromptLine, Receipt
from assistant.workspace.disk import as_error, ends_with_newline, read_bytes
from assistant.workspace.growing_file import GrowingFile
from assistant.workspace.safe_files import append_durably, locked, write_atomic

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Told:
    """A turn's own line, checked. row: the fixed row it used, None where that is damaged."""

    row: FixedRow | None
    model: str
    lines: tuple[PromptLine, ...]
    left_out: tuple[LeftOut, ...]
    prompt_tokens: int
    reused_tokens: int
    mode: str
    block: str
    host: str = ""
    calls: tuple[MadeCall, ...] = ()


@dataclass
class _ChatReceipts:
    file: GrowingFile
    row: FixedRow | None = None
    turns: dict[int, _Told] = field(default_factory=dict)
    never: frozenset[str] = frozenset()


class ReceiptStore:
    """Append-only; reads a chat's file once, then what is new, and anew what was rewritten. For any thread.

    A damaged line costs what it held and nothing else. Raises AssistantError where the folder cannot be used.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loaded: dict[str, _ChatReceipts] = {}
        self._lock = threading.RLock()

    def row(self, chat: str) -> FixedRow | None:
        """The fixed row that the chat's next turn builds on."""
        return self._load(chat).row

    def add_row(self, chat: str, row: FixedRow) -> None:
        self._append(chat, {"row": row_to_json(row)})

    def add(self, receipt: Receipt) -> None:
        """Keep one turn's receipt; its fixed row must have been added before."""
        row = self.row(receipt.chat)
        fixed = {(line.file, line.line, line.text) for block in row.blocks for line in block.lines} if row else set()
        own = [
            line_to_json(line)
            for line in receipt.lines
            if line.why == "tool" or (line.file, line.line, line.text) not in fixed
        ]
        left_by_row = frozenset(row.left_out) if row else frozenset()  # thousands, where the memory is large
        self._append(
            receipt.chat,
            {
                "turn": receipt.turn,
                "model": receipt.model,
                **({"host": receipt.host} if receipt.host else {}),
                "lines": own,
                "prompt_tokens": receipt.prompt_tokens,
                "reused_tokens": receipt.reused_tokens,
                "mode": receipt.recall_mode,
                "block": receipt.recalled_block,
                "left_out": left_to_json([left for left in receipt.left_out if left not in left_by_row]),
                **({"calls": [call_to_json(call) for call in receipt.calls]} if receipt.calls else {}),
            },
        )

    def adopt(self, chat: str, lines: Iterable[Mapping[str, Any]]) -> None:
        """Keep what MemoryReceipts held of a chat that is on disk now."""
        for line in lines:
            self._append(chat, line)

    def get(self, chat: str, turn: int) -> Receipt | None:
        """The receipt as it was then; None for a turn that never reached the model."""
        told = self._load(chat).turns.get(turn)
        if told is None:
            return None
        return Receipt(
            chat=chat,
            turn=turn,
            model=told.model,
            host=told.host,
            lines=(*(told.row.lines if told.row else ()), *told.lines),
            left_out=(*(told.row.left_out if told.row else ()), *told.left_out),
            prompt_tokens=told.prompt_tokens,
            reused_tokens=told.reused_tokens,
            recall_mode=told.mode,
            recalled_block=told.block,
            calls=told.calls,
        )

    def recalled_block(self, chat: str, turn: int) -> str:
        """The text that stood before the person's message in that turn, "" if none did."""
        return found.block if (found := self._load(chat).turns.get(turn)) else ""

    def recalled_lines(self, chat: str, turn: int) -> tuple[PromptLine, ...]:
        """What that block holds, line by line."""
        found = self._load(chat).turns.get(turn)
        by_tools = sum(len(call.lines) for call in found.calls) if found else 0
        return found.lines[: len(found.lines) - by_tools] if found else ()

    def calls(self, chat: str, turn: int) -> tuple[MadeCall, ...]:
        """The tools that were used in that turn."""
        return found.calls if (found := self._load(chat).turns.get(turn)) else ()

    def never(self, chat: str) -> Never:
        """What is never told in this chat again."""
        return Never(self._load(chat).never)

    def set_never(self, chat: str, unit: str, never: bool = True) -> None:
        """From the chat's next turn on the unit is not told there any more; or, with ``never`` False, may be again."""
        self._append(chat, {"never" if never else "again": unit})

    def recalled_units(self, chat: str, turns: set[int]) -> frozenset[str]:
        """Ids of the units that were recalled in those turns."""
        told = self._load(chat).turns
        return frozenset(line.unit for turn in turns if turn in told for line in told[turn].lines) - {""}

    def told_of(self, chat: str) -> bool:
        """Whether another chat was told anything of this one."""
        own = self._path(chat)
        return any(chat.encode() in read_bytes(path) for path in self._folder.glob("*.jsonl") if path != own)

    def forget(self, chat: str) -> None:
        """Remove a deleted chat's receipts, and its words from what other chats were told."""
        with self._writing():
            self._path(chat).unlink(missing_ok=True)
            self._loaded.pop(chat, None)
            for path in self._folder.glob("*.jsonl"):
                lines = read_bytes(path).splitlines(keepends=True)
                if any(chat.encode() in line for line in lines):
                    write_atomic(path, b"".join(without_chat(line, chat) for line in lines))
                    self._loaded.pop(path.stem, None)

    def rewrite(self, change: Callable[[bytes], bytes]) -> None:
        """Change the files of all chats, each as a whole, for forgetting; ``change`` may leave one as it is."""
        with self._writing():
            for path in sorted(self._folder.glob("*.jsonl")):
                before = read_bytes(path)
                if (after := change(before)) != before:
                    write_atomic(path, after)
                    self._loaded.pop(path.stem, None)

    @property
    def folder(self) -> Path:
        """Where the files are."""
        return self._folder

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Nobody else writes, in this process or another: a line added while a file is rewritten would be lost."""
        with self._lock, locked(self._folder.with_name(self._folder.name + ".lock")):
            try:
                make_private(self._folder)
                yield
            except OSError as error:
                raise as_error(error, self._folder) from error

    def _path(self, chat: str) -> Path:
        return self._folder / f"{chat}.jsonl"

    def _append(self, chat: str, line: Mapping[str, Any]) -> None:
        path = self._path(chat)
        with self._writing():
            start = b"" if ends_with_newline(path) else b"\n"  # a crash cut the last line short: it costs only itself
            append_durably(path, start + _encoded(line))

    def _load(self, chat: str) -> _ChatReceipts:
        path = self._path(chat)
        with self._lock:
            loaded = self._loaded.setdefault(chat, _ChatReceipts(GrowingFile(path)))
            if (lines := loaded.file.new_lines()) is None:  # another process forgot something of it, or all
                loaded = self._loaded[chat] = _ChatReceipts(GrowingFile(path))
                lines = loaded.file.new_lines()
            for line in lines or ():
                _take(loaded, line, path)
            return loaded


class MemoryReceipts(ReceiptStore):
    """The receipts of temporary chats: on no disk."""

    def __init__(self) -> None:
        super().__init__(Path(os.devnull))
        self._lines: dict[str, list[Mapping[str, Any]]] = {}

    def lines(self, chat: str) -> list[Mapping[str, Any]]:
        """What ReceiptStore.adopt takes."""
        with self._lock:
            return list(self._lines.get(chat, ()))

    def renew(self, chat: str) -> None:
        """The chat's next turn takes a new fixed row."""
        with self._lock:
            self._load(chat).row = None

    def rewrite(self, change: Callable[[bytes], bytes]) -> None:
        with self._lock:
            for chat, lines in self._lines.items():
                before = b"".join(_encoded(line) for line in lines)
                if (after := change(before)) != before:
                    self._lines[chat] = [parse_json(line) for line in after.splitlines() if line]
                    self._loaded.pop(chat, None)
                    for line in after.splitlines():
                        _take(self._load(chat), line, self._path(chat))

    def forget(self, chat: str) -> None:
        with self._lock:
            self._lines.pop(chat, None)
            self._loaded.pop(chat, None)

    def _append(self, chat: str, line: Mapping[str, Any]) -> None:
        with self._lock:
            self._lines.setdefault(chat, []).append(line)
            _take(self._load(chat), _encoded(line), self._path(chat))

    def _load(self, chat: str) -> _ChatReceipts:
        with self._lock:
            return self._loaded.setdefault(chat, _ChatReceipts(GrowingFile(self._path(chat))))


def _encoded(line: Mapping[str, Any]) -> bytes:
    return json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _take(loaded: _ChatReceipts, line: bytes, path: Path) -> None:
    if not line:
        return
    try:
        value = parse_json(line)
        if "row" in value:
            loaded.row = None  # where it is damaged, later turns must not seem to have been told the one before
            loaded.row = row_from_json(value["row"])
        elif "renew" in value:
            loaded.row = replace(loaded.row, stale=True) if loaded.row else None
        elif "never" in value:
            loaded.never |= {str(value["never"])}
        elif "again" in value:
            loaded.never -= {str(value["again"])}
        else:
            loaded.turns[int(value["turn"])] = _told(value, loaded.row)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        _log.info("skipped a damaged receipt in %s: %s", path.name, type(error).__name__)  # its words may be private


def _told(value: Mapping[str, Any], row: FixedRow | None) -> _Told:
    lines = tuple(map(line_from_json, value.get("lines", ())))
    return _Told(
        row,
        str(value.get("model", "")),
        lines,
        left_from_json(value.get("left_out", ())),
        int(value.get("prompt_tokens", 0)),
        int(value.get("reused_tokens", 0)),
        str(value.get("mode", "")),
        str(value.get("block", "")),
        host=str(value.get("host", "")),
        calls=calls_from_json(value.get("calls", ()), lines),
    )
