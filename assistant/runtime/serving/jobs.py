"""Work for a client on a lane: it waits its turn, tells as it goes, and stops when the client has gone."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from typing import TypeVar

from assistant.core.cancel import CancelToken
from assistant.core.errors import Cancelled
from assistant.runtime.lanes import Lane

T = TypeVar("T")
LOOK_SECONDS = 0.02
"""How often it is seen whether the client is still there: a tenth of the time within which a stop must work."""


class ClientGone(Exception):  # noqa: N818 - not an error: nobody waits for the answer any more
    """The client closed its connection."""


def told_from(
    lane: Lane,
    work: Callable[[CancelToken, Callable[[T], None]], None],
    gone: Callable[[], bool],
    closing: CancelToken,
) -> Iterator[T]:
    """Do the work on the lane and yield what it tells, on this thread.

    work: gets a token and whom to tell. Raises what the work raises; ClientGone as soon as ``gone`` says so; Cancelled
    when ``closing`` is cancelled before the work has begun. Whenever the caller leaves, the work is stopped.
    """
    closing.check()
    cancel = CancelToken()
    take_back = closing.on_cancel(cancel.cancel)
    told: queue.SimpleQueue[tuple[T] | None] = queue.SimpleQueue()

    def job() -> None:
        try:
            cancel.check()
            work(cancel, lambda value: told.put((value,)))
        finally:
            told.put(None)

    future = lane.submit(job)
    try:
        while item := _next(told, gone, lambda: closing.cancelled and future.cancel()):
            yield item[0]
        future.result()
    finally:
        take_back()
        cancel.cancel()
        future.cancel()


def _next(
    told: queue.SimpleQueue[tuple[T] | None], gone: Callable[[], bool], dropped: Callable[[], bool]
) -> tuple[T] | None:
    while True:
        if gone():
            raise ClientGone
        if dropped():
            raise Cancelled
        try:
            return told.get(timeout=LOOK_SECONDS)
        except queue.Empty:
            continue
