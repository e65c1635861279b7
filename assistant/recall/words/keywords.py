"""Scores between 0 and 1 of what the keyword index finds for a query, and what tells silence from noise."""

from __future__ import annotations

import math
import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant.recall.words.query_terms import Term, query_terms

if TYPE_CHECKING:
    import numpy as np

    from assistant.recall.words.word_index import Found, WordIndex

__all__ = ["KeywordHits", "Term", "query_terms", "search_words", "units_with_all"]

_RARE_CODE, _RARE_CODE_ONE_IN = 10, 500
_RARE_WORD, _RARE_WORD_ONE_IN = 2, 50_000
_NAME_ONE_IN = 2_000
_SELDOM = 40
"""In one of so many units at most. Who is spoken of all the time tells no question from another."""
_ACROSS = 0.5
_WHOLE_SHARE = 0.7
"""Of the query's weight: of what is rare but ordinary, only a word that is nearly all of the query comes first."""


@dataclass(frozen=True, slots=True)
class KeywordHits:
    """scores: unit row -> 0..1; exact: rows that hold a code, a rare name, or a rare word that is nearly all of it;
    strangers: the query names something, by a capital inside the sentence, that stands nowhere;
    named: one that seldom does.

    coverage: the share of the query's weight that the best single unit holds in its own text; known: the share whose
    terms stand anywhere in the index. Both 0..1, 0 without terms. A term weighs its idf; parts of words, single
    characters, and pairs of characters that never meet weigh less.
    """

    scores: dict[int, float]
    exact: frozenset[int]
    strangers: bool = False
    named: bool = False
    coverage: float = 0.0
    known: float = 0.0


@dataclass(frozen=True, slots=True)
class _Weighed:
    """A term, where it stands, and what it counts."""

    term: Term
    found: Found
    weight: float

    @property
    def count(self) -> int:
        return len(self.found.at)

    @property
    def telling(self) -> float:
        """What it counts for silence: that two characters never meet says little where they may be of two words."""
        return self.weight * (_ACROSS if self.term.across and not self.count else 1.0)


def search_words(
    connection: sqlite3.Connection, terms: list[Term], allowed: np.ndarray | None, most: int
) -> KeywordHits:
    """The best ``most`` units for any of the terms. allowed: ids of the units that may be found, ascending; None: all.

    A unit's score is its BM25 over that of an ideal unit, which holds every term as well as can be (capped at 1), so it
    tells silence from noise whatever the query's length.
    """
    if not terms:
        return KeywordHits({}, frozenset())
    from assistant.recall.words.word_index import K1, WordIndex

    index = WordIndex(connection)
    weighed = [_weighed(index, term) for term in terms]
    ideal = sum(one.weight for one in weighed)
    strangers = any(one.term.name and not one.count for one in weighed)
    named = any(one.term.name and 0 < _SELDOM * one.count <= index.units for one in weighed)
    known = sum(one.weight for one in weighed if one.count) / sum(one.telling for one in weighed)
    if not known:
        return KeywordHits({}, frozenset(), strangers)
    mask = None if allowed is None else index.mask(allowed)
    at, score = _best(_scores(index, weighed), mask, most)
    scores = dict(zip(index.ids(at).tolist(), (score / (ideal * (K1 + 1))).clip(max=1.0).tolist(), strict=True))
    exact = _exact(index, weighed, mask, most)
    for row in exact:
        scores.setdefault(row, 0.0)
    return KeywordHits(scores, frozenset(exact), strangers, named, _coverage(weighed, at), known)


def units_with_all(connection: sqlite3.Connection, terms: list[Term], most: int) -> list[int]:
    """Ids of units that hold all the terms, in their text or around it, newest first."""
    import numpy as np

    from assistant.recall.words.word_index import WordIndex

    if not terms:
        return []
    index = WordIndex(connection)
    at = np.arange(index.places)
    for term in terms:
        at = at if term.whole else at[_find(index, term).codes(at) > 0]
    return [int(unit) for unit in index.ids(at[::-1][:most])]


def _weighed(index: WordIndex, term: Term) -> _Weighed:
    found = _find(index, term)
    return _Weighed(term, found, term.weight * _idf(index.units, len(found.at)))


def _find(index: WordIndex, term: Term) -> Found:
    return index.find(term.tokens[0]) if len(term.tokens) == 1 else index.phrase(term.tokens, term.joints)


def _scores(index: WordIndex, weighed: list[_Weighed]) -> np.ndarray:
    """BM25 of every place."""
    import numpy as np

    scores = np.zeros(index.places, np.float32)
    saturation = index.saturation()
    for one in weighed:
        scores[one.found.at] += np.float32(one.weight) * index.strength(one.found, saturation)
    return scores


def _best(scores: np.ndarray, mask: np.ndarray | None, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Places and scores of the highest positive scores among the allowed ones."""
    import numpy as np

    at = np.flatnonzero(scores if mask is None else scores * mask)
    if len(at) > most:
        at = at[np.argpartition(scores[at], len(at) - most)[-most:]]
    return at, scores[at]


def _coverage(weighed: list[_Weighed], at: np.ndarray) -> float:
    """The share of the query's weight that the best of these places has in its own text."""
    import numpy as np

    held = np.zeros(len(at))
    for one in weighed:
        held += one.weight * one.found.is_in_text(at)
    return float(held.max(initial=0.0)) / sum(one.telling for one in weighed)


def _exact(index: WordIndex, weighed: list[_Weighed], mask: np.ndarray | None, most: int) -> set[int]:
    """Units that hold a rare name in their own text (being next to one that does is not enough)."""
    exact: set[int] = set()
    ideal = sum(one.weight for one in weighed)
    for one in weighed:
        at = one.found.in_text
        at = at if mask is None else at[mask[at]]
        if not one.count or one.count > _most_units(one, index.units):
            continue
        if one.term.code or one.term.whole or _is_rare_name(one, index.units) or one.weight >= _WHOLE_SHARE * ideal:
            exact.update(index.ids(at[-most:]).tolist())
    return exact


def _most_units(one: _Weighed, units: int) -> int:
    """In how many units a term may stand and be rare; a part of a word never is."""
    if one.term.code:
        return max(_RARE_CODE, units // _RARE_CODE_ONE_IN)
    return 0 if one.term.weight < 1 and not one.term.whole else max(_RARE_WORD, units // _RARE_WORD_ONE_IN)


def _is_rare_name(one: _Weighed, units: int) -> bool:
    """Among few units nearly every name stands in one or two: that says little yet."""
    return one.term.name and units >= _NAME_ONE_IN * one.count


def _idf(total: int, count: int) -> float:
    """As FTS5 computes it, never below its own floor."""
    return max(math.log((total - count + 0.5) / (count + 0.5)), 1e-6)
