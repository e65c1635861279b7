"""Messages that wait for the reply before them, one a chat."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Queued:
    """A message that waits for the reply before it."""

    text: str
    keep_secrets: bool


class WaitingMessages:
    """By chat; what is added to one that waits already goes below it."""

    def __init__(self) -> None:
        self._waiting: dict[str, Queued] = {}

    def __contains__(self, chat: str) -> bool:
        return chat in self._waiting

    def add(self, chat: str, text: str, keep_secrets: bool) -> None:
        """keep_secrets: the person chose, for this once, to keep what looks like one; for all of the message then."""
        before = self._waiting.get(chat, Queued("", False))
        self._waiting[chat] = Queued(joined(before.text, text, "\n\n"), keep_secrets or before.keep_secrets)

    def take(self, chat: str) -> Queued | None:
        """What waits in a chat; it waits no longer."""
        return self._waiting.pop(chat, None)

    def text(self, chat: str) -> str:
        """What waits in a chat, "" for nothing."""
        return self._waiting[chat].text if chat in self._waiting else ""

    def move(self, chat: str, name: str) -> None:
        """A chat has another id now."""
        if queued := self.take(chat):
            self._waiting[name] = queued

    def texts(self) -> dict[str, str]:
        """All that waits, by chat."""
        return {chat: queued.text for chat, queued in self._waiting.items()}


def joined(first: str, second: str, between: str = "\n") -> str:
    """Two texts one below the other; an empty one leaves no line."""
    return between.join(part for part in (first, second) if part.strip())
