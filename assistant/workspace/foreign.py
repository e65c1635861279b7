"""Files of other assistants that lie in the workspace: read as they are, found by recall, never written.

``memory/**/history.jsonl`` and its like (nanobot), JSON atoms below ``memory/``, and ``sessions/*.jsonl``. Their
Markdown needs nothing of this: entries, dated bullets and chats are read wherever they stand.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import PurePosixPath
from typing import Any

from assistant.workspace.forgotten_text import FORGOTTEN
from assistant.workspace.imports.atoms import atom_content, atom_day, atom_tags
from assistant.workspace.imports.json_stream import json_objects
from assistant.workspace.imports.nanobot import history_record
from assistant.workspace.imports.nanobot_sessions import message_words
from assistant.workspace.imports.times import day_in, day_of
from assistant.workspace.layout import SESSIONS

_LISTS = ("memories", "atoms", "items", "entries", "data")


@dataclass(frozen=True, slots=True)
class Record:
    """One thing that such a file says.

    line, last: where it stands, from 1; raw: its own text there; text: the very words in it, so that forgetting finds
    them; title: what kind it is; before: what was said before it.
    """

    line: int
    raw: str
    day: date | None
    title: str
    text: str
    before: str = ""

    @property
    def last(self) -> int:
        return self.line + self.raw.count("\n")


def foreign_records(file: str, text: str) -> tuple[list[Record], str]:
    """What the file says, and what is wrong with it ("" for nothing)."""
    text = text.removeprefix("\ufeff")
    if file.startswith(f"{SESSIONS}/"):
        return _session(file, text)
    if file.endswith(".jsonl"):
        return _history(file, text)
    return _atoms(file, text)


def _history(file: str, text: str) -> tuple[list[Record], str]:
    records, wrong = [], 0
    for number, raw, value in _lines(text):
        if value is None:
            wrong = wrong or number
            continue
        words, day = history_record(value)
        records += [_record(number, raw, day or day_in(file), value, words)] if words else []
    return records, _wrong(wrong)


def _session(file: str, text: str) -> tuple[list[Record], str]:
    """A message a record."""
    records: list[Record] = []
    title, wrong = PurePosixPath(file).stem, 0
    for number, raw, value in _lines(text):
        if value is None:
            wrong = wrong or number
            continue
        if value.get("_type") == "metadata":
            title = value["key"] if isinstance(value.get("key"), str) else title
        words, role = message_words(value.get("content")), value.get("role")
        if role in ("user", "assistant") and words:
            before = records[-1].text if records else ""
            records.append(Record(number, raw, day_of(value.get("timestamp")), title, words, before))
    return records, _wrong(wrong)


def _atoms(file: str, text: str) -> tuple[list[Record], str]:
    """Any JSON that holds atoms; other JSON is another program's business and says nothing."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return [], "It is no valid JSON."
    records: list[Record] = []
    at = line = 0
    for raw in json_objects(io.BytesIO(text.encode("utf-8", "replace"))):
        if not isinstance(raw, bytes):
            continue
        words = raw.decode("utf-8", "replace")
        start = text.find(words, at)
        line, at = line + text.count("\n", at, max(at, start)), max(at, start)
        value = json.loads(words)
        for atom in next((value[name] for name in _LISTS if isinstance(value.get(name), list)), [value]):
            said = atom_content(atom) if isinstance(atom, dict) else ""
            records += [_record(line + 1, words, atom_day(atom) or day_in(file), atom, said)] if said else []
    return records, ""


def _record(line: int, raw: str, day: date | None, value: dict[str, Any], words: str) -> Record:
    kind = value.get("type")
    return Record(line, raw, day, " ".join([*([kind] if isinstance(kind, str) else []), *atom_tags(value)]), words)


def _lines(text: str) -> Iterator[tuple[int, str, dict[str, Any] | None]]:
    for number, raw in enumerate(text.split("\n"), 1):
        if raw.strip() in ("", FORGOTTEN):
            continue
        try:
            value = json.loads(raw)
        except (ValueError, RecursionError):
            value = None
        yield number, raw.removesuffix("\r"), value if isinstance(value, dict) else None


def _wrong(line: int) -> str:
    return f"Line {line} is no valid JSON." if line else ""
