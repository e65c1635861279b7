"""Looks out for other programs that write to the memory files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

_SETTLE_MS = 150  # another program's save is several events; look once they are over
_LOOK_MS = 1_000  # folders on a network report nothing: the open file is looked at as well

Stamp = tuple[int, int, int] | None


class FileWatch(QObject):
    """``changed`` comes once for all that happens to the watched paths within a moment.

    run: does blocking work behind, as Bridge.run without the lane.
    """

    changed = Signal()

    def __init__(self, parent: QObject, run: Callable[..., None]) -> None:
        super().__init__(parent)
        self._run = run
        self._watcher = QFileSystemWatcher(self)
        self._settle = self._timer(_SETTLE_MS, single=True)
        self._settle.timeout.connect(self.changed)
        self._watcher.fileChanged.connect(lambda _: self._settle.start())
        self._watcher.directoryChanged.connect(lambda _: self._settle.start())
        self._file: Path | None = None
        self._stamp: Stamp = None
        self._waits = False
        self._look = self._timer(_LOOK_MS, single=False)
        self._look.timeout.connect(self.look)

    def _timer(self, milliseconds: int, single: bool) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(single)
        timer.setInterval(milliseconds)
        return timer

    def add(self, paths: Sequence[Path]) -> None:
        """Watch these too, also those that were replaced since: a replaced file is not watched any more."""
        known = {*self._watcher.files(), *self._watcher.directories()}
        missing = [str(path) for path in paths if path.exists() and str(path) not in known]
        if missing:
            self._watcher.addPaths(missing)

    def look_at(self, file: Path) -> None:
        """Look at this file again and again, in place of the one before, until rest."""
        if file != self._file:
            self._file, self._stamp = file, _stamp(file)
        if not self._look.isActive():
            self._look.start()

    def rest(self) -> None:
        """Nobody sees it now."""
        self._look.stop()

    def look(self) -> None:
        """Look now, behind: a network may keep one waiting."""
        if self._file is not None and not self._waits:
            self._waits = True
            file = self._file
            self._run(_stamp, file, done=lambda stamp: self._on_looked(file, stamp), failed=self._on_failed)

    def _on_looked(self, file: Path, stamp: Stamp) -> None:
        self._waits = False
        if file == self._file and stamp != self._stamp:
            self._stamp = stamp
            self.changed.emit()

    def _on_failed(self, _: BaseException) -> None:
        self._waits = False


def _stamp(file: Path) -> Stamp:
    try:
        stat = file.stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns
