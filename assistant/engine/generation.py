"""One reply: the prompt is read, tokens are picked until something ends it, their text is shown as it grows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field
from time import perf_counter
from typing import Protocol

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.values import ChatEvent, Done, GenerateOptions, PromptRead, StopReason
from assistant.engine.lookup import Costs, Steps
from assistant.engine.reply_parts import PLAIN, ReplyShape
from assistant.engine.reply_text import ReplyText


class TokenSource(Protocol):
    """What picks tokens: llama.Sampler."""

    def pick(self, at: int = -1) -> int: ...
    def hold_to(self, grammar: str, root: str, said: str) -> None: ...


class TokenModel(Protocol):
    """What generation needs of a model: llama.LlamaModel, or a scripted one in tests."""

    window: int
    draft: int
    costs: Costs
    cached: list[int]

    def read(self, tokens: Sequence[int], on_progress: Callable[[int, int], None]) -> int: ...
    def append(self, tokens: Sequence[int], *, every: bool = False) -> None: ...
    def keep_first(self, count: int) -> int: ...
    def sampler(self, options: GenerateOptions) -> AbstractContextManager[TokenSource]: ...
    def piece(self, token: int) -> bytes: ...
    def is_end(self, token: int) -> bool: ...


@dataclass(slots=True)
class _Reply:
    """What happened so far. Times in seconds of the clock."""

    began: float
    tokens: list[int] = field(default_factory=list)
    reused: int = 0
    given: int = 0  # tokens it begins with that the model did not pick
    first: float = 0.0
    last: float = 0.0

    def done(self, stop: StopReason, text: str, said: ReplyText, prompt_tokens: int) -> Done:
        calls = said.calls if stop is not StopReason.STOPPED else ()
        picked, spent = len(self.tokens) - self.given, self.last - self.first
        return Done(
            stop=StopReason.CALLS if calls else stop,
            text=text,
            tokens=len(self.tokens),
            prompt_tokens=prompt_tokens,
            reused_tokens=self.reused,
            ttft_ms=(self.first - self.began) * 1000 if picked else 0.0,
            tokens_per_s=(picked - 1) / spent if spent > 0 else 0.0,
            thought=said.thought,
            calls=calls,
            thought_s=said.thought_s,
        )


def generate(
    model: TokenModel,
    prompt: Sequence[int],
    options: GenerateOptions,
    cancel: CancelToken,
    show: Callable[[ChatEvent], None],
    clock: Callable[[], float] = perf_counter,
    shape: ReplyShape = PLAIN,
    prepare: Callable[[Sequence[int]], None] = lambda _: None,
    opening: Sequence[int] = (),
) -> tuple[Done, list[int]]:
    """Generate a reply to ``prompt``; show gets PromptRead and Delta. Returns its end and the tokens it is made of.

    shape: what of it is thought, and what calls of tools. prepare: puts what is known of the prompt into the model's
    cache before it is read. opening: tokens that the reply begins with, whatever the model would have said.

    Raises AssistantError("engine.window") when the prompt leaves no room for a reply.
    """
    if len(prompt) >= model.window:
        raise AssistantError(
            "engine.window",
            f"The prompt has {len(prompt)} tokens and the context window holds {model.window}.",
            "Shorten the message, or choose a larger context window.",
        )
    reply = _Reply(clock())
    text = ReplyText(options.stop, show, clock, shape=shape)

    def progress(read: int, reused: int) -> None:
        reply.reused = reused
        show(PromptRead(min(read, len(prompt)), len(prompt), reused))

    try:
        prepare(prompt)
        begun = [*prompt, *opening]
        model.read(begun, progress)
        reply.tokens, reply.given = [*opening], len(opening)
        for token in opening:
            text.push(model.piece(token))
        with model.sampler(options) as source, closing(Steps(model, source, begun)) as steps:
            stop = _pick_until_end(model, steps, reply, text, len(prompt), options.max_tokens, cancel, clock)
    except Cancelled:
        stop = StopReason.STOPPED
    whole = text.finish(cut=stop is not StopReason.END)
    return reply.done(stop, whole, text, len(prompt)), reply.tokens


def _pick_until_end(
    model: TokenModel,
    steps: Steps,
    reply: _Reply,
    text: ReplyText,
    prompt_tokens: int,
    max_tokens: int,
    cancel: CancelToken,
    clock: Callable[[], float],
) -> StopReason:
    room = model.window - prompt_tokens
    limit = min(max_tokens, room) if max_tokens > 0 else room
    held = bool(text.called)
    if text.called:
        steps.hold_to(*text.called)
    why_limit = StopReason.WINDOW if limit == room else StopReason.LENGTH
    while not cancel.cancelled:
        token = steps.pick()
        if model.is_end(token):
            return StopReason.END
        reply.tokens.append(token)
        reply.last = clock()
        reply.first = reply.first or reply.last
        text.push(model.piece(token))
        if text.stopped:
            return StopReason.END
        if text.called and not held:
            held = True
            steps.hold_to(*text.called)
        if len(reply.tokens) >= limit:
            return why_limit
        steps.append(token)
    return StopReason.STOPPED
