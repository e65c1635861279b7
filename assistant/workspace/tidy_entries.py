"""Which entries of MEMORY.md leave it when it is tidied, and why. Facts, written by hand, never move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from assistant.workspace.budget import Limits
from assistant.workspace.entries import Entry, Item, MemoryText, format_entry, keep_items

EXPIRED, MOVED, SUPERSEDED, DUPLICATE, OLD = "expired", "moved", "superseded", "duplicate", "over budget"


@dataclass(frozen=True, slots=True)
class Leaving:
    """Items that leave a line. line: from 1; why: one of the words above; kept: for a duplicate the line that stays."""

    line: int
    text: str
    why: str
    kept: int = 0


@dataclass(frozen=True, slots=True)
class TidiedEntries:
    """lines: what becomes of a line (None: it goes); archived: the new lines of the archive, oldest first."""

    lines: dict[int, str | None]
    archived: tuple[str, ...]
    moved: tuple[Leaving, ...]
    merged: tuple[Leaving, ...]
    over: bool


def tidy_entries(text: str, doc: MemoryText, limits: Limits, today: date) -> TidiedEntries:
    """Expired items leave; the same item again is merged with its oldest; over budget what is struck, then the oldest.

    The limits of the facts count for the file as a whole. The newest ``limits.entries`` that hold never leave.
    A limit of 0 is none. over: the file is above its limits even so.
    """
    entries = [entry for entry in doc.entries if "\ufffd" not in entry.raw]  # what cannot be read is not rewritten
    tidied = _Tidied(entries, today)
    tidied.merge_duplicates()
    tidied.let_go()
    over = tidied.make_room(text, limits)
    return tidied.result(over)


class _Tidied:
    """fates: by entry, for each of its items that leaves, why; kept: for duplicates the line that stays."""

    def __init__(self, entries: Sequence[Entry], today: date) -> None:
        self._entries = entries
        self._today = today
        self._fates: dict[int, dict[int, str]] = {entry.line: {} for entry in entries}
        self._kept: dict[tuple[int, int], int] = {}

    def merge_duplicates(self) -> None:
        """Only items of the very same words and marks; the oldest line stays."""
        first: dict[tuple[object, ...], int] = {}
        for entry in sorted(self._entries, key=lambda each: (each.date, each.line)):
            for index, item in enumerate(entry.items):
                if item.live(self._today):
                    kept = first.setdefault(_key(item), entry.line)
                    if kept != entry.line:
                        self._fates[entry.line][index] = DUPLICATE
                        self._kept[entry.line, index] = kept

    def let_go(self) -> None:
        for entry in self._entries:
            for index, item in enumerate(entry.items):
                if (why := item.state(self._today)) in (EXPIRED, MOVED):
                    self._fates[entry.line][index] = why

    def make_room(self, text: str, limits: Limits) -> bool:
        """Move whole entries until the file fits; whether it still does not."""
        lines, size = text.count("\n") + (not text.endswith("\n") and bool(text)), len(text.encode("utf-8", "replace"))
        for entry in self._entries:
            left = self._left(entry)
            lines -= not left
            size -= _size(entry.raw) - (_size(keep_items(entry.raw, left)) if left else 0)
        most_lines, most_bytes = limits.fact_lines or lines, limits.fact_bytes or size
        for why, entry in self._candidates(limits):
            if lines <= most_lines and size <= most_bytes:
                return False
            left = self._left(entry)
            lines -= 1
            size -= _size(keep_items(entry.raw, left))
            self._fates[entry.line].update(dict.fromkeys(left, why))
        return lines > most_lines or size > most_bytes

    def _candidates(self, limits: Limits) -> list[tuple[str, Entry]]:
        """What may leave to make room: struck entries, then those that hold but the last ones; the oldest first."""
        staying = [entry for entry in self._entries if self._left(entry)]
        holds = [any(entry.items[n].live(self._today) for n in self._left(entry)) for entry in staying]
        live = [entry for entry, held in zip(staying, holds, strict=True) if held]
        dead = [entry for entry, held in zip(staying, holds, strict=True) if not held]
        older = live[: max(0, len(live) - max(0, limits.entries))]
        by_day = [sorted(group, key=lambda entry: (entry.date, entry.line)) for group in (dead, older)]
        return [(SUPERSEDED, entry) for entry in by_day[0]] + [(OLD, entry) for entry in by_day[1]]

    def _left(self, entry: Entry) -> list[int]:
        return [index for index in range(len(entry.items)) if index not in self._fates[entry.line]]

    def result(self, over: bool) -> TidiedEntries:
        lines: dict[int, str | None] = {}
        archived, moved, merged = list[str](), list[Leaving](), list[Leaving]()
        for entry in sorted(self._entries, key=lambda each: (each.date, each.line)):
            fates = self._fates[entry.line]
            if not fates:
                continue
            left = self._left(entry)
            lines[entry.line] = keep_items(entry.raw, left) if left else None
            # A distilled entry is the proof that its turns were distilled: it leaves for the archive, never for good.
            proof = not left and entry.source.startswith("chat:") and set(fates.values()) == {DUPLICATE}
            moving = [index for index, why in sorted(fates.items()) if proof or why != DUPLICATE]
            if moving:
                items = [replace(item, moved=item.moved or self._today) for item in _some(entry, moving)]
                archived.append(format_entry(entry.date, entry.source, items))
            for index, why in sorted(fates.items()):
                leaving = Leaving(entry.line, entry.items[index].text, why, self._kept.get((entry.line, index), 0))
                (merged if why == DUPLICATE else moved).append(leaving)
        return TidiedEntries(lines, tuple(archived), tuple(moved), tuple(merged), over)


def _some(entry: Entry, indexes: Sequence[int]) -> list[Item]:
    return [entry.items[index] for index in indexes]


def _key(item: Item) -> tuple[object, ...]:
    return (" ".join(item.text.split()), item.until, item.updated)


def _size(line: str) -> int:
    return len(line.encode("utf-8", "replace")) + 1
