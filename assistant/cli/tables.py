"""Tables for a terminal: columns as wide as what stands in them, with East Asian characters counted as two."""

from __future__ import annotations

import shutil
import unicodedata
from collections.abc import Sequence

_LEAST = 60
_MOST = 160
_GAP = "  "


def line_width() -> int:
    """Columns of the terminal, within reason; 80 where there is none."""
    return max(_LEAST, min(_MOST, shutil.get_terminal_size().columns))


def width(text: str) -> int:
    """Columns that a text takes."""
    return sum(_columns(character) for character in text)


def shorten(text: str, columns: int) -> str:
    """One line of at most so many columns, cut with … at its end."""
    text = " ".join(text.split())
    if width(text) <= columns:
        return text
    kept, used = [], 1
    for character in text:
        used += _columns(character)
        if used > columns:
            break
        kept.append(character)
    return "".join(kept).rstrip() + "…"


def wrap(text: str, columns: int, most: int = 0) -> list[str]:
    """Lines of at most so many columns, broken between words where there are any. most: lines; 0 for all."""
    lines: list[str] = []
    left = " ".join(text.split())
    while left and (not most or len(lines) < most - 1):
        if width(left) <= columns:
            break
        head = shorten(left, columns + 1).removesuffix("…")
        at = head.rfind(" ")
        cut = at if at > len(head) // 2 else max(1, len(head))
        lines.append(left[:cut].rstrip())
        left = left[cut:].lstrip()
    return [*lines, shorten(left, columns)] if left else lines


def table(rows: Sequence[Sequence[str]], right: frozenset[int] = frozenset(), indent: str = "") -> list[str]:
    """The rows with their columns one below the other; the first may be the heads. right: columns of numbers."""
    widths = [max(width(cell) for cell in column) for column in zip(*rows, strict=True)] if rows else []
    return [
        (indent + _GAP.join(_fill(cell, widths[n], n in right) for n, cell in enumerate(row))).rstrip() for row in rows
    ]


def _fill(text: str, columns: int, right: bool) -> str:
    space = " " * (columns - width(text))
    return space + text if right else text + space


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
