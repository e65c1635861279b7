"""Reading a model's notes: a list is asked for, but prose, JSON, fences and nothing come too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from assistant.core.json_text import parse_json

NOTHING = "无需记录"
_MOST_CHARACTERS = 300
_BULLET = re.compile(r"^\s*(?:[-*•·]|\d{1,2}[.)、])(?:\s+|(?=[\u3400-\u9fff]))(.*\S)\s*$")
_FENCE = re.compile(r"^\s*```\w*\s*$", re.MULTILINE)
_NOTHING = re.compile(rf"\W*(?:{NOTHING}|nothing to (?:keep|record|note)|no notes|none|n/a)\W*", re.IGNORECASE)


def parse_notes(reply: str, most: int) -> list[str] | None:
    """The notes of a reply, at most ``most``; [] when it says there is nothing; None when it is no answer at all."""
    body = _FENCE.sub("", reply).strip()
    if not body:
        return None
    notes = [_clean(note) for note in (_from_json(body) or _from_lines(body))]
    kept = [note for note in notes if note and not _NOTHING.fullmatch(note)]
    if kept:
        return kept[:most]
    return [] if _NOTHING.search(body) else None


def _from_lines(body: str) -> list[str]:
    return [match.group(1) for line in body.splitlines() if (match := _BULLET.match(line))]


def _from_json(body: str) -> list[str]:
    if body[0] not in "[{":
        return []
    try:
        return list(_strings(parse_json(body)))
    except ValueError:
        return []


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def _clean(note: str) -> str:
    """One line without the marks of Markdown and without what would look like the entry's own syntax."""
    flat = " ".join(note.replace("**", "").replace("~~", "").replace("；", "，").split())
    return flat if len(flat) <= _MOST_CHARACTERS else ""
