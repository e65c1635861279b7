"""Which of the candidates are shown: how far down the list goes, and what says the same again makes room for others.

Numbers are measured on three labelled sets (docs/decisions/0032-along.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from assistant.recall.meaning.snapshot import Snapshot
from assistant.recall.ranking.fusion import Candidates
from assistant.recall.ranking.series import newest_of_series
from assistant.recall.words.stop_words import stop_words
from assistant.recall.words.tokens import words_of

END = 0.25
"""Of the best relevance, below which a hit is not worth a place: 20 lines become 9, recall@10 loses 0.4 points."""
_END_OF_WORDS = 0.5
"""Of what words give the best; above that a hit holds what was typed, and is shown however little it means."""
_DIVERSITY = 0.1
"""What a hit loses that says just what one above it says (maximal marginal relevance, Carbonell and Goldstein 1998)."""
_ALIKE = 0.8
"""From which cosine on two texts begin to say the same."""
_A_CHAT = 4
_POOL = 40
"""So many of the best are looked through for those that say the same word by word."""
_READ = 2_000
"""Characters of each: of a pasted text of a megabyte the beginning and the length tell enough."""


def arrange(
    candidates: Candidates,
    snapshot: Snapshot,
    vectors: np.ndarray | None,
    limit: int,
    texts: Callable[[Sequence[int]], list[str]],
) -> list[int]:
    """Indices into ``candidates``, best first, ``limit`` at most.

    vectors: of the candidates, less their centres, of length 1; None: by words alone. texts: of candidates, by index.
    One of several that say the same word for word stands for all: that of memory, else the newest; they, and the fifth
    and later hits of one chat that the question does not name, go behind the others. Of lines that differ in figures
    alone the newest come (see ``newest_of_series``).
    """
    order = worth_showing(candidates)
    order, again = _without_repeats(candidates, snapshot, order, texts)
    chosen, postponed = list[int](), list[int]()
    of_chat: dict[int, int] = {}
    for n in _diverse(candidates, vectors, order):
        if len(chosen) == limit:
            break
        chat = int(snapshot.chat[candidates.at[n]])
        of_chat[chat] = of_chat.get(chat, 0) + 1
        named = candidates.factors["chat"][n] > 0
        (postponed if chat >= 0 and of_chat[chat] > _A_CHAT and not named else chosen).append(n)
    shown = newest_of_series(candidates, snapshot, order, chosen, texts)
    return (shown + postponed + again)[:limit]


def relevance(candidates: Candidates) -> np.ndarray:
    """What the scores are without what decides by itself: an exact name, or that a line is out of date."""
    fit: np.ndarray = candidates.score - candidates.factors["exact"] - candidates.factors["superseded"]
    return fit


def worth_showing(candidates: Candidates) -> list[int]:
    """Indices, best first, up to those that are too far behind the best to be worth a place."""
    fit = relevance(candidates)
    order = np.argsort(-candidates.score, kind="stable")
    words = candidates.factors["keyword"]
    kept = (fit >= min(END * fit.max(), fit.max())) | (candidates.factors["exact"] > 0)
    kept |= (words > 0) & (words >= _END_OF_WORDS * words.max())
    return [int(n) for n in order if kept[n]]


def _without_repeats(
    candidates: Candidates, snapshot: Snapshot, order: list[int], texts: Callable[[Sequence[int]], list[str]]
) -> tuple[list[int], list[int]]:
    """The order with one for all that hold the same words, in the place of the first of them; and the others."""
    pool = order[:_POOL]
    alike: dict[object, list[int]] = {}
    for n, text in zip(pool, texts(pool), strict=True):
        words, rest = _content(text[:_READ]), max(len(text) - _READ, 0)
        key = (words, rest, bool(candidates.factors["exact"][n]), bool(candidates.factors["superseded"][n]))
        alike.setdefault(key if words else n, []).append(n)

    def standing(n: int) -> tuple[bool, int]:
        at = candidates.at[n]
        return bool(snapshot.chat[at] < 0), int(snapshot.day[at])

    first = [max(group, key=standing) for group in alike.values()]
    kept = set(first)
    return first + order[_POOL:], [n for n in pool if n not in kept]


def _content(text: str) -> frozenset[str]:
    """The words that say something."""
    return frozenset(words_of(text)[0]) - stop_words().english


def _diverse(candidates: Candidates, vectors: np.ndarray | None, order: list[int]) -> Iterator[int]:
    """The order by score less likeness to what stands above; an exact name stays before what holds none.

    One at a time, for whoever takes them mostly wants a few.
    """
    if vectors is None or len(order) < 2:
        yield from order
        return
    left = np.array(order)
    score = candidates.score[left]
    of_left = vectors[left]
    likeness = np.zeros(len(left), np.float32)
    for _ in order:
        best = int(np.argmax(score - _DIVERSITY * np.maximum(likeness - _ALIKE, 0.0) / (1.0 - _ALIKE)))
        yield int(left[best])
        score[best] = -np.inf
        np.maximum(likeness, of_left @ of_left[best], out=likeness)
