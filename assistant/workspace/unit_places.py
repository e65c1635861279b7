"""Where in a memory file each unit stands: what recall finds, receipts name and the door changes, under one id."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from assistant.workspace.blocks import TextBlock, text_blocks
from assistant.workspace.entries import Entry, is_entry, parse_entry
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


@dataclass(frozen=True, slots=True)
class Pieces:
    """The units of a file, not taken apart: thousands of them are only compared with what is known.

    blocks: bullets and paragraphs; entries: (line from 1, text) of each. In this order they are named.
    """

    blocks: list[TextBlock]
    entries: list[tuple[int, str]]


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
    return _places(file, memory_pieces(text))


def memory_pieces(text: str) -> Pieces:
    """The same, not taken apart."""
    facts: list[tuple[int, str]] = []
    entries: list[tuple[int, str]] = []
    for numbered in _numbered(text):
        (entries if is_entry(numbered[1]) else facts).append(numbered)
    return Pieces(text_blocks(facts), entries)


def note_places(file: str, text: str, body_line: int) -> Iterator[UnitPlace]:
    """Bullets and paragraphs of a note, whose body begins at ``body_line``, then its dated entries."""
    return _places(file, note_pieces(text, body_line))


def note_pieces(text: str, body_line: int) -> Pieces:
    """The same, not taken apart."""
    body = list(islice(_numbered(text), body_line - 1, None))
    entries = [numbered for numbered in body if is_entry(numbered[1])]
    lines = {number for number, _ in entries}
    # An entry ends the paragraph before it, as a blank line does.
    blocks = text_blocks([(number, "" if number in lines else line) for number, line in body])
    return Pieces(blocks, entries)


def _numbered(text: str) -> Iterator[tuple[int, str]]:
    return enumerate((line.removesuffix("\r") for line in text.split("\n")), 1)


def _places(file: str, pieces: Pieces) -> Iterator[UnitPlace]:
    names = UnitNames()
    for block in pieces.blocks:
        yield UnitPlace(names(file, block.text), block.line, block.last, block.text, None, block.headings)
    for line, raw in pieces.entries:
        yield UnitPlace(names(file, raw), line, line, raw, parse_entry(raw, line))


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
