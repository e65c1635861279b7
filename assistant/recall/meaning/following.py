"""Snapshots made from the index file: read whole once, then kept up with what came and what went."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from assistant.recall.index.database import birth, reading
from assistant.recall.meaning.codes import Codes
from assistant.recall.meaning.gathering import Gathering, Keys, without_units
from assistant.recall.meaning.questions import Questions, edition, load_questions
from assistant.recall.meaning.snapshot import GROUPS, UNIT_ARRAYS, Centres, Marks, Snapshot, Windows
from assistant.recall.meaning.vectors import VectorReader
from assistant.recall.words.text import LANGUAGES

_ROWS = 8_192
"""Read at once: 12 MB of float32, and Python's objects for as many rows."""
_SAMPLE = 8_192
"""Vectors from which the centres that the codes are made with are taken."""
_FEW_CHANGES = 2_000
"""Vectors that may come before all is read anew, however small the index was."""
_MOST_LOST = 0.02
"""Of the vectors may have gone: they still count in the centres, so that answers drift from those of a fresh start."""
_FLAGS = "struck + 2 * (kind = 'archive') + 4 * renews + 8 * (lang = 'zh') + 16 * (lang = 'xx')"
_UNITS = f"SELECT id, day, until, number, {_FLAGS}, chat, hash FROM units WHERE id > ? ORDER BY id"


def followed(connection: sqlite3.Connection, model: int, dimensions: int, before: Snapshot) -> Snapshot | None:
    """The index as it is now, from what was known of it and what changed since; ``before`` itself where nothing did.

    model: of which vectors are taken, 0 for none. None where all must be read anew.
    """
    with _making_sense(), reading(connection):
        marks = _marks(connection)
        if before.marks == marks and before.model == model:
            return before
        if (before.model, before.dimensions) != (model, dimensions):
            return None
        if (before.marks.birth, before.marks.questions) != (marks.birth, marks.questions):
            return None
        after = _followed(connection, before, marks)
        return None if after is None or _is_worn(after.middles) else after


def load_snapshot(connection: sqlite3.Connection, model: int, dimensions: int) -> Snapshot:
    """The whole index as it is now."""
    with _making_sense(), reading(connection):
        return _load(connection, _marks(connection), model, dimensions)


@contextlib.contextmanager
def _making_sense() -> Iterator[None]:
    """A byte that fell over may leave a file that SQLite reads well, and a number that is none."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        raise sqlite3.DatabaseError(f"what it holds makes no sense: {error}") from error


def _marks(connection: sqlite3.Connection) -> Marks:
    highest = dict(connection.execute("SELECT name, seq FROM sqlite_sequence").fetchall())
    return Marks(
        birth(connection), edition(connection), *(int(highest.get(name, 0)) for name in ("units", "vectors", "gone"))
    )


# --- what changed -------------------------------------------------------------------------------------------------


def _followed(connection: sqlite3.Connection, before: Snapshot, marks: Marks) -> Snapshot | None:
    """None when what went is not known so far back."""
    rows = connection.execute("SELECT unit FROM gone WHERE seq > ?", [before.marks.gone]).fetchall()
    if len(rows) != marks.gone - before.marks.gone:
        return None
    after = without_units(before, np.array(rows, np.int64).ravel())
    after, _ = _with_units(connection, after, before.marks.units)
    if after.model:
        gathering = Gathering(after)
        for units, ids, blobs in _new_windows(connection, after.model, before.marks):
            gathering.add(after.positions(units), np.array(ids, np.int64), blobs)
        after = gathering.done()
    return replace(after, marks=marks)


def _new_windows(connection: sqlite3.Connection, model: int, since: Marks) -> Iterator[Any]:
    """(units, ids of vectors, blobs): new vectors of any unit, then the vectors that there are for new units."""
    what = "SELECT units.id, vectors.id, vector FROM "
    came = "vectors CROSS JOIN units ON units.hash = vectors.hash WHERE vectors.id > ? AND +model = ?"
    yield from _columns(connection.execute(what + came, [since.vectors, model]))
    met = "units CROSS JOIN vectors ON vectors.hash = units.hash AND model = ? WHERE units.id > ? AND vectors.id <= ?"
    yield from _columns(connection.execute(what + met, [model, since.units, since.vectors]))


def _is_worn(middles: Centres) -> bool:
    """Whether so much came that the codes' centres say too little, or so much went that the sums do."""
    seen = int(middles.counts.sum())
    return middles.added > max(_FEW_CHANGES, seen - middles.added) or middles.lost > _MOST_LOST * seen


