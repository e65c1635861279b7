"""Keeping the index file true to the workspace: what changed is noticed by stat and proven by content."""

from __future__ import annotations

import logging
import math
import sqlite3
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.ports import Progress
from assistant.recall.index.database import writing
from assistant.recall.index.files import Look, Mark, look, mark_text
from assistant.recall.index.known_files import FOUND, HIDDEN, OPEN, KnownFiles
from assistant.recall.index.moves import Moves
from assistant.recall.index.sketches import Sketches, sketches_of_units
from assistant.recall.index.sweeping import Sweep
from assistant.recall.index.unit_rows import delete_units, replace_units
from assistant.recall.index.unreadable import note_unreadable
from assistant.recall.units.making import first_part_of, sketches_of
from assistant.recall.words.postings import fold_blocks
from assistant.workspace.chat_head import parse_head
from assistant.workspace.safe_files import read_text

_UNITS_A_COMMIT = 500
_LARGE = 8_000_000
"""Bytes of a file that takes longer than a search may wait; another program's export may have 64 MB."""
_GONE = 100_000
"""Units that went are kept in mind so long; who has not looked for longer than that reads the index anew."""
_log = logging.getLogger(__name__)


@dataclass
class Changes:
    """What a pass over the files did. errors: what is wrong, in words; unreadable: files, and why they are.

    complete: no file was left for a later pass.
    """

    files: int = 0
    added: int = 0
    removed: int = 0
    errors: list[str] = field(default_factory=list)
    unreadable: dict[str, str] = field(default_factory=dict)
    complete: bool = True


@dataclass(frozen=True, slots=True)
class _Parsed:
    path: str
    mark: Mark
    sha256: str
    problem: str
    units: Sketches | None  # None: as they are, the file was only touched
    private: int = OPEN


@dataclass(frozen=True, slots=True)
class _Work:
    """known: what is indexed; seen: all files; changed: what to read, in order; gone: what is not there any more.

    again: those of them that only follow the first part of a chat.
    """

    known: Mapping[str, tuple[Mark, str]]
    seen: Look
    changed: Sequence[str]
    again: Collection[str]

    @property
    def marks(self) -> Mapping[str, Mark]:
        return self.seen.marks

    @property
    def gone(self) -> list[str]:
        return [path for path in self.known if path not in self.marks and not self.seen.hides(path)]


def sync_files(
    connection: sqlite3.Connection,
    root: Path,
    cancel: CancelToken,
    progress: Progress,
    seconds: float = math.inf,
    *,
    private: bool = False,
    skip: Collection[str] = (),
    table: KnownFiles | None = None,
    sweep: Sweep | None = None,
) -> Changes:
    """Bring units and keywords up to date; commits after some 500 units, so that it may be stopped at any time.

    seconds: give up after that long, with memory files done before chats and new chats before old ones, and what is
    large is left for later.
    skip: files that a later pass takes in. private: index what was said in private chats, too; another wish than the
    last time is seen by itself. table: what was read of the connection's files the last time. sweep: of this pass,
    where it has begun already.
    Unchanged units keep their rows. Vectors of texts that no unit holds any more go last, so that a file renamed or a
    text moved finds its vectors again.
    """
    changes = Changes()
    if not root.is_dir():  # an unplugged disk must not cost the index
        changes.errors.append(f"{root} is not there; the index stays as it was.")
        return changes
    seen, known = look(root, cancel), (table or KnownFiles()).read(connection, private)
    if seen.marks == known.marks and not seen.closed and () not in seen.marks.values():
        return changes
    work = _work(seen, known.files, skip)
    moves, sweep = Moves(work.known, work.gone), sweep or Sweep()
    changes.errors += [f"{folder} cannot be read: {why}" for folder, why in work.seen.closed.items()]
    deadline = time.monotonic() + seconds
    waiting, units = list[_Parsed](), 0
    for done, path in enumerate(work.changed):
        cancel.check()
        if time.monotonic() > deadline:
            changes.complete = False
            moves.wait(work.changed[done:])
            break
        if seconds < math.inf and work.marks[path][:1] > (_LARGE,):
            changes.complete = False
            moves.wait([path])
            continue
        before = None if path in work.again else work.known.get(path)
        if parsed := _parse(root, path, work.marks[path], before, changes, private):
            waiting.append(parsed)
            units += len(parsed.units.lines) if parsed.units else 0
        if units >= _UNITS_A_COMMIT:
            _apply(connection, waiting, changes, moves, sweep)
            waiting, units = [], 0
            progress(done + 1, len(work.changed), "keywords")
    _apply(connection, waiting, changes, moves, sweep)
    note_unreadable(connection, changes.unreadable)
    _remove(connection, moves.left, changes, sweep)
    if changes.complete:  # else a later pass may find the same text under another name
        sweep.done(connection)
    if changes.removed:
        connection.execute("DELETE FROM gone WHERE seq <= (SELECT max(seq) FROM gone) - ?", [_GONE])
    if work.changed:
        progress(len(work.changed), len(work.changed), "keywords")
    return changes


