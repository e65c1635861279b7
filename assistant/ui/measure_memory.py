"""For ``keepsake bench memory``: how long a page of the memory panel takes to be on screen, with what it shows.

Run as ``python -m assistant.ui.measure_memory WORKSPACE STATE PAGE ROWS``; prints one JSON object: milliseconds from
asking for the page until its list of at least ROWS rows was painted, the processor's time of it, and the longest time
the window did not answer.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QEventLoop, QObject, QTimer

from assistant.runtime.composition import Places, compose
from assistant.ui.application import build_application, find_theme
from assistant.ui.main_window import MainWindow

_PATIENCE_MS = 60_000
_SETTLE_MS = 300
_TICK_MS = 5


class _Painted(QObject):
    """Ends the wait once a view was painted while ``ready``."""

    def __init__(self, ready: Callable[[], bool], done: Callable[[], object]) -> None:
        super().__init__()
        self._ready, self._done = ready, done

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and self._ready():
            QTimer.singleShot(0, self, self._done)
        return False


class _Pulse(QTimer):
    """Notes the longest time between two of its beats."""

    def __init__(self) -> None:
        super().__init__()
        self.longest, self._last = 0.0, time.perf_counter()
        self.timeout.connect(self._on_beat)
        self.start(_TICK_MS)

    def _on_beat(self) -> None:
        now = time.perf_counter()
        self.longest, self._last = max(self.longest, now - self._last), now


def main(workspace: Path, state: Path, page: str, rows: int) -> dict[str, float]:
    """Milliseconds, by what was measured."""
    app = build_application([], "en", "light")
    services = compose(Places(workspace, state / "config", state))
    window = MainWindow(services, find_theme(app))
    window.resize(1200, 800)
    window.show()
    _wait(_SETTLE_MS)
    loop, pulse = QEventLoop(), _Pulse()
    began, busy = time.perf_counter(), time.process_time()
    window.show_memory_page(page)
    shown = window.memory_panel().page(page)
    view, model = shown.view, shown.model  # type: ignore[attr-defined]  # both pages that are measured have them
    painted = _Painted(lambda: model.rowCount() >= rows, loop.quit)
    view.viewport().installEventFilter(painted)
    QTimer.singleShot(_PATIENCE_MS, loop, lambda: loop.exit(1))
    late = loop.exec()
    took, busy = time.perf_counter() - began, time.process_time() - busy
    _wait(_SETTLE_MS)
    window.memory_panel().discard()
    window.toggle_memory()  # or the next window would open with it
    window.close()
    window.release()
    services.close()
    if late:
        raise SystemExit(f"{model.rowCount()} rows after {_PATIENCE_MS / 1000:.0f} s")
    return {"open_ms": took * 1000, "open_cpu_ms": busy * 1000, "longest_stall_ms": pulse.longest * 1000}


def _wait(milliseconds: int) -> None:
    """Let the window live; other threads too."""
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


if __name__ == "__main__":
    figures = main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
    sys.stdout.write(json.dumps(figures) + "\n")
    sys.stdout.flush()
    os._exit(0)  # what Qt does at the end is not measured
