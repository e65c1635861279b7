"""What waits for the person's word: what the assistant wants to remember, and what contradicts itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from assistant.chat.opinion import Opinion, second_opinion
from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.events import EventSink, InboxChanged
from assistant.recall.search import Recall
from assistant.runtime.models import ModelService
from assistant.runtime.prompts import PromptService
from assistant.workspace.entries import shortened
from assistant.workspace.inbox_files import Proposal
from assistant.workspace.memory_values import Saved, Written
from assistant.workspace.workspace import Workspace

if TYPE_CHECKING:
    from assistant.runtime.conflict_finder import ConflictFinder
    from assistant.workspace.conflicts import MemoryConflict

Which = Literal["older", "newer"]
_SHORT = 60  # characters of a side of a conflict where only its beginning is shown


class ReviewService:
    """Blocking; every method may be called from any thread, but ``opinion`` only on the model's lane."""

    def __init__(
        self, workspace: Workspace, recall: Recall, prompts: PromptService, models: ModelService, emit: EventSink
    ) -> None:
        self._workspace = workspace
        self._inbox = workspace.inbox
        self._recall = recall
        self._prompts = prompts
        self._models = models
        self._emit = emit
        self._found: dict[str, MemoryConflict] = {}
        workspace.inbox.subscribe(self._tell)

    def recover(self) -> None:
        """Finish what a killed process left: undos that the distiller has not heard of, half answered proposals."""
        self._workspace.undone.catch_up()
        self._inbox.finish()

    def today(self) -> date:
        """The local calendar day."""
        return self._workspace.clock().date()

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

    # --- conflicts -----------------------------------------------------------------------------------------------

    def pairs(self) -> list[MemoryConflict]:
        """Conflicts, and what is said twice in other words (how "same"), newest first.

        By rule, and by meaning as far as there are vectors.
        """
        found = self._finder.find()
        self._found = {conflict.id: conflict for conflict in found}
        return found

    def conflicts(self) -> list[MemoryConflict]:
        """Of the pairs those that cannot both hold."""
        return [pair for pair in self.pairs() if pair.how != "same"]

    def conflict_words(self) -> list[str]:
        """Both sides of each conflict on one line, the older first, each cut to 60 characters."""
        return [
            f"{shortened(each.older.text, _SHORT)} / {shortened(each.newer.text, _SHORT)}" for each in self.conflicts()
        ]

    def keep(self, ident: str, which: Which) -> Saved:
        """The older or the newer one holds: the other is struck with today's date.

        Raises ("conflict.missing") for an unknown id, ("memory.unit") when a line changed meanwhile.
        """
        conflict = self._conflict(ident)
        loser = conflict.newer if which == "older" else conflict.older
        saved = self._workspace.memory.strike(loser.unit, item=loser.item)
        self._found.pop(ident, None)
        return saved

    def both_hold(self, ident: str) -> None:
        """Neither is wrong: never ask again, unless one of them changes. Raises ("conflict.missing")."""
        self._workspace.conflicts.let_stand(self._conflict(ident))
        self._found.pop(ident, None)

    def opinion(self, ident: str, cancel: CancelToken) -> Opinion:
        """What the local model thinks of it; it changes nothing. A server is never asked: these are lines of memory.

        Raises ("conflict.missing"), what loading the model and running it raises, and Cancelled.
        """
        conflict = self._conflict(ident)
        with self._prompts.here_only():
            self._models.ensure("", cancel)
            return second_opinion(self._prompts.engine, conflict.older.text, conflict.newer.text, cancel)

    # --- what was written by itself --------------------------------------------------------------------------------

    def undo_targets(self, changes: Sequence[str]) -> list[str]:
        """What Memory.undo takes to take these changes back, the latest first: a batch once for all of its files."""
        entries = (self._workspace.journal.get(ident) for ident in reversed(changes))
        return list(dict.fromkeys(entry.batch or entry.id for entry in entries if entry))

    # --- inside --------------------------------------------------------------------------------------------------

    @cached_property
    def _finder(self) -> ConflictFinder:
        from assistant.runtime.conflict_finder import ConflictFinder  # not when the window starts

        return ConflictFinder(self._workspace.conflicts, self._recall)

    def _conflict(self, ident: str) -> MemoryConflict:
        if ident not in self._found:
            self.pairs()
        if ident not in self._found:
            raise AssistantError(
                "conflict.missing", "These two lines do not contradict each other any more.", "Look at the list again."
            )
        return self._found[ident]

    def _tell(self) -> None:
        self._emit(InboxChanged(sum(len(proposal.items) for proposal in self.waiting())))
