"""OpenMausBot: a workspace folder with ``MEMORY.md``, ``memory/<topic>.md``, ``memory/log/<day>.md``, an archive.

Its dated notes are bullets: ``- 2026-09-10 · from chat "Follow-up" · prefers short replies``; a fact that was replaced
is ``- ~~old~~ · superseded 2026-09-10``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from assistant.workspace.entries import format_item, parse_item
from assistant.workspace.imports import reading
from assistant.workspace.imports.countbot import split_memory
from assistant.workspace.imports.times import day_in, make_day
from assistant.workspace.imports.values import Found, FoundEntry, FoundFacts, FoundLog, FoundNote, Skipped

_DATED = re.compile(r"\s{0,3}[-*+]\s+(\d{4})-(\d{2})-(\d{2})\s+·\s+(.*\S)\s*")
_SOURCE = re.compile(r"(?:from\s+)?(chat\s+[\"“][^\"”]{0,200}[\"”]|[\w .:/-]{1,40})\s+·\s+(.*\S)")
_LOG = re.compile(r"(?:memory/)?(?:logs?|daily)/(\d{4}-\d{2}-\d{2})\.md", re.IGNORECASE)


def read_openmausbot(path: Path) -> Iterator[Found]:
    """Everything in the folder of a bot's workspace (or the one memory file that was chosen)."""
    root = path if path.is_dir() else path.parent
    for each in reading.files_below(path, ".md") if path.is_dir() else (path,):
        if isinstance(each, Skipped):
            yield each
            continue
        where = reading.named(root, each)
        text = reading.read_words(each, where)
        yield from (text,) if isinstance(text, Skipped) else _file(where, text, single=not path.is_dir())


def is_openmausbot(path: Path) -> bool:
    """Whether it is a folder with a memory file at its top and notes or logs below."""
    return path.is_dir() and (path / "MEMORY.md").is_file() and not (path / "memory" / "MEMORY.md").exists()


def _file(where: str, text: str, single: bool = False) -> Iterator[Found]:
    name = where.rsplit("/", 1)[-1].removesuffix(".md")
    if single or where.casefold() == "memory.md":
        yield from split_bullets(text, where)
    elif name.casefold() == "archive":
        yield from split_bullets(text, where, shelf="archive")
    elif (match := _LOG.fullmatch(where)) and (day := day_in(match[1])):
        yield FoundLog(day, text, where)
    elif where.count("/") <= 1 and (where.startswith(("memory/", "topics/")) or "/" not in where):
        yield FoundNote(name, text, where)
    else:
        yield Skipped("other", where)


def split_bullets(text: str, where: str, shelf: str = "") -> Iterator[Found]:
    """Dated bullets and entry lines as entries; the other lines as facts."""
    facts: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if entry := dated_bullet(line):
            yield FoundEntry(entry[0], entry[1], (entry[2],), f"{where}:{number}", shelf)
        else:
            facts.append(line)
    for found in split_memory("\n".join(facts), where, shelf):
        yield found if not (shelf and isinstance(found, FoundFacts)) else FoundNote("archive", found.text, where)


def dated_bullet(line: str) -> tuple[date, str, str] | None:
    """(day, source or "", what it says with its marks) of a dated bullet."""
    match = _DATED.fullmatch(line)
    day = make_day(*match.groups()[:3]) if match else None
    if not match or day is None:
        return None
    rest, source = match[4], ""
    if (parted := _SOURCE.fullmatch(rest)) and not rest.startswith("~~") and _is_source(parted):
        source, rest = parted[1], parted[2]
    return day, source, format_item(parse_item(rest))


def _is_source(parted: re.Match[str]) -> bool:
    """Not a text whose end is a mark of its own: ``likes tea · until 2026-12-01``."""
    return bool(parse_item(parted[2]).text) and parse_item(parted[0]).text != parted[1]
