"""A ChatGPT export: ``conversations.json`` (or ``conversations-000.json`` …), in a folder or in the archive as it came.

Each conversation holds ``mapping``: nodes by id, each with a message, a parent and children; editing and regenerating
make siblings. ``current_node`` is the leaf that was shown last. Times are Unix seconds.
"""

from __future__ import annotations

import hashlib
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from assistant.workspace.imports import reading
from assistant.workspace.imports.chatgpt_tree import Tree
from assistant.workspace.imports.json_stream import CutOff, TooLarge, json_objects
from assistant.workspace.imports.times import local_iso
from assistant.workspace.imports.values import Found, FoundChat, Skipped

_NAME = re.compile(r"(?:.*/)?conversations(?:[-_]\d{1,4})?\.json", re.IGNORECASE)
_MOST_PACKED = 500  # times; text is packed some ten times
_SMALL = 10_000_000  # bytes that no trap fits into
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


def read_chatgpt(path: Path) -> Iterator[Found]:
    """Everything an export holds. path: the archive, its folder, or the JSON file."""
    if path.is_dir():
        yield from _folder(path)
    elif wrong := reading.unusable(path, path.name):
        yield wrong
    elif zipfile.is_zipfile(path):
        yield from _archive(path)
    else:
        yield from _file(path, path.name)


def is_chatgpt(path: Path) -> bool:
    """Whether it looks like an export."""
    if path.is_dir():
        return any(_NAME.fullmatch(name.name) for name in path.iterdir())
    if not path.is_file():
        return False
    if zipfile.is_zipfile(path):
        try:
            with zipfile.ZipFile(path) as archive:
                return any(_NAME.fullmatch(name) for name in archive.namelist())
        except (OSError, *_BROKEN):
            return False
    return bool(_NAME.fullmatch(path.name)) or (path.suffix == ".json" and b'"mapping"' in _start(path))


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(65_536)


def _folder(folder: Path) -> Iterator[Found]:
    for each in reading.files_below(folder, ".json"):
        if isinstance(each, Skipped):
            yield each
        elif _NAME.fullmatch(each.name):
            yield from _file(each, reading.named(folder, each))
        else:
            yield Skipped("other", reading.named(folder, each))


def _file(path: Path, where: str) -> Iterator[Found]:
    if wrong := reading.unusable(path, where):
        yield wrong
        return
    try:
        when = local_iso(path.stat().st_mtime)
        with path.open("rb") as file:
            yield from _conversations(file, where, when)
    except OSError:
        yield Skipped("unreadable", where)


def _archive(path: Path) -> Iterator[Found]:
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                yield from _member(archive, member)
    except (OSError, *_BROKEN):
        yield Skipped("unreadable", path.name)


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[Found]:
    """Nothing is unpacked onto the disk, so a member's name leads nowhere."""
    name = member.filename
    if not _NAME.fullmatch(name):
        return
    if member.file_size > _SMALL and member.file_size > _MOST_PACKED * max(1, member.compress_size):
        yield Skipped("packed", name)
        return
    try:
        with archive.open(member) as file:
            yield from _conversations(file, name, _packed_on(member))  # type: ignore[arg-type]  # read only
    except (OSError, *_BROKEN):
        yield Skipped("unreadable", name)


def _packed_on(member: zipfile.ZipInfo) -> str:
    try:
        return local_iso(datetime(*member.date_time).isoformat())
    except ValueError:
        return ""


def _conversations(file: BinaryIO, where: str, when: str) -> Iterator[Found]:
    number = 0
    for number, raw in enumerate(json_objects(file), 1):
        place = f"{where} #{number}"
        if isinstance(raw, TooLarge):
            yield Skipped("large", place)
            continue
        value = None if isinstance(raw, CutOff) else reading.load_object(raw)
        if value is None:
            yield Skipped("json", place)
        elif isinstance(value.get("conversations"), list):
            for inner, each in enumerate(value["conversations"], 1):
                yield from _conversation(each, f"{place}.{inner}", when)
        else:
            yield from _conversation(value, place, when)
    if not number:
        yield Skipped("json", where)


def _conversation(value: Any, where: str, when: str) -> Iterator[Found]:
    mapping = value.get("mapping") if isinstance(value, dict) else None
    if not isinstance(mapping, dict):
        yield Skipped("form", where)
        return
    created = local_iso(value.get("create_time")) or local_iso(value.get("update_time")) or when
    tree = Tree(mapping, reading.text_of(value.get("current_node")), created)
    turns = tuple(tree.turns())
    for reason, count in tree.skipped.items():
        yield Skipped(reason, where, count)
    if not turns:
        yield Skipped("empty", where)
        return
    created = created or next((turn.at for turn in turns if turn.at), "")
    if not created:
        yield Skipped("date", where)
        return
    turns = tuple(turn if turn.at else replace(turn, at=created) for turn in turns)
    yield FoundChat(
        key=_key(value, turns[0].at + turns[0].user),
        title=reading.text_of(value.get("title")),
        created=created,
        turns=turns,
        where=where,
        partner="ChatGPT",
    )


def _key(value: dict[str, Any], first: str) -> str:
    name = reading.text_of(value.get("conversation_id")) or reading.text_of(value.get("id"))
    return name or hashlib.sha256(first.encode("utf-8", "surrogatepass")).hexdigest()[:16]
