"""A second opinion of the local model on two lines of memory. It advises; it never decides anything.

It is asked in two ways that call for opposite answers: a small model says the same word to every question, and only
answers that agree say something about the notes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from assistant.chat.texts import text
from assistant.core.cancel import CancelToken
from assistant.core.ports import Engine
from assistant.core.values import Done, GenerateOptions, Message, Role

_OPTIONS = GenerateOptions(max_tokens=6, temperature=0.0, repeat_penalty=1.0, thinking=False)
_YES = re.compile(r"\W*(?:yes\b|是|对|能|可以)", re.IGNORECASE)
_NO = re.compile(r"\W*(?:no\b|不|否|没有)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Opinion:
    """verdict: whether the model thinks that the two contradict each other; "unclear": it did not say, or both."""

    verdict: Literal["yes", "no", "unclear"]
    model: str


def second_opinion(engine: Engine, older: str, newer: str, cancel: CancelToken) -> Opinion:
    """Ask the model whether two lines contradict each other. Raises the engine's AssistantError, Cancelled."""
    request = text("opinion_request")
    messages = []
    for example in text("opinion_examples").split("\n---\n"):
        first, second, answer = example.strip().split("\n")
        messages.append(Message(Role.USER, request.format(older=first, newer=second)))
        messages.append(Message(Role.ASSISTANT, answer))
    messages.append(Message(Role.USER, request.format(older=older, newer=newer)))
    contradict = _answer(engine, messages, cancel)
    together = Message(Role.USER, text("opinion_both").format(older=older, newer=newer))
    both = _answer(engine, [together], cancel)
    name = engine.info.name if engine.info else ""
    if contradict is None or both is None or contradict is both:
        return Opinion("unclear", name)
    return Opinion("yes" if contradict else "no", name)


def _answer(engine: Engine, messages: Sequence[Message], cancel: CancelToken) -> bool | None:
    """Yes or no; None for anything else."""
    said = ""
    for event in engine.chat(messages, _OPTIONS, cancel):
        if isinstance(event, Done):
            said = event.text
    cancel.check()
    if _NO.match(said):
        return False
    return True if _YES.match(said) else None
