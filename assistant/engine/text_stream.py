"""Bytes of tokens become text that can be shown: whole characters, no half stop strings, few writes.

A character as a person sees it may be many code points (a flag, a family emoji, a Hangul syllable of single letters, a
letter with marks), a code point many bytes, and either may be split over tokens. What may still grow is held back.
"""

from __future__ import annotations

import codecs
import unicodedata
from collections.abc import Sequence

_JOINER = "\u200d"
_HELD_AT_MOST = 64
"""Code points held back at the most, so that a model that only emits marks is still shown."""
_WHOLE = ((0x2E80, 0xA4CF), (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0xFE30, 0xFFEF), (0x20000, 0x3FFFF))
"""CJK, kana, Hangul syllables, full-width forms: complete as they are, so that they show without delay."""


def _is_regional(char: str) -> bool:
    return 0x1F1E6 <= ord(char) <= 0x1F1FF


def _is_jamo(char: str) -> bool:
    """A conjoining Hangul letter (Unicode 16, 3.12); compatibility letters such as ㅋ stand alone."""
    code = ord(char)
    return 0x1100 <= code <= 0x11FF or 0xA960 <= code <= 0xA97F or 0xD7B0 <= code <= 0xD7FF


def _extends(char: str) -> bool:
    """Whether the character belongs to the one before it."""
    code = ord(char)
    return (
        char in (_JOINER, "\u200c")
        or 0x1F3FB <= code <= 0x1F3FF  # skin tones
        or 0xFE00 <= code <= 0xFE0F  # variation selectors
        or 0xE0020 <= code <= 0xE01EF  # tags of sub-national flags, more selectors
        or unicodedata.category(char) in ("Mn", "Me", "Mc")
    )


def _may_grow(char: str) -> bool:
    """Whether a character that follows may join this one."""
    code = ord(char)
    if code < 0x80:
        return False  # a digit may become a keycap, but stands for itself, and half of all lists begin with one
    if _is_jamo(char) or _extends(char):
        return True
    if code in (0x3030, 0x303D, 0x3297, 0x3299):  # CJK signs that are emoji too
        return True
    if any(first <= code <= last for first, last in _WHOLE):
        return False
    return unicodedata.category(char) not in ("Po", "Ps", "Pe", "Pi", "Pf", "Pd", "Zs", "Zl", "Zp")


def _starts_anew(text: str, at: int) -> bool:
    """Whether a new visible character starts at ``at``."""
    before, char = text[at - 1], text[at]
    if _extends(char) or before == _JOINER:
        return False
    if _is_jamo(char) and (_is_jamo(before) or 0xAC00 <= ord(before) <= 0xD7A3):
        return False
    if _is_regional(char) and _is_regional(before):
        run = at - len(text[:at].rstrip("".join(map(chr, range(0x1F1E6, 0x1F200)))))
        return run % 2 == 0
    return True


def _whole_length(text: str) -> int:
    """How much of the text is made of characters that can no longer grow."""
    if not text or not _may_grow(text[-1]):
        return len(text)
    at = len(text) - 1
    while at > 0 and len(text) - at < _HELD_AT_MOST and not _starts_anew(text, at):
        at -= 1
    return at if len(text) - at < _HELD_AT_MOST else len(text)


class TextStream:
    """Bytes in, whole characters out."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""

    def push(self, piece: bytes) -> str:
        """The text that is complete now."""
        text = self._held + self._decoder.decode(piece)
        cut = _whole_length(text)
        self._held = text[cut:]
        return text[:cut]

    def finish(self) -> str:
        """What was held back. Bytes of a character that never became whole are no text and are left out."""
        text, self._held = self._held, ""
        return text


class StopStrings:
    """Ends a text before the first of some strings, and never lets a part of one through."""

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = tuple(stop for stop in stops if stop)
        self._held = ""
        self.found = False

    def push(self, text: str) -> str:
        """The text that is surely before any stop string; nothing any more once one was found."""
        if self.found:
            return ""
        text = self._held + text
        starts = [at for stop in self._stops if (at := text.find(stop)) >= 0]
        if starts:
            self.found, self._held = True, ""
            return text[: min(starts)]
        keep = max((overlap(text, stop) for stop in self._stops), default=0)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def finish(self) -> str:
        """What was held back and turned out to be no stop string."""
        text, self._held = self._held, ""
        return text


def overlap(text: str, stop: str) -> int:
    """Length of the longest end of ``text`` that is a beginning of ``stop``."""
    return next((size for size in range(min(len(stop) - 1, len(text)), 0, -1) if text.endswith(stop[:size])), 0)
