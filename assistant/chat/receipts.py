"""Receipts: what the model was told for each turn, kept beside the workspace for ever.

One JSON-lines file a chat. A fixed row (facts, tail, brief) is written once, when it is taken, and named by the turns
that used it, so that a long chat does not repeat it; a turn's line holds what was recalled for it, byte for byte.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from assistant.chat.row import FixedRow, as_data, row_from_json, row_to_json
from assistant.core.values import LeftOut, PromptLine, Receipt
from assistant.workspace.disk import ends_with_newline
from assistant.workspace.safe_files import append_durably, write_atomic

DELETED = "[a chat that was deleted]"
_log = logging.getLogger(__name__)


@dataclass
class _ChatReceipts:
    size: int
    rows: list[FixedRow]
    turns: dict[int, tuple[int, dict[str, Any]]]  # turn -> (index of its row, its line)


class ReceiptStore:
    """Append-only; reads a chat's file once and again only when another process wrote to it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loaded: dict[str, _ChatReceipts] = {}

    def row(self, chat: str) -> FixedRow | None:
        """The fixed row that the chat's next turn builds on."""
        rows = self._load(chat).rows
        return rows[-1] if rows else None

    def add_row(self, chat: str, row: FixedRow) -> None:
        self._append(chat, {"row": row_to_json(row)})

    def add(self, receipt: Receipt) -> None:
        """Keep one turn's receipt; its fixed row must have been added before."""
        row = self.row(receipt.chat)
        fixed = {(line.file, line.line, line.text) for block in row.blocks for line in block.lines} if row else set()
        own = [asdict(line) for line in receipt.lines if (line.file, line.line, line.text) not in fixed]
        self._append(
            receipt.chat,
            {
                "turn": receipt.turn,
                "model": receipt.model,
                "lines": own,
                "prompt_tokens": receipt.prompt_tokens,
                "reused_tokens": receipt.reused_tokens,
                "mode": receipt.recall_mode,
                "block": receipt.recalled_block,
                "left_out": [asdict(left) for left in receipt.left_out if not row or left not in row.left_out],
            },
        )

    def get(self, chat: str, turn: int) -> Receipt | None:
        """The receipt as it was then; None for a turn that never reached the model."""
        loaded = self._load(chat)
        if turn not in loaded.turns:
            return None
        index, line = loaded.turns[turn]
        row = loaded.rows[index] if 0 <= index < len(loaded.rows) else None
        fixed = tuple(line for block in row.blocks for line in block.lines) if row else ()
        return Receipt(
            chat=chat,
            turn=turn,
            model=str(line.get("model", "")),
            lines=(*fixed, *(PromptLine(**entry) for entry in line.get("lines", ()))),
            left_out=(
                *(row.left_out if row else ()),
                *(LeftOut(**entry) for entry in line.get("left_out", ())),
            ),
            prompt_tokens=int(line.get("prompt_tokens", 0)),
            reused_tokens=int(line.get("reused_tokens", 0)),
            recall_mode=str(line.get("mode", "")),
            recalled_block=str(line.get("block", "")),
        )

    def recalled_block(self, chat: str, turn: int) -> str:
        """The text that stood before the person's message in that turn, "" if none did."""
        found = self._load(chat).turns.get(turn)
        return str(found[1].get("block", "")) if found else ""

    def recalled_units(self, chat: str, turns: set[int]) -> frozenset[str]:
        """Ids of the units that were recalled in those turns."""
        loaded = self._load(chat).turns
        lines = (line for turn in turns if turn in loaded for line in loaded[turn][1].get("lines", ()))
        return frozenset(str(line.get("unit", "")) for line in lines) - {""}

    def forget(self, chat: str) -> None:
        """Remove a deleted chat's receipts, and its words from what other chats were told."""
        self._path(chat).unlink(missing_ok=True)
        self._loaded.pop(chat, None)
        for path in self._folder.glob("*.jsonl"):
            lines = path.read_bytes().splitlines(keepends=True)
            if not any(chat.encode() in line for line in lines):
                continue
            write_atomic(path, b"".join(_without(line, chat) if chat.encode() in line else line for line in lines))
            self._loaded.pop(path.stem, None)

    def _path(self, chat: str) -> Path:
        return self._folder / f"{chat}.jsonl"

    def _append(self, chat: str, line: Mapping[str, Any]) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._path(chat)
        start = b"" if ends_with_newline(path) else b"\n"  # behind a line that a crash cut short
        append_durably(path, start + json.dumps(line, ensure_ascii=False).encode() + b"\n")

    def _load(self, chat: str) -> _ChatReceipts:
        path = self._path(chat)
        size = path.stat().st_size if path.exists() else 0
        loaded = self._loaded.get(chat)
        if loaded is None or size < loaded.size:
            loaded = self._loaded[chat] = _ChatReceipts(0, [], {})
        if size > loaded.size:
            with path.open("rb") as file:
                file.seek(loaded.size)
                data = file.read()
            whole = data[: data.rfind(b"\n") + 1]  # a line that a crash cut short is read when it is whole, or never
            for line in whole.splitlines():
                _take(loaded, line, path)
            loaded.size += len(whole)
        return loaded


def _without(line: bytes, chat: str) -> bytes:
    """A line of a receipts file in which every line that came from the chat says only that it was deleted."""
    try:
        value = json.loads(line)
    except ValueError:
        return b""  # damaged, and it names the chat: nobody can read it but a search for traces
    holders = [(block, "text") for block in value["row"]["blocks"]] if "row" in value else [(value, "block")]
    for holder, name in holders:
        for told in holder["lines"]:
            if str(told["unit"]).partition("#")[0] == chat:
                holder[name] = str(holder[name]).replace(as_data(told["text"]), DELETED)
                told["text"] = DELETED
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def _take(loaded: _ChatReceipts, line: bytes, path: Path) -> None:
    try:
        value = json.loads(line)
        if "row" in value:
            loaded.rows.append(row_from_json(value["row"]))
        else:
            loaded.turns[int(value["turn"])] = (len(loaded.rows) - 1, value)
    except (ValueError, KeyError, TypeError) as error:
        _log.info("skipped a damaged receipt in %s: %s", path.name, error)
