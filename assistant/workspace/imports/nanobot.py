"""nanobot: a workspace with ``memory/MEMORY.md``, ``memory/history.jsonl`` (or ``HISTORY.md``), ``sessions/*.jsonl``.

Also ``USER.md`` (about the person), notes ``memory/YYYY-MM-DD.md`` of early releases, and sessions written as one
Markdown file each, which is the form of our own chats. ``SOUL.md`` and its kin are the other assistant's character.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from assistant.workspace.imports import reading
from assistant.workspace.imports.countbot import split_memory
from assistant.workspace.imports.nanobot_sessions import is_chat_text, read_chat_file, read_session
from assistant.workspace.imports.times import day_of, make_day
from assistant.workspace.imports.values import Found, FoundEntry, FoundFacts, FoundNote, Skipped

_STAMP = re.compile(r"\[(\d{4})-(\d{2})-(\d{2})(?:[ T]\d{2}:\d{2}(?::\d{2})?)?\]\s*")
HISTORY = "nanobot history"
"""The note for what happened: found by its day, not in every prompt."""
_BULLET = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+")
_CHARACTER = (
    "soul.md",
    "agents.md",
    "tools.md",
    "identity.md",
    "heartbeat.md",
    "bootstrap.md",
    "skill.md",
    "readme.md",
)
# What the program's own empty files say.
_TEMPLATE = re.compile(
    r"\(.{0,80}(?:over time|goes here|about the user|appear here|ongoing projects|important (?:facts|notes)).{0,80}\)"
    r"|This file (?:stores|is automatically).{0,120}|Information about the user.{0,60}|\*This file is.{0,120}\*",
    re.IGNORECASE,
)


def read_nanobot(path: Path) -> Iterator[Found]:
    """Everything in a workspace folder, or in one of its files."""
    if not path.is_dir():
        yield from _file(path, path.name)
        return
    for each in reading.files_below(path, ".md", ".jsonl"):
        yield from (each,) if isinstance(each, Skipped) else _file(each, reading.named(path, each))


def is_nanobot(path: Path) -> bool:
    """Whether it is such a workspace, or one session."""
    if path.is_dir():
        names = ("memory/history.jsonl", "memory/HISTORY.md", "sessions", "SOUL.md", "workspace/memory/MEMORY.md")
        return any((path / name).exists() for name in names) or _holds_chat(path)
    if path.suffix.lower() == ".md" and not reading.unusable(path, ""):
        text = reading.read_words(path, "")
        return isinstance(text, str) and (path.name == "HISTORY.md" or is_chat_text(text))
    first = next(iter(reading.json_lines(path, "")), None) if path.suffix.lower() == ".jsonl" else None
    return isinstance(first, tuple) and (first[1].get("_type") == "metadata" or "cursor" in first[1])


def _holds_chat(folder: Path) -> bool:
    for path in sorted(folder.glob("*.md"))[:5]:
        text = reading.read_words(path, "")
        if isinstance(text, str) and is_chat_text(text):
            return True
    return False


def _file(path: Path, where: str) -> Iterator[Found]:
    name = path.name.lower()
    if name in _CHARACTER or "/skills/" in f"/{where}":
        yield Skipped("character", where)
    elif name.endswith(".checkpoint.jsonl"):
        yield Skipped("other", where)
    elif name.endswith(".jsonl"):
        yield from read_history(path, where) if name.startswith("history") else read_session(path, where)
    else:
        text = reading.read_words(path, where)
        yield from (text,) if isinstance(text, Skipped) else _markdown(where, text)


def _markdown(where: str, text: str) -> Iterator[Found]:
    name = where.rsplit("/", 1)[-1].removesuffix(".md")
    if is_chat_text(text):
        yield from read_chat_file(name, text, where)
    elif name.casefold() == "memory":
        yield from _facts(text, where)
    elif name.casefold().startswith("history"):
        yield from history_entries(text, where)
    elif name.casefold() == "user":
        yield from (_note(found, "About me") for found in _facts(text, where))
    else:
        yield FoundNote(name, text, where)


def _note(found: Found, name: str) -> Found:
    return FoundNote(name, found.text, found.where) if isinstance(found, FoundFacts) else found


def _facts(text: str, where: str) -> Iterator[Found]:
    lines = text.split("\n")
    kept = [line for line in lines if not _TEMPLATE.fullmatch(line.strip())]
    if len(kept) < len(lines):
        yield Skipped("template", where, len(lines) - len(kept))
    yield from split_memory("\n".join(kept), where)


def read_history(path: Path, where: str) -> Iterator[Found]:
    """``{"cursor": 42, "timestamp": "2026-04-03 00:02", "content": "- one\\n- two"}``, a line each."""
    for line in reading.json_lines(path, where):
        if isinstance(line, Skipped):
            yield line
            continue
        place = f"{where}:{line[0]}"
        words, day = history_record(line[1])
        if not words or day is None:
            yield Skipped("date" if words else "empty" if "content" in line[1] else "form", place)
        else:
            yield FoundEntry(day, "", split_items(words), place, HISTORY)


def history_record(record: dict[str, Any]) -> tuple[str, date | None]:
    """(what it says, its day); the stamp in front of older ones is taken off."""
    words = reading.text_of(record.get("content")).strip()
    match = _STAMP.match(words)
    day = day_of(record.get("timestamp")) or (make_day(*match.groups()) if match else None)
    return (words[match.end() :] if match else words), day


def history_entries(text: str, where: str) -> Iterator[Found]:
    """``[2026-03-01 10:00] A paragraph.``; what stands before the first stamp is a note."""
    before: list[str] = []
    open_entry: tuple[date, int, list[str]] | None = None
    for number, line in enumerate(text.split("\n"), 1):
        match = _STAMP.match(line)
        day = make_day(*match.groups()) if match else None
        if match and day:
            yield from _history_entry(open_entry, where)
            open_entry = (day, number, [line[match.end() :]])
        else:
            (open_entry[2] if open_entry else before).append(line)
    yield from _history_entry(open_entry, where)
    rest = "\n".join(before).strip()
    if rest and not re.fullmatch(r"(?:#[^\n]*\s*)*", rest):
        yield FoundNote("history", rest + "\n", where)


def _history_entry(entry: tuple[date, int, list[str]] | None, where: str) -> Iterator[Found]:
    if entry is None:
        return
    items = split_items("\n".join(entry[2]))
    place = f"{where}:{entry[1]}"
    yield FoundEntry(entry[0], "", items, place, HISTORY) if items else Skipped("empty", place)


def split_items(words: str) -> tuple[str, ...]:
    """A bullet an item; prose is one item a paragraph."""
    lines = [line.strip() for line in words.split("\n")]
    if any(_BULLET.match(line) for line in lines):
        parts = [_BULLET.sub("", line) for line in lines]
    else:
        parts = [" ".join(part.split()) for part in re.split(r"\n\s*\n", words)]
    return tuple(part for part in parts if part)
