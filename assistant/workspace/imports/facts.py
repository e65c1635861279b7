"""Undated Markdown from elsewhere -> a section of MEMORY.md: what is there already stays out, headings go down."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from assistant.workspace.contradiction import normalise
from assistant.workspace.entries import parse_entry

_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*")
_BULLET = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s+\S")
_FENCE = re.compile(r"\s{0,3}(```+|~~~+)")
_LEVEL = 3
"""Of the highest heading in the section, whose own is of level 2."""


@dataclass(frozen=True, slots=True)
class Block:
    """A heading (level 1–6), or a bullet, paragraph or piece of code (level 0)."""

    level: int
    lines: tuple[str, ...]
    apart: bool = False

    @property
    def key(self) -> str:
        """Equal for blocks that say the same."""
        return normalise(" ".join(line.strip() for line in self.lines).lstrip("-*+ "))


def blocks_of(lines: Iterable[str]) -> Iterator[Block]:
    """The blocks of Markdown lines; apart: a blank line stood before it."""
    found: list[str] = []
    apart, fence = False, ""
    for line in (each.rstrip() for each in lines):
        heading = None if fence else _HEADING.fullmatch(line)
        starts = heading or not line or _BULLET.match(line)
        if found and not fence and starts:
            yield Block(0, tuple(found), apart)
            found, apart = [], False
        if heading:
            yield Block(len(heading[1]), (line,), apart)
            apart = False
        elif line or fence:
            found.append(line)
        else:
            apart = True
        if mark := _FENCE.match(line):
            fence = "" if fence and line.strip().startswith(fence) else fence or mark[1]
    if fence:  # left open; where it goes on with other text it has to be closed
        found.append(fence)
    if found:
        yield Block(0, tuple(found), apart)


def fresh_section(text: str, known: set[str]) -> list[str]:
    """The lines of ``text`` that say something new, under their headings; what they say is added to ``known``."""
    blocks = list(blocks_of(text.split("\n")))
    shift = _shift(blocks)
    open_headings: list[Block] = []
    lines: list[str] = []
    apart = False
    for block in blocks:
        apart |= block.apart or bool(block.level)  # a heading that goes, or a block that is known, parts what stays
        if block.level:
            open_headings = [head for head in open_headings if head.level < block.level]
            if block.level + shift >= _LEVEL:
                open_headings.append(block)
        elif block.key and block.key not in known:
            known.add(block.key)
            for head in (head for head in open_headings if head.lines):
                lines += ["", f"{'#' * min(6, head.level + shift)} {head.lines[0].lstrip('#').strip()}", ""]
            open_headings = [Block(head.level, ()) for head in open_headings]
            lines += [""] if apart and lines and lines[-1] else []
            lines += block.lines
            apart = False
    return lines[1:] if lines and not lines[0] else lines


def known_blocks(lines: Sequence[str]) -> set[str]:
    """What Markdown lines say, for fresh_section; entries are left out."""
    return {block.key for block in blocks_of(line for line in lines if not parse_entry(line)) if not block.level}


def _shift(blocks: Sequence[Block]) -> int:
    """How far headings go down. A single title above all others goes, for the section has one."""
    levels = sorted({block.level for block in blocks if block.level})
    if not levels:
        return 0
    alone = sum(1 for block in blocks if block.level == levels[0]) == 1 and blocks[0].level == levels[0]
    top = levels[1] if alone and len(levels) > 1 else levels[0]
    return max(0, _LEVEL - top) if not (alone and len(levels) == 1) else 0
