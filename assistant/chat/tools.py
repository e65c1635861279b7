"""The assistant's tools: their names, what a model is told of them, and the check of what it gives them.

Descriptions are short and exact: small models read them, and every chat of a model that can call tools pays for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assistant.core.values import ToolSpec

_DAYS = "a date like 2026-03-14, or words like yesterday, last month"


def _text(description: str) -> dict[str, str]:
    return {"type": "string", "description": description}


def _object(required: tuple[str, ...], **properties: Mapping[str, str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


WRITE = ToolSpec(
    "memory_write",
    "Remember one fact for later chats. Call it when the person asks you to remember something, or tells you a lasting "
    "fact, plan or wish of theirs.",
    _object(
        ("text",),
        text=_text("The fact as one short sentence, in the person's language, with its names, numbers and dates."),
        topic=_text("Only to put it into a note of its own: the note's name, like recipes."),
        until=_text(f"Only if it ends: the last day it holds, {_DAYS}."),
    ),
)
SEARCH = ToolSpec(
    "memory_search",
    "Search what is remembered about the person: their people, plans, likes, dates, numbers. Call it before you answer "
    "a question about the person's own life that the notes above do not answer.",
    _object(
        ("query",),
        query=_text("A few words that the note may hold."),
        since=_text(f"Only to look from a day on: {_DAYS}."),
        until=_text("Only to look up to a day."),
    ),
)
READ = ToolSpec(
    "memory_read",
    "Read more of a memory file that a search named.",
    _object(
        ("file",),
        file=_text("The file, like MEMORY.md or memory/recipes.md."),
        line={"type": "integer", "description": "Only the lines around this one."},
        section=_text("Only the part below this heading."),
    ),
)
CHATS = ToolSpec(
    "chats_search",
    "Search earlier chats. Call it when the person asks what was said, advised or decided before.",
    _object(
        ("query",),
        query=_text("A few words that were said."),
        since=_text(f"Only to look from a day on: {_DAYS}."),
        until=_text("Only to look up to a day."),
    ),
)
ALL = (WRITE, SEARCH, READ, CHATS)
SEARCHES = (SEARCH.name, CHATS.name)
_BY_NAME = {spec.name: spec for spec in ALL}
LONGEST = 2_000
"""Characters of one argument: more is a document, no fact and no query."""


@dataclass(frozen=True, slots=True)
class BadCall:
    """Why a call cannot be carried out, in words for the model."""

    why: str


def offered(*, writes: bool) -> tuple[ToolSpec, ...]:
    """The tools of a chat. writes: it may put something into memory."""
    return ALL if writes else tuple(spec for spec in ALL if spec is not WRITE)


def checked(name: str, arguments: Mapping[str, Any]) -> dict[str, str | int] | BadCall:
    """The arguments as the tool takes them; what is empty is left out, a number that was given as a text is one."""
    spec = _BY_NAME.get(name)
    if spec is None:
        return BadCall(f"There is no tool {name[:60]!r}. There are: {', '.join(_BY_NAME)}.")
    known: Mapping[str, Mapping[str, str]] = spec.parameters["properties"]
    if extra := [key for key in arguments if key not in known]:
        return BadCall(f"{name} has no argument {str(extra[0])[:60]!r}. It has: {', '.join(known)}.")
    taken: dict[str, str | int] = {}
    for key, value in arguments.items():
        one = _value(value, known[key]["type"])
        if one is None:
            return BadCall(f"The argument {key} of {name} must be {_KINDS[known[key]['type']]}.")
        if one != "":
            taken[key] = one
    missing = [key for key in spec.parameters["required"] if key not in taken and not _may_be_empty(key, taken)]
    return BadCall(f"{name} needs {', '.join(missing)}.") if missing else taken


_KINDS = {"string": f"a text of at most {LONGEST} characters", "integer": "a whole number"}


def _value(value: object, kind: str) -> str | int | None:
    """None for what does not fit; "" for what is as good as not given."""
    if value is None:
        return ""
    if kind == "integer":
        text = str(value).strip()
        return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else ("" if not text else None)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value).strip()
    return text if len(text) <= LONGEST else None


def _may_be_empty(key: str, taken: Mapping[str, object]) -> bool:
    """All of a time may be asked for, without words."""
    return key == "query" and ("since" in taken or "until" in taken)
