"""Calls that cannot be stopped from inside, such as looking a name up: they are left where they are instead."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Any

from assistant.core.cancel import CancelToken
from assistant.core.errors import Cancelled


def leave_when_cancelled(call: Callable[[], Any], cancel: CancelToken, close: Callable[[Any], None]) -> Any:
    """The result of ``call``, made on a thread of its own. Raises what it raises, and Cancelled at once when asked to.

    close: gets a result that came after that, when nobody wants it any more.
    """
    cancel.check()
    lock, left = threading.Lock(), threading.Event()
    outcomes: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()

    def work() -> None:
        result: Any = None
        failure: BaseException | None = None
        try:
            result = call()
        except BaseException as error:  # noqa: BLE001 - it is raised again where it is waited for
            failure = error
        with lock:
            if not left.is_set():
                outcomes.put((result, failure))
                return
        if failure is None:
            close(result)

    threading.Thread(target=work, name="leaving", daemon=True).start()
    take_back = cancel.on_cancel(lambda: outcomes.put((None, Cancelled())))
    try:
        result, failure = outcomes.get()
    finally:
        take_back()
    if isinstance(failure, Cancelled):
        with lock:
            left.set()
            with contextlib.suppress(queue.Empty):
                late, failed = outcomes.get_nowait()
                if failed is None:
                    close(late)
    if failure is not None:
        raise failure
    return result
