"""Looks out for other programs that write to the memory files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

_SETTLE_MS = 150  # another program's save is several events; look once they are over


class FileWatch(QObject):
    """``changed`` comes once for all that happens to the watched paths within a moment."""

    changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._watcher = QFileSystemWatcher(self)
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(_SETTLE_MS)
        self._settle.timeout.connect(self.changed)
        self._watcher.fileChanged.connect(lambda _: self._settle.start())
        self._watcher.directoryChanged.connect(lambda _: self._settle.start())

    def add(self, paths: Sequence[Path]) -> None:
        """Watch these too, also those that were replaced since: a replaced file is not watched any more."""
        known = {*self._watcher.files(), *self._watcher.directories()}
        missing = [str(path) for path in paths if path.exists() and str(path) not in known]
        if missing:
            self._watcher.addPaths(missing)
