"""Lanes: threads that do their work in order, so that two jobs on the same thing never meet."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from assistant.core.errors import AssistantError, Cancelled

P = ParamSpec("P")
T = TypeVar("T")
_log = logging.getLogger(__name__)


class Lane:
    """One thread with a queue; it starts with the first job. A job's bug is logged even if nobody asks for it."""

    def __init__(self, name: str) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._name = name

    def runs_here(self) -> bool:
        """Whether the caller is one of its own jobs, which must not wait for another."""
        return threading.current_thread().name.startswith(f"{self._name}_")

    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Do it after what was submitted before. Raises RuntimeError once the lane is closed."""
        future = self._pool.submit(function, *args, **kwargs)
        future.add_done_callback(_log_bug)
        return future

    def close(self, *, drop: bool = True) -> None:
        """Wait for the job that runs; what waits is dropped, or is done first."""
        self._pool.shutdown(wait=True, cancel_futures=drop)


def once(name: str, function: Callable[[], T]) -> Future[T]:
    """Do one thing on a thread of its own, which ends with it: for the end of all lanes."""
    pool = ThreadPoolExecutor(1, thread_name_prefix=name)
    future = pool.submit(function)
    future.add_done_callback(_log_bug)
    pool.shutdown(wait=False)
    return future


class Lanes:
    """files: short work on the disk; recall: searches; index: keeping the index true; chat: model and turns;
    keeping: backups, history, checks, which may take their time.
    """

    def __init__(self) -> None:
        self.files = Lane("files")
        self.recall = Lane("recall")
        self.index = Lane("index")
        self.chat = Lane("chat")
        self.keeping = Lane("keeping")

    def close(self) -> None:
        """End all lanes; cancel what runs on them first. What waits for the disk or for a commit is done."""
        self.files.close(drop=False)
        for lane in (self.chat, self.index, self.recall):
            lane.close()
        self.keeping.close(drop=False)  # last: what the others did is committed, too


def _log_bug(future: Future[T]) -> None:
    if future.cancelled():
        return
    error = future.exception()
    if error is not None and not isinstance(error, AssistantError | Cancelled):
        _log.error("a background job failed", exc_info=error)
