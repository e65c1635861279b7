"""What a model thinks before it replies: how that is marked, and how it is kept out of what it is told later."""

from __future__ import annotations

THOUGHT_START = "<think>"
THOUGHT_END = "</think>"
THOUGHT_MARKS = (THOUGHT_START, THOUGHT_END)


def opens_thought(prompt_end: str) -> bool:
    """Whether a prompt ends inside a think block, as some templates begin the reply for the model."""
    return prompt_end.rstrip().endswith(THOUGHT_START)


def without_thought(reply: str) -> str:
    """A reply without the think block that begins it, as older chats and imported ones hold it."""
    text = reply.lstrip()
    if not text.startswith(THOUGHT_START) or THOUGHT_END not in text:
        return reply
    return text.partition(THOUGHT_END)[2].lstrip()
