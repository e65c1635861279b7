"""The calls of one turn: at most three, each with a result that fits, the conversation only appended to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assistant.chat.tokens import TokenCounter
from assistant.chat.tool_results import Result, messages_of
from assistant.chat.tool_use import MOST_CALLS, Toolbox, ToolPlace, asked_again, enough, made
from assistant.chat.words import CJK, stems
from assistant.core.values import Done, MadeCall, Message, Prompt, ToolCall, ToolSpec

_SHARE = 8
"""At most an eighth of the window for one result, as for what is recalled."""
_FOR_THE_REPLY = 3
"""Of what is left of the window so many parts are kept, at least, for what comes behind a result."""
_STEPS = 5
"""Messages with calls; a model that goes on asking is then asked without tools, at the cost of reading again."""

_IN_ONE = 8
"""Calls in one message that are looked at: a server may send thousands, and each is written down."""


class ToolRounds:
    """Uses what the model asks for. calls: the turn's so far, those of the person's own words among them."""

    def __init__(
        self, toolbox: Toolbox, counter: TokenCounter, prompt: Prompt, place: ToolPlace, calls: Sequence[MadeCall]
    ) -> None:
        self._toolbox = toolbox
        self._counter = counter
        self._prompt = prompt
        self._place = place
        self._asked = tuple(calls)
        self._made: list[MadeCall] = []
        self._step = self._used = 0

    @property
    def over(self) -> bool:
        """The model was asked without tools, and still asks for some."""
        return self._step > _STEPS

    @property
    def messages(self) -> list[Message]:
        """The conversation with the calls and their results."""
        return [*self._prompt.messages, *messages_of(self._made)]

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """What the model may call next: the same, so that what it has read stays valid, or nothing any more."""
        return self._prompt.tools if self._step < _STEPS else ()

    def use(self, done: Done) -> list[MadeCall]:
        """Carry out what one message asks for. Never raises: what goes wrong is a call's result."""
        self._step += 1
        before = len(self._made)
        for call in done.calls[:_IN_ONE]:
            self._made.append(self._one(call, done.text))
        return self._made[before:]

    def _one(self, call: ToolCall, said: str) -> MadeCall:
        if self._used == MOST_CALLS:
            return made(call, enough(), said, self._step)
        self._used += 1
        text = call.arguments.get("text")
        if call.name == "memory_write" and isinstance(text, str) and (known := self._remembered(text)):
            result = Result("known", f"This was remembered already, in {known.detail}.", known.detail)
            return made(call, result, said, self._step)
        if call.name != "memory_write" and any(
            (c.name, c.arguments) == (call.name, call.arguments) for c in self._made
        ):
            return made(call, asked_again(), said, self._step)
        place = replace(self._place, tokens=self._room())
        return self._toolbox.use(call, place, self._counter, said, self._step)

    def _remembered(self, text: str) -> MadeCall | None:
        """What the person's own words had written: the model need not write it again in its own words or language."""
        for call in self._asked:
            if call.name == "memory_write" and call.outcome in ("written", "known"):
                fact = str(call.arguments.get("text", ""))
                if stems(text) & stems(fact) or bool(CJK.search(text)) != bool(CJK.search(fact)):
                    return call
        return None

    def _room(self) -> int:
        window = self._prompt.window
        left = window - self._counter.count_prompt(self.messages, self._prompt.tools)
        return max(0, min(window // _SHARE, left // _FOR_THE_REPLY))


def joined(before: Done, after: Done) -> Done:
    """Two messages of one turn as its reply. What was read for it is what both had to read."""
    read = sum(done.prompt_tokens - done.reused_tokens for done in (before, after))
    seconds = sum(done.tokens / done.tokens_per_s for done in (before, after) if done.tokens_per_s > 0)
    tokens = before.tokens + after.tokens
    return replace(
        after,
        text="\n\n".join(done.text for done in (before, after) if done.text),
        thought="\n\n".join(done.thought for done in (before, after) if done.thought),
        thought_s=before.thought_s + after.thought_s,
        tokens=tokens,
        reused_tokens=max(0, after.prompt_tokens - read),
        ttft_ms=before.ttft_ms,
        tokens_per_s=tokens / seconds if seconds else 0.0,
    )
