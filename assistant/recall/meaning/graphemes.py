"""Where a text may be cut without breaking what a person sees as one character."""

from __future__ import annotations

import unicodedata

_REACH = 64
"""Longer clusters are noise (Unicode calls a text stream-safe with 30 marks in a row)."""
_JOINER = "\u200d"
_REGIONAL = ("\U0001f1e6", "\U0001f1ff")
_SKIN = ("\U0001f3fb", "\U0001f3ff")
_TAGS = ("\U000e0020", "\U000e007f")
_HANGUL_PARTS = ("\u1160", "\u11ff")
"""Vowels and final consonants, which belong to the consonant before them."""


def cluster_border(text: str, at: int) -> int:
    """``at``, or the last place before it that parts no cluster (after Unicode's annex 29, without its rare cases).

    Where a cluster is longer than any that a person writes, ``at`` itself.
    """
    for place in range(at, max(at - _REACH, -1), -1):
        if not _inside(text, place):
            return place
    return at


def _inside(text: str, at: int) -> bool:
    """Whether the characters on both sides of a place are parts of one cluster."""
    if at <= 0 or at >= len(text):
        return False
    before, after = text[at - 1], text[at]
    if before == "\r" and after == "\n":
        return True
    if before == _JOINER or after == _JOINER or unicodedata.category(after).startswith("M"):
        return True
    if any(first <= after <= last for first, last in (_SKIN, _TAGS, _HANGUL_PARTS)):
        return True
    return _regional(before) and _regional(after) and _flags_before(text, at) % 2 == 1


def _regional(character: str) -> bool:
    return _REGIONAL[0] <= character <= _REGIONAL[1]


def _flags_before(text: str, at: int) -> int:
    """How many regional letters stand in a row before a place: two make a flag. Counted back so far as matters."""
    start = at
    while start and at - start < 2 * _REACH and _regional(text[start - 1]):
        start -= 1
    return at - start
