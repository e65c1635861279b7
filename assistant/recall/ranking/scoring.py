"""From what both indexes found to scored candidates, or to "nothing known"."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from assistant.core.values import RecallQuery
from assistant.recall.days.dates import DayRange
from assistant.recall.days.moments import TimeWish
from assistant.recall.meaning.snapshot import Snapshot
from assistant.recall.ranking.fusion import CANDIDATES, WEIGHTS, Candidates, Found, fuse
from assistant.recall.ranking.renewal import lift
from assistant.recall.ranking.silence import SILENCE, is_known_by_words, scale_of, signs_of
from assistant.recall.words.keywords import KeywordHits
from assistant.recall.words.text import LANGUAGES

_IN_TIME = 50
_LEAST_HUB = 0.06
"""Nearly every piece has that much of nearness to any question, so a nearer one need not be asked (the hits on three
labelled sets stay the same)."""


@dataclass(frozen=True)
class Nearness:
    """How near the units of a snapshot are to one query's vector."""

    connection: sqlite3.Connection
    snapshot: Snapshot
    vector: np.ndarray
    language: str

    def best(self, allowed: np.ndarray, most: int) -> np.ndarray:
        """Places of the nearest; see Snapshot.nearest."""
        return self.snapshot.nearest(self.connection, self.vector, self.language, allowed, most)[0]

    def of(self, at: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        """Cosines of these units, less what they have of nearness to any question; -1 or less where none is.

        Of the whole text or of the nearest thing it says, which counts less. vectors: as ``vectors`` gives them.
        """
        cosine = self.snapshot.cosines(self.connection, self.vector, self.language, at)
        whole: np.ndarray = cosine - self._hub(vectors)
        pieces, owner, cosine = self.snapshot.pieces_of(self.connection, self.vector, self.language, at)
        best = np.full(len(at), -1.0, np.float32)
        np.maximum.at(best, owner, cosine)
        value = cosine - WEIGHTS.piece
        least = 0.0 if self.snapshot.questions is None else _LEAST_HUB
        nearer = np.flatnonzero((cosine == best[owner]) & (value - least > whole[owner]))
        if len(nearer):
            np.maximum.at(whole, owner[nearer], value[nearer] - self._hub(pieces[nearer]))
        return whole

    def _hub(self, vectors: np.ndarray) -> np.ndarray:
        questions = self.snapshot.questions
        if questions is None:
            return np.zeros(len(vectors), np.float32)
        hub: np.ndarray = WEIGHTS.hub * np.maximum(questions.nearness(vectors), 0.0)
        return hub

    def vectors(self, at: np.ndarray) -> np.ndarray:
        """See Snapshot.vectors_of."""
        return self.snapshot.vectors_of(self.connection, at)


@dataclass(frozen=True)
class Asked:
    """A question and what is to answer it.

    spoken: units that speak of the days asked for, and how much; echoes: those that only ask, and how much; in_named:
    units of the chat that it names; allowed: a bool a unit; anyway: the nearest are wanted also where nothing known
    answers.
    """

    wish: TimeWish
    words: KeywordHits
    nearness: Nearness | None
    allowed: np.ndarray
    in_named: np.ndarray
    spoken: Mapping[int, float]
    echoes: Mapping[int, float]
    today: date
    anyway: bool = False


def allowed_units(snapshot: Snapshot, query: RecallQuery) -> np.ndarray:
    """Which units may be found at all: scope and range of days (a unit without a day stays)."""
    allowed = np.ones(len(snapshot.ids), bool)
    if query.scope != "all":
        allowed &= (snapshot.chat >= 0) == (query.scope == "chats")
    if query.since:
        allowed &= (snapshot.day == 0) | (snapshot.day >= query.since.toordinal())
    if query.until:
        allowed &= (snapshot.day == 0) | (snapshot.day <= query.until.toordinal())
    return allowed


def rank(snapshot: Snapshot, asked: Asked) -> Candidates | None:
    """The candidates of both sides with their scores; None when nothing known answers the question."""
    in_time = _in_time(snapshot, asked)
    allowed = asked.allowed
    if asked.wish.bare and (allowed & (in_time > 0)).any():  # there is nothing else to go by
        allowed = allowed & (in_time > 0)
    found = snapshot.positions(sorted(asked.words.scores))
    at = found[allowed[found]]
    nearness = asked.nearness
    if nearness is not None:
        timely = nearness.best(allowed & (in_time > 0), _IN_TIME)
        at = np.unique(np.concatenate([at, nearness.best(allowed, CANDIDATES), timely]))
    if not len(at):
        return None
    vectors = None if nearness is None else nearness.vectors(at)
    meaning = None if nearness is None or vectors is None else nearness.of(at, vectors)
    candidates = fuse(snapshot, _found(snapshot, asked, at, meaning, in_time[at]))
    if not _is_known(snapshot, asked, candidates, meaning, allowed):
        return replace(candidates, known=False) if asked.anyway else None
    if vectors is None or meaning is None or asked.wish.past:  # how it used to be is asked for: the old is the answer
        return candidates
    return _renewed(snapshot, vectors, meaning, candidates)


def _found(snapshot: Snapshot, asked: Asked, at: np.ndarray, meaning: np.ndarray | None, in_time: np.ndarray) -> Found:
    rows = [int(row) for row in snapshot.ids[at]]
    return Found(
        at=at,
        keyword=np.array([asked.words.scores.get(row, 0.0) for row in rows]),
        meaning=meaning,
        exact=np.array([float(row in asked.words.exact) for row in rows]),
        in_time=in_time,
        in_named=asked.in_named[at].astype(float),
        echo=np.array([asked.echoes.get(row, 0.0) for row in rows]),
        foreign=_foreign(snapshot, asked.nearness, at),
        order=asked.wish.order,
        past=asked.wish.past,
        today=asked.today.toordinal(),
    )


def _foreign(snapshot: Snapshot, nearness: Nearness | None, at: np.ndarray) -> np.ndarray:
    """Which are in another language than a Chinese question; questions in others need no such help (measured)."""
    if nearness is None or nearness.language != "zh":
        return np.zeros(len(at), bool)
    foreign: np.ndarray = snapshot.group[at] % len(LANGUAGES) != LANGUAGES.index("zh")
    return foreign


def _is_known(
    snapshot: Snapshot, asked: Asked, candidates: Candidates, meaning: np.ndarray | None, allowed: np.ndarray
) -> bool:
    timely = bool(candidates.factors["time"].any())
    have = snapshot.has_vector[candidates.at]
    if meaning is None or not have.any():
        return is_known_by_words(asked.words, timely or bool(candidates.factors["chat"].any()))
    units = int(np.count_nonzero(allowed & snapshot.has_vector))
    scale = scale_of(snapshot.questions, asked.nearness.language) if asked.nearness else 1.0
    return SILENCE.is_known(signs_of(meaning[have], asked.words, timely, units, scale))


def _renewed(snapshot: Snapshot, vectors: np.ndarray, meaning: np.ndarray, candidates: Candidates) -> Candidates:
    """The candidates with the newer word on a matter above the older one; a rare name is only overtaken by its like."""
    live = candidates.factors["superseded"] == 0
    exact = candidates.factors["exact"] > 0
    lifted = lift(snapshot, candidates.at, vectors, meaning, candidates.score, live & ~exact)
    if exact.any():
        lifted += lift(snapshot, candidates.at, vectors, meaning, candidates.score, live & exact)
    factors = {**candidates.factors, "newer": lifted}
    return replace(candidates, factors=factors, score=candidates.score + lifted)


def _in_time(snapshot: Snapshot, asked: Asked) -> np.ndarray:
    """1 for units of a day that is asked for, less for those that only speak of it; see ``spoken_of``.

    "Before March" asks for no day in particular.
    """
    of_days = np.zeros(len(snapshot.ids))
    at = snapshot.positions(sorted(asked.spoken))
    of_days[at] = [asked.spoken[int(row)] for row in snapshot.ids[at]]
    of_days[days_mask(snapshot, asked.wish.days)] = 1.0
    return of_days


def days_mask(snapshot: Snapshot, spans: Iterable[DayRange]) -> np.ndarray:
    """Which units are of a day in any of the spans."""
    mask = np.zeros(len(snapshot.ids), bool)
    for span in spans:
        mask |= (snapshot.day >= span.first.toordinal()) & (snapshot.day <= span.last.toordinal())
    return mask
