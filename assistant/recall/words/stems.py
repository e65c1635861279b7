"""Light stemming: the endings of number, case and tense go, what a word means stays.

Both sides, units and queries, are stemmed alike, so a stem need not be a word. Words in Latin letters go by the first
and the last steps of Porter's rules for English (M. F. Porter, "An algorithm for suffix stripping", 1980), which fit
the plurals of Spanish, Portuguese and French, too; for other scripts the usual endings of their most read languages go.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_LEAST = 4
_LONGEST = 40
_LATIN = re.compile("[a-z]+")
_VOWEL = re.compile("[aeiou]|(?<=[^aeiou])y")
_DOUBLE = re.compile(r"([^aeiouylsz])\1$")
_SHORT = re.compile("(?:^|[^aeiou])[aeiouy][^aeiouwxy]$")
_MEASURE = re.compile("(?:[aeiou]|(?<=[^aeiou])y)+(?:[^aeiouy]|(?<=[aeiou])y|^y)")


@dataclass(frozen=True, slots=True)
class _Script:
    """letters: what a word of it is made of; endings, beginnings: longest first; least: letters that must be left."""

    letters: re.Pattern[str]
    endings: tuple[str, ...]
    beginnings: tuple[str, ...] = ()
    least: int = 3


def _script(letters: str, endings: str, beginnings: str = "", least: int = 3) -> _Script:
    ends, begins = (tuple(sorted(words.split(), key=len, reverse=True)) for words in (endings, beginnings))
    return _Script(re.compile(f"[{letters}]+"), ends, begins, least)


# In the form of ``text.plain``: no accents, й as и, ة as ه, no final forms of letters.
_SCRIPTS = (
    _script(
        "\u0400-\u052f",
        "иями ями ами иях ях ах ием ем ом ам ям иев ов ев еи ого его ому ему ыми ими ыи ии ои ая яя ое ее ые ие ую "
        "юю ым им ых их ою ею ия ию а я о е и ы у ю ь ться тся ть ала али ало ал ила или ило ил ет ют ит ят ишь ешь",
    ),
    _script("\u0370-\u03ff", "ουσ ων εσ ασ ησ οσ ου οι εισ εων α η ο ι ε υ ωσ"),
    _script("\u0620-\u06ff", "ها ان ات ون ين يه هم ه ي", "وال بال كال فال لل ال"),
    _script("\u05d0-\u05ea", "ימ ות", "ה ו ב ל מ ש כ"),
    _script("\u0900-\u097f", "ियों ियाँ ियां ाओं ाएं ाएँ ुओं ों ें े ी ा ो ि ु ू ं ँ", least=2),
)


@lru_cache(maxsize=1 << 12)
def stem(word: str) -> str:
    """The stem of a word in the form of ``text.plain``; itself where it is short, a code, or of an unknown script."""
    if not _LEAST <= len(word) <= _LONGEST:
        return word
    if _LATIN.fullmatch(word):
        return _without_e(_y_to_i(_without_tense(_without_plural(word))))
    for script in _SCRIPTS:
        if script.letters.fullmatch(word):
            return _cut(word, script)
    return word


def _cut(word: str, script: _Script) -> str:
    for beginning in script.beginnings:
        if word.startswith(beginning) and len(word) - len(beginning) > script.least:
            word = word[len(beginning) :]
            break
    for ending in script.endings:
        if word.endswith(ending) and len(word) - len(ending) >= script.least:
            return word[: -len(ending)]
    return word


def _without_plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _without_tense(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    rest = word[:-3] if word.endswith("ing") else word[:-2] if word.endswith("ed") else ""
    if not _VOWEL.search(rest):
        return word
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if _DOUBLE.search(rest):
        return rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _SHORT.search(rest) else rest


def _y_to_i(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and _VOWEL.search(word[:-1]) else word


def _without_e(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        measure = _measure(rest)
        return rest if measure > 1 or (measure == 1 and not _SHORT.search(rest)) else word
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def _measure(word: str) -> int:
    """How many times consonants follow on vowels."""
    return len(_MEASURE.findall(word))
