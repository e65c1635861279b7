"""JSON atoms: one memory an object, ``id, timestamp, type, content, source, tags, importance_score``.

One a file in dated folders, or many in an array, in lines, or below ``memories``.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from assistant.workspace.imports import reading
from assistant.workspace.imports.json_stream import CutOff, TooLarge, json_objects
from assistant.workspace.imports.times import day_in, day_of
from assistant.workspace.imports.values import Found, FoundEntry, FoundNote, Skipped

_LISTS = ("memories", "atoms", "items", "entries", "data")
_LONGEST = 2_000  # characters; a longer one is a note, not a line
_SHOWN_TAGS = 12


def read_atoms(path: Path) -> Iterator[Found]:
    """The atoms of a file or of all ``.json`` and ``.jsonl`` files below a folder."""
    root = path if path.is_dir() else path.parent
    for each in reading.files_below(path, ".json", ".jsonl") if path.is_dir() else (path,):
        if isinstance(each, Skipped):
            yield each
        else:
            yield from _file(each, reading.named(root, each), _fallback(root, each))


def is_atoms(path: Path) -> bool:
    """Whether the first JSON file there holds an atom."""
    for each in reading.files_below(path, ".json", ".jsonl") if path.is_dir() else (path,):
        if isinstance(each, Path):
            found = next((one for one in _file(each, "", None) if not isinstance(one, Skipped)), None)
            return found is not None
    return False


def atom_words(atom: dict[str, Any]) -> str:
    """What an atom says, with its tags behind it as ``#tag``; "" for what is no atom."""
    content = atom_content(atom)
    return " ".join([content, *atom_tags(atom)]) if content else ""


def atom_content(atom: dict[str, Any]) -> str:
    """Its own words; "" for what is no atom."""
    content = atom.get("content")
    if isinstance(content, dict):
        content = content.get("text")
    if not isinstance(content, str) or not content.strip() or "mapping" in atom or "role" in atom:
        return ""
    return content.strip()


def atom_tags(atom: dict[str, Any]) -> list[str]:
    """As ``#tag``."""
    tags = atom.get("tags")
    words = [tag.strip().lstrip("#") for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    return [f"#{'-'.join(tag.split())}" for tag in words[:_SHOWN_TAGS] if tag]


def atom_day(atom: dict[str, Any]) -> date | None:
    """Its local day."""
    names = ("timestamp", "created_at", "created", "date", "time")
    return next((day for name in names if (day := day_of(atom.get(name)))), None)


def _fallback(root: Path, file: Path) -> date | None:
    """The day of an atom without a time: of its folders, else of the file."""
    if day := day_in(reading.named(root, file)) or day_in(root.name):
        return day
    try:
        return day_of(file.stat().st_mtime)
    except OSError:
        return None


def _file(path: Path, where: str, day: date | None) -> Iterator[Found]:
    if path.name.lower().endswith(".jsonl"):
        for line in reading.json_lines(path, where):
            if isinstance(line, Skipped):
                yield line
            else:
                yield from _values(line[1], f"{where}:{line[0]}", day)
        return
    if wrong := reading.unusable(path, where):
        yield wrong
        return
    number = 0
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(json_objects(file), 1):
                yield from _object(raw, where if number == 1 else f"{where} #{number}", day)
    except OSError:
        yield Skipped("unreadable", where)
    if not number:
        yield Skipped("json", where)


def _object(raw: bytes | TooLarge | CutOff, where: str, day: date | None) -> Iterator[Found]:
    if isinstance(raw, TooLarge):
        yield Skipped("large", where)
        return
    value = None if isinstance(raw, CutOff) else reading.load_object(raw)
    if value is None:
        yield Skipped("json", where)
    else:
        yield from _values(value, where, day)


def _values(value: dict[str, Any], where: str, day: date | None) -> Iterator[Found]:
    """An atom, or the atoms of an object that only holds a list of them."""
    listed = next((value[name] for name in _LISTS if isinstance(value.get(name), list)), None)
    if listed is None or atom_words(value):
        yield _atom(value, where, day)
        return
    for number, each in enumerate(listed, 1):
        place = f"{where} #{number}"
        yield _atom(each, place, day) if isinstance(each, dict) else Skipped("form", place)


def _atom(atom: dict[str, Any], where: str, fallback: date | None) -> Found:
    words, day = atom_words(atom), atom_day(atom) or fallback
    if not words:
        return Skipped("empty" if "content" in atom else "form", where)
    if day is None:
        return Skipped("date", where)
    if len(words) > _LONGEST:
        name = reading.text_of(atom.get("id"))[:40] or where.rsplit("/", 1)[-1].removesuffix(".json")
        return FoundNote(f"atom {day.isoformat()} {name}", words + "\n", where)
    return FoundEntry(day, reading.text_of(atom.get("source")), (words,), where)
