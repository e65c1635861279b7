"""The journal's file read from its end: the newest lines first, and only those in question taken apart.

A journal of 100 000 changes has some 100 MB; what a line holds is looked for in the bytes, at the speed of memory.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from assistant.core.json_text import parse_json
from assistant.workspace.disk import as_error

_log = logging.getLogger(__name__)
_FIRST_CHUNK, _LARGEST_CHUNK = 65_536, 4_194_304
_FIELDS = ("id", "path", "before", "after")
_WORDS = ("time", "actor", "summary", "diff", "undoes", "batch")
_SPLICE = {"start": int, "added_chars": int, "removed": str, "added": str}
_UNDOES = re.compile(rb'"undoes": "([^"\\]+)"')
_OWN_ID = re.compile(rb'\{"id": "([^"\\]+)"')
UNDOES = b'"undoes": "'
Record = dict[str, Any]


class Undone:
    """Which changes were taken back, learned on the way from the newest line to the oldest."""

    def __init__(self) -> None:
        self._ids: set[str] = set()

    def __contains__(self, ident: str) -> bool:
        return ident in self._ids

    def note(self, ident: str, undoes: str) -> None:
        """An undo that was itself undone counts for nothing."""
        if undoes and ident not in self._ids:
            self._ids.add(undoes)

    def note_line(self, line: bytes) -> None:
        """The same from the bytes of a line that nobody wants to see, in a tenth of the time."""
        if UNDOES in line and (found := _UNDOES.search(line)) and (own := _OWN_ID.match(line)):
            self.note(own[1].decode(), found[1].decode())


def mark(key: str, value: str) -> bytes:
    """How a field stands in a line; inside another field's text its quotes would be escaped."""
    return f"{json.dumps(key)}: {json.dumps(value)}".encode()


def parse(line: bytes) -> Record | None:
    """The record of a line; None for one that is cut off or none of ours: damage costs only itself."""
    try:
        record = parse_json(line) if line else None
    except (ValueError, RecursionError):
        _log.debug("a line of the journal is damaged")
        return None
    if not isinstance(record, dict) or not all(isinstance(record.get(name), str) for name in _FIELDS):
        return None
    return _sound(record)


def _sound(record: Record) -> Record:
    """Without fields that a hand made something else of. A change whose splice is damaged cannot be undone."""
    for name in _WORDS:
        if not isinstance(record.get(name, ""), str):
            del record[name]
    if not isinstance(record.get("prior"), str | None):
        record |= {"prior": None, "exact": False}
    if not all(_is(record.get(name), kind) for name, kind in _SPLICE.items()):
        for name in _SPLICE:
            record.pop(name, None)
    return record


def _is(value: object, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool) and not (isinstance(value, int) and value < 0)


def lines_from_end(path: Path, marks: Sequence[bytes] = (), end: int | None = None) -> Iterator[tuple[int, bytes]]:
    """(where it begins, line), newest first; with ``marks`` only lines that hold one of them; end: only before it."""
    for start, block in _blocks_from_end(path, end):
        if marks:
            spans = _spans(block, marks)
            yield from ((start + first, block[first:last]) for first, last in sorted(spans.items(), reverse=True))
            continue
        first = start + len(block) + 1
        for line in reversed(block.split(b"\n")):
            first -= len(line) + 1
            yield first, line


def _spans(block: bytes, marks: Sequence[bytes]) -> dict[int, int]:
    """Where the lines begin and end that hold one of the marks."""
    spans: dict[int, int] = {}
    for wanted in marks:
        at = block.find(wanted)
        while at >= 0:
            end = block.find(b"\n", at)
            end = len(block) if end < 0 else end
            spans[block.rfind(b"\n", 0, at) + 1] = end
            at = block.find(wanted, end)
    return spans


def _blocks_from_end(path: Path, end: int | None) -> Iterator[tuple[int, bytes]]:
    """Whole lines in large pieces, the last piece first; without the line break at a piece's end."""
    try:
        file = path.open("rb")
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise as_error(error, path) from error
    with file:
        position, size = file.seek(0, os.SEEK_END) if end is None else end, _FIRST_CHUNK
        pieces: list[bytes] = []  # the rest of a line whose beginning is not read yet, last part first
        while position:
            start = max(0, position - size)
            file.seek(start)
            head, newline, rest = file.read(position - start).partition(b"\n")
            position, size = start, min(2 * size, _LARGEST_CHUNK)
            if newline:
                yield start + len(head) + 1, b"".join([rest, *reversed(pieces)])
                pieces = []
            pieces.append(head)
        yield 0, b"".join(reversed(pieces))
