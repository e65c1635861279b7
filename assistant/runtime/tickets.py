"""Which turns are being saved, wait or run, so that they can be stopped and waited for."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import dataclass

from assistant.core.cancel import CancelToken


@dataclass(eq=False)
class Ticket:
    """A turn that is being saved, waits or runs. turn: 0 until it is saved; future: its place in the queue."""

    token: CancelToken
    turn: int = 0
    future: Future[None] | None = None


class UnderWay:
    """The tickets of turns that wait or run, by chat; for any thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._tickets: dict[str, list[Ticket]] = {}

    def add(self, chat: str) -> Ticket:
        ticket = Ticket(CancelToken())
        with self._changed:
            self._tickets.setdefault(chat, []).append(ticket)
        return ticket

    def remove(self, chat: str, ticket: Ticket) -> bool:
        """True the first time."""
        with self._changed:
            tickets = self._tickets.get(chat, [])
            if ticket not in tickets:
                return False
            tickets.remove(ticket)
            if not tickets:
                del self._tickets[chat]
            self._changed.notify_all()
            return True

    def of(self, chat: str) -> list[Ticket]:
        with self._changed:
            return list(self._tickets.get(chat, ()))

    def chats(self) -> list[str]:
        with self._changed:
            return list(self._tickets)

    def wait_for_queued(self, chat: str, seconds: float) -> None:
        """Until no turn of the chat is in the queue or runs, or for so long."""
        with self._changed:
            self._changed.wait_for(lambda: not any(t.future for t in self._tickets.get(chat, ())), seconds)
