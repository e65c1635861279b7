"""Where in a memory file each unit stands: what recall finds, receipts name and the door changes, under one id."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assistant.workspace.blocks import text_blocks
from assistant.workspace.entries import Entry, parse_entry, parse_memory
from assistant.workspace.ids import UnitNames, line_id, split_id
from assistant.workspace.layout import ARCHIVE, MEMORY, is_foreign
from assistant.workspace.notes import parse_note


@dataclass(frozen=True, slots=True)
class UnitPlace:
    """A unit in its file. first, last: lines, from 1; text: the entry's line, or the bullet or paragraph.

    entry: None for a fact or a piece of a note; headings: those it stands under.
    """

    uid: str
    first: int
    last: int
    text: str
    entry: Entry | None = None
    headings: tuple[str, ...] = ()


def unit_places(file: str, text: str) -> Iterator[UnitPlace]:
    """The units of any memory file, by its relative name."""
    if file in (MEMORY, ARCHIVE):
        return memory_places(file, text)
    return foreign_places(file, text) if is_foreign(file) else note_places(file, text, parse_note(text).body_line)


def foreign_places(file: str, text: str) -> Iterator[UnitPlace]:
    """What a file in another program's form says; it can be found and forgotten, never edited."""
    from assistant.workspace.foreign import foreign_records  # parsers that the window does not start with

    names = UnitNames()
    for record in foreign_records(file, text)[0]:
        yield UnitPlace(names(file, record.raw), record.line, record.last, record.text)


def memory_places(file: str, text: str) -> Iterator[UnitPlace]:
    """Facts first, then entries, of MEMORY.md or of the archive."""
    memory = parse_memory(text)
    names = UnitNames()
    for block in text_blocks(memory.fact_lines):
        yield UnitPlace(names(file, block.text), block.line, block.last, block.text, None, block.headings)
    for entry in memory.entries:
        yield UnitPlace(names(file, entry.raw), entry.line, entry.line, entry.raw, entry)


def note_places(file: str, text: str, body_line: int) -> Iterator[UnitPlace]:
    """Bullets and paragraphs of a note, whose body begins at ``body_line``, then its dated entries."""
    names = UnitNames()
    numbered = enumerate((line.removesuffix("\r") for line in text.split("\n")), 1)
    body = [(number, line) for number, line in numbered if number >= body_line]
    entries = {number: entry for number, line in body if (entry := parse_entry(line, number))}
    # An entry ends the paragraph before it, as a blank line does.
    for block in text_blocks([(number, "" if number in entries else line) for number, line in body]):
        yield UnitPlace(names(file, block.text), block.line, block.last, block.text, None, block.headings)
    for number, entry in entries.items():
        yield UnitPlace(names(file, entry.raw), number, number, entry.raw, entry)


def find_unit(text: str, uid: str) -> UnitPlace | None:
    """The place of a unit in its file's text; the id of a single line of a longer unit finds that line."""
    file, first_id, wanted = split_id(uid)
    if not file:
        return None
    found = next((place for place in unit_places(file, text) if place.uid == uid), None)
    return found or _find_line(file, text, first_id, wanted)


def find_line(file: str, text: str, line: int, said: str) -> UnitPlace | None:
    """The unit that says ``said``, or has a line that does: the nearest to ``line``."""
    wanted = line_id(file, said)
    places = [place for place in unit_places(file, text) if _says(file, place, wanted)]
    if places:
        return min(places, key=lambda place: abs(place.first - line))
    lines = [n for n, each in enumerate(text.split("\n"), 1) if each.strip() and line_id(file, each) == wanted]
    return _line_place(file, text, min(lines, key=lambda n: abs(n - line))) if lines else None


def _says(file: str, place: UnitPlace, wanted: str) -> bool:
    shown = "" if place.entry is None else "; ".join(item.text for item in place.entry.items)
    return wanted in (line_id(file, place.text), line_id(file, shown), place.entry and line_id(file, place.entry.text))


def _find_line(file: str, text: str, first_id: str, wanted: int) -> UnitPlace | None:
    lines = [n for n, each in enumerate(text.split("\n"), 1) if each.strip() and line_id(file, each) == first_id]
    return _line_place(file, text, lines[wanted - 1]) if len(lines) >= wanted else None


def _line_place(file: str, text: str, line: int) -> UnitPlace:
    raw = text.split("\n")[line - 1].removesuffix("\r")
    entry = parse_entry(raw, line)
    return UnitPlace(line_id(file, raw), line, line, raw.strip() if entry is None else raw, entry)
