"""Lines that say the same thing but for their figures, as a log does: of such a series the newest come.

What a model makes of another number is chance, and more than recency may add (of 40 lines "walked the dog, round N"
the limit of 15 left out the newest seven).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from assistant.recall.meaning.snapshot import Snapshot
from assistant.recall.ranking.fusion import Candidates
from assistant.recall.words.tokens import words_of

_MOST = 100
"""Lines that are looked at: more than a screen of hits, and their texts are read in a millisecond."""
_DECIDE = ("exact", "superseded", "time", "echo", "language")


def newest_of_series(
    candidates: Candidates,
    snapshot: Snapshot,
    order: Sequence[int],
    chosen: Sequence[int],
    texts: Callable[[Sequence[int]], list[str]],
) -> list[int]:
    """``chosen`` with the newest of each series in its places (the oldest where the question asks for the first).

    order: all that may be shown, best first. A series are lines outside chats that hold equally much of the question.
    Where the question asks how it used to be, or goes by words alone, everything stays.
    """
    if "newer" not in candidates.factors:
        return list(chosen)
    held = {n: _held(candidates, n) for n in order if snapshot.chat[candidates.at[n]] < 0}
    by_words = candidates.places["keyword_rank"]
    often, wanted = Counter(held.values()), {held[n] for n in chosen if n in held}
    alike = [n for n in held if by_words[n] and often[held[n]] > 1 and held[n] in wanted][:_MOST]
    of = {n: (held[n], _but_figures(text)) for n, text in zip(alike, texts(alike) if alike else [], strict=True)}
    recency = candidates.factors["recency"]
    series: dict[object, list[int]] = {}
    for n in sorted(of, key=lambda n: recency[n]):
        series.setdefault(of[n], []).append(n)
    return [series[of[n]].pop() if n in of else n for n in chosen]


def _held(candidates: Candidates, n: int) -> tuple[float, ...]:
    """What a line has of the question, beside how near its meaning is."""
    factors = [round(float(candidates.factors[name][n]), 4) for name in _DECIDE]
    return (float(candidates.places["keyword_rank"][n]), *factors)


def _but_figures(text: str) -> tuple[str, ...]:
    return tuple(word for word in words_of(text)[0] if not any(character.isdigit() for character in word))
