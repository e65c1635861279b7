"""Tokens of a text for a model nobody here can ask: an estimate that is rather too high.

A prompt that was thought to fit and does not costs a whole turn; one that leaves some of the window unused costs
nothing that anybody sees. So each kind of character counts as much as it does with the vocabularies that are the least
kind to it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence

from assistant.core.values import Message, ToolSpec

_TOKENS = (
    (r"[A-Za-z ]+", 0.3),
    (r"[0-9]+", 1.0),
    (r"[\x00-\x7f]", 0.8),
    (r"[\u00c0-\u024f]+", 1.5),
    (r"[\u1100-\u11ff\uac00-\ud7af]+", 3.0),
    (r"[\u2e80-\ua4cf\uf900-\ufaff\ufe30-\uffef]+", 2.0),
    (r"[\U00010000-\U0010ffff\u200d\ufe0f]+", 3.0),
    (r".", 1.3),
)
"""Kinds of characters, the first that fits, and tokens a character: letters, digits, signs, accented letters, Hangul,
CJK and kana, emoji, all others. Measured with vocabularies of 49 000 and 152 000: docs/decisions/0041-remote.md.
"""
_KINDS = re.compile("|".join(f"({kind})" for kind, _ in _TOKENS), re.DOTALL)
_TOKENS_A_MESSAGE = 8
"""Role marks of the usual chat templates."""


def estimate_tokens(text: str) -> int:
    """Never far below what a usual model counts."""
    runs = ((match.lastindex or 1, match.end() - match.start()) for match in _KINDS.finditer(text))
    return math.ceil(sum(length * _TOKENS[kind - 1][1] for kind, length in runs))


def estimate_prompt(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> int:
    """The same of whole messages, with their calls and the tools on offer."""
    texts = [message.text for message in messages]
    texts += [json.dumps(dict(call.arguments)) + call.name for message in messages for call in message.calls]
    texts += [f"{tool.name} {tool.description} {json.dumps(dict(tool.parameters))}" for tool in tools]
    return sum(estimate_tokens(text) + _TOKENS_A_MESSAGE for text in texts)
