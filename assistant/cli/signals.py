"""Commands that end in good order when they are told to."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from assistant.core.cancel import CancelToken


@contextmanager
def stopped_by_signals(cancel: CancelToken) -> Iterator[None]:
    """The first Ctrl+C, kill or hang-up stops the reply, whose text is kept; another one ends the command at once."""

    def stop(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.default_int_handler)
        # On a thread of its own: the code that was interrupted may hold the very locks that a stop needs.
        threading.Thread(target=cancel.cancel, name="stop").start()

    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
