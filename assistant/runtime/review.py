"""What waits for the person's word: what the assistant wants to remember, and what contradicts itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assistant.core.events import EventSink, InboxChanged
from assistant.workspace.inbox_files import Proposal
from assistant.workspace.memory_values import Written
from assistant.workspace.workspace import Workspace


class ReviewService:
    """Blocking; every method may be called from any thread."""

    def __init__(self, workspace: Workspace, emit: EventSink) -> None:
        self._workspace = workspace
        self._inbox = workspace.inbox
        self._emit = emit
        workspace.inbox.subscribe(self._tell)

    def recover(self) -> None:
        """Finish what a killed process left: undos that the distiller has not heard of, half answered proposals."""
        self._workspace.undone.catch_up()
        self._inbox.finish()

    # --- the inbox -----------------------------------------------------------------------------------------------

    def waiting(self) -> list[Proposal]:
        """What the assistant wants to remember, newest first."""
        return self._inbox.waiting()

    def accept(self, ident: str, texts: Mapping[int, str] | None = None) -> Written | None:
        """See Inbox.accept: all items of a proposal, or some of them in the words given."""
        return self._inbox.accept(ident, texts)

    def decline(self, ident: str, items: Sequence[int] | None = None) -> None:
        """See Inbox.decline: all items of a proposal, or some of them."""
        self._inbox.decline(ident, items)

    def accept_all(self) -> int:
        """Yes to everything, oldest first; how many proposals it were."""
        waiting = self.waiting()
        for proposal in reversed(waiting):
            self._inbox.accept(proposal.id)
        return len(waiting)

    def decline_all(self) -> int:
        """No to everything; how many proposals it were."""
        waiting = self.waiting()
        for proposal in waiting:
            self._inbox.decline(proposal.id)
        return len(waiting)

    def _tell(self) -> None:
        self._emit(InboxChanged(sum(len(proposal.items) for proposal in self.waiting())))
