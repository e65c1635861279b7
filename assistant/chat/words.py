"""Words, sentences and hard tokens of what a person said, in English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterable

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*", re.UNICODE)
CJK = re.compile(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]")
_SENTENCE = re.compile(r"(?<=[.!?。！？；;\n])(?:\s+|(?<=[。！？；\n]))|(?<=[。！？；])")
_TOKEN = re.compile(
    r"""https?://[^\s<>"'，。；]+ | [\w.+-]+@[\w-]+\.[\w.-]+      # addresses
    | (?:[A-Za-z]:\\|~?/)[^\s，。；,;]+                             # paths
    | [A-Za-z][A-Za-z0-9_-]*\d[A-Za-z0-9_:/.-]*                   # codes
    | \d(?:[A-Za-z0-9_:/.,-]*[A-Za-z0-9%])?                        # numbers, dates, times
    | (?<![.!?\n"“]\s)(?<!^)\b[A-Z][a-z]+\b                       # names: capitals inside a sentence
    """,
    re.VERBOSE | re.MULTILINE,
)
_STOP = frozenset(
    "a an the and or but of to in on at for with from by is are was were be been am i you he she it we they my your "
    "his her its our their me him them this that these those not no do does did has have had will would can could so "
    "as if than then there here user person says said 用户 他 她 的 了 在 是 我 你 和 与".split()
)
_MAX_ITEM = 300  # characters; a longer sentence is kept in its own words but parted


def sentences(text: str) -> list[str]:
    """The text's sentences, code blocks left out, white space folded; none longer than 300 characters."""
    bare = re.sub(r"```.*?(?:```|\Z)", "\n", text, flags=re.DOTALL)
    parts = (" ".join(part.split()) for part in _SENTENCE.split(bare) if part)
    return [piece for part in parts if part for piece in _pieces(part)]


def _pieces(sentence: str) -> Iterable[str]:
    while len(sentence) > _MAX_ITEM:
        cut = max(sentence.rfind(mark, 0, _MAX_ITEM) for mark in (" ", "，", ",", "、"))
        cut = cut + 1 if cut > _MAX_ITEM // 2 else _MAX_ITEM
        yield sentence[:cut].strip()
        sentence = sentence[cut:].strip()
    if sentence:
        yield sentence


def hard_tokens(text: str) -> frozenset[str]:
    """Numbers, dates, codes, names, paths and addresses of a text, folded in case."""
    return frozenset(match.group().rstrip(".,:;-/").casefold() for match in _TOKEN.finditer(text)) - {""}


def content_words(text: str) -> frozenset[str]:
    """Words that carry meaning: folded, without function words; Chinese text as pairs of characters."""
    folded = text.casefold()
    latin = {w for w in WORD.findall(CJK.sub(" ", folded)) if w not in _STOP and len(w) > 1}
    runs = re.findall(rf"{CJK.pattern}+", folded)
    return frozenset(latin | {run[i : i + 2] for run in runs for i in range(max(1, len(run) - 1))})


def all_tokens(said: str) -> frozenset[str]:
    """Tokens that a note may use: the hard ones and every word, since a name may open the person's sentence."""
    return hard_tokens(said) | frozenset(w.casefold() for w in WORD.findall(said))


def _stem(word: str) -> str:
    for ending in ("ing", "ies", "es", "ed", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def stems(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in content_words(text))


def stands_on(note: str, said: str) -> bool:
    """Whether half of a note's words, at least, were said; numbers are left out, for "tomorrow" becomes a date.

    A note in another script than what was said cannot be told from it by its words, and passes.
    """
    words = {word for word in stems(note) if not re.search(r"\d", word)}
    if not words or bool(CJK.search(note)) != bool(CJK.search(said)):
        return True
    return 2 * len(words & stems(said)) >= len(words)
