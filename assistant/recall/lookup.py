"""One search in a snapshot of the index. Its own module because it needs numpy, which starting the app does not."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from types import MappingProxyType

import numpy as np

from assistant.core.values import Hit, RecallAnswer, RecallQuery
from assistant.recall.days.anchors import DatedText
from assistant.recall.days.chat_names import named_chats
from assistant.recall.days.moments import TimeWish, read_time
from assistant.recall.days.spoken import spoken_of
from assistant.recall.index.database import begin_soon, reading, roll_back
from assistant.recall.index.unit_rows import delete_units
from assistant.recall.meaning.snapshot import Snapshot
from assistant.recall.ranking.along import Around, companions
from assistant.recall.ranking.echoes import echoes
from assistant.recall.ranking.fusion import CANDIDATES, Candidates
from assistant.recall.ranking.scoring import Asked, Nearness, allowed_units, days_mask, rank
from assistant.recall.ranking.thinning import arrange
from assistant.recall.words.keywords import query_terms, search_words
from assistant.recall.words.text import language

_LOCK_SECONDS = 0.25
_KNOWN = 0.3
"""Share of the words of an event that must be known: of "my trip to Lisbon" mostly only Lisbon is written down."""
_AS_WELL = 0.6
"""Of the best unit's score, from which on others tell of the same event."""
_MOST_TELLERS = 8
Scored = tuple[int, float, dict[str, float]]
"""A place in the snapshot, its score, and what that is made of."""
NOTHING_KNOWN = RecallAnswer((), True, 0.0, "keyword")


def look_up(
    connection: sqlite3.Connection, snapshot: Snapshot, query: RecallQuery, vector: np.ndarray | None, today: date
) -> RecallAnswer:
    """The hits for a query with words, best first. vector: the query's; None: by keywords alone."""
    text = query.text.strip()
    allowed = _allowed(connection, snapshot, query)
    ids = None if allowed.all() else snapshot.ids[allowed]
    wish = read_time(text, today, partial(_tellers, connection, ids))
    spoken = spoken_of(connection, wish, today)
    if wish.only_time:
        listed = by_time(connection, snapshot, query, wish, spoken)
        if listed.hits or re.search(r"[^\W\d]", text):  # figures alone (3.11.14) may be no day at all
            return listed
    with _unasked(connection, query.asked), reading(connection):
        terms = query_terms(text)
        words = search_words(connection, terms, ids, CANDIDATES)
    near = None if vector is None else Nearness(connection, snapshot, vector, language(text))
    named = _of_named_chats(connection, snapshot, wish)
    echoing = echoes(connection, words, terms, text)
    asked = Asked(wish, words, near, allowed, named, spoken, echoing, today, query.anyway)
    candidates = rank(snapshot, asked)
    mode = "keyword" if vector is None else "hybrid"
    if candidates is None:
        return replace(NOTHING_KNOWN, mode=mode)
    vectors = None if near is None else near.vectors(candidates.at)
    chosen = arrange(candidates, snapshot, vectors, query.limit, partial(_texts, connection, snapshot, candidates))
    hits = [_scored(candidates, n) for n in chosen]
    if candidates.known:
        live = allowed & ~snapshot.struck & ~snapshot.archived
        live &= (snapshot.until == 0) | (snapshot.until >= today.toordinal())
        around = Around(connection, snapshot, live, partial(_nearest, near))
        hits += companions(around, [(at, score) for at, score, _ in hits], query.limit - len(hits))
    return RecallAnswer(_hits(connection, snapshot, hits), False, 0.0, mode, unsure=not candidates.known)


def without_private(answer: RecallAnswer) -> RecallAnswer:
    """For who does not let private chats be found, though an index that could not be written may still hold some."""
    hits = tuple(hit for hit in answer.hits if not hit.private)
    return replace(answer, hits=hits, abstained=answer.abstained or not hits)


def _nearest(near: Nearness | None, at: np.ndarray) -> int:
    """Which of these places is nearest to the question; the first, where it went by words alone."""
    return int(at[0] if near is None else at[np.argmax(near.of(at, near.vectors(at)))])


def _texts(
    connection: sqlite3.Connection, snapshot: Snapshot, candidates: Candidates, chosen: Sequence[int]
) -> list[str]:
    """What candidates say; of a turn what the person said."""
    texts = []
    for n in chosen:
        sql = "SELECT text, kind FROM units WHERE id = ?"
        text, kind = connection.execute(sql, [int(snapshot.ids[candidates.at[n]])]).fetchone() or ("", "")
        texts.append(text.partition("\n")[0].partition(": ")[2] if kind == "turn" else text)
    return texts


def _scored(candidates: Candidates, n: int) -> Scored:
    why = {name: round(float(values[n]), 4) for name, values in candidates.factors.items() if values[n]}
    why |= {name: int(values[n]) for name, values in candidates.places.items() if values[n]}
    return int(candidates.at[n]), float(candidates.score[n]), why


@contextlib.contextmanager
def _unasked(connection: sqlite3.Connection, uid: str) -> Iterator[None]:
    """The index without that unit, until the end of the block: how rare a word is depends on every unit.

    While somebody else writes for long the unit stays: a search never waits for that.
    """
    row = connection.execute("SELECT id FROM units WHERE uid = ?", [uid]).fetchone() if uid else None
    if row is None or not begin_soon(connection, _LOCK_SECONDS):
        yield
        return
    try:
        delete_units(connection, [row[0]])
        yield
    finally:
        roll_back(connection)


