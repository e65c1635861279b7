"""Every change of a memory file, one JSON line each, outside the workspace: what it was, who did it, how to undo it.

A change is kept as a splice (where, what went, what came), so that adding a line to a long file costs a line; the full
prior text stands beside it for files up to 8 000 characters and is otherwise found by going back from the newest text.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.core.clock import Clock, stamp
from assistant.workspace.changes import Splice, splice, unified_diff
from assistant.workspace.journal_lines import UNDOES, Record, Undone, lines_from_end, mark, parse
from assistant.workspace.redaction import redact
from assistant.workspace.safe_files import append_lines, read_bytes, write_atomic
from assistant.workspace.seen import SeenCopies
from assistant.workspace.text_files import decode, exact_text

_FULL_PRIOR = 8_000  # characters


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A change. path: the file, relative to the workspace; before_sha, after_sha: "" where it did not exist.

    prior: the text before, redacted; None in a list where it is not stored in full (Journal.get finds it).
    undoes: the id of the change that this one took back. batch: the id shared by changes made as one, "" for a
    single one. forgotten: something of it was forgotten, so it stays done; any other that cannot be undone was taken
    back already.
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
    forgotten: bool = False


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

    def _record_of(self, made: Change, batch: str) -> Record:
        before, after = made.before, made.after
        change = splice(before.text, after.text)
        record: Record = {
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
        undone = Undone()
        found: list[JournalEntry] = []
        end = self._skip_to(before, undone) if before is not None else None
        marks = [mark(key, value) for key, value in (("path", path), ("actor", actor)) if value is not None]
        for _, line in lines_from_end(self._path, [marks[0], UNDOES] if marks else (), end):
            if limit is not None and len(found) >= limit:
                break
            if all(each in line for each in marks) and (record := parse(line)):
                found.append(_entry(record, undone))
            undone.note_line(line)
        return found

    def _skip_to(self, ident: str, undone: Undone) -> int:
        """Where the line of a change begins; 0 when there is none."""
        own = mark("id", ident)
        for start, line in lines_from_end(self._path, (own, UNDOES)):
            undone.note_line(line)
            if own in line:
                return start
        return 0

    def batch(self, ident: str) -> list[JournalEntry]:
        """The changes of a batch, newest first; [] for an id that is none."""
        undone = Undone()
        found: list[JournalEntry] = []
        own = mark("batch", ident)
        for _, line in lines_from_end(self._path, (own, UNDOES)):
            if own in line and (record := parse(line)):
                found.append(_entry(record, undone))
            undone.note_line(line)
        return found

    def get(self, ident: str) -> JournalEntry | None:
        """One change with its prior text, as far as that is known; None for an id that is not there."""
        undone = Undone()
        own = mark("id", ident)
        for _, line in lines_from_end(self._path, (own, UNDOES)):
            if own in line and (record := parse(line)):
                texts = self.texts(ident)
                prior = record.get("prior") if texts is None else redact(texts[0]).text
                return _entry({**record, "prior": prior}, undone)
            undone.note_line(line)
        return None

    def undo_of(self, ident: str, after: str) -> str:
        """The prior text of a change whose text after is ``after``."""
        return _prior(self._find(ident), after)

    def texts(self, ident: str) -> tuple[str, str] | None:
        """(prior, after) of a change; None when another program's change in between hides them."""
        wanted = self._find(ident)
        if _is_exact(wanted):
            return str(wanted["prior"]), _after(wanted)
        path = wanted["path"]
        copy, seen = self.seen.copy(path), self.seen.of(path)
        after = None if copy is None else exact_text(decode(copy))
        sha256 = seen.sha256 if seen else None
        for record in self._records(mark("path", path)):
            if _was_forgotten(record):  # what was before it cannot be told any more
                if record["id"] == ident:
                    return None
                after, sha256 = None, record["before"]
                continue
            if _is_exact(record):
                after = _after(record)
            elif record["after"] != sha256:
                after = None
            if record["id"] == ident:
                return None if after is None else (_prior(record, after), after)
            after = None if after is None else _prior(record, after)
            sha256 = record["before"]
        return None

    def text_with_sha(self, path: str, sha256: str) -> str | None:
        """The exact text that a file had when its checksum was ``sha256``; None when it is not known."""
        for record in self._records(f'"{sha256}"'.encode()):
            is_it = record["path"] == path and sha256 in (record["before"], record["after"])
            if is_it and (texts := self.texts(record["id"])):
                return texts[1] if record["after"] == sha256 else texts[0]
        return None

    def rewrite(self, change: Callable[[bytes], bytes]) -> None:
        """Replace lines, for forgetting: each as it comes from ``change``, which may also leave it as it is."""
        lines = read_bytes(self._path).split(b"\n")
        changed = [change(line) for line in lines]
        if changed != lines:
            write_atomic(self._path, b"\n".join(changed))

    @property
    def path(self) -> Path:
        """The file with one line a change."""
        return self._path

    def _find(self, ident: str) -> Record:
        return next(record for record in self._records(mark("id", ident)) if record["id"] == ident)

    def _append(self, records: Sequence[Record]) -> None:
        append_lines(self._path, b"".join(json.dumps(record).encode() + b"\n" for record in records))

    def _records(self, *marks: bytes) -> Iterator[Record]:
        """Newest first, of the lines that hold one of the marks."""
        return (record for _, line in lines_from_end(self._path, marks) if (record := parse(line)))


def _entry(record: Record, undone: Undone) -> JournalEntry:
    return JournalEntry(
        id=record["id"],
        time=record.get("time", ""),
        path=record["path"],
        actor=record.get("actor", ""),
        before_sha=record["before"],
        after_sha=record["after"],
        diff=record.get("diff", ""),
        prior=record.get("prior"),
        can_undo=record["id"] not in undone and not _was_forgotten(record),
        summary=record.get("summary", ""),
        undoes=record.get("undoes", ""),
        batch=record.get("batch", ""),
        forgotten=_was_forgotten(record),
    )


def _is_exact(record: Record) -> bool:
    """Whether the stored prior text is the very text: short enough, without secrets, and nothing of it forgotten."""
    return bool(record.get("exact")) and not _was_forgotten(record)


def _was_forgotten(record: Record) -> bool:
    """What was forgotten cannot be brought back, and the rest of that change stands at other places than it did.

    A change that puts «forgotten» in a place of words is like any other as long as its own words are there.
    """
    return bool(record.get("forgotten")) or "start" not in record


def _after(record: Record) -> str:
    prior, start = str(record["prior"]), record["start"]
    return prior[:start] + str(record["added"]) + prior[start + len(record["removed"]) :]


def _prior(record: Record, after: str) -> str:
    return Splice(record["start"], record["removed"], "x" * record["added_chars"]).undo(after)