def _work(seen: Look, known: Mapping[str, tuple[Mark, str]], skip: Collection[str]) -> _Work:
    """Memory files come before chats, new chats before old ones; the parts of a chat are read with its first one."""
    marks = seen.marks
    changed = [path for path, mark in marks.items() if not mark or path not in known or known[path][0] != mark]
    heads = {path for path in changed if path.startswith("chats/")}
    if heads:
        changed += [path for path in marks if path not in heads and first_part_of(path) in heads]
    changed = [path for path in changed if path not in skip]
    changed.sort(key=lambda path: (not path.startswith("chats/"), path), reverse=True)
    return _Work(known, seen, changed, {path for path in changed if first_part_of(path) in heads - {path}})


def drop_units(connection: sqlite3.Connection, units: Iterable[str], sweep: Sweep) -> None:
    """Delete units by their ids, before a pass over their files finds them gone."""
    with writing(connection):
        for unit in units:
            rows = [row for (row,) in connection.execute("SELECT id FROM units WHERE uid = ?", [unit])]
            sweep.leave(connection, rows)
            delete_units(connection, rows)


def purge(connection: sqlite3.Connection) -> bool:
    """Leave no trace of deleted text: empty the write-ahead log.

    False where it could not be emptied since another connection goes on reading it.
    """
    (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy


def _parse(
    root: Path, path: str, seen: Mark, known: tuple[Mark, str] | None, changes: Changes, private: bool
) -> _Parsed | None:
    """The file's units; None when there is nothing to write (its content is as indexed, or it is gone)."""
    try:
        file, first = read_text(root / path), first_part_of(path)
        opening = read_text(root / first).text if first != path else ""
    except (OSError, AssistantError) as error:
        changes.errors.append(f"{path}: {error}")
        changes.unreadable[path] = str(error)
        return None
    if not file.sha256:  # gone since it was seen
        return None
    if known == (seen, file.sha256):
        return None
    if known and known[1] == file.sha256:
        return _Parsed(path, seen, file.sha256, "", None)
    mark = OPEN
    try:
        if path.startswith("chats/") and parse_head(opening or file.text).private:
            mark = FOUND if private else HIDDEN
        units, problem = sketches_of(path, file.text, opening, private=private)
    except Exception as error:  # noqa: BLE001 - one file that no parser takes must not hide all the others
        _log.exception("units of %s", path)
        units, problem = sketches_of_units(()), f"not understood: {error}"
    problem = problem or str(file.problem or "")
    return _Parsed(path, seen, file.sha256, problem, units, mark)


def _apply(
    connection: sqlite3.Connection, parsed: Sequence[_Parsed], changes: Changes, moves: Moves, sweep: Sweep
) -> None:
    if not parsed:
        return
    with writing(connection):
        for one in parsed:
            with moves.followed(connection, one.path, one.sha256):
                _apply_one(connection, one, changes, sweep)
        fold_blocks(connection)


def _apply_one(connection: sqlite3.Connection, parsed: _Parsed, changes: Changes, sweep: Sweep) -> None:
    if parsed.units is None:
        connection.execute("UPDATE files SET stat = ? WHERE path = ?", [mark_text(parsed.mark), parsed.path])
        return
    connection.execute(
        "INSERT INTO files(path, stat, sha256, problem, private) VALUES (?, ?, ?, ?, ?) ON CONFLICT(path) DO UPDATE "
        "SET stat = excluded.stat, sha256 = excluded.sha256, problem = excluded.problem, private = excluded.private",
        [parsed.path, mark_text(parsed.mark), parsed.sha256, parsed.problem, parsed.private],
    )
    (file,) = connection.execute("SELECT id FROM files WHERE path = ?", [parsed.path]).fetchone()
    changes.files += 1
    added, left, failed = replace_units(connection, file, parsed.units)
    changes.added += added
    _delete(connection, left, changes, sweep)
    if failed:
        connection.execute("UPDATE files SET problem = ? WHERE id = ?", [f"not understood: {failed}", file])


def _remove(connection: sqlite3.Connection, paths: Sequence[str], changes: Changes, sweep: Sweep) -> None:
    for path in paths:
        with writing(connection):
            sql = "SELECT unit FROM places JOIN files ON files.id = places.file WHERE files.path = ?"
            rows = [row for (row,) in connection.execute(sql, [path])]
            _delete(connection, rows, changes, sweep)
            connection.execute("DELETE FROM files WHERE path = ?", [path])
        changes.files += 1


def _delete(connection: sqlite3.Connection, rows: Sequence[int], changes: Changes, sweep: Sweep) -> None:
    sweep.leave(connection, rows)
    delete_units(connection, rows)
    changes.removed += len(rows)
