"""The chats that a question names: "in the standup chat", "in our chat about Lisbon", 在站会那个聊天里."""

from __future__ import annotations

import sqlite3

from assistant.recall.index.database import reading
from assistant.recall.words.keywords import query_terms, search_words
from assistant.recall.words.text import fold

_MOST_TURNS = 200
_LEAST = 0.5
"""Share of the name's words that a title or a first turn must hold."""
_OPENING = 0.8
"""Of a title, for the words of the first turn: what a chat began with is its name when it has none."""


def named_chats(connection: sqlite3.Connection, name: str) -> list[str]:
    """Ids of the chats whose title or first turn has the words of ``name``, all that do so equally well."""
    words = {token for term in query_terms(name) for token in term.tokens}
    if not words:
        return []
    with reading(connection):
        fit = {chat: _fit(connection, chat, words) for chat in _candidates(connection, name)}
    best = max(fit.values(), default=0.0)
    return sorted(chat for chat, value in fit.items() if value == best) if best >= _LEAST else []


def _candidates(connection: sqlite3.Connection, name: str) -> set[str]:
    """Chats with turns that hold any of the words, or stand under a title that does."""
    rows = search_words(connection, query_terms(name), None, _MOST_TURNS).scores
    sql = "SELECT chat FROM units WHERE id = ?"
    found = (connection.execute(sql, [row]).fetchone() for row in rows)
    return {chat for (chat,) in filter(None, found) if chat}


def _fit(connection: sqlite3.Connection, chat: str, words: set[str]) -> float:
    """The share of the words in the chat's title, or a little less for its first turn; 0..1."""
    first = connection.execute("SELECT title, text FROM units WHERE uid = ?", [f"{chat}#1"]).fetchone()
    if first is None:
        return 0.0
    title, opening = (_plain(text) for text in first)
    in_title = sum(word in title for word in words) / len(words)
    return max(in_title, _OPENING * sum(word in opening for word in words) / len(words))


def _plain(text: str) -> str:
    """ "Stand-up" and "standup" are one name."""
    return fold(text).replace("-", "")
