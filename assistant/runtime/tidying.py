"""Tidying memory up: when the person asks, and once a day in a quiet moment if they want that."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

from assistant.core.clock import today
from assistant.core.errors import AssistantError
from assistant.core.events import EventSink, Notice
from assistant.runtime.lanes import Lane
from assistant.settings.schema import Settings
from assistant.workspace.budget import Limits
from assistant.workspace.safe_files import read_bytes, write_atomic
from assistant.workspace.tidy import TidyPlan, apply_tidy, plan_tidy
from assistant.workspace.workspace import Workspace

_log = logging.getLogger(__name__)


class TidyService:
    """Blocking but for ``look``.

    state: the folder that keeps on which day it was last done by itself; conflicts: those that wait for the person, in
    words.
    """

    def __init__(
        self,
        workspace: Workspace,
        state: Path,
        values: Callable[[], Settings],
        limits: Callable[[], Limits],
        lane: Lane,
        emit: EventSink,
        conflicts: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._workspace = workspace
        self._day = state / "tidied.day"
        self._values = values
        self._limits = limits
        self._lane = lane
        self._emit = emit
        self._conflicts = conflicts
        self._asked: date | None = None

    def plan(self) -> TidyPlan:
        """What tidying up would do now."""
        return plan_tidy(self._workspace.memory, self._limits(), today(self._workspace.clock))

    def conflicts(self) -> Sequence[str]:
        """What contradicts each other and waits for the person's word; tidying up settles none of it."""
        return self._conflicts()

    def apply(self, plan: TidyPlan, actor: str = "you") -> str:
        """Do it; returns what undo takes. Raises ("memory.changed") when a file changed since the plan was made."""
        return apply_tidy(self._workspace.memory, plan, actor)

    def look(self) -> None:
        """A quiet moment: tidy up if the person wants that and it was not done today. Returns at once."""
        day = today(self._workspace.clock)
        if self._asked != day and self._values().memory.tidy == "nightly":
            self._asked = day
            self._lane.submit(self._nightly, day)

    def _nightly(self, day: date) -> None:
        try:
            if read_bytes(self._day).decode("ascii", "replace") == day.isoformat():
                return
            plan = self.plan()
            done = self.apply(plan, "upkeep")
            write_atomic(self._day, day.isoformat().encode())
        except AssistantError as error:  # a file that is open elsewhere, a disk that is full: tomorrow is another day
            _log.info("memory was not tidied up: %s", error)
            return
        if done:
            self._emit(
                Notice(
                    f"Memory was tidied up: {len(plan.moved)} moved to the archive, {len(plan.merged)} merged."
                    " The journal shows it and can undo it."
                )
            )
