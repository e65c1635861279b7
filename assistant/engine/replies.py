"""The replies that a model gave, as the very tokens they are made of, so that they need not be read again."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

from assistant.core.values import Done
from assistant.engine.thinking import THOUGHT_END
from assistant.engine.tool_formats import ToolFormat, calls_key

_KEPT = 200
_EMPTY = re.compile(rb"<think>\s*</think>\s*\Z")


class OwnReplies:
    """piece: the bytes of a token. form: how the model calls tools."""

    def __init__(self, piece: Callable[[int], bytes], form: ToolFormat | None) -> None:
        self._piece = piece
        self._form = form
        self._known: OrderedDict[str, list[int]] = OrderedDict()

    @property
    def known(self) -> Mapping[str, Sequence[int]]:
        """calls_key of a reply -> its tokens, without those of its thoughts."""
        return self._known

    def add(self, done: Done, tokens: Sequence[int], before: Sequence[int] = ()) -> None:
        """Keep the reply's tokens, if they spell exactly its text and calls; also without its last white space.

        before: the end of its prompt. Where a model was told not to think, that is an empty think block. It stays in
        front of the reply: templates leave it out of later prompts, and all that follows would be read again.
        """
        empty = self._empty_thought(before)
        pieces = [self._piece(token) for token in tokens]
        raw = b"".join(pieces)
        start = self._after_thought(raw, done)
        for text in dict.fromkeys((done.text, done.text.rstrip())):
            end = self._end(raw, start, done, text)
            if end > start and (own := _between(pieces, tokens, start, end)):
                key = calls_key(text, done.calls)
                self._known[key] = [*empty, *own]
                self._known.move_to_end(key)
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)

    def _empty_thought(self, before: Sequence[int]) -> list[int]:
        """The tokens of the empty think block that these end with."""
        pieces = [self._piece(token) for token in before]
        if not (found := _EMPTY.search(b"".join(pieces))):
            return []
        ends = accumulate(map(len, pieces), initial=0)
        start = next((at for at, end in enumerate(ends) if end == found.start()), len(before))
        return list(before[start:])

    def _after_thought(self, raw: bytes, done: Done) -> int:
        """Where in the bytes of the reply that begins which is said."""
        if not done.thought and done.text and raw.startswith(done.text.encode("utf-8", "replace")):
            return 0
        _thought, found, reply = raw.partition(THOUGHT_END.encode())
        return len(raw) - len(reply.lstrip()) if found else len(raw) if done.thought else 0

    def _end(self, raw: bytes, start: int, done: Done, text: str) -> int:
        """Where in the bytes of the reply its text, or its last call, ends; 0 where they are something else."""
        said = text.encode("utf-8", "replace")
        if not raw.startswith(said, start):
            return 0
        if not done.calls or self._form is None:
            return start + len(said)
        rest = raw[start + len(said) :].decode("utf-8", "surrogateescape")  # as many bytes again as they were
        calls, after = self._form.read(rest)
        return len(raw) - len(after.encode("utf-8", "surrogateescape")) if calls == done.calls else 0


def _between(pieces: Sequence[bytes], tokens: Sequence[int], start: int, end: int) -> list[int]:
    """The tokens that spell just these bytes; none if some do not, or one of them is a control token."""
    own: list[int] = []
    at = 0
    for piece, token in zip(pieces, tokens, strict=True):
        if start <= at < end:
            if not piece or at + len(piece) > end:
                return []
            own.append(token)
        at += len(piece)
        if own and at == end:
            return own
        if not own and at > start:
            return []
    return []
