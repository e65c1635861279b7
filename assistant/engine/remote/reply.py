"""A reply as it grows, from a server's pieces to the events of core.ports.Engine."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator

from assistant.core.values import ChatEvent, Delta, Done, GenerateOptions, PromptRead, StopReason, ToolCall
from assistant.engine.remote.pieces import CallPiece, Piece, Usage
from assistant.engine.reply_parts import ReplyShape
from assistant.engine.reply_text import ReplyText
from assistant.engine.text_stream import TextStream
from assistant.engine.tool_formats import HERMES, arguments_of

_LONGEST = 4 << 20
"""Characters of one reply: no model says that much, a server that never ends does."""


class RemoteReply:
    """clock: seconds, starting when the request was sent. prompt: tokens of it as they were counted before.

    A think block that stands in the text, and calls that the server left in it, are taken out of it.
    """

    def __init__(self, options: GenerateOptions, prompt: int, clock: Callable[[], float]) -> None:
        self._options = options
        self._clock = clock
        self._begun = clock()
        self._first = self._last = 0.0
        self._usage = Usage(prompt=prompt)
        self._pieces = self._length = 0
        self._finish = ""
        self._joined, self._joined_thought = _Joined(), _Joined()
        self._thoughts = TextStream()
        self._thought = ""
        self._thought_from = self._thought_to = 0.0
        self._calls: dict[int, list[str]] = {}
        self._events: list[ChatEvent] = []
        names = tuple(tool.name for tool in options.tools)
        shape = ReplyShape(calls=HERMES if names else None, tools=names)
        self._text = ReplyText(options.stop, self._events.append, clock, pause=0.0, shape=shape)

    @property
    def enough(self) -> bool:
        """Whether nothing more is wanted, whatever the server still has to say."""
        return self._text.stopped or self._too_long

    @property
    def ended(self) -> bool:
        """Whether the server has said why the reply ended."""
        return bool(self._finish)

    def take(self, piece: Piece) -> Iterator[ChatEvent]:
        """What the piece adds, as events."""
        if piece.progress:
            yield PromptRead(*piece.progress)
        if piece.text or piece.thought or piece.calls:
            self._note_time()
        if piece.thought:
            self._thought_from, self._thought_to = self._thought_from or self._last, self._last
        if thought := self._thoughts.push(self._joined_thought.push(piece.thought)):
            yield self._thinking(thought)
        if piece.text:
            self._text.push(self._joined.push(piece.text))
            yield from self._new()
        for call in piece.calls:
            self._add(call)
        self._finish = piece.finish or self._finish
        self._usage = self._merged(piece.usage) if piece.usage else self._usage
        self._length += len(piece.text) + len(piece.thought) + sum(len(call.arguments) for call in piece.calls)

    def finish(self) -> Iterator[Delta]:
        """What was held back."""
        if thought := self._thoughts.finish():
            yield self._thinking(thought)
        self._whole = self._text.finish()
        yield from self._new()

    def done(self, stopped: bool = False) -> Done:
        """After ``finish``. stopped: the person wanted no more."""
        calls = () if stopped else (self._asked() or self._text.calls)
        thought = "\n".join(part for part in (self._thought.strip(), self._text.thought) if part)
        tokens = self._usage.reply or self._pieces
        ttft = max(0.0, self._first - self._begun) if self._pieces else 0.0
        return Done(
            StopReason.STOPPED if stopped else self._reason(bool(calls), tokens),
            self._whole,
            tokens,
            self._usage.prompt,
            min(self._usage.reused, self._usage.prompt),
            ttft * 1000,
            self._usage.speed or self._speed(tokens),
            thought,
            calls,
            self._text.thought_s + self._thought_to - self._thought_from,
        )

    # --- inside ---------------------------------------------------------------------------------------------------

    _whole = ""

    @property
    def _too_long(self) -> bool:
        """A piece is at least a token, so more of them than were asked for are too many."""
        limit = self._options.max_tokens
        return self._length > _LONGEST or bool(limit and self._pieces > limit)

    def _thinking(self, text: str) -> Delta:
        self._thought += text
        return Delta(text, thought=True)

    def _new(self) -> Iterator[Delta]:
        new, self._events[:] = list(self._events), []
        yield from (event for event in new if isinstance(event, Delta))

    def _note_time(self) -> None:
        self._last = self._clock()
        self._first = self._first or self._last
        self._pieces += 1

    def _add(self, piece: CallPiece) -> None:
        known = self._calls.setdefault(piece.index, ["", ""])
        known[0] = known[0] or piece.name
        known[1] += piece.arguments

    def _asked(self) -> tuple[ToolCall, ...]:
        """The calls that can be read; the others are none."""
        return tuple(call for name, written in self._calls.values() if (call := _call(name, written)))

    def _merged(self, usage: Usage) -> Usage:
        """Some say it bit by bit."""
        known = self._usage
        return Usage(
            usage.prompt or known.prompt,
            usage.reused or known.reused,
            usage.reply or known.reply,
            usage.speed or known.speed,
        )

    def _reason(self, calls: bool, tokens: int) -> StopReason:
        if calls:
            return StopReason.CALLS
        if self._text.stopped:
            return StopReason.END
        if self._finish == "length" or self._too_long:
            limit = self._options.max_tokens
            return StopReason.LENGTH if limit and tokens >= limit else StopReason.WINDOW
        return StopReason.END

    def _speed(self, tokens: int) -> float:
        seconds = self._last - self._first
        return (tokens - 1) / seconds if tokens > 1 and seconds > 0 else 0.0


class _Joined:
    """Text to UTF-8 when JSON may have cut a surrogate pair in two."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-16-le")("replace")

    def push(self, text: str) -> bytes:
        return self._decoder.decode(text.encode("utf-16-le", "surrogatepass")).encode("utf-8", "replace")


def _call(name: str, written: str) -> ToolCall | None:
    arguments = arguments_of(written or "{}")
    return ToolCall(name, arguments) if name and arguments is not None else None
