"""Every change of a memory file, one JSON line each, outside the workspace: what it was, who did it, how to undo it.

A change is kept as a splice (where, what went, what came), so that adding a line to a long file costs a line; the full
prior text stands beside it for files up to 8 000 characters and is otherwise found by going back from the newest text.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assistant.core.clock import Clock, stamp
from assistant.core.folders import make_private
from assistant.workspace.changes import Splice, splice, unified_diff
from assistant.workspace.disk import ends_with_newline
from assistant.workspace.redaction import redact
from assistant.workspace.safe_files import append_durably, as_error
from assistant.workspace.seen import SeenCopies
from assistant.workspace.text_files import decode, exact_text

_log = logging.getLogger(__name__)
_FULL_PRIOR = 8_000  # characters
_CHUNK = 65_536
_FIELDS = ("id", "path", "before", "after")
_Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A change. path: the file, relative to the workspace; before_sha, after_sha: "" where it did not exist.

    prior: the text before, redacted; None in a list where it is not stored in full (Journal.get finds it).
    undoes: the id of the change that this one took back. batch: the id shared by changes made as one, "" for a
    single one.
    """

    id: str
    time: str
    path: str
    actor: str
    before_sha: str
    after_sha: str
    diff: str
    prior: str | None
    can_undo: bool
    summary: str
    undoes: str = ""
    batch: str = ""


@dataclass(frozen=True, slots=True)
class Version:
    """A file's text on one side of a change, exact (see text_files.exact_text), and its checksum."""

    text: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Change:
    """What record writes down."""

    file: str
    actor: str
    before: Version
    after: Version
    summary: str
    undoes: str = ""


class Journal:
    """Append-only. The caller holds the lock of the memory files while it records."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._path = folder / "journal.jsonl"
        self._clock = clock
        self.seen = SeenCopies(folder / "seen")

    def record(self, file: str, actor: str, before: Version, after: Version, summary: str, undoes: str = "") -> str:
        """Write down a change, durably; returns its id. Raises AssistantError when it cannot be written."""
        return self.record_all([Change(file, actor, before, after, summary, undoes)])[0]

    def record_all(self, changes: Sequence[Change], batch: str = "") -> list[str]:
        """Write down changes in one piece, durably; returns their ids. batch: see new_id."""
        records = [self._record_of(change, batch) for change in changes]
        self._append(records)
        return [str(record["id"]) for record in records]

    def new_id(self, prefix: str = "") -> str:
        """An id that no other has, beginning with the time."""
        return f"{prefix}{self._clock():%Y%m%d%H%M%S}-{secrets.token_hex(4)}"

    def _record_of(self, made: Change, batch: str) -> _Record:
        before, after = made.before, made.after
        change = splice(before.text, after.text)
        record: _Record = {
            "id": self.new_id(),
            "time": stamp(self._clock),
            "path": made.file,
            "actor": made.actor,
            "before": before.sha256,
            "after": after.sha256,
            "summary": redact(made.summary).text,
            "diff": redact(unified_diff(made.file, before.text, after.text)).text,
            "start": change.start,
            "removed": redact(change.removed).text,
            "added": redact(change.added).text,
            "added_chars": len(change.added),
        }
        if len(before.text) <= _FULL_PRIOR:
            prior = redact(before.text)
            record["prior"] = prior.text
            untouched = record["added"] == change.added and record["removed"] == change.removed
            record["exact"] = prior.count == 0 and untouched
        if batch:
            record["batch"] = batch
        if made.undoes:
            record["undoes"] = made.undoes
        return record

    def entries(
        self, limit: int | None = None, path: str | None = None, actor: str | None = None, before: str | None = None
    ) -> list[JournalEntry]:
        """Changes, newest first, of one file or of all, by one actor or by all; before: only those older than that id.

        A batch counts as so many entries as it has files. Lines that do not fit are passed over unparsed.
        """
        undone: set[str] = set()
        found: list[JournalEntry] = []
        marks = [_mark("path", path)] if path is not None else []
        marks += [_mark("actor", actor)] if actor is not None else []
        for line in _lines_from_end(self._path):
            if before is not None:
                if _mark("id", before) in line:
                    before = None
                _note_undone_line(line, undone)
            elif all(mark in line for mark in marks) and (record := _parse(line)):
                if path in (None, record["path"]) and actor in (None, record.get("actor")):
                    found.append(_entry(record, undone))
                _note_undone(record, undone)
            else:
                _note_undone_line(line, undone)
            if limit is not None and len(found) >= limit:
                break
        return found[:limit]

    def batch(self, ident: str) -> list[JournalEntry]:
        """The changes of a batch, newest first; [] for an id that is none."""
        undone: set[str] = set()
        found: list[JournalEntry] = []
        mark = _mark("batch", ident)
        for line in _lines_from_end(self._path):
            if mark in line and (record := _parse(line)):
                found.append(_entry(record, undone))
                _note_undone(record, undone)
            elif found:
                break  # they were written in one piece
            else:
                _note_undone_line(line, undone)
        return found

    def get(self, ident: str) -> JournalEntry | None:
        """One change with its prior text, as far as that is known; None for an id that is not there."""
        undone: set[str] = set()
        for record in self._records(like=ident):
            if record["id"] == ident:
                texts = None if record.get("exact") else self.texts(ident)
                stored = record.get("prior")
                return _entry({**record, "prior": stored if texts is None else redact(texts[0]).text}, undone)
            _note_undone(record, undone)
        return None

    def undo_of(self, ident: str, after: str) -> str:
        """The prior text of a change whose text after is ``after``."""
        record = self._find(ident)
        return Splice(record["start"], record["removed"], "x" * record["added_chars"]).undo(after)

    def local_change(self, ident: str) -> tuple[str, str]:
        """(removed, added) of a change."""
        record = self._find(ident)
        return record["removed"], record["added"]

    def texts(self, ident: str) -> tuple[str, str] | None:
        """(prior, after) of a change; None when another program's change in between hides them."""
        path = self._find(ident)["path"]
        copy = self.seen.copy(path)
        after = None if copy is None else exact_text(decode(copy))
        expected = self.seen.of(path)
        sha256 = expected.sha256 if expected else None
        for record in self._records():
            if record["path"] != path:
                continue
            if record.get("exact"):
                prior = str(record["prior"])
                end = record["start"] + len(record["removed"])
                after = prior[: record["start"]] + record["added"] + prior[end:]
            elif after is None or record["after"] != sha256:
                after = None
            if record["id"] == ident:
                return None if after is None else (_prior(record, after), after)
            after = None if after is None else _prior(record, after)
            sha256 = record["before"]
        return None

    def text_with_sha(self, path: str, sha256: str) -> str | None:
        """The exact text that a file had when its checksum was ``sha256``; None when it is not known."""
        for entry in self.entries(path=path):
            if sha256 in (entry.before_sha, entry.after_sha) and (texts := self.texts(entry.id)):
                return texts[1] if entry.after_sha == sha256 else texts[0]
        return None

    def _find(self, ident: str) -> _Record:
        return next(record for record in self._records(like=ident) if record["id"] == ident)

    def _append(self, records: Sequence[_Record]) -> None:
        try:
            make_private(self._path.parent)
            torn = not ends_with_newline(self._path)
        except OSError as error:
            raise as_error(error, self._path) from error
        # A line that a crash cut off stays a line of its own.
        lines = b"".join(json.dumps(record).encode() + b"\n" for record in records)
        append_durably(self._path, (b"\n" if torn else b"") + lines)

    def _records(self, like: str | None = None) -> Iterator[_Record]:
        """Newest first; with ``like`` only lines that hold that id, or that undo something."""
        wanted = None if like is None else like.encode()
        for line in _lines_from_end(self._path):
            if not line or (wanted is not None and wanted not in line and b'"undoes"' not in line):
                continue
            if record := _parse(line):
                yield record


