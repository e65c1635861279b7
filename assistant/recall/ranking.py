"""From what both indexes found to scored candidates, or to "nothing known"."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from assistant.core.values import RecallQuery
from assistant.recall.dates import DayRange
from assistant.recall.fusion import CANDIDATES, Candidates, fuse
from assistant.recall.keywords import KeywordHits
from assistant.recall.moments import TimeWish
from assistant.recall.renewal import lift
from assistant.recall.snapshot import Snapshot

LEAST_SIMILARITY = 0.235
"""Below it the nearest unit of some 430 is noise, as nonsense questions show; grows with the number of units."""
_MEASURED_UNITS = 430
_LEAST_KEYWORD = 0.15
_IN_TIME = 50


@dataclass(frozen=True)
class Nearness:
    """How near the units of a snapshot are to one query's vector."""

    connection: sqlite3.Connection
    snapshot: Snapshot
    vector: np.ndarray
    language: str

    def best(self, allowed: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
        """See Snapshot.nearest."""
        return self.snapshot.nearest(self.connection, self.vector, self.language, allowed, most)

    def of(self, at: np.ndarray) -> np.ndarray:
        """See Snapshot.cosines."""
        return self.snapshot.cosines(self.connection, self.vector, self.language, at)

    def vectors(self, at: np.ndarray) -> np.ndarray:
        """See Snapshot.vectors_of."""
        return self.snapshot.vectors_of(self.connection, at)


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


def rank(
    snapshot: Snapshot,
    wish: TimeWish,
    spoken: Mapping[int, float],
    words: KeywordHits,
    nearness: Nearness | None,
    allowed: np.ndarray,
    today: date,
) -> Candidates | None:
    """The candidates of both sides with their scores; None when nothing known answers the query."""
    in_time = _in_time(snapshot, wish, spoken)
    if wish.bare and (allowed & (in_time > 0)).any():  # there is nothing else to go by
        allowed = allowed & (in_time > 0)
    found = snapshot.positions(sorted(words.scores))
    found = found[allowed[found]]
    near, cosine = (np.zeros(0, np.int64), None) if nearness is None else nearness.best(allowed, CANDIDATES)
    if _nothing_known(words, cosine, int(np.count_nonzero(allowed & snapshot.has_vector)), bool(in_time.any())):
        return None
    at = found
    if nearness is not None:
        timely, _ = nearness.best(allowed & (in_time > 0), _IN_TIME)
        at = np.unique(np.concatenate([found, near, timely]))
    if not len(at):
        return None
    similarity = None if nearness is None else nearness.of(at)
    candidates = _fused(snapshot, at, words, similarity, in_time, today)
    return candidates if nearness is None else _renewed(snapshot, nearness.vectors(at), candidates)


def _fused(
    snapshot: Snapshot,
    at: np.ndarray,
    words: KeywordHits,
    similarity: np.ndarray | None,
    in_time: np.ndarray,
    today: date,
) -> Candidates:
    rows = [int(row) for row in snapshot.ids[at]]
    keyword = np.array([words.scores.get(row, 0.0) for row in rows])
    exact = np.array([float(row in words.exact) for row in rows])
    return fuse(snapshot, at, keyword, similarity, exact, in_time[at], today.toordinal())


def _renewed(snapshot: Snapshot, vectors: np.ndarray, candidates: Candidates) -> Candidates:
    """The candidates with the newer word on a matter above the older one; a rare name is only overtaken by its like."""
    live = candidates.factors["superseded"] == 0
    exact = candidates.factors["exact"] > 0
    lifted = lift(snapshot, candidates.at, vectors, candidates.score, live & ~exact)
    if exact.any():
        lifted += lift(snapshot, candidates.at, vectors, candidates.score, live & exact)
    factors = {**candidates.factors, "newer": lifted}
    return replace(candidates, factors=factors, score=candidates.score + lifted)


def _nothing_known(words: KeywordHits, cosine: np.ndarray | None, units: int, timely: bool) -> bool:
    """Neither a rare name nor enough of the query's words nor anything near its meaning.

    cosine: of the nearest of so many units; None: only words were looked for.
    """
    if words.exact or timely:
        return False
    keyword = max(words.scores.values(), default=0.0)
    if cosine is None:
        return keyword < _LEAST_KEYWORD / 2
    if not len(cosine):
        return keyword == 0.0
    least = _least_similarity(units)
    if words.strangers and keyword < 2 * _LEAST_KEYWORD:
        least *= 1.35
    elif keyword >= _LEAST_KEYWORD:
        return False
    elif keyword > 0.0:
        least *= 0.85
    return float(cosine.max()) < least


def _least_similarity(units: int) -> float:
    """The threshold grows as the largest of so many random values does; slower where there are few.

    With 38 facts, questions about what was never said came up to 0.20, and questions in other words about what was
    said began at 0.30.
    """
    growth = math.log(max(units, 8)) / math.log(_MEASURED_UNITS)
    return LEAST_SIMILARITY * (math.sqrt(growth) if growth > 1 else growth**0.25)


def _in_time(snapshot: Snapshot, wish: TimeWish, spoken: Mapping[int, float]) -> np.ndarray:
    """1 for units of a day that the query asks for, less for those that only speak of it; see ``spoken_of``.

    "Before March" asks for no day in particular.
    """
    of_days = np.zeros(len(snapshot.ids))
    at = snapshot.positions(sorted(spoken))
    of_days[at] = [spoken[int(row)] for row in snapshot.ids[at]]
    of_days[days_mask(snapshot, wish.days)] = 1.0
    return of_days


def days_mask(snapshot: Snapshot, spans: Iterable[DayRange]) -> np.ndarray:
    """Which units are of a day in any of the spans."""
    mask = np.zeros(len(snapshot.ids), bool)
    for span in spans:
        mask |= (snapshot.day >= span.first.toordinal()) & (snapshot.day <= span.last.toordinal())
    return mask
