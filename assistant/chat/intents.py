"""What a person asks of the memory in plain words, without a model: "remember that ...", 记住..., ``/remember``,
"what did I say about ...", 我说过…什么, "forget ...", 忘掉….
"""

from __future__ import annotations

from dataclasses import dataclass

from assistant.chat.intent_patterns import (
    ABOUT,
    ASKED_POLITELY,
    BEHIND,
    FORGET,
    NO_MATTER,
    PARTS,
    QUESTION,
    REMEMBER,
    ZH_ABOUT,
    ZH_ASKS,
    ZH_FORGET,
    ZH_MISSED,
    ZH_TAKEN,
)
from assistant.chat.words import CJK
from assistant.recall.words.stop_words import stop_words

_MARKS = " .,;:!?…\"'。，；：！？"
_MOST_CHARACTERS = 1000
"""More is a document, not a fact."""
_MOST_ABOUT = 120
"""Characters of what is asked about or forgotten: more is a story that only begins so."""


@dataclass(frozen=True, slots=True)
class Remember:
    """fact: in the person's own words."""

    fact: str


@dataclass(frozen=True, slots=True)
class LookUp:
    """The person asks what was said or is known about something. query: their words for it, days among them."""

    query: str


@dataclass(frozen=True, slots=True)
class Forget:
    """what: the person's words for what is to be forgotten."""

    what: str


Intent = Remember | LookUp | Forget


def read_intent(message: str) -> Intent | None:
    """What the message asks of the memory; None where it asks nothing that its form alone can tell."""
    if fact := fact_to_remember(message):
        return Remember(fact)
    if what := thing_to_forget(message):
        return Forget(what)
    if query := asked_about(message):
        return LookUp(query)
    return None


def fact_to_remember(message: str) -> str:
    """The fact that the person asks to be remembered, in their words; "" when the message asks no such thing."""
    slash = message.lstrip().startswith("/remember")
    found = REMEMBER.match(message) or ZH_TAKEN.match(message) or BEHIND.match(message)
    polite = ASKED_POLITELY.match(message) is not None
    if not found or (QUESTION.search(message) and not slash and not polite):
        return ""
    fact = found["fact"].strip()
    fact = fact.rstrip("?").rstrip() if polite else fact
    return fact if len(fact) <= _MOST_CHARACTERS and not _is_nothing(fact) else ""


def asked_about(message: str) -> str:
    """What the person asks about, as Lisbon last week of "what did I say about Lisbon last week?"; "" for nothing."""
    if len(message) > 3 * _MOST_ABOUT:
        return ""
    for pattern in (ABOUT, *(ZH_ABOUT if ZH_ASKS.search(message) else ())):
        if (found := pattern.match(message)) and not _is_nothing(what := found["what"].strip()):
            return what if _is_word(what) and len(what) <= _MOST_ABOUT else ""
    return ""


def _is_nothing(what: str) -> bool:
    """Whether it only points to something else, as in "Remember this!", or is no word at all."""
    bare = what.strip(_MARKS)
    return not bare or NO_MATTER.fullmatch(bare) is not None


def _is_word(what: str) -> bool:
    """狗 is one, 了 and a letter are none."""
    return len(what) > 1 or (CJK.match(what) is not None and what not in stop_words().chinese_characters)


def thing_to_forget(message: str) -> str:
    """What the person wants forgotten, in their words; "" for no such thing, and for "forget it"."""
    if len(message) > 3 * _MOST_ABOUT:
        return ""
    for pattern in (FORGET, *ZH_FORGET):
        if found := pattern.match(message):
            what = found["what"].strip()
            one = not PARTS.search(what) and not ZH_MISSED.search(what) and len(what) <= _MOST_ABOUT
            return what if one and not _is_nothing(what) else ""
    return ""
