"""MEMORY.md or the archive while an import is planned: lines are added by date, items struck, nothing else moves."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from assistant.workspace.entries import Entry, Item, format_entry, parse_entry, parse_memory, strike
from assistant.workspace.imports.facts import fresh_section, known_blocks
from assistant.workspace.item_index import ItemIndex, Place
from assistant.workspace.text_files import TextFile

_FIRST_ADDED = 1_000_000_000
"""Line numbers of added lines start here, beyond those of any file."""


class Document:
    """One memory file. base: as it is on disk; text: as it will be."""

    def __init__(self, base: TextFile) -> None:
        self.base = base
        self._lines = [line.removesuffix("\r") for line in base.text.split("\n")]
        self._memory = parse_memory(base.text)
        self._index = ItemIndex(self._memory)
        self._added: list[tuple[date, str]] = []
        self._sections: dict[str, list[str]] = {}
        self._facts: set[str] | None = None
        self._struck: set[tuple[int, int]] = set()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Those of the file on disk."""
        return self._memory.entries

    @property
    def changed(self) -> bool:
        return bool(self._added or self._sections)

    @property
    def struck(self) -> int:
        """How many items a newer one replaced."""
        return len(self._struck)

    def add_facts(self, heading: str, text: str) -> bool:
        """Put what is new of it below a heading; False when all of it is there already."""
        if self._facts is None:
            self._facts = known_blocks(self._lines)
        lines = fresh_section(text, self._facts)
        if lines:
            section = self._sections.setdefault(heading, [])
            section += ["", *lines] if section else lines
        return bool(lines)

    def add_entry(self, day: date, source: str, items: list[Item], *, check: bool, today: date) -> None:
        """Put an entry in its place by date. check: of two facts that contradict each other the older one is struck."""
        settled = [self._settle(item, day, today) for item in items] if check else items
        line = format_entry(day, source, settled)
        self._added.append((day, line))
        if check and (entry := parse_entry(line, _FIRST_ADDED + len(self._added) - 1)):
            self._index.add(entry)

    def text(self) -> str:
        """The file as it will be, with ``\\n`` between lines."""
        lines, start, end = self._lines, *self._block()
        middle = self._place(start, end)
        before = self._with_sections(lines[:start])
        while self._sections and not middle and before and not before[-1]:
            before.pop()
        if middle and before and before[-1]:
            before.append("")
        return "\n".join([*before, *middle, *lines[end:]]) + ("" if lines[end:] else "\n")

    def _settle(self, item: Item, day: date, today: date) -> Item:
        """Strike what the item corrects; the item itself comes back struck where something newer is there."""
        if not item.live(today):
            return item
        for place in self._index.contradicted(item, today):
            there = parse_entry(place.raw)
            if there is None or (place.line, place.index) in self._struck:
                continue
            if there.date > day:
                return replace(item, struck=True, superseded=there.date)
            self._strike(place, day)
        return item

    def _strike(self, place: Place, day: date) -> None:
        self._struck.add((place.line, place.index))
        if place.line >= _FIRST_ADDED:
            at = place.line - _FIRST_ADDED
            self._added[at] = (self._added[at][0], strike(self._added[at][1], place.index, day))
        else:
            self._lines[place.line - 1] = strike(self._lines[place.line - 1], place.index, day)

    def _block(self) -> tuple[int, int]:
        """Where the entries at the end of the file begin and end; an empty last line stays behind them."""
        end = len(self._lines)
        while end and not self._lines[end - 1].strip():
            end -= 1
        start = end
        for at in range(end - 1, -1, -1):
            if parse_entry(self._lines[at]):
                start = at
            elif self._lines[at].strip():
                break
        return start, end

    def _place(self, start: int, end: int) -> list[str]:
        """The entries at the end with the added ones among them: behind the last one that is not newer."""
        days = [(entry.date, at) for at in range(start, end) if (entry := parse_entry(self._lines[at]))]
        days.sort(reverse=True)
        behind: dict[int, list[str]] = {}
        at = start
        for day, line in sorted(self._added, key=lambda each: each[0]):
            while days and days[-1][0] <= day:
                at = max(at, days.pop()[1] + 1)
            behind.setdefault(at, []).append(line)
        placed: list[str] = []
        for at in range(start, end):
            placed += [*behind.get(at, ()), self._lines[at]]
        return placed + behind.get(end, [])

    def _with_sections(self, lines: list[str]) -> list[str]:
        for heading, section in self._sections.items():
            at = _end_of(lines, heading)
            title = [] if at else [heading]
            at = at or len(lines)
            while at and not lines[at - 1].strip():
                at -= 1
            lead = [""] if at else []
            lines = [*lines[:at], *lead, *title, *([""] if title else []), *section, "", *_without_lead(lines[at:])]
        return lines


def _end_of(lines: list[str], heading: str) -> int:
    """Behind the last line of a section; 0 where there is none."""
    if heading not in lines:
        return 0
    start = lines.index(heading) + 1
    ends = (at for at in range(start, len(lines)) if lines[at].startswith(("# ", "## ")))
    return next(ends, len(lines))


def _without_lead(lines: list[str]) -> list[str]:
    at = next((at for at, line in enumerate(lines) if line.strip()), len(lines))
    return lines[at:]