def _tellers(connection: sqlite3.Connection, allowed: np.ndarray | None, event: str) -> list[DatedText]:
    """Units that tell of an event, by its words, the best first. allowed: as ``search_words`` takes it."""
    with reading(connection):
        found = search_words(connection, query_terms(event), allowed, _MOST_TELLERS)
        if found.known < _KNOWN:
            return []
        least = _AS_WELL * max(found.scores.values(), default=0.0)
        best = [row for row, score in sorted(found.scores.items(), key=lambda hit: -hit[1]) if score >= least]
        sql = "SELECT day, text FROM units WHERE id = ? AND day > 0"
        rows = [told for row in best if (told := connection.execute(sql, [row]).fetchone())]
    return [DatedText(date.fromordinal(day), text) for day, text in rows]


def by_time(
    connection: sqlite3.Connection,
    snapshot: Snapshot,
    query: RecallQuery,
    wish: TimeWish | None = None,
    spoken: Mapping[int, float] = MappingProxyType({}),
) -> RecallAnswer:
    """What there is of the days that query and wish ask for, newest first; then what only speaks of them.

    Without a range there is nothing to find.
    """
    if query.since is None and query.until is None and wish is None:
        return NOTHING_KNOWN
    allowed = _allowed(connection, snapshot, query)
    said = np.ones(len(snapshot.ids), bool) if wish is None else days_mask(snapshot, wish.spans)
    told = said.copy()
    told[snapshot.positions(sorted(spoken))] = True
    allowed &= _in_chats(connection, snapshot, wish, allowed & said) if wish else True
    at = np.flatnonzero(allowed & told & (snapshot.day > 0))
    newest = [_newest(snapshot, some, query.limit) for some in (at[said[at]], at[~said[at]])]
    chosen = np.concatenate(newest)[: query.limit]
    hits = _hits(connection, snapshot, [(int(place), 0.0, {}) for place in chosen])
    return RecallAnswer(hits, not hits, 0.0, "time")


def _newest(snapshot: Snapshot, at: np.ndarray, most: int) -> np.ndarray:
    """So many of these places, newest first; of one day memory before chats, of these the one that began last."""
    if 0 < most < len(at):
        day = snapshot.day[at]
        at = at[day >= np.partition(day, -most)[-most]]
    names = sorted(snapshot.chats)  # ids say when a chat began; "" is for what stands in none
    began = np.full(len(names), len(names))
    began[[snapshot.chats[name] for name in names[1:]]] = np.arange(len(names) - 1)
    keys = (snapshot.ids[at], snapshot.number[at], began[snapshot.chat[at]], snapshot.day[at])
    newest: np.ndarray = at[np.lexsort(keys)[::-1]][:most]
    return newest


def _in_chats(connection: sqlite3.Connection, snapshot: Snapshot, wish: TimeWish, among: np.ndarray) -> np.ndarray:
    """Which units are of the chat that a question names, or of any chat if it asks what was said; all, if none is."""
    if (of_named := _of_named_chats(connection, snapshot, wish)).any():
        return of_named
    in_chats: np.ndarray = snapshot.chat >= 0
    return in_chats if wish.talk and (among & in_chats).any() else np.ones(len(snapshot.ids), bool)


def _of_named_chats(connection: sqlite3.Connection, snapshot: Snapshot, wish: TimeWish) -> np.ndarray:
    if not wish.chat:
        return np.zeros(len(snapshot.ids), bool)
    named = [snapshot.chats[chat] for chat in named_chats(connection, wish.chat) if chat in snapshot.chats]
    of_named: np.ndarray = np.isin(snapshot.chat, named)
    return of_named


def _allowed(connection: sqlite3.Connection, snapshot: Snapshot, query: RecallQuery) -> np.ndarray:
    """Which units may be hits at all."""
    allowed = allowed_units(snapshot, query)
    allowed[_positions(connection, snapshot, query.exclude | {query.asked})] = False
    return allowed


def _positions(connection: sqlite3.Connection, snapshot: Snapshot, uids: frozenset[str]) -> np.ndarray:
    """Where in the snapshot the units of these ids are; ids that are no units (any more) count for nothing."""
    rows = [row for uid in uids for (row,) in connection.execute("SELECT id FROM units WHERE uid = ?", [uid])]
    return snapshot.positions(rows)


def _hits(connection: sqlite3.Connection, snapshot: Snapshot, scored: Sequence[Scored]) -> tuple[Hit, ...]:
    hits = []
    for at, score, why in scored:
        row = connection.execute(
            "SELECT uid, path, line, kind, day, title, text, private FROM units JOIN files ON files.id = units.file "
            "JOIN places ON places.file = units.file AND unit = units.id WHERE units.id = ?",
            [int(snapshot.ids[at])],
        ).fetchone()
        if row is None:  # removed by another process since
            continue
        uid, path, line, kind, day, title, text, private = row
        when = date.fromordinal(day).isoformat() if day else ""
        hits.append(Hit(uid, path, line, kind, when, title, text, round(score, 4), why, bool(private)))
    return tuple(hits)
