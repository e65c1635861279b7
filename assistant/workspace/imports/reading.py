"""Reading what strangers wrote: never follows a link, never reads more than a bound, and names what it left."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assistant.workspace.imports.values import Skipped
from assistant.workspace.text_files import decode

MOST_TEXT = 64_000_000  # bytes of a Markdown file
MOST_LINE = 16_000_000  # bytes of a line of JSON
_MOST_DEPTH = 12  # folders below the chosen one
_HIDDEN = (".", "~$")


def files_below(root: Path, *endings: str) -> Iterator[Path | Skipped]:
    """The ordinary files below a folder whose names end so, by name; hidden ones are left out, links are named."""
    yield from _below(root, root, endings, _MOST_DEPTH)


def read_words(path: Path, where: str) -> str | Skipped:
    """The text of a file in any encoding, without a BOM, lines ending at ``\\n``; or why it cannot be had."""
    if wrong := unusable(path, where):
        return wrong
    try:
        if path.stat().st_size > MOST_TEXT:
            return Skipped("large", where)
        text = decode(path.read_bytes(), path.name)
    except OSError:
        return Skipped("unreadable", where)
    if not text.encoding:
        return Skipped("binary", where)
    return text.text.replace("\r\n", "\n") if text.text.strip() else Skipped("empty", where)


def unusable(path: Path, where: str) -> Skipped | None:
    """Why a path is no ordinary file that can be read; None when it is one. A link is none."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return Skipped("unreadable", where)
    if stat.S_ISLNK(mode):
        return Skipped("link", where)
    return None if stat.S_ISREG(mode) else Skipped("special", where)


def json_lines(path: Path, where: str) -> Iterator[tuple[int, dict[str, Any]] | Skipped]:
    """The objects of a JSONL file with their line numbers; a line that is none is named, the others are had."""
    if wrong := unusable(path, where):
        yield wrong
        return
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(MOST_LINE):
                number += 1
                if len(line) == MOST_LINE and not line.endswith(b"\n"):
                    _skip_line(file)
                    yield Skipped("large", f"{where}:{number}")
                elif line.strip(b" \t\r\n\0\xef\xbb\xbf"):
                    value = load_object(line)
                    yield (number, value) if value is not None else Skipped("json", f"{where}:{number}")
    except OSError:
        yield Skipped("unreadable", where)


def load_object(raw: bytes) -> dict[str, Any] | None:
    """The JSON object that the bytes are, in any encoding; None for anything else."""
    value = load_value(raw)
    return value if isinstance(value, dict) else None


def load_value(raw: bytes) -> Any:
    """Any JSON value; None for what is none (and for null)."""
    text = decode(raw).text
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def named(root: Path, path: Path) -> str:
    """How a file is called in what is said of it: relative to what was chosen."""
    try:
        name = path.relative_to(root).as_posix()
    except ValueError:
        name = path.name
    shown = path.name if name == "." else name
    return shown.encode("utf-8", "replace").decode("utf-8", "replace")


def text_of(value: object) -> str:
    """The text, if it is one."""
    return value if isinstance(value, str) else ""


def _below(root: Path, folder: Path, endings: tuple[str, ...], depth: int) -> Iterator[Path | Skipped]:
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        yield Skipped("unreadable", named(root, folder))
        return
    for entry in entries:
        path = Path(entry.path)
        if entry.name.startswith(_HIDDEN):
            continue
        if entry.is_symlink():
            yield Skipped("link", named(root, path))
        elif entry.is_dir(follow_symlinks=False):
            if depth:
                yield from _below(root, path, endings, depth - 1)
        elif entry.name.lower().endswith(endings):
            yield path if entry.is_file(follow_symlinks=False) else Skipped("special", named(root, path))


def _skip_line(file: Any) -> None:
    while (piece := file.readline(MOST_LINE)) and not piece.endswith(b"\n"):
        pass
