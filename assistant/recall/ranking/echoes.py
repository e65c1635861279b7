"""Turns that only ask, too: nothing is as near to a question as the question itself, asked some other day."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection
from collections.abc import Set as AbstractSet

from assistant.recall.meaning.pieces import CONTEXT, MESSAGE
from assistant.recall.words.keywords import KeywordHits
from assistant.recall.words.query_terms import Term
from assistant.recall.words.text import fold
from assistant.recall.words.tokens import words_of

_LIKELY = 20
"""So many of those that hold most of the question's words are looked at."""
SAME = 1.0
_ABOUT = 0.15
_LONGEST = 2_000
"""Characters that a message may have beyond twice those of the question: a longer one tells something."""
_ONLY_ASKS = re.compile(r"[^.!。！\n]*[?？]\s*")
"""A question and no sentence before it, which might tell something."""


def echoes(
    connection: sqlite3.Connection, words: KeywordHits, terms: Collection[Term], question: str
) -> dict[int, float]:
    """Row -> how far a turn only asks: SAME for just this question, though what was replied may still answer it; less
    for another one that holds words of it, when no word of it was said in reply."""
    wanted, longest = _bare(question), _LONGEST + 2 * len(question)
    asked_for = {token for term in terms for token in term.tokens}
    likely = sorted(words.scores, key=lambda row: -words.scores[row])[:_LIKELY]
    found: dict[int, float] = {}
    for row in likely if wanted else ():
        said, replied = _messages(connection, row)
        if len(said) <= longest and (share := _asks(said, replied, wanted, asked_for)):
            found[row] = share
    return found


def _asks(said: str, replied: str, wanted: str, asked_for: AbstractSet[str]) -> float:
    if _bare(said) == wanted:
        return SAME
    if not _ONLY_ASKS.fullmatch(said) or not asked_for.isdisjoint(words_of(fold(replied))[0]):
        return 0.0
    return _ABOUT


def _messages(connection: sqlite3.Connection, row: int) -> tuple[str, str]:
    """Of a turn what was said in it, and in reply; "" for other units."""
    found = connection.execute("SELECT body FROM units WHERE id = ? AND chat != ''", [row]).fetchone()
    said, _, replied = (found[0] if found else "").partition(CONTEXT)[0].partition(MESSAGE)
    return said, replied


def _bare(text: str) -> str:
    return re.sub(r"[\W_]+", " ", fold(text)).strip()
