"""The keyword index: which unit holds which words, as numbers in tables of the index file.

A word is known by a hash of eight bytes, so no word stands in these tables. ``unit_words`` keeps every unit's words in
order; the newest units, the tail, are searched there. As soon as the ids of a block of BLOCK units are all given, its
words are turned round, once: ``postings`` then says of each word in which units of the block it stands and how often,
two bytes a unit, and ``word_blocks`` how long the block's units are. Blocks never take new units in, so an addition
writes one row, a deletion takes exactly its own numbers out, and nothing need be merged or marked as gone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

SCHEMA = """
CREATE TABLE unit_words(unit INTEGER PRIMARY KEY, text BLOB NOT NULL, context BLOB NOT NULL);
CREATE TABLE word_blocks(block INTEGER PRIMARY KEY, sizes BLOB NOT NULL);
CREATE TABLE postings(word INTEGER NOT NULL, block INTEGER NOT NULL, units BLOB NOT NULL, PRIMARY KEY(word, block))
    WITHOUT ROWID;
"""
SHIFT = 12
BLOCK = 1 << SHIFT
"""Units of one block: their places in it take 12 of a posting's 16 bits."""
MOST_TIMES = 3
"""A word that stands more often in a text, or in a context, counts as if it stood so often; two bits each."""
LONGEST = 65_535
"""Words of a unit that count for its length."""
HASH = 8
"""Bytes of a word's hash: among a million words two share one with a chance of 1 to 40 million."""


@lru_cache(maxsize=1 << 14)
def word_hash(word: str) -> bytes:
    """The eight bytes that stand for a word, the same in every process."""
    return blake2b(word.encode("utf-8", "replace"), digest_size=HASH).digest()


def word_key(word: str) -> int:
    """The hash as the number that ``postings`` has it under."""
    return int.from_bytes(word_hash(word), "little", signed=True)


def add_words(connection: sqlite3.Connection, unit: int, text: str, context: str) -> None:
    """Take a unit's own text and the text around it into the index, in the transaction of the caller.

    unit: its row's id, greater than that of every unit before it. To be followed by ``fold_blocks``.
    """
    from assistant.recall.words.packing import packed  # many patterns, which starting the window does not need

    row = [unit, packed(text), packed(context) if context else b""]
    connection.execute("INSERT INTO unit_words(unit, text, context) VALUES (?, ?, ?)", row)


def fold_blocks(connection: sqlite3.Connection) -> None:
    """Turn every block round whose ids are all given, in the transaction of the caller."""
    (newest,) = connection.execute("SELECT max(unit) FROM unit_words").fetchone()
    first = tail_start(connection) >> SHIFT
    for block in range(first, ((newest or 0) + 1) >> SHIFT):
        _fold(connection, block)


def tail_start(connection: sqlite3.Connection) -> int:
    """The least id that is in no block yet."""
    (last,) = connection.execute("SELECT max(block) FROM word_blocks").fetchone()
    return 0 if last is None else (last + 1) << SHIFT


def _fold(connection: sqlite3.Connection, block: int) -> None:
    import numpy as np

    sql = "SELECT unit, text, context FROM unit_words WHERE unit >= ? AND unit < ? ORDER BY unit"
    rows = connection.execute(sql, [block << SHIFT, (block + 1) << SHIFT]).fetchall()
    if not rows:
        return
    units = np.array([unit - (block << SHIFT) for unit, _, _ in rows], np.uint16)
    lengths = np.array([(len(text) // HASH, len(context) // HASH) for _, text, context in rows])
    sizes = np.zeros(BLOCK, "<u2")
    sizes[units] = np.minimum(lengths.sum(axis=1) + 1, LONGEST)
    connection.execute("INSERT INTO word_blocks(block, sizes) VALUES (?, ?)", [block, sizes.tobytes()])
    words = np.frombuffer(b"".join([part for _, text, context in rows for part in (text, context)]), "<i8")
    at = np.repeat(np.repeat(units, 2), lengths.ravel())
    own = np.repeat(np.tile(np.array([True, False]), len(rows)), lengths.ravel())
    order = np.argsort(words, kind="stable")
    words, at, own = words[order], at[order], own[order]
    new_word = np.append(True, words[1:] != words[:-1]) if len(words) else np.zeros(0, bool)
    starts = np.flatnonzero(new_word | np.append(True, at[1:] != at[:-1])) if len(words) else np.zeros(0, np.int64)
    if not len(starts):
        return
    times = np.add.reduceat(own, starts, dtype=np.int64)
    around = np.diff(np.append(starts, len(words))) - times
    code = np.minimum(times, MOST_TIMES) | np.minimum(around, MOST_TIMES) << 2
    values = (at[starts] | code << SHIFT).astype("<u2").tobytes()
    bounds = np.flatnonzero(new_word[starts])
    edges = (np.append(bounds, len(starts)) * 2).tolist()
    keys = words[starts[bounds]].tolist()
    lists = ((key, block, values[edges[n] : edges[n + 1]]) for n, key in enumerate(keys) if key)
    connection.executemany("INSERT INTO postings(word, block, units) VALUES (?, ?, ?)", lists)


def delete_words(connection: sqlite3.Connection, units: Sequence[int]) -> None:
    """Take units out of the index, leaving nothing of them, in the transaction of the caller."""
    start = tail_start(connection)
    for unit in units:
        row = connection.execute("SELECT text, context FROM unit_words WHERE unit = ?", [unit]).fetchone()
        if row is None:
            continue
        connection.execute("DELETE FROM unit_words WHERE unit = ?", [unit])
        if unit < start:
            _delete_postings(connection, unit >> SHIFT, unit & (BLOCK - 1), row[0] + row[1])


def _delete_postings(connection: sqlite3.Connection, block: int, place: int, words: bytes) -> None:
    import numpy as np

    for key in set(np.frombuffer(words, "<i8").tolist()) - {0}:
        sql = "SELECT units FROM postings WHERE block = ? AND word = ?"
        values = np.frombuffer(_blob(connection, sql, block, key), "<u2")
        left = values[values & (BLOCK - 1) != place].tobytes()
        if left:
            sql = "UPDATE postings SET units = ? WHERE block = ? AND word = ?"
            connection.execute(sql, [left, block, key])
        else:
            connection.execute("DELETE FROM postings WHERE block = ? AND word = ?", [block, key])
    _delete_size(connection, block, place)


def _delete_size(connection: sqlite3.Connection, block: int, place: int) -> None:
    sizes = bytearray(_blob(connection, "SELECT sizes FROM word_blocks WHERE block = ?", block))
    sizes[2 * place : 2 * place + 2] = b"\0\0"
    if any(sizes):
        connection.execute("UPDATE word_blocks SET sizes = ? WHERE block = ?", [bytes(sizes), block])
    else:
        connection.execute("DELETE FROM word_blocks WHERE block = ?", [block])


def _blob(connection: sqlite3.Connection, sql: str, *values: int) -> bytes:
    """What must be there; else raises sqlite3.DatabaseError, as a byte fell over and the index is to be built anew."""
    row = connection.execute(sql, values).fetchone()
    if row is None:
        raise sqlite3.DatabaseError("a word that it holds is not listed")
    return bytes(row[0])
