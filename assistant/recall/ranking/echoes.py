"""Turns that only ask the same: nothing is as near to a question as the question itself, asked some other day."""

from __future__ import annotations

import re
import sqlite3

from assistant.recall.meaning.pieces import MESSAGE
from assistant.recall.words.keywords import KeywordHits
from assistant.recall.words.text import fold

_LIKELY = 20
"""So many of those that hold most of the question's words are looked at."""


def echoes(connection: sqlite3.Connection, words: KeywordHits, question: str) -> frozenset[int]:
    """Rows of the turns in which the person asked just this; what was replied may still answer it."""
    wanted = _bare(question)
    likely = sorted(words.scores, key=lambda row: -words.scores[row])[:_LIKELY]
    return frozenset(row for row in likely if wanted and _asked(connection, row) == wanted)


def _asked(connection: sqlite3.Connection, row: int) -> str:
    """What the person said in a turn; "" for other units."""
    found = connection.execute("SELECT body FROM units WHERE id = ? AND chat != ''", [row]).fetchone()
    return _bare(found[0].partition(MESSAGE)[0]) if found else ""


def _bare(text: str) -> str:
    return re.sub(r"[\W_]+", " ", fold(text)).strip()
