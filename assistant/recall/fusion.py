"""How keyword and meaning become one score, and which hits are shown. Plain functions over arrays; see ``Weights``.

Weights and thresholds are measured on a labelled set of everyday facts and chats in English and Chinese.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from assistant.recall.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Weights:
    """What each part of a score may add, all measured together on three labelled sets (see docs/decisions).

    keyword: of memory and notes, which say a thing once, in words of their own; keyword_of_turns: people in a chat repeat
    the words. Their floors: a share of the query's words this small is chance, and counts for nothing;
    meaning_full: the cosine at which meaning counts for all; hub: how much of a unit's nearness to any question at all
    is taken off its cosine; neighbours: of the best turn within ``_WITHIN`` of a turn.
    """

    keyword: float = 0.55
    keyword_floor: float = 0.1
    keyword_of_turns: float = 1.0
    keyword_floor_of_turns: float = 0.05
    meaning: float = 0.45
    meaning_full: float = 0.5
    hub: float = 0.6
    neighbours: float = 0.25
    recency: float = 0.02
    in_time: float = 0.3
    exact: float = 2.0
    dead: float = -4.0


WEIGHTS = Weights()
CANDIDATES = 200
"""Of each side."""
_WITHIN = 2
"""So many turns before and after a turn are its neighbours."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Units that may answer, by their position in the snapshot, and every factor of their score by name.

    places: the place of each by words and by meaning alone, from 1; 0 where it was not found that way.
    """

    at: np.ndarray
    factors: Mapping[str, np.ndarray]
    score: np.ndarray
    places: Mapping[str, np.ndarray] = field(default_factory=dict)


def fuse(
    snapshot: Snapshot,
    at: np.ndarray,
    keyword: np.ndarray,
    meaning: np.ndarray | None,
    exact: np.ndarray,
    in_time: np.ndarray,
    today: int,
    weights: Weights = WEIGHTS,
) -> Candidates:
    """Score the units at ``at``. keyword: 0..1; meaning: cosines, or None for keywords alone; the rest: 0..1."""
    factors: dict[str, np.ndarray] = {}
    if meaning is None:
        factors["keyword"] = keyword.copy()
    else:
        said = snapshot.chat[at] >= 0
        noted = weights.keyword * np.maximum(keyword - weights.keyword_floor, 0.0)
        told = weights.keyword_of_turns * np.maximum(keyword - weights.keyword_floor_of_turns, 0.0)
        factors["keyword"] = np.where(said, told, noted)
        factors["meaning"] = weights.meaning * np.maximum(meaning, -1.0) / weights.meaning_full
    base = np.sum(list(factors.values()), axis=0)
    factors["neighbours"] = weights.neighbours * _neighbours(snapshot.chat[at], snapshot.number[at], base)
    factors["recency"] = weights.recency * _recency(snapshot.day[at], today)
    factors["time"] = weights.in_time * in_time
    factors["exact"] = weights.exact * exact
    expired = (snapshot.until[at] > 0) & (snapshot.until[at] < today)
    dead = snapshot.struck[at] | expired | snapshot.archived[at]
    factors["superseded"] = weights.dead * dead
    places = {"keyword_rank": _places(keyword, keyword > 0)}
    if meaning is not None:
        places["meaning_rank"] = _places(meaning, snapshot.has_vector[at])
    return Candidates(at, factors, np.sum(list(factors.values()), axis=0), places)


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


def _recency(day: np.ndarray, today: int) -> np.ndarray:
    """1 for today, falling by half every 90 days; 0 where no day is known. It only breaks ties."""
    age = np.maximum(today - day, 0)
    return np.where(day > 0, 0.5 ** (age / 90.0), 0.0)


def arrange(
    candidates: Candidates, snapshot: Snapshot, vectors: np.ndarray, limit: int, a_chat: int = 4, alike: float = 0.985
) -> list[int]:
    """Indices into ``candidates``, best first, ``limit`` at most. vectors: of the candidates, as they are stored.

    A hit that says again what stands above it, and the fifth and later hits of one chat, go behind the others.
    """
    order = [int(n) for n in np.argsort(-candidates.score, kind="stable")]
    chosen: list[int] = []
    postponed: list[int] = []
    of_chat: dict[int, int] = {}
    for n in order:
        if len(chosen) >= limit:
            break
        at = candidates.at[n]
        chat = int(snapshot.chat[at])
        if (chat >= 0 and of_chat.get(chat, 0) >= a_chat) or _repeats(vectors, n, chosen, alike):
            postponed.append(n)
            continue
        of_chat[chat] = of_chat.get(chat, 0) + 1
        chosen.append(n)
    return (chosen + postponed)[:limit]


def _repeats(vectors: np.ndarray, n: int, chosen: list[int], alike: float) -> bool:
    return bool(chosen) and bool((vectors[chosen] @ vectors[n]).max() > alike)
