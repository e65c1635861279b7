"""Tokens as a server counts them, or as they are estimated where asking it would tell it more than it needs to know."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.values import GenerateOptions, Message, ToolSpec
from assistant.engine.remote.estimate import estimate_prompt, estimate_tokens
from assistant.engine.remote.request import Json, request_body
from assistant.runtime.remote_http import ServerClient
from assistant.runtime.token_counts import TokenCounts

_log = logging.getLogger(__name__)
_PATIENCE_SECONDS = 5.0
_REST_SECONDS = 60.0
"""How long a server that did not answer is not asked again: a prompt asks often, and each time would wait."""
_BETWEEN = -1
"""No token: it parts the texts of one question."""


class ServerCounts:
    """For any thread.

    What is counted may never be sent: all of MEMORY.md, a line that is being written. So only a server on this machine
    is asked, one that has ``/tokenize`` (llama-server); for any other, counts are estimates, rather too high than too
    low (see engine.remote.estimate). The same where such a server does not answer.
    """

    def __init__(self, client: ServerClient, is_llama: bool) -> None:
        self._client = client
        self._may_ask = is_llama and client.address.here
        self._rests_until = 0.0
        self._counts = TokenCounts()

    @property
    def _asks(self) -> bool:
        """Whether the server counts now."""
        return self._may_ask and time.monotonic() >= self._rests_until

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text on its own."""
        return self._counts.of(texts, lambda new: self._asked_counts(new) if self._asks else [], estimate_tokens)

    def count_prompt(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], cancel: CancelToken | None = None
    ) -> int:
        """Tokens of a whole prompt. Raises Cancelled."""
        tokens = self._asked_prompt(messages, tools, cancel or CancelToken()) if self._asks else None
        return estimate_prompt(messages, tools) if tokens is None else tokens

    def _asked_counts(self, texts: Sequence[str]) -> list[int]:
        """All in one question; empty where the server does not say."""
        parted: list[str | int] = [part for text in texts for part in (text, _BETWEEN)]
        tokens = self._tokens({"content": parted, "add_special": False, "parse_special": False}, CancelToken())
        if tokens is None or tokens.count(_BETWEEN) != len(texts):
            return []
        ends = [at for at, token in enumerate(tokens) if token == _BETWEEN]
        return [end - start - 1 for start, end in zip([-1, *ends], ends, strict=False)]

    def _asked_prompt(self, messages: Sequence[Message], tools: Sequence[ToolSpec], cancel: CancelToken) -> int | None:
        body = request_body("", messages, GenerateOptions(tools=tuple(tools)))
        question: Json = {name: body[name] for name in ("messages", "tools") if name in body}
        answer = self._asked("/apply-template", question, cancel)
        prompt = answer.get("prompt")
        if not isinstance(prompt, str):
            return None
        tokens = self._tokens({"content": prompt, "add_special": True, "parse_special": True}, cancel)
        return None if tokens is None else len(tokens)

    def _tokens(self, question: Json, cancel: CancelToken) -> list[Any] | None:
        tokens = self._asked("/tokenize", question, cancel).get("tokens")
        return tokens if isinstance(tokens, list) else None

    def _asked(self, path: str, body: Json, cancel: CancelToken) -> Json:
        """What the server says; nothing where it says nothing of use."""
        try:
            url = self._client.address.native + path
            head, answer = self._client.ask(url, body, cancel, _PATIENCE_SECONDS)
        except AssistantError as error:
            self._rests_until = time.monotonic() + _REST_SECONDS
            _log.info("tokens are estimated: %s", error)
            return {}
        return answer if head.status == 200 and isinstance(answer, dict) else {}
