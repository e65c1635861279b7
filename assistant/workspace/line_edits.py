"""Changing one unit inside a file's text: strike, reword, take out. Every other character stays as it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date

from assistant.workspace.entries import Item, parse_entry, parse_item, strike, strike_part
from assistant.workspace.unit_places import UnitPlace

_LEAD = re.compile(r"\s*(?:>[ \t]?)*\s*(?:(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?|#{1,6}\s+)?")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_CELL = re.compile(r"(?<!\\)\|")
_Change = Callable[[str], str]


def block_item(text: str) -> Item:
    """A bullet or paragraph as an item: its words without the bullet, and its marks; struck when all its lines are."""
    item = parse_item(text[_lead(text) :])
    lines = [line for line in text.split("\n") if _has_words(line)]
    struck = bool(lines) and all(_is_struck(line) for line in lines)
    return replace(item, struck=True) if struck and not item.struck else item


def strike_unit(text: str, place: UnitPlace, day: date, item: int | None = None) -> str:
    """The file's text with the unit struck; item: only that one of an entry's. What is struck already stays so."""
    entry = place.entry
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
        lead = place.text[: _lead(place.text)]
        return _with_part(text, place, lambda _: words if _lead(words) else lead + words)
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
    wanted = [n for n, line in enumerate(lines) if _has_words(line) and not _is_struck(line)]
    for n in wanted:
        lines[n] = _strike_line(lines[n], day if n == wanted[-1] else None)
    return "\n".join(lines)


def _strike_line(line: str, day: date | None) -> str:
    start = _lead(line)
    lead, words = line[:start], line[start:]
    if not words.startswith("|"):
        return lead + strike_part(words, day)
    cells = _CELL.split(words)
    filled = [n for n, cell in enumerate(cells) if cell.strip()]
    for n in filled:  # a mark behind the last bar would be a cell of its own
        cells[n] = strike_part(cells[n], day if n == filled[-1] else None)
    return lead + "|".join(cells)


def _is_struck(line: str) -> bool:
    words = line[_lead(line) :]
    cells = _CELL.split(words) if words.startswith("|") else [words]
    return all(parse_item(cell).struck for cell in cells if cell.strip())


def _has_words(line: str) -> bool:
    return bool(re.search(r"\w", line)) and not _FENCE.match(line)


def _lead(line: str) -> int:
    match = _LEAD.match(line)
    return match.end() if match else 0
