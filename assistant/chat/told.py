"""A line of a receipt in words: without what stands beside it anyway, its bullet, its place, who wrote it."""

from __future__ import annotations

import re

from assistant.core.values import PromptLine
from assistant.workspace.forgetting import FORGOTTEN

_FOUND = ("keyword", "meaning", "recent", "linked", "neighbour", "tool")
_BULLET = re.compile(r"^\s*(?:[-*+]\s+)?")
_SOURCE = re.compile(r"^\[[^\]\n]{1,200}\] (?=\S)")
_ENTRY = re.compile(r"^\s{0,3}(\d{4}-\d{2}-\d{2})[ \t]*\|[^|\n]*\|")


def words_of(line: PromptLine) -> str:
    """What a line says, as it was told."""
    if not line.file:  # the day it is, or what came of the person's own words
        return _BULLET.sub("", line.text.strip(), count=1).strip("[]")
    return plain_words(line.text, told=line.why in _FOUND)


def plain_words(text: str, *, told: bool = False) -> str:
    """A line as it stands in a file, or (told) as it was recalled with its source in front, without the rest."""
    bare = _BULLET.sub("", text.strip(), count=1)
    entry = _ENTRY.match(bare)
    if entry:
        return f"{entry[1]}: {bare[entry.end() :]}"
    return _BULLET.sub("", _SOURCE.sub("", bare, count=1), count=1) if told else bare


def is_found(line: PromptLine) -> bool:
    """It came for this very message, and is not part of every prompt of its chat."""
    return line.why in _FOUND


def is_turn(line: PromptLine) -> bool:
    """It is a turn of a chat, or names one."""
    return line.file.startswith("chats/")


def undated(words: str) -> str:
    """Without the date in front that words_of and plain_words put there for an entry."""
    return re.sub(r"^\d{4}-\d{2}-\d{2}: ", "", words)


def is_forgotten(line: PromptLine) -> bool:
    """Nothing of what it said is left."""
    said = undated(words_of(line))
    return FORGOTTEN in said and not re.search(r"\w", said.replace(FORGOTTEN, ""))
