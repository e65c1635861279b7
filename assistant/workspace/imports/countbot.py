"""CountBot: one ``MEMORY.md`` (in its workspace: ``memory/MEMORY.md``) of lines ``date|source|item；item``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from assistant.workspace.entries import format_item, parse_entry
from assistant.workspace.imports import reading
from assistant.workspace.imports.values import Found, FoundEntry, FoundFacts, Skipped

_LINE = re.compile(r"\s*(\d{4}-\d{1,2}-\d{1,2})\s*\|[^|]*\|(.*)")
_PLACES = ("MEMORY.md", "memory/MEMORY.md", "workspace/memory/MEMORY.md")


def read_countbot(path: Path) -> Iterator[Found]:
    """The entries of a memory file; lines that are none are facts. path: the file, or the folder of the workspace."""
    file = _file(path)
    if file is None:
        yield Skipped("form", path.name)
        return
    where = reading.named(path if path.is_dir() else path.parent, file)
    text = reading.read_words(file, where)
    if isinstance(text, Skipped):
        yield text
    else:
        yield from split_memory(text, where)


def is_countbot(path: Path) -> bool:
    """Whether most lines of its memory are entries with a source."""
    file = _file(path)
    if file is None or reading.unusable(file, "") or file.suffix.lower() not in (".md", ".txt"):
        return False
    with file.open("rb") as opened:
        start = opened.read(65_536).decode("utf-8", "replace")
    lines = [line for line in start.splitlines() if line.strip()]
    entries = sum(1 for line in lines if parse_entry(line.strip()))
    return entries * 2 > len(lines)


def split_memory(text: str, where: str, shelf: str = "") -> Iterator[Found]:
    """A memory file taken apart: its entries, and the lines between them as facts, in order."""
    facts: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if entry := parse_entry(line.strip()):
            items = tuple(format_item(item) for item in entry.items)
            yield FoundEntry(entry.date, entry.source, items, f"{where}:{number}", shelf)
        elif wrong := _wrong_day(line):
            yield Skipped(wrong, f"{where}:{number}")
        else:
            facts.append(line)
    if any(line.strip() for line in facts):
        yield FoundFacts("\n".join(facts), where)


def _wrong_day(line: str) -> str:
    """Why a line that looks like an entry is none; "" for any other line."""
    if not (match := _LINE.fullmatch(line)):
        return ""
    if not match[2].strip(" ；"):
        return "empty"
    try:
        date.fromisoformat(match[1])
    except ValueError:
        return "date"
    return "form"


def _file(path: Path) -> Path | None:
    if not path.is_dir():
        return path
    return next((path / name for name in _PLACES if (path / name).is_file()), None)
