"""The reply of a turn while it is written."""

from __future__ import annotations

import time
from collections.abc import Callable

from assistant.core.errors import AssistantError
from assistant.core.events import EventSink, Notice

_PARTIAL_SECONDS = 1.0  # how much of a reply a crash may cost


class GrowingReply:
    """The text of a reply so far, kept on disk now and then so that a crash costs at most a second of it.

    Where it cannot be kept the reply goes on all the same; that is told once.
    """

    def __init__(self, keep: Callable[[str], None], emit: EventSink) -> None:
        self.value = self.thought = ""
        self.thought_s = 0.0
        self._thinks_since = 0.0
        self._keep = keep
        self._emit = emit
        self._keeps = True
        self._parts = False
        self._kept_at = time.monotonic()

    def think(self, text: str) -> None:
        """Thoughts are kept with the reply at its end, not on the way."""
        now = time.monotonic()
        self._thinks_since = self._thinks_since or now - self.thought_s
        self.thought, self.thought_s = self.thought + text, now - self._thinks_since

    def part(self) -> None:
        """What comes next is a part of its own."""
        self._parts, self._thinks_since = bool(self.value), 0.0

    def add(self, text: str) -> str:
        """Add new text, and return it as it is to be shown."""
        if self._parts:
            text, self._parts = f"\n\n{text}", False
        self.value, self._thinks_since = self.value + text, 0.0
        if self._keeps and time.monotonic() - self._kept_at >= _PARTIAL_SECONDS:
            self._keep_now()
        return text

    def _keep_now(self) -> None:
        try:
            self._keep(self.value)
        except AssistantError as error:
            self._keeps = False
            self._emit(Notice(str(error), error=True))
        self._kept_at = time.monotonic()
