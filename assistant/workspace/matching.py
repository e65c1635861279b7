"""Which lines of two texts are the same, in a time that a person would wait for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

_MOST_PAIRS = 60_000


def matcher(old: Sequence[str], new: Sequence[str]) -> SequenceMatcher[str]:
    """Of long texts with many equal lines, such as blank ones, those count only beside lines that are rare.

    difflib weighs each pair of equal lines again and again: two texts of 6 000 lines, every other one blank, take it
    minutes, while nobody means a certain one of 3 000 blank lines.
    """
    counts = Counter(old)
    pairs = sum(counts[line] for line in new)
    return SequenceMatcher(None, old, new, autojunk=pairs > _MOST_PAIRS)
