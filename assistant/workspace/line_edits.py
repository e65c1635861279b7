"""Changing one unit inside a file's text: strike, reword, take out. Every other character stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from assistant.core.errors import AssistantError
from assistant.workspace.entries import parse_entry, strike, strike_part
from assistant.workspace.fact_marks import cells_of, has_words, is_struck, lead_of
from assistant.workspace.unit_places import UnitPlace

_Change = Callable[[str], str]


def strike_unit(text: str, place: UnitPlace, day: date, item: int | None = None) -> str:
    """The file's text with the unit struck; item: only that one of an entry's. What is struck already stays so.

    Raises ("memory.item") for an item that is not there.
    """
    entry = place.entry
    items = len(entry.items) if entry else 1
    if item is not None and not 0 <= item < items:
        raise AssistantError("memory.item", f"There is no item {item + 1} in this line.", "Look at the line again.")
    if entry is None:
        return _with_part(text, place, lambda part: _strike_lines(part, day))
    raw = entry.raw
    for index in range(len(entry.items)):
        if not entry.items[index].struck and item in (None, index):
            raw = strike(raw, index, day)
    return _with_part(text, place, lambda _: raw)


def reword_unit(text: str, place: UnitPlace, words: str) -> str:
    """The file's text with other words in the unit: an entry keeps its date and source, a bullet its bullet."""
    entry = place.entry
    if entry is None:
        lead = place.text[: lead_of(place.text)]
        return _with_part(text, place, lambda _: words if lead_of(words) else lead + words)
    given = parse_entry(words.strip())
    content = (given.raw if given else f"||{words}").split("|", 2)[2]
    date_and_source = entry.raw.split("|", 2)[:2]
    return _with_part(text, place, lambda _: "|".join([*date_and_source, " ".join(content.split())]))


def remove_unit(text: str, place: UnitPlace) -> str:
    """The file's text without the unit's lines; of a long paragraph found in pieces only the piece goes."""
    return _with_part(text, place, lambda _: "")


def _with_part(text: str, place: UnitPlace, change: _Change) -> str:
    """``text`` is exact (see text_files.exact_text): bytes that are no characters may look different in the unit."""
    lines = text.split("\n")
    part = lines[place.first - 1 : place.last]
    ending = "\r" if part[0].endswith("\r") else ""
    region = "\n".join(line.removesuffix("\r") for line in part)
    said = place.text if place.text in region else region.strip()
    at = region.index(said)
    head, tail = region[:at], region[at + len(said) :]
    changed = change(said)
    if changed or head.strip() or tail.strip():
        region = head + changed + (tail if changed else tail.lstrip(" "))
        last = "\r" if part[-1].endswith("\r") else ""
        new = region.replace("\n", f"{ending}\n").split("\n")
        lines[place.first - 1 : place.last] = [*new[:-1], new[-1] + last]
        return "\n".join(lines)
    lines[place.first - 1 : place.last] = [""] if place.last == len(lines) and place.first > 1 else []
    return "\n".join(lines)


def _strike_lines(text: str, day: date) -> str:
    """Each line with words in it struck; the mark with the day stands behind the last."""
    lines = text.split("\n")
    wanted = [n for n, line in enumerate(lines) if has_words(line) and not is_struck(line)]
    for n in wanted:
        lines[n] = _strike_line(lines[n], day if n == wanted[-1] else None)
    return "\n".join(lines)


def _strike_line(line: str, day: date | None) -> str:
    cells = cells_of(line)
    filled = [n for n, cell in enumerate(cells) if cell.strip()]
    for n in filled:  # in a table, a mark behind the last bar would be a cell of its own
        cells[n] = strike_part(cells[n], day if n == filled[-1] else None)
    return line[: lead_of(line)] + "|".join(cells)
