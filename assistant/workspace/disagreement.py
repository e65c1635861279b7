"""Whether two claims whose meaning is near say something else: another figure, another name, or yes against no.

Or whether they say the same in other words.
"""

from __future__ import annotations

import re
from functools import lru_cache

from assistant.workspace.contradiction import normalise
from assistant.workspace.figures import Figures, codes, figures

# How near two claims must be in meaning (cosine of their vectors less the centre of their language), by what differs.
# Tried on the 260 lines of the recall set, where nearly all pairs lie below 0.43, and on 15 contradictions in two
# languages: figures and names are found from 0.45 on; "not" stands in many a sentence that denies nothing.
_NEAR = {"date": 0.45, "time": 0.45, "weekday": 0.45, "number": 0.48, "name": 0.5, "no": 0.65}
_SAME = 0.7  # of 15 facts in other words 11 lie above it, of the 33 670 pairs of different lines in the set none
NEAREST_OF_ALL = min(_NEAR.values())
_NAME = re.compile(r"(?<![.!?:]\s)(?<!^)\b[A-Z][a-zà-ÿ]+\b")
_WORD = re.compile(r"[^\W\d_]{3,}")
_CJK_RUN = re.compile(r"[\u3400-\u9fff]+")
_LITTLE = frozenset("the and for are was has had not but you its his her our from with this that".split())
_NO_NAMES = re.compile(
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*|Dr|Mr|Mrs|Ms|The"
)


def say_the_same(one: str, other: str, nearness: float) -> bool:
    """Whether the texts say one thing in other words, given how near their meaning is and that they do not disagree."""
    if nearness < _SAME or normalise(one) == normalise(other) or _speak_of_others(one, other):
        return False
    return not _figures(one).differ(_figures(other)) and not _other_name(one, other)


def disagree(one: str, other: str, nearness: float) -> bool:
    """Whether the texts contradict each other by their figures and names, given how near their meaning is."""
    if nearness < NEAREST_OF_ALL or normalise(one) == normalise(other):
        return False
    if _speak_of_others(one, other):
        return False
    kind = _figures(one).differ(_figures(other)) or ("name" if _other_name(one, other) else "")
    return bool(kind) and nearness >= _NEAR[kind]


def shared_words(one: str, other: str) -> int:
    """How many words of some length, or pairs of Chinese characters, both texts have."""
    return len(_content(one) & _content(other))


def _speak_of_others(one: str, other: str) -> bool:
    """Two flights, parts or years: each has its own code."""
    first, second = codes(one), codes(other)
    return bool(first) and bool(second) and not first & second


def _other_name(one: str, other: str) -> bool:
    """Each has a name that the other lacks, and they share a name or a word."""
    first, second = _names(one), _names(other)
    words, others = set(_WORD.findall(one)), set(_WORD.findall(other))
    return bool(first - others) and bool(second - words) and bool(words & others)


def _names(text: str) -> set[str]:
    return {name for name in _NAME.findall(text) if not _NO_NAMES.fullmatch(name)}


@lru_cache(maxsize=4096)
def _figures(text: str) -> Figures:
    return figures(text)


@lru_cache(maxsize=4096)
def _content(text: str) -> frozenset[str]:
    plain = normalise(text)
    runs = _CJK_RUN.findall(plain)
    latin = (word.removesuffix("s") for word in _WORD.findall(_CJK_RUN.sub(" ", plain)))
    words = {word for word in latin if word not in _LITTLE}
    return frozenset(words | {run[at : at + 2] for run in runs for at in range(len(run) - 1)})
