"""Messages become tokens, with nothing in them that a person, a document or a tool's result can forge."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from assistant.core.values import Message, Role, ToolCall
from assistant.engine.jinja import PLAIN, Extras
from assistant.engine.templates import ChatTemplate
from assistant.engine.thinking import THOUGHT_END, opens_thought, without_thought
from assistant.engine.tool_formats import calls_key

_PRIVATE_USE = range(0xF0000, 0xFFFFE)
"""Supplementary private use area A: characters that mean nothing, so that one that is free is always found."""
_PARTS = 128
"""Stretches of prompts between replies whose tokens are remembered: those of the last turns come again and again."""


class PromptWriter:
    """Messages to tokens.

    The text of messages is data: where it spells a control token (``<|im_end|>``), the spelling is cut out of the
    rendered text and tokenised as ordinary text, so it can never end a turn or begin another. Everything else is
    tokenised in one go, as the model was trained. Replies that the model itself gave come back as the very tokens it
    gave, so that the cache stays valid: writing the same text as other tokens would cost reading it again.
    """

    def __init__(
        self,
        template: ChatTemplate,
        tokenise: Callable[[str, bool], list[int]],
        control_texts: Mapping[str, int],
        bos: tuple[int, str, bool],
    ) -> None:
        self._template = template
        self._tokenise = tokenise
        self._part = lru_cache(_PARTS)(lambda text: tuple(tokenise(text, True)))
        self._bos = bos
        # The longest first: where one control text begins another, the longer is what the tokeniser would take.
        texts = sorted(control_texts, key=len, reverse=True)
        self._control = re.compile("|".join(map(re.escape, texts))) if texts else None

    def tokens(
        self,
        messages: Sequence[Message],
        replies: Mapping[str, Sequence[int]],
        extras: Extras = PLAIN,
    ) -> list[int]:
        """The prompt. replies: what the model gave, by calls_key -> its tokens. Raises what the template raises."""
        said = [_without_thought(message) for message in messages]
        marks = _Marks(said)
        rendered = self._template.render([self._marked(message, replies, marks) for message in said], extras)
        if not extras.thinking and opens_thought(rendered):
            rendered += f"\n{THOUGHT_END}\n\n"  # the template insists on thinking: it has thought, then
        tokens: list[int] = []
        for part, inserted in marks.split(rendered):
            tokens += self._part(part) if part else ()
            tokens += inserted
        token, _text, wanted = self._bos
        return [token, *tokens] if wanted and tokens[:1] != [token] else tokens

    def _marked(self, message: Message, replies: Mapping[str, Sequence[int]], marks: _Marks) -> Message:
        if reply := self._own_reply(message, replies):
            return Message(message.role, marks.mark(calls_key(message.text, message.calls), reply))
        if self._control is None:
            return message
        calls = tuple(ToolCall(call.name, self._harmless(call.arguments, marks)) for call in message.calls)
        return Message(message.role, self._harmless(message.text, marks), calls)

    def _own_reply(self, message: Message, replies: Mapping[str, Sequence[int]]) -> Sequence[int] | None:
        if message.role is not Role.ASSISTANT or (message.calls and not self._template.raw_calls):
            return None
        return replies.get(calls_key(message.text, message.calls))

    def _harmless(self, value: Any, marks: _Marks) -> Any:
        """Text, also within JSON, with a mark in place of each control token that it spells."""
        if isinstance(value, str) and self._control:
            return self._control.sub(lambda found: self._as_text(found[0], marks), value)
        if isinstance(value, Mapping):
            return {self._harmless(key, marks): self._harmless(inner, marks) for key, inner in value.items()}
        return [self._harmless(inner, marks) for inner in value] if isinstance(value, list | tuple) else value

    def _as_text(self, spelling: str, marks: _Marks) -> str:
        """Cut in two where needed: some vocabularies have tokens that are found in any text, asked for or not."""
        tokens = self._tokenise(spelling, False)
        if len(tokens) == 1:
            tokens = self._tokenise(spelling[:1], False) + self._tokenise(spelling[1:], False)
        return marks.mark(spelling, tokens)


def _without_thought(message: Message) -> Message:
    if message.role is not Role.ASSISTANT:
        return message
    return Message(message.role, without_thought(message.text), message.calls)


class _Marks:
    """Characters that stand for tokens while a template is rendered; none of them occurs in the messages."""

    def __init__(self, messages: Sequence[Message]) -> None:
        used = set().union(*(calls_key(message.text, message.calls) for message in messages))
        self._free = (chr(code) for code in _PRIVATE_USE if chr(code) not in used)
        self._of: dict[tuple[str, tuple[int, ...]], str] = {}
        self._tokens: dict[str, Sequence[int]] = {}

    def mark(self, text: str, tokens: Sequence[int]) -> str:
        """One for a text as these tokens: what a reply said in tokens of its own may stand elsewhere as plain text."""
        known = (text, tuple(tokens))
        if known not in self._of:
            self._of[known] = next(self._free)
            self._tokens[self._of[known]] = tokens
        return self._of[known]

    def split(self, text: str) -> Iterable[tuple[str, Sequence[int]]]:
        """Stretches of text, each with the tokens that follow it."""
        if not self._tokens:
            return [(text, ())]
        parts = re.split(f"([{''.join(self._tokens)}])", text)
        marks = [*parts[1::2], ""]
        return [(part, self._tokens.get(mark, ())) for part, mark in zip(parts[::2], marks, strict=True)]
