"""How keyword and meaning become one score. Plain functions over arrays; see ``Weights``.

Weights and thresholds are measured on a labelled set of everyday facts and chats in English and Chinese.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from assistant.recall.days.moments import Order
from assistant.recall.meaning.snapshot import Snapshot
from assistant.recall.ranking.echoes import SAME


@dataclass(frozen=True, slots=True)
class Weights:
    """What each part of a score may add, all measured together on three labelled sets (see docs/decisions).

    keyword: of memory and notes, which say a thing once, in words of their own; keyword_of_turns: people who talk
    repeat the words; the reply does so once more, so it ends at keyword_most_of_turns. Their floors: a share of the
    query's words this small is chance, and counts for nothing. meaning_full: the cosine at which meaning counts for
    all; hub: how much of a unit's nearness to any question at all is taken off its cosine; piece: what is taken off
    that of a single thing it says; neighbours: of the best turn within ``_WITHIN`` of a turn; foreign: for another
    language than that of a Chinese question, which finds English lines too easily once languages are centred.
    """

    keyword: float = 0.55
    keyword_floor: float = 0.1
    keyword_of_turns: float = 1.0
    keyword_floor_of_turns: float = 0.05
    keyword_most_of_turns: float = 0.23
    meaning: float = 0.45
    meaning_full: float = 0.5
    hub: float = 0.6
    piece: float = 0.1
    neighbours: float = 0.25
    recency: float = 0.02
    in_time: float = 0.3
    in_named: float = 0.3
    order: float = 0.1
    echo: float = -0.6
    foreign: float = -0.045
    exact: float = 2.0
    dead: float = -4.0
    dead_in_past: float = 0.0


WEIGHTS = Weights()
CANDIDATES = 200
"""Of each side."""
_HALF_LIFE = 90.0
_WITHIN = 2
"""So many turns before and after a turn are its neighbours."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Units that may answer, by their position in the snapshot, and every factor of their score by name.

    places: the place of each by words and by meaning alone, from 1; 0 where it was not found that way. known: one of
    them may answer.
    """

    at: np.ndarray
    factors: Mapping[str, np.ndarray]
    score: np.ndarray
    places: Mapping[str, np.ndarray] = field(default_factory=dict)
    known: bool = True


@dataclass(frozen=True, slots=True)
class Found:
    """What both indexes found, unit by unit.

    at: places in the snapshot; keyword, exact, in_time, in_named: 0..1; meaning: cosines, or None for words alone;
    echo: how far it only asks; foreign: whether it is in another language, where that counts; order: the
    question wants the "latest" or the "first" of several occasions; past: it asks how it used to be; today: a day's
    ordinal.
    """

    at: np.ndarray
    keyword: np.ndarray
    meaning: np.ndarray | None
    exact: np.ndarray
    in_time: np.ndarray
    in_named: np.ndarray
    echo: np.ndarray
    foreign: np.ndarray
    order: Order
    past: bool
    today: int


def fuse(snapshot: Snapshot, found: Found, weights: Weights = WEIGHTS) -> Candidates:
    """Score what was found: the sum of its factors."""
    at = found.at
    factors = _relevance(found, snapshot.chat[at] >= 0, weights)
    base = np.where(found.echo == SAME, 0.0, np.sum(list(factors.values()), axis=0))
    factors["neighbours"] = weights.neighbours * _neighbours(snapshot.chat[at], snapshot.number[at], base)
    factors["recency"] = _recency(snapshot.day[at], found, weights)
    factors["time"] = weights.in_time * found.in_time
    factors["chat"] = weights.in_named * found.in_named
    factors["echo"] = weights.echo * found.echo
    factors["language"] = weights.foreign * found.foreign * (found.meaning is not None)
    factors["exact"] = weights.exact * found.exact
    factors["superseded"] = (weights.dead_in_past if found.past else weights.dead) * _is_dead(snapshot, at, found.today)
    places = {"keyword_rank": _places(found.keyword, found.keyword > 0)}
    if found.meaning is not None:
        places["meaning_rank"] = _places(found.meaning, snapshot.has_vector[at])
    return Candidates(at, factors, np.sum(list(factors.values()), axis=0), places)


def _relevance(found: Found, said: np.ndarray, weights: Weights) -> dict[str, np.ndarray]:
    """By words and by meaning. said: which of them are turns of chats."""
    factors: dict[str, np.ndarray] = {}
    if found.meaning is None:
        factors["keyword"] = found.keyword.copy()
        return factors
    noted = weights.keyword * np.maximum(found.keyword - weights.keyword_floor, 0.0)
    told = weights.keyword_of_turns * np.maximum(found.keyword - weights.keyword_floor_of_turns, 0.0)
    told = np.minimum(told, weights.keyword_most_of_turns)
    factors["keyword"] = np.where(said, told, noted)
    factors["meaning"] = weights.meaning * np.maximum(found.meaning, -1.0) / weights.meaning_full
    return factors


def _is_dead(snapshot: Snapshot, at: np.ndarray, today: int) -> np.ndarray:
    """Struck, over, or moved out of memory."""
    expired = (snapshot.until[at] > 0) & (snapshot.until[at] < today)
    dead: np.ndarray = snapshot.struck[at] | expired | snapshot.archived[at]
    return dead


def _places(values: np.ndarray, found: np.ndarray) -> np.ndarray:
    """1 for the highest of the found values, equal ones share a place; 0 for what was not found, or far behind."""
    falling = np.sort(-values[found])
    places = np.where(found, np.searchsorted(falling, -values) + 1, 0)
    return np.where(places > CANDIDATES, 0, places)


def _neighbours(chat: np.ndarray, number: np.ndarray, base: np.ndarray) -> np.ndarray:
    """For each turn the best score of those near it in its chat that are candidates, too; 0 outside chats."""
    result = np.zeros_like(base)
    order = np.lexsort((number, chat))
    for step in range(1, _WITHIN + 1):
        one, other = order[:-step], order[step:]
        near = (chat[one] >= 0) & (chat[one] == chat[other]) & (number[other] - number[one] <= _WITHIN)
        np.maximum.at(result, one[near], base[other[near]])
        np.maximum.at(result, other[near], base[one[near]])
    return result


def _recency(day: np.ndarray, found: Found, weights: Weights) -> np.ndarray:
    """For a unit of today the whole weight, half as much every 90 days; 0 where no day is known.

    It only breaks ties, unless the last or the first of several occasions is asked for.
    """
    age = np.maximum(found.today - day, 0)
    newness = np.where(day > 0, 0.5 ** (age / _HALF_LIFE), 0.0)
    if found.order == "first":
        return weights.order * np.where(day > 0, 1.0 - newness, 0.0)
    return (weights.order if found.order == "latest" else weights.recency) * newness
