"""Counting tokens: by the loaded model where there is one, else by a careful estimate."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Protocol

from assistant.core.errors import AssistantError
from assistant.core.values import Message, ToolSpec

_WIDE = re.compile(r"[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U0001f000-\U0003ffff]")
_CHARACTERS_A_TOKEN = 3.5  # English prose is nearer 4; an estimate that is too high never overflows a window
_TOKENS_A_MESSAGE = 6  # role marks of the usual chat templates


class TokenCounter(Protocol):
    """The part of an engine that prompt assembly needs."""

    def count(self, texts: Sequence[str]) -> list[int]: ...

    def count_prompt(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> int: ...


class EstimatedTokens:
    """Stands in for a model that is not loaded; errs on the high side."""

    def count(self, texts: Sequence[str]) -> list[int]:
        return [self._one(text) for text in texts]

    def count_prompt(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> int:
        said = sum(self._one(m.text) + _TOKENS_A_MESSAGE for m in messages)
        called = sum(self._one(json.dumps(call.arguments)) + _TOKENS_A_MESSAGE for m in messages for call in m.calls)
        offered = [f"{t.name} {t.description} {json.dumps(t.parameters)}" for t in tools]
        return said + called + sum(self._one(text) + _TOKENS_A_MESSAGE for text in offered)

    @staticmethod
    def _one(text: str) -> int:
        wide = len(_WIDE.findall(text))
        return wide + round((len(text) - wide) / _CHARACTERS_A_TOKEN)


def too_long(tokens: int, room: int) -> AssistantError:
    """What to tell where a message does not fit. tokens: of its prompt, or of the message where that is too much."""
    return AssistantError(
        "prompt.too_long",
        f"This message is too long for the model: the prompt would have {tokens} tokens, {room} fit.",
        "Send it in parts, or choose a larger context window in the settings. Your text is saved.",
    )