def _parse(line: bytes) -> _Record | None:
    """The record of a line; None for one that is cut off or none of ours: damage costs only itself."""
    try:
        record = json.loads(line) if line else None
    except ValueError:
        _log.debug("a line of the journal is cut off")
        return None
    if not isinstance(record, dict) or not all(isinstance(record.get(name), str) for name in _FIELDS):
        return None
    return record


def _mark(key: str, value: str) -> bytes:
    """How a field stands in a line; inside another field's text its quotes would be escaped."""
    return f"{json.dumps(key)}: {json.dumps(value)}".encode()


def _entry(record: _Record, undone: set[str]) -> JournalEntry:
    return JournalEntry(
        id=record["id"],
        time=record.get("time", ""),
        path=record["path"],
        actor=record.get("actor", ""),
        before_sha=record["before"],
        after_sha=record["after"],
        diff=record.get("diff", ""),
        prior=record.get("prior"),
        can_undo=record["id"] not in undone and "start" in record,
        summary=record.get("summary", ""),
        undoes=record.get("undoes", ""),
        batch=record.get("batch", ""),
    )


def _note_undone(record: _Record, undone: set[str]) -> None:
    """An undo that was itself undone counts for nothing."""
    if (earlier := record.get("undoes")) and record["id"] not in undone:
        undone.add(earlier)


def _note_undone_line(line: bytes, undone: set[str]) -> None:
    if b'"undoes": ' in line and (record := _parse(line)):
        _note_undone(record, undone)


def _prior(record: _Record, after: str) -> str:
    return Splice(record["start"], record["removed"], "x" * record["added_chars"]).undo(after)


def _lines_from_end(path: Path) -> Iterator[bytes]:
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    except OSError as error:
        raise as_error(error, path) from error
    with file:
        position = file.seek(0, os.SEEK_END)
        pieces: list[bytes] = []
        while position:
            start = max(0, position - _CHUNK)
            file.seek(start)
            lines = file.read(position - start).split(b"\n")
            position = start
            if len(lines) == 1:
                pieces.append(lines[0])
                continue
            yield b"".join([lines[-1], *reversed(pieces)])
            yield from reversed(lines[1:-1])
            pieces = [lines[0]]
        yield b"".join(reversed(pieces))
