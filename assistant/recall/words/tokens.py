"""A text as words of the keyword index, by the same rules for units and for queries.

Spaced scripts give folded and stemmed words; Chinese, Japanese, Korean and the scripts of South-East Asia that are
written without spaces give characters and bigrams; emoji are words. What is written in one piece (`ADR-016`,
`src/app/main.py`, `a@b.com`, `camelCase`, `MU5102`) stands in parts and, by the joints between the parts, as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise

from assistant.recall.words.stems import stem
from assistant.recall.words.text import CJK, MARKS, UNSPACED, fold_width, is_symbol, plain

_PIECE = re.compile(f"[{CJK}]+|[{UNSPACED}][{UNSPACED}{MARKS}]*|[^\\s{CJK}{UNSPACED}]+")
_CJK = re.compile(f"[{CJK}]")
_CLUSTER = re.compile(f".(?:\u17d2.|\u1039.|[{MARKS}\u0e30\u0e32\u0e33\u0eb0\u0eb2\u0eb3])*", re.DOTALL)
_UNSPACED = re.compile(f"[{UNSPACED}]")
_WORD = re.compile(f"[^\\W_][^\\W_{MARKS}]*(?:[{MARKS}]+[^\\W_]*)*")
_PART = re.compile(r"\d+|[^\W\d_]+")
_HUMP = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SIGNED = re.compile(r"(?<![^\W_])([^\W\d_])(\+\+|#)(?![+#])")
_DOT_NAME = re.compile(r"(?<![^\W_])\.([^\W\d_]{2,})")
_SIGNS = {"++": "plusplus", "#": "sharp"}
_HEX = re.compile(r"(?=.*\d)[0-9a-f]{16,}")
_HASH_PREFIXES = (7, 8, 10, 12)
_PHONE = re.compile(r"(?<![\w.,:/-])(?:\+|00)?\(?\d[\d ()./-]{5,}\d(?![\w:])")
# Dates, IP addresses, decimals.
_TWO_DIGITS = re.compile(r"\d[\d ()./-]+\d")
_NO_PHONE = re.compile(
    r"(?:19|20)\d\d[-/. ]\d{1,2}[-/. ]|\d{1,2}[-/.]\d{1,2}[-/.](?:19|20)\d\d|^\d+(?:\.\d{1,3}){3}$|^\d+\.\d+$"
)
_PHONE_DIGITS = range(8, 16)
_LOCAL_DIGITS = 8
_MOST_PARTS = 3
_MOST_JOINTS = 64


@dataclass(frozen=True, slots=True)
class Piece:
    """What stands between two spaces. words: in order; joints: of each two neighbours; parts: of single words;
    names: special forms that stand for the whole piece; raw: the words before they were stemmed."""

    words: tuple[str, ...]
    joints: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    raw: tuple[str, ...] = ()


def words_of(text: str) -> tuple[list[str], list[str]]:
    """The words of a text in order, and what else it can be found by."""
    folded = fold_width(text)
    both = [words_of_piece(piece) for piece in pieces(folded)]
    words = [word for words, _ in both for word in words]
    return words, [word for _, others in both for word in others] + phone_numbers(folded)


def words_of_piece(piece: str) -> tuple[Sequence[str], Sequence[str]]:
    """The same for what ``pieces`` gives."""
    if run := unspaced_run(piece):
        return (*run, *bigrams(run)), ()
    known = piece_of(piece)
    return known.words, known.joints + known.parts + known.names


def pieces(folded: str) -> list[str]:
    """Runs of unspaced scripts and what stands between spaces, of a text folded in width."""
    return folded.split() if folded.isascii() else _PIECE.findall(folded)


def unspaced_run(piece: str) -> list[str]:
    """The characters of a run of an unspaced script, folded, marks with their letter; none for another piece."""
    if piece.isascii():
        return []
    if _CJK.match(piece):
        return list(plain(piece))
    return _CLUSTER.findall(plain(piece)) if _UNSPACED.match(piece) else []


def bigrams(run: list[str]) -> list[str]:
    """Each two neighbours of a run as one word."""
    return [first + second for first, second in pairwise(run)]


@lru_cache(maxsize=1 << 10)
def piece_of(piece: str) -> Piece:
    """The words of a piece of a spaced script, folded in width but not in case."""
    if (
        piece.isascii() and piece.isalpha() and (piece.islower() or piece.istitle())
    ):  # most are; the same by a shorter way
        word = piece.lower()
        return Piece((stem(word),), raw=(word,))
    cased = _WORD.findall(piece)
    folded = [plain(word) for word in cased]
    names = [*_symbols(piece), *_signed(piece), *(prefix for word in folded for prefix in _hash_prefixes(word))]
    words = tuple(stem(word) for word in folded)
    parts = [stem(part) for word in cased for part in _parts(word)]
    return Piece(words, tuple(joints(folded)), tuple(parts), tuple(names), tuple(folded))


def joints(words: list[str]) -> list[str]:
    """What two neighbours of one piece are written as in one word; digits keep apart."""
    pairs = islice(pairwise(words), _MOST_JOINTS)
    return [f"{a}_{b}" if a[-1].isdigit() and b[0].isdigit() else stem(a + b) for a, b in pairs]


def phone_numbers(folded: str) -> list[str]:
    """Numbers written in groups, as one: all their digits, and the last ones alone."""
    found: list[str] = []
    if not _TWO_DIGITS.search(folded):
        return found
    for number in _PHONE.findall(folded):
        digits = "".join(c for c in number if c.isdigit())
        if len(digits) in _PHONE_DIGITS and not _NO_PHONE.search(number):
            found += dict.fromkeys((digits.removeprefix("00"), digits[-_LOCAL_DIGITS:]))
    return found


def _parts(word: str) -> list[str]:
    """Humps of camelCase, letters and digits of MU5102; none for a word of one part, or of many."""
    if not word.isascii():
        return []
    parts = [plain(part) for hump in _HUMP.split(word) for part in _PART.findall(hump)]
    return parts if 1 < len(parts) <= 2 * _MOST_PARTS else []


def _signed(piece: str) -> list[str]:
    """C++, C#, .NET: names whose punctuation is the point."""
    if piece.isalnum():
        return []
    signed = [plain(letter) + _SIGNS[sign] for letter, sign in _SIGNED.findall(piece)]
    return signed + ["dot" + plain(name) for name in _DOT_NAME.findall(piece)]


def _hash_prefixes(word: str) -> list[str]:
    """Long hashes are cut short when people write of them."""
    return [word[:n] for n in _HASH_PREFIXES] if len(word) >= 16 and _HEX.fullmatch(word) else []


def _symbols(piece: str) -> list[str]:
    return [] if piece.isascii() else [f"symbol{ord(c):x}" for c in piece if is_symbol(c)]
