"""Marks on facts: a bullet or paragraph can be struck, superseded or expire like an item of an entry."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from assistant.workspace.blocks import text_blocks
from assistant.workspace.entries import Item, parse_item

_LEAD = re.compile(r"\s*(?:>[ \t]?)*\s*(?:(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?|#{1,6}\s+)?")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_CELL = re.compile(r"(?<!\\)\|")


def block_item(text: str) -> Item:
    """A bullet or paragraph as an item: its words without the bullet, and its marks; struck when all its lines are."""
    item = parse_item(text[lead_of(text) :])
    lines = [line for line in text.split("\n") if has_words(line)]
    struck = bool(lines) and all(is_struck(line) for line in lines)
    return replace(item, struck=True) if struck and not item.struck else item


def dead_facts(fact_lines: Sequence[tuple[int, str]], today: date) -> dict[int, str]:
    """The lines (from 1) of facts that do not hold on that local day, and why: "superseded", "expired" or "moved"."""
    if not any("~~" in text or "·" in text for _, text in fact_lines):
        return {}
    texts = dict(fact_lines)
    dead: dict[int, str] = {}
    for block in text_blocks(fact_lines):
        item = block_item(block.text)
        lines = range(block.line, block.last + 1)
        whole = "\n".join(texts.get(line, "") for line in lines).strip() == block.text
        if whole and not item.live(today):
            dead.update((line, item.state(today)) for line in lines)
    return dead


def lead_of(line: str) -> int:
    """How many characters stand before a line's words: indentation, quote marks, bullet, box, heading marks."""
    match = _LEAD.match(line)
    return match.end() if match else 0


def cells_of(line: str) -> list[str]:
    """The line's words parted at the bars of a table; one piece for any other line. Joined by ``|`` they are whole."""
    words = line[lead_of(line) :]
    return _CELL.split(words) if words.startswith("|") else [words]


def is_struck(line: str) -> bool:
    """Whether all words of a line are struck."""
    return all(parse_item(cell).struck for cell in cells_of(line) if cell.strip())


def has_words(line: str) -> bool:
    """Whether a line says anything: no rule, no fence, not blank."""
    return bool(re.search(r"\w", line)) and not _FENCE.match(line)
