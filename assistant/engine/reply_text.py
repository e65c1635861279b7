"""The text of a reply as it grows, from the bytes of its tokens to what is shown of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from assistant.core.values import Delta, ToolCall
from assistant.engine.reply_parts import PLAIN, Part, ReplyParts, ReplyShape
from assistant.engine.text_stream import StopStrings, TextStream


class ReplyText:
    """show: called with new text, the first at once, then at most every ``pause`` seconds.

    Each call wakes another process, which is dear while llama.cpp's threads want every core.
    """

    def __init__(
        self,
        stops: Sequence[str],
        show: Callable[[Delta], None],
        clock: Callable[[], float],
        pause: float = 0.03,
        shape: ReplyShape = PLAIN,
    ) -> None:
        self._stream = TextStream()
        self._stops = StopStrings(stops)
        self._parts = ReplyParts(shape)
        self._show = show
        self._clock = clock
        self._pause = pause
        self._ready: list[Part] = []
        self._thought_from = self._thought_to = 0.0
        self._shown: list[Delta] = []
        self._next = 0.0

    @property
    def stopped(self) -> bool:
        """Whether nothing more is wanted: a stop string has come, or all calls are there."""
        return self._stops.found or self._parts.over

    @property
    def called(self) -> tuple[str, str, str] | None:
        """Once a call was begun: the grammar that it must keep to, the grammar's root, and what was written so far."""
        return self._parts.called

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tools that the finished reply asks for."""
        return self._parts.calls

    @property
    def thought(self) -> str:
        """What was thought, once the reply is finished."""
        return "".join(delta.text for delta in self._shown if delta.thought).strip()

    @property
    def thought_s(self) -> float:
        """Seconds between the first and the last that was thought."""
        return self._thought_to - self._thought_from

    def push(self, piece: bytes) -> None:
        if text := self._stops.push(self._stream.push(piece)):
            self._take(self._parts.push(text))
        if self._ready and (now := self._clock()) >= self._next:
            self._flush()
            self._next = now + self._pause

    def finish(self, cut: bool = False) -> str:
        """Show the rest; the whole text of what is said. cut: it did not end by itself."""
        rest = self._stops.push(self._stream.finish()) + self._stops.finish()
        self._take([*self._parts.push(rest), *self._parts.finish(cut)])
        self._flush()
        return "".join(delta.text for delta in self._shown if not delta.thought)

    def _take(self, parts: Sequence[Part]) -> None:
        self._ready += parts
        if any(part.thought for part in parts):
            self._thought_to = self._clock()
            self._thought_from = self._thought_from or self._thought_to

    def _flush(self) -> None:
        for thought, parts in groupby(self._ready, lambda part: part.thought):
            delta = Delta("".join(part.text for part in parts), thought)
            self._shown.append(delta)
            self._show(delta)
        self._ready.clear()