# --- the whole ----------------------------------------------------------------------------------------------------


def _load(connection: sqlite3.Connection, marks: Marks, model: int, dimensions: int) -> Snapshot:
    questions = load_questions(connection, model, dimensions) if model else None
    snapshot, hashes = _with_units(connection, _empty(model, dimensions, questions), 0)
    snapshot = replace(snapshot, marks=marks)
    if not model or not len(snapshot.ids):
        return snapshot
    keys = Keys(hashes)
    rough = Gathering(snapshot)
    for ids, of, blobs in _sampled(connection, model):
        rough.count(*keys.matched(of, ids, blobs))
    gathering = Gathering(snapshot, rough.middles.now(snapshot.questions))
    # The + keeps it from going by the index on models, and then sorting them all.
    sql = "SELECT id, hash, vector FROM vectors WHERE +model = ? ORDER BY id"
    for ids, of, blobs in _columns(connection.execute(sql, [model])):
        gathering.add(*keys.matched(of, ids, blobs))
    whole = gathering.done()
    return replace(whole, middles=replace(whole.middles, added=0))


def _sampled(connection: sqlite3.Connection, model: int) -> Iterator[Any]:
    """Vectors evenly out of all of a model's."""
    sql = "SELECT (SELECT min(id) FROM vectors), (SELECT max(id) FROM vectors)"  # each by itself is no scan
    first, last = connection.execute(sql).fetchone()
    if first is None:
        return
    wanted = np.unique(np.linspace(first, last, min(_SAMPLE, last - first + 1)).astype(np.int64))
    some = ",".join(map(str, wanted.tolist()))
    yield from _columns(
        connection.execute(f"SELECT id, hash, vector FROM vectors WHERE id IN ({some}) AND model = ?", [model])
    )


def _empty(model: int, dimensions: int, questions: Questions | None) -> Snapshot:
    flags: dict[str, Any] = {name: np.zeros(0, bool) for name in ("struck", "archived", "renews", "has_vector")}
    names = ("day", "until", "chat", "number", "first", "parts")
    numbers: dict[str, Any] = {name: np.zeros(0, np.int32) for name in names}
    middles = np.zeros((GROUPS, dimensions), np.float32)
    return Snapshot(
        marks=Marks("", "", 0, 0, 0),
        model=model,
        dimensions=dimensions,
        ids=np.zeros(0, np.int64),
        group=np.zeros(0, np.int8),
        chats={"": -1},
        windows=Windows(Codes(dimensions), np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32)),
        middles=Centres(np.zeros((GROUPS, dimensions)), np.zeros(GROUPS, np.int64), middles),
        centres=middles,
        reader=VectorReader(dimensions),
        questions=questions,
        **flags,
        **numbers,
    )


def _with_units(connection: sqlite3.Connection, before: Snapshot, since: int) -> tuple[Snapshot, bytes]:
    """The snapshot with the units of higher ids than ``since``, and the hashes of their texts, 16 bytes each."""
    parts = [_arrays(columns, before.chats) for columns in _columns(connection.execute(_UNITS, [since]))]
    if not parts:
        return before, b""
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(before, name), *(part[name] for part, _ in parts)]) for name in UNIT_ARRAYS
    }
    return replace(before, **joined), b"".join(hashes for _, hashes in parts)


def _arrays(columns: Any, chats: dict[str, int]) -> tuple[dict[str, np.ndarray], bytes]:
    ids, day, until, number, flags, chat, hashes = columns
    flag = np.array(flags, np.int8)
    of_chat = np.array([chats.setdefault(one, len(chats) - 1) for one in chat], np.int32)
    arrays: dict[str, np.ndarray] = {
        "ids": np.array(ids, np.int64),
        "day": np.array(day, np.int32),
        "until": np.array(until, np.int32),
        "number": np.array(number, np.int32),
        "struck": (flag & 1) > 0,
        "archived": (flag & 2) > 0,
        "renews": (flag & 4) > 0,
        "chat": of_chat,
        "group": (flag >> 3) + np.int8(len(LANGUAGES)) * (of_chat >= 0),
        "first": np.zeros(len(ids), np.int32),
        "parts": np.zeros(len(ids), np.int32),
        "has_vector": np.zeros(len(ids), bool),
    }
    return arrays, b"".join(hashes)


def _columns(cursor: sqlite3.Cursor) -> Iterator[Any]:
    """What a query finds, column by column, some thousand rows at once."""
    cursor.arraysize = _ROWS
    while rows := cursor.fetchmany():
        yield list(zip(*rows, strict=True))
