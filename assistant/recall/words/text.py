"""Text as the keyword index sees it: one form for what differs only in width, case, accents or script variant.

Both sides, units and queries, are folded alike.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from importlib import resources

LANGUAGES = ("en", "zh", "xx")
"""As ``language`` tells them apart."""
# Han (with extensions), kana, hangul: scripts written without spaces, or (hangul) with endings glued to the word.
CJK = "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
# Letters and vowel signs of Thai, Lao, Burmese and Khmer, which have no spaces between words.
UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u108f\u109a-\u109d"
    "\u1780-\u17d3\u17dc\u17dd\ua9e0-\ua9ef\uaa60-\uaa7f"
)
# Signs that belong to the letter before: what Python's \w leaves out of the words of Indic and other scripts.
MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u07a6-\u07b0\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963"
    "\u0981-\u0983\u09bc-\u09cd\u09d7\u09e2\u09e3\u0a01-\u0a03\u0a3c-\u0a4d\u0a51\u0a70\u0a71\u0a75\u0a81-\u0a83\u0abc-\u0acd"
    "\u0ae2\u0ae3\u0b01-\u0b03\u0b3c-\u0b4d\u0b55-\u0b57\u0b62\u0b63\u0b82\u0bbe-\u0bcd\u0bd7\u0c00-\u0c04\u0c3c-\u0c56\u0c62"
    "\u0c63\u0c81-\u0c83\u0cbc-\u0cd6\u0ce2\u0ce3\u0d00-\u0d03\u0d3b-\u0d4d\u0d57\u0d62\u0d63\u0d81-\u0d83\u0dca-\u0ddf\u0e31"
    "\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u0f18\u0f19\u0f35\u0f37\u0f39\u0f71-\u0f84\u0f8d-\u0fbc"
    "\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u135d-\u135f\u17b4-\u17d3"
    "\u17dd\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\u3099\u309a"
)
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_KANA_OR_HANGUL = re.compile("[\u3040-\u30ff\uac00-\ud7af]")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]{2,}")
# Soft hyphens, joiners, directions, variation selectors: written, not seen.
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")
# Signs that one may write or not: accents, the vowels of Arabic and Hebrew, the Arabic stroke, the Indic nukta.
_OPTIONAL = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed\u093c\u1ab0-\u1aff\u1dc0-\u1dff]"
)
_ACCENTED = re.compile("[\u00c0-\u052f\u1e00-\u1fff]")
_LIKE = str.maketrans(
    "øłđıħðŀŧƶɨʉ" + "أإآٱؤئىةکیگ" + "ךםןףץ" + "ґ",
    "oldihdltziu" + "ااااوييهكيك" + "כמנפצ" + "г",
    "",
) | {ord("æ"): "ae", ord("œ"): "oe", ord("þ"): "th", ord("ŋ"): "ng", ord("ĳ"): "ij"}


def fold(text: str) -> str:
    """One form for full and half width, traditional and simplified, upper and lower case."""
    return unicodedata.normalize("NFKC", text).translate(_simplified()).casefold()


def fold_width(text: str) -> str:
    """One form for full and half width and for composed and decomposed letters, without what cannot be seen."""
    return text if text.isascii() else unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))


def plain(text: str) -> str:
    """What ``fold_width`` gave, without case and accents; traditional as simplified, digits of any script as 0-9."""
    lower = text.casefold()
    return lower if lower.isascii() else lower.translate(_plain_letters())


def is_symbol(char: str) -> bool:
    """Emoji and pictures, as opposed to punctuation."""
    return char > "\u2000" and unicodedata.category(char) == "So"


def language(text: str) -> str:
    """``zh`` when Han characters outweigh Latin words, ``xx`` for kana and hangul, else ``en``. Coarse on purpose."""
    if _KANA_OR_HANGUL.search(text):
        return "xx"
    return "zh" if len(_HAN.findall(text)) > 2 * len(_LATIN.findall(text)) else "en"


class _PlainLetters(dict[int, str]):
    """What ``plain`` makes of each character, found out when it is first met."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if like := _LIKE.get(code) or _simplified().get(code):
            result = like if isinstance(like, str) else chr(like)
        elif _OPTIONAL.match(char):
            result = ""
        elif char.isdecimal():
            result = str(unicodedata.decimal(char))
        elif _ACCENTED.match(char):
            bare = "".join(c for c in unicodedata.normalize("NFD", char) if not unicodedata.combining(c))
            result = bare.translate(_LIKE)
        else:
            result = char
        self[code] = result
        return result


@cache
def _plain_letters() -> _PlainLetters:
    return _PlainLetters()


@cache
def _simplified() -> dict[int, int]:
    """Of the pairs of lines of ``simplified.txt``, the later ones for what the earlier ones leave."""
    table = resources.files(__package__).joinpath("simplified.txt").read_text(encoding="utf-8")
    lines = [line for line in table.splitlines() if not line.startswith("#")]
    return {k: v for n in range(len(lines) - 2, -1, -2) for k, v in str.maketrans(lines[n], lines[n + 1]).items()}
