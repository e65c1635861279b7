"""What a parser finds in another assistant's files; the same few values whatever the system."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class FoundEntry:
    """Dated things to remember. source: the word it had there, "" for none.

    shelf: where they lay there: "" in memory, "archive", or the name of a note that is a log of what happened.
    """

    day: date
    source: str
    items: tuple[str, ...]
    where: str
    shelf: str = ""


@dataclass(frozen=True, slots=True)
class FoundFacts:
    """Undated Markdown that the other assistant always had in mind."""

    text: str
    where: str


@dataclass(frozen=True, slots=True)
class FoundNote:
    """A topic note. name: without ``.md``, as it was there."""

    name: str
    text: str
    where: str


@dataclass(frozen=True, slots=True)
class FoundLog:
    """What was written on one day, for people."""

    day: date
    text: str
    where: str


@dataclass(frozen=True, slots=True)
class FoundTurn:
    """A message and the reply to it. at: local ISO; after: index of the turn it follows, None for a first message."""

    at: str
    user: str
    reply: str | None
    after: int | None


@dataclass(frozen=True, slots=True)
class FoundChat:
    """A conversation with all its branches, the branch that was shown last.

    key: names it in its system, for ever, so that a second import knows it; created: local ISO; partner: who answered;
    text: the file itself where it is in our own form already (then ``turns`` is what it says).
    """

    key: str
    title: str
    created: str
    turns: tuple[FoundTurn, ...]
    where: str
    partner: str = "Assistant"
    text: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that is not taken. reason: one of REASONS; count: how many there."""

    reason: str
    where: str
    count: int = 1


Found = FoundEntry | FoundFacts | FoundNote | FoundLog | FoundChat | Skipped

REASONS = {
    "link": "a link, which is not followed",
    "special": "no ordinary file",
    "unreadable": "cannot be read",
    "large": "larger than Keepsake reads at once",
    "binary": "no text in a known encoding",
    "json": "no valid JSON, or cut off",
    "form": "not of the expected form",
    "empty": "holds nothing",
    "date": "a day that does not exist",
    "name": "a name that no note can have",
    "template": "words that came with the other program",
    "character": "the other assistant's own character",
    "tools": "steps of tools",
    "system": "instructions of the system",
    "hidden": "hidden messages",
    "thoughts": "thoughts of the model",
    "profile": "custom instructions, repeated in each chat",
    "packed": "packed so tightly that it may be a trap",
    "other": "another file, not memory",
}
"""Why something is skipped -> in words."""
SYSTEMS = {
    "countbot": "CountBot",
    "nanobot": "nanobot",
    "openmausbot": "OpenMausBot",
    "atoms": "JSON atoms",
    "chatgpt": "ChatGPT",
}
"""The systems an import knows -> their names."""
AUTO = "auto"
"""Stands for the system that the files themselves tell."""
