"""A unit as rows of the index: written, known again, and taken out."""

from __future__ import annotations

import hashlib
import logging
import sqlite3
from collections.abc import Sequence
from dataclasses import replace

from assistant.core.values import Passage
from assistant.recall.days.spoken import store_spoken
from assistant.recall.index.link_names import store_names
from assistant.recall.index.sketches import Sketches
from assistant.recall.ranking.renewal import tells_of_change
from assistant.recall.units.unit import Unit
from assistant.recall.words.postings import add_words, delete_words
from assistant.recall.words.text import language
from assistant.workspace.redaction import find_secrets, redact

_log = logging.getLogger(__name__)


def replace_units(connection: sqlite3.Connection, file: int, now: Sketches) -> tuple[int, list[int], str]:
    """Let a file have these units: make and insert the new ones, and keep those that are there, wherever they moved.

    Returns how many are new, the rows of those to delete, and what went wrong ("" for nothing): a unit that cannot be
    made must not hide the others. In the transaction of the caller.
    """
    store_names(connection, file, now.names)
    known = connection.execute("SELECT digest, unit, line FROM places WHERE file = ?", [file]).fetchall()
    rows = {digest: unit for digest, unit, _ in known}
    lines = {digest: line for digest, _, line in known}
    came: list[tuple[int, int, bytes, int]] = []
    failed = ""
    new = {digest: at for at, digest in enumerate(now.digests) if digest not in rows}
    for digest, at in new.items():
        try:
            unit = now.unit(at)
        except Exception as error:  # noqa: BLE001
            _log.exception("a unit at line %s", now.lines[at])
            failed = str(error)
        else:
            came.append((file, insert_unit(connection, file, unit), digest, now.lines[at]))
    connection.executemany("INSERT INTO places(file, unit, digest, line) VALUES (?, ?, ?, ?)", came)
    where = list(zip(now.digests, now.lines, strict=True))
    moved = [(line, file, rows[digest]) for digest, line in where if lines.get(digest, line) != line]
    connection.executemany("UPDATE places SET line = ? WHERE file = ? AND unit = ?", moved)
    return len(came), sorted(rows[digest] for digest in rows.keys() - set(now.digests)), failed


def insert_unit(connection: sqlite3.Connection, file: int, unit: Unit) -> int:
    """Put a unit of a file into the index, in the transaction of the caller; its place is to follow."""
    unit = _redacted(unit)
    head, body = _storable(unit.passage.head), _storable(unit.passage.body)
    columns = [
        file,
        unit.uid,
        unit.kind,
        unit.day.toordinal() if unit.day else 0,
        unit.until.toordinal() if unit.until else 0,
        unit.struck,
        unit.chat,
        unit.number,
        unit.follows,
        language(unit.words),
        tells_of_change(unit.words),
        passage_hash(head, body),
        _storable(unit.title),
        _storable(unit.text),
        head,
        body,
    ]
    row = connection.execute(
        "INSERT INTO units(file, uid, kind, day, until, struck, chat, number, follows, lang, "
        "renews, hash, title, text, head, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        columns,
    ).lastrowid
    assert row is not None
    add_words(connection, row, _storable(unit.words), _storable(unit.context))
    store_spoken(connection, row, unit.words, unit.day)
    return row


def passage_hash(head: str, body: str) -> bytes:
    """Under which the vectors of a text are kept; the text as it is stored."""
    return hashlib.sha256(f"{head}\0{body}".encode()).digest()[:16]


def _redacted(unit: Unit) -> Unit:
    """The unit as it may be stored: what another program wrote into a file has not come through our own redaction."""
    passage = unit.passage
    texts = (unit.title, unit.text, unit.words, unit.context, passage.head, passage.body)
    if not find_secrets("\n".join(dict.fromkeys(texts))):
        return unit
    title, text, words, context, head, body = (redact(each).text for each in texts)
    return replace(unit, title=title, text=text, words=words, context=context, passage=Passage(head, body))


def delete_units(connection: sqlite3.Connection, rows: Sequence[int]) -> None:
    """Take units out of the index, in the transaction of the caller."""
    delete_words(connection, rows)
    connection.executemany("DELETE FROM units WHERE id = ?", [[row] for row in rows])


def _storable(text: str) -> str:
    """Without NULs and lone surrogates, which neither SQLite nor a tokenizer takes."""
    text = text.replace("\0", " ")
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
