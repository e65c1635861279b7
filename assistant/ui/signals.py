"""Ending well when the system asks for it: Ctrl+C in the terminal, `kill`, a closed terminal, the session's end."""

from __future__ import annotations

import signal
import socket
from types import TracebackType

from PySide6.QtCore import QObject, QSocketNotifier, Signal

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows knows no SIGHUP


class EndSignals(QObject):
    """``asked`` for the first signal to end, ``demanded`` for each further one. Use it as a context manager.

    While Qt waits no Python code runs, a signal handler neither; what wakes Qt is the byte that Python writes into a
    socket for every signal.
    """

    asked = Signal()
    demanded = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._count = 0
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)
        self._notifier = QSocketNotifier(self._reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_woken)

    def __enter__(self) -> EndSignals:
        self._wakeup = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
        self._before = {number: signal.signal(number, lambda *_: None) for number in numbers}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup)
        self._notifier.setEnabled(False)
        self._reader.close()
        self._writer.close()

    def _on_woken(self) -> None:
        for number in self._reader.recv(64):
            if number in self._before:
                self._count += 1
                (self.asked if self._count == 1 else self.demanded).emit()
