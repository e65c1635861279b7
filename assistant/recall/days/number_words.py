"""Small numbers as people write them: digits, English words, Chinese numerals."""

from __future__ import annotations

_ENGLISH = {
    word: n for n, word in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), 1)
}
_ENGLISH |= {"a": 1, "an": 1, "dozen": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "ninety": 90}
_ORDINALS = {
    word: number
    for number, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1)
} | {"last": -1}
_CHINESE = {char: n for n, char in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2}
_CHINESE_TENS = {"十": 10, "百": 100, "千": 1000}

COUNT = "(?:[0-9]{1,4}|" + "|".join(sorted(_ENGLISH, key=len, reverse=True)) + ")"
"""Matches a number in digits or in an English word."""
ORDINAL = "(?:[0-9]{1,2}(?:st|nd|rd|th)|" + "|".join(_ORDINALS) + ")"
ZH_COUNT = f"(?:[0-9]{{1,4}}|[{''.join(_CHINESE)}十百]{{1,5}})"
"""Matches a number in digits or in Chinese numerals."""


def number(text: str) -> int:
    """What a match of ``COUNT`` or ``ZH_COUNT`` says. Raises ValueError for numerals that say nothing (十十)."""
    if text.isascii() and text.isdecimal():
        return int(text)
    if text in _ENGLISH:
        return _ENGLISH[text]
    return _chinese(text)


def ordinal(text: str) -> int:
    """What a match of ``ORDINAL`` says; -1 for "last"."""
    return _ORDINALS[text] if text in _ORDINALS else int(text[:-2])


def _chinese(text: str) -> int:
    """Digit by digit (二〇二五) or with tens and hundreds (三十一, 百二十)."""
    if not any(char in _CHINESE_TENS for char in text):
        return int("".join(str(_CHINESE[char]) for char in text))
    total, digit, smallest = 0, 0, 10_000
    for char in text:
        if char in _CHINESE:
            digit = 10 * digit + _CHINESE[char]
            continue
        ten = _CHINESE_TENS[char]
        if ten >= smallest:
            raise ValueError(text)
        total, digit, smallest = total + ten * (digit or 1), 0, ten
    return total + digit
