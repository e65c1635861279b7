"""What the transcript shows of a turn: what is on disk, and what is happening to it now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from assistant.chat.turn import thought_of
from assistant.core.errors import AssistantError
from assistant.core.events import TurnFailed, TurnFinished, TurnSaved
from assistant.core.values import MadeCall, Receipt, StopReason
from assistant.workspace.chats import Turn

MARKS = {
    StopReason.STOPPED: "stopped",
    StopReason.INTERRUPTED: "interrupted",
    StopReason.LENGTH: "length",
    StopReason.WINDOW: "window",
}
"""How a reply that was cut short is marked on screen."""


class Phase(StrEnum):
    """Where a turn stands."""

    REST = ""
    SAVING = "saving"  # the words are on their way to disk
    WAITING = "waiting"  # saved; memory is searched, or the model is not ready yet
    READING = "reading"  # the model reads the prompt
    WRITING = "writing"


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """One turn on screen. n: 0 until the turn is saved; siblings: turns that stand in the same place, n among them.

    thought: what the model thought before the reply; thought_s: for how many seconds, 0 where nobody knows.
    """

    n: int
    user: str
    reply: str | None = None
    mark: str = ""
    after: int | None = None
    siblings: tuple[int, ...] = ()
    phase: Phase = Phase.REST
    read: int = 0
    total: int = 0
    error: AssistantError | None = None
    receipt: Receipt | None = None
    redacted: int = 0
    thought: str = ""
    thought_s: int = 0
    calls: tuple[MadeCall, ...] = ()

    @property
    def used(self) -> tuple[MadeCall, ...]:
        """The tools that were used: as the receipt has them, which knows most, once it has them all."""
        told = self.receipt.calls if self.receipt is not None else ()
        return told if len(told) >= len(self.calls) else self.calls

    @property
    def live(self) -> bool:
        return self.phase is not Phase.REST

    def saved(self, event: TurnSaved, others: Sequence[int]) -> ShownTurn:
        """The words are on disk, as they stand there; ``others``: turns in the same place."""
        return replace(
            self,
            n=event.turn,
            user=event.text,
            after=event.after or None,
            siblings=tuple(sorted({*self.siblings, *others, event.turn})),
            redacted=event.redacted,
            phase=Phase.WAITING,
        )

    def finished(self, event: TurnFinished) -> ShownTurn:
        """The reply is on disk."""
        mark = MARKS.get(event.done.stop, "")
        thought = thought_of(event.done)
        shown = replace(self, n=event.turn, reply=event.done.text, mark=mark, phase=Phase.REST, receipt=event.receipt)
        return replace(shown, thought=thought.text, thought_s=thought.seconds)

    def failed(self, event: TurnFailed) -> ShownTurn:
        """There is no (further) reply."""
        mark = "interrupted" if self.reply else ""
        return replace(self, n=event.turn, phase=Phase.REST, error=event.error, mark=mark)


def siblings_of(turns: Sequence[Turn]) -> dict[int, tuple[int, ...]]:
    """For each turn the turns that follow the same one, itself included. One pass: chats grow to 10 000 turns."""
    groups: dict[int | None, list[int]] = {}
    for turn in turns:
        groups.setdefault(turn.after, []).append(turn.n)
    return {n: tuple(group) for group in groups.values() for n in group}
