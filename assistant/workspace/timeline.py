"""Memory by day and source: what the dated entries of MEMORY.md and the archive say of when things were written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from assistant.workspace.entries import Entry, format_item, parse_memory
from assistant.workspace.layout import ARCHIVE, MEMORY
from assistant.workspace.memory import Memory

By = Literal["day", "week", "month"]
SOURCES = ("you", "distilled", "tool", "import", "documents", "other")
"""Kinds of sources, in the order in which they stand on one another."""
_KINDS = {"you": "you", "tool": "tool", "chat": "distilled", "import": "import", "doc": "documents"}
_LONGEST = 4_000  # periods; older ones are gathered in the first, or a wrong year would make the picture endless


@dataclass(frozen=True, slots=True)
class Moment:
    """An entry. kind: one of SOURCES; text: its items; live: some of it holds today."""

    day: date
    kind: str
    file: str
    line: int
    text: str
    live: bool


@dataclass(frozen=True, slots=True)
class Period:
    """A day, week or month. first, last: its days; counts: entries by kind, those there are."""

    first: date
    last: date
    counts: dict[str, int]
    moments: tuple[Moment, ...]

    @property
    def total(self) -> int:
        return len(self.moments)


def source_kind(source: str) -> str:
    """Which of SOURCES the source of an entry is."""
    return _KINDS.get(source.split(":", 1)[0].strip(), "other")


def moments(memory: Memory, today: date) -> tuple[Moment, ...]:
    """All dated entries, oldest first."""
    archive = parse_memory(memory.read(ARCHIVE).text)
    found = [*_of(MEMORY, memory.document().entries, today), *_of(ARCHIVE, archive.entries, today)]
    return tuple(sorted(found, key=lambda each: (each.day, each.file, each.line)))


def periods(found: Sequence[Moment], by: By) -> tuple[Period, ...]:
    """From the first to the last, empty ones too; at most 4 000, of which the first takes what is older."""
    if not found:
        return ()
    starts = _starts(found[0].day, found[-1].day, by)
    held: dict[date, list[Moment]] = {start: [] for start in starts}
    for each in found:
        start = each.day if by == "day" else _start(each.day, by)
        held[max(start, starts[0])].append(each)
    ends = [*(start - timedelta(days=1) for start in starts[1:]), _next(starts[-1], by) - timedelta(days=1)]
    return tuple(_period(start, end, held[start]) for start, end in zip(starts, ends, strict=True))


def best_zoom(found: Sequence[Moment]) -> By:
    """Days for some weeks, weeks for some months, months beyond."""
    days = (found[-1].day - found[0].day).days if found else 0
    return "day" if days <= 45 else "week" if days <= 300 else "month"


def _of(file: str, entries: Iterable[Entry], today: date) -> Iterable[Moment]:
    for entry in entries:
        text = "；".join(format_item(item) for item in entry.items)
        yield Moment(entry.date, source_kind(entry.source), file, entry.line, text, entry.live(today))


def _period(first: date, last: date, found: list[Moment]) -> Period:
    counts = Counter(each.kind for each in found) if found else {}
    return Period(first, last, {kind: counts[kind] for kind in SOURCES if kind in counts}, tuple(found))


def _starts(first: date, last: date, by: By) -> list[date]:
    """Starts of all periods, at most _LONGEST of them, the newest ones."""
    starts, at = [_start(last, by)], _start(first, by)
    while starts[-1] > at and len(starts) < _LONGEST:
        starts.append(_start(starts[-1] - timedelta(days=1), by))
    return starts[::-1]


def _start(day: date, by: By) -> date:
    if by == "day":
        return day
    back = day.weekday() if by == "week" else day.day - 1
    return day - timedelta(days=back) if day.toordinal() > back else day


def _next(start: date, by: By) -> date:
    step = {"day": 1, "week": 7, "month": 31}[by]
    ahead = min(date.max.toordinal(), start.toordinal() + step)
    return _start(date.fromordinal(ahead), by) if by == "month" else date.fromordinal(ahead)
