"""A second opinion of the local model on two lines of memory. It advises; it never decides anything."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from assistant.chat.texts import text
from assistant.core.cancel import CancelToken
from assistant.core.ports import Engine
from assistant.core.values import Done, GenerateOptions, Message, Role

_OPTIONS = GenerateOptions(max_tokens=6, temperature=0.0, repeat_penalty=1.0)
_YES = re.compile(r"\W*(?:yes|they do|contradict|是|对|矛盾|有矛盾)", re.IGNORECASE)
_NO = re.compile(r"\W*(?:no\b|they do not|不|否|没有)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Opinion:
    """verdict: whether the model thinks that the two contradict each other; "unclear": it said neither."""

    verdict: Literal["yes", "no", "unclear"]
    model: str


def second_opinion(engine: Engine, older: str, newer: str, cancel: CancelToken) -> Opinion:
    """Ask the model whether two lines contradict each other. Raises the engine's AssistantError, Cancelled."""
    request = text("opinion_request")
    messages = [Message(Role.SYSTEM, text("opinion"))]
    for example in text("opinion_examples").split("\n---\n"):
        first, second, answer = example.strip().split("\n")
        messages.append(Message(Role.USER, request.format(older=first, newer=second)))
        messages.append(Message(Role.ASSISTANT, answer))
    messages.append(Message(Role.USER, request.format(older=older, newer=newer)))
    said = ""
    for event in engine.chat(messages, _OPTIONS, cancel):
        if isinstance(event, Done):
            said = event.text
    cancel.check()
    return Opinion(_verdict(said), engine.info.name if engine.info else "")


def _verdict(said: str) -> Literal["yes", "no", "unclear"]:
    if _NO.match(said):
        return "no"
    return "yes" if _YES.match(said) else "unclear"
