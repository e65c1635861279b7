"""What the person never wants told again in a chat: units by id, left out of its row and of what is recalled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assistant.core.values import Hit, LeftOut, PromptLine
from assistant.workspace.blocks import text_blocks
from assistant.workspace.entries import MemoryText
from assistant.workspace.forgetting import FORGOTTEN
from assistant.workspace.ids import line_id, split_id
from assistant.workspace.layout import MEMORY

NEVER_HERE = "never recalled here"


class Never:
    """The units that one chat leaves out. A line that stands in a file twice is left out in both places."""

    def __init__(self, units: frozenset[str]) -> None:
        self.units = units
        self._bare = frozenset(map(bare_unit, units))

    def __bool__(self) -> bool:
        return bool(self.units)

    def holds(self, unit: str) -> bool:
        return bool(self._bare) and bare_unit(unit) in self._bare

    def hides(self, hit: Hit) -> bool:
        """The hit is such a unit, or a block of which one line is."""
        if not self._bare or hit.kind in ("turn", "entry"):
            return self.holds(hit.id)
        return self.holds(hit.id) or any(self.holds(line_id(hit.file, line)) for line in hit.text.split("\n"))

    def parted(self, document: MemoryText) -> tuple[MemoryText, tuple[LeftOut, ...], tuple[str, ...]]:
        """MEMORY.md without them, the lines that it lost, and their units."""
        if not self._bare:
            return document, (), ()
        blocks = self._block_lines(MEMORY, document.fact_lines)
        lost: dict[int, str] = {}
        for number, text in document.fact_lines:
            unit = blocks.get(number) or line_id(MEMORY, text)
            if text.strip() and self.holds(unit):
                lost[number] = unit
        lost |= {e.line: unit for e in document.entries if self.holds(unit := line_id(MEMORY, e.raw))}
        kept = replace(
            document,
            fact_lines=tuple(each for each in document.fact_lines if each[0] not in lost),
            entries=tuple(entry for entry in document.entries if entry.line not in lost),
        )
        return (
            kept,
            tuple(LeftOut(MEMORY, line, NEVER_HERE) for line in sorted(lost)),
            tuple(sorted(set(lost.values()))),
        )

    def without(self, file: str, text: str) -> str:
        """The text of a memory file with empty lines in their places."""
        if not self._bare:
            return text
        lines = text.split("\n")
        lost = self._block_lines(file, list(enumerate((line.rstrip("\r") for line in lines), 1)))
        return "\n".join(
            "" if n in lost or self.holds(line_id(file, line.rstrip("\r"))) else line for n, line in enumerate(lines, 1)
        )

    def _block_lines(self, file: str, lines: Sequence[tuple[int, str]]) -> dict[int, str]:
        """The lines of the blocks that are left out, each with its block's unit."""
        found: dict[int, str] = {}
        for block in text_blocks(lines):
            unit = line_id(file, block.text)
            if self.holds(unit):
                found |= {block.line + step: unit for step in range(block.text.count("\n") + 1)}
        return found


def bare_unit(unit: str) -> str:
    """The id of the line itself: told as gone or not, whichever of several equal lines of its file it is."""
    unit = unit.removeprefix("gone:")
    return split_id(unit)[1] or unit


def is_stale(lines: Sequence[PromptLine], left: Sequence[str], never: Never) -> bool:
    """A row must be taken anew: it holds what is never to be told here or was forgotten, or leaves out what may be.

    left: the units that it left out for that reason.
    """
    if any(never.holds(line.unit) or FORGOTTEN in line.text for line in lines):
        return True
    return any(not never.holds(unit) for unit in left)


NOTHING = Never(frozenset())
