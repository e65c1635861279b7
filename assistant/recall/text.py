"""Text as the keyword index sees it: folded, with CJK runs and symbols turned into words of their own.

Both sides, units and queries, are folded alike; the FTS5 tokeniser then stems Latin words and drops diacritics and
punctuation.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from importlib import resources

# Han (with extensions), kana, hangul: scripts written without spaces, or (hangul) with endings glued to the word.
CJK = "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
_CJK_RUN = re.compile(f"[{CJK}]+")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_KANA_OR_HANGUL = re.compile("[\u3040-\u30ff\uac00-\ud7af]")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]{2,}")
# C++, C#, F#: names whose punctuation is the point.
_SIGNED_NAME = re.compile(r"(?<![A-Za-z0-9])([A-Za-z])(\+\+|#)(?![+#])")
_SIGN_WORDS = {"++": "plusplus", "#": "sharp"}


def fold(text: str) -> str:
    """One form for full and half width, traditional and simplified, upper and lower case."""
    return unicodedata.normalize("NFKC", text).translate(_simplified()).casefold()


def indexable(text: str) -> str:
    """Folded text in which every CJK run also stands as characters and bigrams, and every symbol as a word."""
    folded = _with_symbol_words(_with_signed_names(fold(text)))
    return _CJK_RUN.sub(lambda run: f" {' '.join(cjk_terms(run.group()))} ", folded)


def cjk_runs(text: str) -> list[str]:
    """The CJK runs of a folded text."""
    return _CJK_RUN.findall(text)


def without_cjk(text: str) -> str:
    """A folded text with its CJK runs blanked out; symbols and signed names stand as words."""
    return _with_symbol_words(_with_signed_names(_CJK_RUN.sub(" ", text)))


def cjk_terms(run: str) -> list[str]:
    """Characters and bigrams of a run: what the index holds of it."""
    return [*run, *bigrams(run)]


def bigrams(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]


def language(text: str) -> str:
    """``zh`` when Han characters outweigh Latin words, ``xx`` for kana and hangul, else ``en``. Coarse on purpose."""
    if _KANA_OR_HANGUL.search(text):
        return "xx"
    return "zh" if len(_HAN.findall(text)) > 2 * len(_LATIN.findall(text)) else "en"


def _with_signed_names(text: str) -> str:
    return _SIGNED_NAME.sub(lambda m: f"{m[0]} {m[1]}{_SIGN_WORDS[m[2]]} ", text)


def _with_symbol_words(text: str) -> str:
    if text.isascii():
        return text
    return "".join(f" symbol{ord(c):x} " if _is_symbol(c) else c for c in text)


def _is_symbol(char: str) -> bool:
    return char > "\u2000" and unicodedata.category(char) == "So"


@cache
def _simplified() -> dict[int, str]:
    table = resources.files(__package__).joinpath("simplified.txt").read_text(encoding="utf-8")
    traditional, simplified = (line for line in table.splitlines() if not line.startswith("#"))
    return str.maketrans(dict(zip(traditional, simplified, strict=True)))
