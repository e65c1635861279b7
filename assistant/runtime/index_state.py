"""How the index stands, as the window and the command line tell it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from assistant.recall.reports import IndexStatus
from assistant.runtime.watching import WatchState

if TYPE_CHECKING:
    from assistant.recall.search import Recall

Meaning = Literal["ready", "building", "paused", "none", "failing"]


@dataclass(frozen=True, slots=True)
class IndexState:
    """status: in numbers. meaning: whether search goes by meaning, too.

    "ready": yes, though a few of the newest units may still be to be learnt; "building": not until all are learnt for
    the first time, ``done`` of ``total``; "paused": as building, and nothing is being learnt; "none": there is no
    model; "failing": there is one, and ``why`` says what is wrong with it. watch: how changes of files are noticed.
    """

    status: IndexStatus
    meaning: Meaning
    done: int
    total: int
    why: str
    watch: WatchState


def describe_index(
    recall: Recall, paused: bool = False, progress: tuple[int, int] | None = None, watch: WatchState | None = None
) -> IndexState:
    """progress: of learning, while it goes on. Raises AssistantError("recall.index")."""
    status = recall.status()
    done, total = progress or (status.vectors, status.vectors + status.stale)
    meaning: Meaning = "ready"
    if not status.model and not status.problem:
        meaning = "none"
    elif status.problem:
        meaning = "failing"
    elif paused and status.stale:
        meaning = "paused"
    elif not status.published and status.units:
        meaning = "building"
    return IndexState(status, meaning, done, total, status.problem, watch or WatchState("off"))
