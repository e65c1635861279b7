"""Answers as OpenAI's chat interface has them; ours is what stands under ``keepsake``."""

from __future__ import annotations

import base64
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from assistant.core.values import Done, StopReason

Json = dict[str, Any]
_ENDS = {StopReason.LENGTH: "length", StopReason.WINDOW: "length"}


@dataclass(frozen=True, slots=True)
class Heading:
    """What every piece of an answer begins with. created: seconds since 1970."""

    ident: str
    created: int
    model: str = ""

    def of(self, model: str) -> Heading:
        return replace(self, model=model)

    def completion(self, done: Done, keepsake: Json) -> Json:
        """The whole answer at once."""
        message = {"role": "assistant", "content": done.text, "refusal": None, **_thought(done.thought)}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish_reason(done)}
        return {**self._head("chat.completion"), "choices": [choice], "usage": usage(done), "keepsake": keepsake}

    def first(self) -> Json:
        return self._chunk({"role": "assistant", "content": ""})

    def delta(self, text: str, *, thought: bool = False) -> Json:
        return self._chunk({"reasoning_content": text} if thought else {"content": text})

    def last(self, done: Done, keepsake: Json) -> Json:
        return {**self._chunk({}, finish_reason(done)), "keepsake": keepsake}

    def counts(self, done: Done) -> Json:
        """What follows the last piece where the client asked for it."""
        return {**self._head("chat.completion.chunk"), "choices": [], "usage": usage(done)}

    def _chunk(self, delta: Json, end: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": end}
        return {**self._head("chat.completion.chunk"), "choices": [choice]}

    def _head(self, kind: str) -> Json:
        return {"id": self.ident, "object": kind, "created": self.created, "model": self.model}


def finish_reason(done: Done) -> str:
    """Why a reply ended, in OpenAI's words."""
    return _ENDS.get(done.stop, "stop")


def usage(done: Done) -> Json:
    """The cost of a reply; cached: tokens of the prompt that were not read again."""
    return {
        "prompt_tokens": done.prompt_tokens,
        "completion_tokens": done.tokens,
        "total_tokens": done.prompt_tokens + done.tokens,
        "prompt_tokens_details": {"cached_tokens": done.reused_tokens},
    }


def model_list(names: Sequence[str], created: int) -> Json:
    data = [{"id": name, "object": "model", "created": created, "owned_by": "keepsake"} for name in names]
    return {"object": "list", "data": data}


def embedding_list(vectors: Sequence[Sequence[float]], model: str, tokens: int, *, packed: bool) -> Json:
    """tokens: of the texts, about."""
    data = [
        {"object": "embedding", "index": at, "embedding": _packed(vector) if packed else list(vector)}
        for at, vector in enumerate(vectors)
    ]
    counts = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": data, "model": model, "usage": counts}


def _packed(vector: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode("ascii")


def _thought(text: str) -> Json:
    return {"reasoning_content": text} if text else {}
