"""Sketches of units: enough to know a unit again without taking its text apart.

One changed line of a long file costs little beyond reading the file: what was made from the other lines stands in the
index under the digest of just what it was made from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from assistant.recall.units.unit import UNIT_RULES, Unit
from assistant.workspace.blocks import TextBlock
from assistant.workspace.entries import Entry, parse_entry
from assistant.workspace.ids import UnitNames, line_digest, unit_id
from assistant.workspace.unit_places import Pieces


@dataclass(frozen=True, slots=True)
class Sketches:
    """The units of a file, each by its number here. lines: from 1; unit: makes one.

    names: by which links find the file, as (rank, name).
    digests: over all that a unit is made from, but for its line, so that one that only moved is known again.
    """

    digests: list[bytes]
    lines: list[int]
    unit: Callable[[int], Unit]
    names: Sequence[tuple[int, str]] = ()


@dataclass(frozen=True, slots=True)
class Makers:
    """How pieces become units, from their id. But for the file's name and its title they go by nothing else."""

    block: Callable[[str, TextBlock], Unit]
    entry: Callable[[str, Entry], Unit]


def sketches_of_pieces(file: str, title: str, pieces: Pieces, makers: Makers) -> Sketches:
    """Of a memory file."""
    names, blocks = UnitNames(), pieces.blocks

    @cache
    def around(headings: tuple[str, ...] | None, number: int) -> bytes:
        return _digest((file, title, headings, number))[:8]

    texts = [line_digest(block.text) for block in blocks] + [line_digest(raw) for _, raw in pieces.entries]
    numbers = [names.number(digest) for digest in texts]
    digests = [
        digest[:16] + around(blocks[at].headings if at < len(blocks) else None, number)
        for at, (digest, number) in enumerate(zip(texts, numbers, strict=True))
    ]

    def unit(at: int) -> Unit:
        uid = unit_id(file, texts[at], numbers[at])
        if at < len(blocks):
            return makers.block(uid, blocks[at])
        line, raw = pieces.entries[at - len(blocks)]
        entry = parse_entry(raw, line)
        assert entry  # or it were no piece of this sort
        return makers.entry(uid, entry)

    return Sketches(digests, [block.line for block in blocks] + [line for line, _ in pieces.entries], unit)


def sketches_of_units(units: Sequence[Unit]) -> Sketches:
    """Of units that are made already."""
    return Sketches([_unit_digest(unit) for unit in units], [unit.line for unit in units], units.__getitem__)


def _unit_digest(unit: Unit) -> bytes:
    parts = (unit.uid, unit.kind, unit.day, unit.until, unit.struck, unit.title, unit.text, unit.words, unit.context)
    return _digest((*parts, unit.passage, unit.follows))[:16]


def _digest(parts: tuple[object, ...]) -> bytes:
    return hashlib.sha256(repr((*parts, UNIT_RULES)).encode("utf-8", "surrogatepass")).digest()
