"""Receipts without what is forgotten: what the model was told then says «forgotten», and is never told again."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from assistant.chat.receipts import ReceiptStore
from assistant.chat.row import as_data
from assistant.core.json_text import parse_json
from assistant.workspace.forget_query import cores, same_form
from assistant.workspace.forgetting import FORGOTTEN, files_below, remaining_in, scrub_file
from assistant.workspace.forgotten_text import found_in_bytes, scrub_json

RENEW = b'{"renew": true}\n'
_LEAD = re.compile(r"(?:\d{4}-\d{2}-\d{2}: |- \[[^\]]*\] |- )?(.*)")
_Holder = tuple[dict[str, Any], str]


class ReceiptsPlace:
    """The receipts of all chats."""

    def __init__(self, store: ReceiptStore, name: str = "receipts") -> None:
        self._store = store
        self.name = name

    def scrub(self, texts: Sequence[str], units: Collection[str] = ()) -> None:
        """units: ids whose lines go whatever they say. A fixed row that held any of it is taken anew."""
        self._store.rewrite(lambda data: _scrubbed(data, texts, units))
        for path in files_below(self._store.folder):  # what a killed process left beside them
            if path.suffix != ".jsonl":
                scrub_file(path, texts)

    def renew(self, texts: Sequence[str], units: Collection[str] = ()) -> None:
        """Let the next turn of each chat that has been told any of it take a new fixed row; nothing else changes."""
        self._store.rewrite(lambda data: _renewed(data, texts, units))

    def remaining(self, texts: Sequence[str], units: Collection[str] = ()) -> int:
        """In how many chats, and files that a killed process left beside them."""
        count = 0

        def look(data: bytes) -> bytes:
            nonlocal count
            count += bool(found_in_bytes(data, texts) or _tells(data, units))
            return data

        self._store.rewrite(look)
        strays = (path for path in files_below(self._store.folder) if path.suffix != ".jsonl")
        return count + remaining_in(strays, texts)


def _renewed(data: bytes, texts: Sequence[str], units: Collection[str]) -> bytes:
    rows = [line for line in data.splitlines() if line.startswith((b'{"row"', b'{"renew"'))]
    told = bool(rows) and (bool(found_in_bytes(rows[-1], texts)) or _tells(rows[-1], units))
    return _ended(data) + RENEW if told else data


def _scrubbed(data: bytes, texts: Sequence[str], units: Collection[str]) -> bytes:
    if not found_in_bytes(data, texts) and not _names(data, units):
        return data
    lines = data.splitlines(keepends=True)
    done = [_line(line, texts, units) for line in lines]
    if done == lines:
        return data
    rows = [n for n, line in enumerate(done) if line.startswith((b'{"row"', b'{"renew"'))]
    stale = bool(rows) and done[rows[-1]] != lines[rows[-1]]
    return _ended(b"".join(done)) + RENEW if stale else b"".join(done)


def _line(line: bytes, texts: Sequence[str], units: Collection[str]) -> bytes:
    if not found_in_bytes(line, texts) and not _names(line, units):
        return line
    try:
        value = parse_json(line)
        for holder, name in _holders(value):
            for told in holder["lines"]:
                if told.get("unit") in units and told["text"] != FORGOTTEN:
                    holder[name] = _without(str(holder[name]), str(told["text"]))
                    for call in value.get("calls", ()):
                        call["result"] = str(call["result"]).replace(as_data(str(told["text"])), FORGOTTEN)
                    told["text"] = FORGOTTEN
    except (ValueError, KeyError, TypeError, AttributeError):
        return b""  # damaged, and it holds what is forgotten: nobody could read it but who looks for traces
    return json.dumps(scrub_json(value, texts), ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _without(block: str, told: str) -> str:
    """A block without a line that was told; where it stood in other words (an entry's items), without those."""
    block = block.replace(as_data(told), FORGOTTEN)
    same = {same_form(core) for core in cores(told)} | {same_form("; ".join(cores(told)))}
    lines = block.split("\n")
    for n, line in enumerate(lines):
        match = _LEAD.fullmatch(line)
        if match and match[1] and same_form(match[1]) in same:
            lines[n] = line[: match.start(1)] + FORGOTTEN
    return "\n".join(lines)


def _holders(value: Any) -> Iterator[_Holder]:
    """Where lines and the text they stand in are: the blocks of a fixed row, or a turn's own block."""
    if "row" in value:
        yield from ((block, "text") for block in value["row"]["blocks"])
    elif "lines" in value:
        yield value, "block"


def _names(data: bytes, units: Collection[str]) -> bool:
    return any(unit.encode("utf-8", "replace") in data for unit in units)


def _tells(data: bytes, units: Collection[str]) -> bool:
    """Whether a line of one of the units still says something."""
    for line in data.splitlines() if _names(data, units) else ():
        try:
            told = [each for holder, _ in _holders(parse_json(line)) for each in holder["lines"]]
            if any(each.get("unit") in units and each.get("text") != FORGOTTEN for each in told):
                return True
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return False


def _ended(data: bytes) -> bytes:
    return data if data.endswith(b"\n") or not data else data + b"\n"
