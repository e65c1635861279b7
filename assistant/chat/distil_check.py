"""The deterministic part of distilling: what counts as a fact, what a note may say, what must not be missing.

A small model writes the notes; these rules decide. A note stands only on what the person said; every number, date,
name, path and address the person said is in a note, or the sentence that holds it is kept as it stands, or listed as
dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assistant.chat.words import CJK, WORD, all_tokens, hard_tokens, sentences, stems

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
_OF_THE_PERSON = re.compile(r"^(?:用户|该用户|他|她)")
_COVERED_SHARE = 0.6  # of a sentence's content words, for one note to stand for it
_NEGATION = re.compile(r"\b(?:not|no|never|none|without|n't|cannot)\b|n['’]t\b|[不没無无未别]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Checked:
    """items: the entry's items, in order. dropped: what the person said that is no fact worth keeping."""

    items: tuple[str, ...]
    dropped: tuple[str, ...]
    refused: tuple[str, ...]  # notes of the model that do not stand on the person's words


def is_fact(sentence: str) -> bool:
    """Whether a sentence of the person is worth keeping on its own: a statement about them or one with hard tokens."""
    if _is_small_talk(sentence) or _QUESTION.search(sentence) or _REQUEST.search(sentence):
        return False
    if _PERSONAL.search(sentence) or hard_tokens(sentence):
        return True
    return len(CJK.findall(sentence)) >= 4  # Chinese leaves the subject out: 对花生过敏


def _is_small_talk(sentence: str) -> bool:
    return all(word in _SMALL_TALK for word in WORD.findall(sentence.lower()))


def is_grounded(note: str, said: str) -> bool:
    """Whether a note says only what the person said: its hard tokens and content words all, no new "not".

    Questions, requests and small talk are no notes, whoever said them. All of the words, for one may turn a note over:
    with one of five free the 135M model made a "bad trip" of a trip, and an aunt a sister.
    """
    if _is_small_talk(note) or _QUESTION.search(note) or _REQUEST.search(note):
        return False
    if _NEGATION.search(note) and not _NEGATION.search(said):
        return False
    if not hard_tokens(f". {note}") <= all_tokens(said):
        return False
    words = stems(_OF_THE_PERSON.sub("", note))
    return bool(words) and words <= stems(said)


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
    fuller = [*own, *grounded]
    kept = [note for note in grounded if not any(stems(note) < stems(other) for other in fuller)]
    kept = [note for note in kept if not any(stems(note) == stems(sentence) for sentence in own)]
    refused = tuple(note for note in notes if note not in grounded)
    return Checked(tuple(_unique((*kept, *own))), tuple(_unique(dropped)), refused)


def _covered(sentence: str, kept: Sequence[str]) -> bool:
    words = stems(sentence)
    return not words or any(len(words & stems(k)) >= _COVERED_SHARE * len(words) for k in kept)


def _unique(texts: Iterable[str]) -> list[str]:
    seen: dict[str, str] = {}
    for text in texts:
        seen.setdefault(" ".join(text.casefold().split()).strip(".。!！"), text)
    return list(seen.values())
