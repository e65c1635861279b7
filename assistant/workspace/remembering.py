"""Writing down single things: what is known already is found, what it corrects is struck, the rest is appended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from assistant.core.clock import Clock, today
from assistant.workspace.contradiction import normalise
from assistant.workspace.entries import (
    Item,
    MemoryText,
    format_entry,
    format_item,
    parse_entry,
    parse_memory,
    strike,
)
from assistant.workspace.ids import line_id
from assistant.workspace.item_index import ItemIndex, Place
from assistant.workspace.journal import Journal
from assistant.workspace.layout import MEMORY
from assistant.workspace.memory_files import FileChange, MemoryFiles
from assistant.workspace.memory_values import Written
from assistant.workspace.redaction import redact
from assistant.workspace.text_files import TextFile, check_writable, encode_added, exact_bytes, exact_text


class Remembering:
    """Adds to MEMORY.md and to notes. Called under the lock of the memory files."""

    def __init__(self, files: MemoryFiles, journal: Journal, clock: Clock) -> None:
        self._files = files
        self._journal = journal
        self._clock = clock
        self._parsed: tuple[str, MemoryText] | None = None
        self._index: tuple[str, ItemIndex] | None = None

    def entry(self, said: Sequence[Item], source: str, actor: str, day: date, redacted: int) -> Written:
        items = _once(said)
        base = self._files.load(MEMORY)
        check_writable(base, MEMORY)
        index, now = self._index_of(base), today(self._clock)
        known = {id(item): place for item in items if (place := _duplicate(index, item, now))}
        fresh = [item for item in items if id(item) not in known]
        if not fresh and not source.startswith("chat:"):
            place = known[id(items[0])]
            ident = line_id(MEMORY, place.raw)
            return Written(ident, MEMORY, place.line, _texts(items), redacted, "", duplicate=True)
        wanted = fresh or list(items)
        struck = _unique(place for item in fresh for place in _corrected(index, item, now))
        entry = format_entry(day, redact(source).text, wanted)
        summary = f"Remembered: {_texts(wanted)[:120]}"
        line, journal_id = self._add_line(MEMORY, base, entry, actor, summary, struck)
        old = tuple(place.item.text for place in struck)
        return Written(line_id(MEMORY, entry), MEMORY, line, _texts(wanted), redacted, journal_id, superseded=old)

    def bullet(self, item: Item, file: str, actor: str, redacted: int) -> Written:
        base = self._files.load(file)
        check_writable(base, file)
        text = format_item(item)
        for number, line in enumerate(base.text.split("\n"), 1):
            if normalise(line.strip().lstrip("-*+ ")) == normalise(text):
                return Written(line_id(file, line), file, number, text, redacted, "", duplicate=True)
        bullet = f"- {text}"
        at, journal_id = self._add_line(file, base, bullet, actor, f"Remembered: {text[:120]}", ())
        return Written(line_id(file, bullet), file, at, text, redacted, journal_id)

    def _add_line(
        self, file: str, base: TextFile, line: str, actor: str, summary: str, struck: Sequence[Place]
    ) -> tuple[int, str]:
        """Append a line, all before it byte for byte but for the items it strikes; (line number, journal id)."""
        text = exact_text(base)
        start = base.newline if text and not text.endswith("\n") else ""
        number = text.count("\n") + 1 + bool(start)
        added = encode_added(f"{start}{line}{base.newline}", base)
        if not struck:
            raw = base.raw + added
            ident = self._files.change(FileChange(file, base, raw, actor, summary, len(added)))
            self._grow_index(base, raw, file, line, number)
            return number, ident
        lines = text.split("\n")
        for place in reversed(struck):
            # From the last item of a line to its first one, so that earlier strikes do not move the later places.
            now = lines[place.line - 1]
            ending = "\r" if now.endswith("\r") else ""
            lines[place.line - 1] = strike(now.removesuffix("\r"), place.index, today(self._clock)) + ending
        raw = exact_bytes("\n".join(lines), base) + added
        return number, self._files.change(FileChange(file, base, raw, actor, summary))

    def parse(self, file: TextFile) -> MemoryText:
        if self._parsed is None or self._parsed[0] != file.sha256:
            self._parsed = (file.sha256, parse_memory(file.text))
        return self._parsed[1]

    def _index_of(self, base: TextFile) -> ItemIndex:
        if self._index is None or self._index[0] != base.sha256:
            self._index = (base.sha256, ItemIndex(self.parse(base)))
        return self._index[1]

    def _grow_index(self, base: TextFile, raw: bytes, file: str, line: str, number: int) -> None:
        """The index of the longer file; so adding to a long file does not take it apart again."""
        seen = self._journal.seen.of(file)
        if file == MEMORY and self._index and seen and seen.size == len(raw) and self._index[0] == base.sha256:
            if entry := parse_entry(line, number):
                self._index[1].add(entry)
            self._index = (seen.sha256, self._index[1])


def _duplicate(index: ItemIndex, item: Item, now: date) -> Place | None:
    """The same words, unless they now hold until another day."""
    place = index.same(item, now)
    return place if place and item.until in (None, place.item.until) else None


def _corrected(index: ItemIndex, item: Item, now: date) -> list[Place]:
    same = index.same(item, now)
    return [*index.contradicted(item, now), *([same] if same else [])]


def _once(items: Sequence[Item]) -> list[Item]:
    """Without what is said a second time among them."""
    found: dict[tuple[str, date | None], Item] = {}
    for item in items:
        found.setdefault((normalise(item.text), item.until), item)
    return list(found.values())


def _unique(places: Iterable[Place]) -> list[Place]:
    return sorted(set(places), key=lambda place: (place.line, place.index))


def _texts(items: Sequence[Item]) -> str:
    return "；".join(format_item(item) for item in items)
