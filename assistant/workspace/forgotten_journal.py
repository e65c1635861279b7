"""The journal without forgotten words: its records stay, and those that held them cannot be taken back any more."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from assistant.core.json_text import parse_json
from assistant.workspace.disk import read_bytes
from assistant.workspace.forgetting import FORGOTTEN, files_below, remaining_in, scrub_file
from assistant.workspace.forgotten_text import found_in_bytes, holds, scrub_escaped, scrub_text
from assistant.workspace.journal import Journal
from assistant.workspace.memory import Memory


class JournalPlace:
    """The journal's lines and the copies of files as they were last seen."""

    name = "journal"

    def __init__(self, journal: Journal, memory: Memory) -> None:
        self._journal = journal
        self._memory = memory

    def scrub(self, texts: Sequence[str]) -> None:
        with self._memory.held():
            if found_in_bytes(read_bytes(self._journal.path), texts):
                self._journal.rewrite(lambda line: scrub_record(line, texts))
            for path in files_below(self._journal.seen.folder):
                if found_in_bytes(read_bytes(path), texts):  # copies may go at any time; names of files stay
                    path.unlink() if path.suffix != ".jsonl" else scrub_file(path, texts)

    def remaining(self, texts: Sequence[str]) -> int:
        raw = read_bytes(self._journal.path)
        lines = raw.split(b"\n") if found_in_bytes(raw, texts) else []
        copies = files_below(self._journal.seen.folder)
        return sum(1 for line in lines if found_in_bytes(line, texts)) + remaining_in(copies, texts)


def scrub_record(line: bytes, texts: Sequence[str]) -> bytes:
    """A line of the journal without the texts; a change that is about them cannot be taken back any more."""
    if not line or not found_in_bytes(line, texts):
        return line
    try:
        record: dict[str, Any] = parse_json(line)
    except ValueError:
        return scrub_escaped(line.decode("utf-8", "replace"), texts).encode()
    if not isinstance(record, dict):
        return b""
    if _is_change(record, texts):
        for name in ("start", "added_chars", "removed", "added"):
            record.pop(name, None)
        record["forgotten"] = True
    for name in ("prior", "exact"):  # it no longer fits: the change can still be taken back by the lines around it
        record.pop(name, None)
    for name, value in record.items():
        if isinstance(value, str):
            record[name] = scrub_text(value, texts)
    return json.dumps(record).encode()


def _is_change(record: dict[str, Any], texts: Sequence[str]) -> bool:
    """Whether the words came or went with this change, rather than standing beside it."""
    diff = [line[1:] for line in str(record.get("diff", "")).split("\n") if line[:1] in "+-"]
    moved = "\n".join([*diff, str(record.get("removed", "")), str(record.get("added", ""))])
    return holds(moved, texts) or FORGOTTEN in moved
