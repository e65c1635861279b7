"""A unit as rows of the index: written, known again, and taken out."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from dataclasses import replace

from assistant.core.values import Passage
from assistant.recall.postings import add_words, delete_words
from assistant.recall.renewal import tells_of_change
from assistant.recall.spoken import store_spoken
from assistant.recall.text import language
from assistant.recall.units import UNIT_RULES
from assistant.recall.units_value import Unit
from assistant.workspace.redaction import find_secrets, redact


def insert_unit(connection: sqlite3.Connection, file: int, digest: bytes, unit: Unit) -> None:
    """Put a unit of a file into the index, in the transaction of the caller."""
    unit = _redacted(unit)
    head, body = _storable(unit.passage.head), _storable(unit.passage.body)
    columns = [
        file,
        digest,
        unit.uid,
        unit.line,
        unit.kind,
        unit.day.toordinal() if unit.day else 0,
        unit.until.toordinal() if unit.until else 0,
        unit.struck,
        unit.chat,
        unit.number,
        language(unit.words),
        tells_of_change(unit.words),
        passage_hash(head, body),
        _storable(unit.title),
        _storable(unit.text),
        head,
        body,
    ]
    row = connection.execute(
        "INSERT INTO units(file, digest, uid, line, kind, day, until, struck, chat, number, lang, renews, "
        "hash, title, text, head, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        columns,
    ).lastrowid
    assert row is not None
    add_words(connection, row, _storable(unit.words), _storable(unit.context))
    store_spoken(connection, row, unit.words, unit.day)


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


def unit_digest(unit: Unit) -> bytes:
    """Over all but the line, so that a unit that only moved is kept."""
    parts = (unit.uid, unit.kind, unit.day, unit.until, unit.struck, unit.title, unit.text, unit.words, unit.context)
    return hashlib.sha256(repr((*parts, unit.passage, UNIT_RULES)).encode("utf-8", "surrogatepass")).digest()[:16]


def _storable(text: str) -> str:
    """Without NULs and lone surrogates, which neither SQLite nor a tokenizer takes."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
