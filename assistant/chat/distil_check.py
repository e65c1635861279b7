"""The deterministic part of distilling: what counts as a fact, what a note may say, what must not be missing.

A small model writes the notes; these rules decide. A note stands only on what the person said; every number, date,
name, path and address the person said is in a note, or the sentence that holds it is kept as it stands, or listed as
dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*", re.UNICODE)
_CJK = re.compile(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]")
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
_SMALL_TALK = frozenset(
    "ok okay yes no yeah yep nope thanks thank you great good nice fine sure cool hi hello hey bye please sorry hmm "
    "well very much got it alright perfect right lol wow 谢谢 嗯 好 好的 是 是的 对 不 不是 不用 你好 再见 哈哈 行 "
    "可以 没事 明白 知道了 收到 嗯嗯 多谢 辛苦了 早 晚安".split()
)
_QUESTION = re.compile(
    r"[?？]\s*$|^(?:who|what|when|where|why|how|which|can|could|would|should|do|does|did|is|are|was|were)\b"
    r"|^(?:will|may)\s+(?:i|we|you|he|she|it|they|the|there)\b"
    r"|(?:吗|呢|么)[。.!！]?$|^(?:谁|什么|为什么|怎么|哪|几|多少|能不能|可不可以|是不是)",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"^(?:please\s+)?(?:write|tell|explain|show|give|list|make|translate|summari[sz]e|help|find|describe|continue|repeat|"
    r"compare|suggest|draft|say|count|imagine|create)\b|^(?:请|帮我|给我|写|告诉|解释|翻译|列出|继续|介绍|说说|讲)",
    re.IGNORECASE,
)
_PERSONAL = re.compile(r"\b(?:i|i'm|i’m|my|mine|we|our|us|me)\b|我|咱|俺", re.IGNORECASE)
_STOP = frozenset(
    "a an the and or but of to in on at for with from by is are was were be been am i you he she it we they my your "
    "his her its our their me him them this that these those not no do does did has have had will would can could so "
    "as if than then there here user person says said 用户 他 她 的 了 在 是 我 你 和 与".split()
)
_GROUNDED_SHARE = 0.8  # of a note's content words: at 0.6 the 135M model made a "bad trip" of the person's trip, at
# 0.75 the 0.5B model made "酸花生过敏" of 对花生过敏
_COVERED_SHARE = 0.6  # of a sentence's content words, for one note to stand for it
_NEGATION = re.compile(r"\b(?:not|no|never|none|without|n't|cannot)\b|n['’]t\b|[不没無无未别]", re.IGNORECASE)
_MAX_ITEM = 300  # characters; a longer sentence is kept in its own words but parted


@dataclass(frozen=True, slots=True)
class Checked:
    """items: the entry's items, in order. dropped: what the person said that is no fact worth keeping."""

    items: tuple[str, ...]
    dropped: tuple[str, ...]
    refused: tuple[str, ...]  # notes of the model that do not stand on the person's words


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


def is_fact(sentence: str) -> bool:
    """Whether a sentence of the person is worth keeping on its own: a statement about them or one with hard tokens."""
    if _is_small_talk(sentence) or _QUESTION.search(sentence) or _REQUEST.search(sentence):
        return False
    if _PERSONAL.search(sentence) or hard_tokens(sentence):
        return True
    return len(_CJK.findall(sentence)) >= 4  # Chinese leaves the subject out: 对花生过敏


def _is_small_talk(sentence: str) -> bool:
    return all(word in _SMALL_TALK for word in _WORD.findall(sentence.lower()))


def hard_tokens(text: str) -> frozenset[str]:
    """Numbers, dates, codes, names, paths and addresses of a text, folded in case."""
    return frozenset(match.group().rstrip(".,:;-/").casefold() for match in _TOKEN.finditer(text)) - {""}


def content_words(text: str) -> frozenset[str]:
    """Words that carry meaning: folded, without function words; Chinese text as pairs of characters."""
    folded = text.casefold()
    latin = {w for w in _WORD.findall(_CJK.sub(" ", folded)) if w not in _STOP and len(w) > 1}
    runs = re.findall(rf"{_CJK.pattern}+", folded)
    return frozenset(latin | {run[i : i + 2] for run in runs for i in range(max(1, len(run) - 1))})


def is_grounded(note: str, said: str) -> bool:
    """Whether a note says only what the person said: its hard tokens all, most of its content words, no new "not".

    Questions, requests and small talk are no notes, whoever said them.
    """
    if _is_small_talk(note) or _QUESTION.search(note) or _REQUEST.search(note):
        return False
    if _NEGATION.search(note) and not _NEGATION.search(said):
        return False
    if not hard_tokens(f". {note}") <= _all_tokens(said):
        return False
    words = _words(note)
    return bool(words) and len(words & _words(said)) >= _GROUNDED_SHARE * len(words)


def _all_tokens(said: str) -> frozenset[str]:
    """Tokens that a note may use: the hard ones and every word, since a name may open the person's sentence."""
    return hard_tokens(said) | frozenset(w.casefold() for w in _WORD.findall(said))


def _stem(word: str) -> str:
    for ending in ("ing", "ies", "es", "ed", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def check(notes: Sequence[str], said: Sequence[str]) -> Checked:
    """The entry's items: grounded notes, then the person's own sentences that hold what the notes miss.

    notes: what the model wrote; said: what the person said, a text a turn.
    """
    whole = "\n".join(said)
    notes = list(notes)
    grounded = [note for note in _unique(notes) if is_grounded(note, whole)]
    own: list[str] = []
    dropped: list[str] = []
    for sentence in (s for text in said for s in sentences(text)):
        missing = hard_tokens(sentence) - hard_tokens(". " + " . ".join((*grounded, *own)))
        if is_fact(sentence):
            if missing or not _covered(sentence, (*grounded, *own)):
                own.append(sentence)
        elif missing:
            dropped.append(sentence)
    kept = [note for note in grounded if not any(_words(note) <= _words(sentence) for sentence in own)]
    refused = tuple(note for note in notes if note not in grounded)
    return Checked(tuple(_unique((*kept, *own))), tuple(_unique(dropped)), refused)


def _words(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in content_words(text))


def _covered(sentence: str, kept: Sequence[str]) -> bool:
    words = _words(sentence)
    return not words or any(len(words & _words(k)) >= _COVERED_SHARE * len(words) for k in kept)


def _unique(texts: Iterable[str]) -> list[str]:
    seen: dict[str, str] = {}
    for text in texts:
        seen.setdefault(" ".join(text.casefold().split()).strip(".。!！"), text)
    return list(seen.values())
