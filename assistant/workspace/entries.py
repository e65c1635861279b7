"""MEMORY.md: facts first, dated entries after; what is no entry is facts text, kept byte for byte."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

SEPARATOR = "；"
Day = date  # Entry has a field called date
_ENTRY = re.compile(r" {0,3}([0-9]{4}-[0-9]{2}-[0-9]{2})[ \t]*\|([^|]*)\|(.*\S.*)")
_MARK = re.compile(r"·\s*(until|updated|superseded|moved)\s+([0-9]{4}-[0-9]{2}-[0-9]{2})\s*")
_SPLIT = re.compile(r"(?<!\\)；")
_BREAK = re.compile(r"[\r\n\v\f\x85\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Item:
    """One thing remembered. until: last local day on which it holds; the other dates: when that happened to it."""

    text: str
    until: date | None = None
    updated: date | None = None
    superseded: date | None = None
    moved: date | None = None
    struck: bool = False

    @property
    def replaced(self) -> bool:
        """Struck, or marked as superseded."""
        return self.struck or self.superseded is not None

    def live(self, today: date) -> bool:
        """Neither struck, superseded, moved away nor expired."""
        gone = self.replaced or self.moved
        return not gone and (self.until is None or today <= self.until)

    def state(self, today: date) -> str:
        """ "live", "expired", "superseded" or "moved"."""
        if self.live(today):
            return "live"
        if self.moved and not self.struck:
            return "moved"
        return "superseded" if self.replaced else "expired"


@dataclass(frozen=True, slots=True)
class Entry:
    """A dated line. line: counted from 1; raw: the line as it stands in the file, without its ending."""

    date: date
    source: str
    items: tuple[Item, ...]
    line: int
    raw: str

    def live(self, today: Day) -> bool:
        """Some item holds on that local day."""
        return any(item.live(today) for item in self.items)

    @property
    def text(self) -> str:
        """The entry as it goes into a prompt: its items as they are in this value, in the file's own form."""
        return format_entry(self.date, self.source, self.items)


@dataclass(frozen=True, slots=True)
class MemoryText:
    """A memory file taken apart. ``"\\n".join(lines)`` is the text again; fact_lines: (line from 1, text)."""

    lines: tuple[str, ...]
    entries: tuple[Entry, ...]
    fact_lines: tuple[tuple[int, str], ...] = field(default=())


def parse_memory(text: str) -> MemoryText:
    """Take a memory file apart; never fails. A line with a date that does not exist is facts text."""
    lines = text.split("\n")
    entries: list[Entry] = []
    facts: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        raw = line.removesuffix("\r")
        if entry := parse_entry(raw, number):
            entries.append(entry)
        elif raw or number < len(lines):
            facts.append((number, raw))
    return MemoryText(tuple(lines), tuple(entries), tuple(facts))


def parse_entry(raw: str, line: int = 1) -> Entry | None:
    """The entry that a line is, or None for facts text."""
    if not (match := _ENTRY.fullmatch(raw)) or not (day := _day(match[1])):
        return None
    parts = [part for part in _SPLIT.split(match[3]) if part.strip()]
    items = tuple(parse_item(part.replace("\\；", "；")) for part in parts)
    return Entry(day, match[2].strip(), items, line, raw) if items else None


def is_entry(raw: str) -> bool:
    """Whether a line is an entry, without taking it apart."""
    match = _ENTRY.fullmatch(raw)
    return bool(match and _day(match[1]) and match[3].replace(SEPARATOR, "").strip())


def parse_item(text: str) -> Item:
    """An item with its marks; ``text`` is unescaped already."""
    marks: dict[str, date] = {}
    while (match := _last_mark(text)) and (day := _day(match[2])):
        marks.setdefault(match[1], day)
        text = text[: match.start()].rstrip()
    text = text.strip()
    struck = len(text) > 4 and text.startswith("~~") and text.endswith("~~")
    return Item(text[2:-2].strip() if struck else text, struck=struck, **marks)


def _last_mark(text: str) -> re.Match[str] | None:
    """The mark in which a text ends. It begins with the text's last ``·``; a search would try each of many blanks."""
    at = text.rfind("·")
    return _MARK.fullmatch(text, at) if at >= 0 else None


def format_item(item: Item) -> str:
    """An item with its marks in their usual order, one line, not escaped."""
    text = one_line(item.text)
    parts = [f"~~{text}~~" if item.struck else text]
    for name in ("until", "updated", "superseded", "moved"):
        day: date | None = getattr(item, name)
        if day:
            parts.append(f"{name} {day.isoformat()}")
    return " · ".join(parts)


def format_entry(day: date, source: str, items: Sequence[str | Item]) -> str:
    """The line of an entry, without its ending. Empty items are left out; ``|`` in the source becomes ``/``."""
    texts = [one_line(item) if isinstance(item, str) else format_item(item) for item in items]
    # A backslash at an item's end would escape the separator after it; a space between them parses away.
    escaped = [text.replace("；", "\\；") + (" " if text.endswith("\\") else "") for text in texts if text]
    return f"{day.isoformat()}|{one_line(source).replace('|', '/')}|{SEPARATOR.join(escaped)}".rstrip(" ")


def strike(raw: str, index: int, day: date) -> str:
    """The line with its item ``index`` struck and marked superseded; every other character stays."""
    head, source, content = raw.split("|", 2)
    start, end = _parts(content)[index]
    return f"{head}|{source}|{content[:start]}{strike_part(content[start:end], day)}{content[end:]}"


def keep_items(raw: str, indexes: Sequence[int]) -> str:
    """The line with only some of its items, each as it stands."""
    head, source, content = raw.split("|", 2)
    parts = _parts(content)
    if len(indexes) == len(parts):
        return raw
    return f"{head}|{source}|{SEPARATOR.join(content[slice(*parts[index])] for index in indexes)}"


def _parts(content: str) -> list[tuple[int, int]]:
    """Where each item begins and ends."""
    bounds = [0, *(m.end() for m in _SPLIT.finditer(content)), len(content) + 1]
    parts = [(bounds[i], bounds[i + 1] - 1) for i in range(len(bounds) - 1)]
    return [(a, b) for a, b in parts if content[a:b].strip()]


def strike_part(part: str, day: date | None) -> str:
    """One item's text as it stands in a file, struck and marked superseded (None: unmarked); spaces around it stay."""
    marks_at = len(part)
    while (match := _last_mark(part[:marks_at])) and _day(match[2]):
        marks_at = len(part[: match.start()].rstrip())
    text, marks = part[:marks_at], part[marks_at:].rstrip()
    inner = text.strip()
    lead, tail = text[: len(text) - len(text.lstrip())], "" if marks else text[len(text.rstrip()) :]
    mark = f" · superseded {day.isoformat()}" if day else ""
    return f"{lead}~~{inner}~~{marks}{mark}{tail}"


def shortened(text: str, most: int) -> str:
    """The text on one line, white space as single spaces, in at most so many characters; a cut ends in "…"."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 1].rstrip() + "…"


def one_line(text: str) -> str:
    """Line breaks of every kind become a space; no white space around."""
    return _BREAK.sub(" ", text).strip()


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
