"""Keeps what is typed and not saved outside the workspace, so that neither a crash nor a kill takes it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from assistant.core.errors import AssistantError
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.memory.endings import as_shown
from assistant.ui.memory.unsaved import Unsaved

if TYPE_CHECKING:
    from assistant.workspace.drafts import Draft

_KEEP_MS = 1_000
"""A crash loses at most what was typed in this time."""
_PATIENCE_SECONDS = 5
_log = logging.getLogger(__name__)


class DraftKeeper(QObject):
    """``pending`` tells what is not saved, by file; what is on disk is brought in line with it behind."""

    restored = Signal(object)
    """Unsaved text of earlier, by file; once, and only where there is any."""
    failed = Signal(object)

    def __init__(
        self, services: Backend, bridge: Bridge, pending: Callable[[], Mapping[str, Unsaved]], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._services, self._bridge, self._pending = services, bridge, pending
        self._drafts = services.workspace.drafts
        self._kept: dict[str, str] = {}
        self._told = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_KEEP_MS)
        self._timer.timeout.connect(self.keep)

    def restore(self) -> None:
        """Look for what was kept; ``restored`` follows."""
        self._bridge.run(self._services.lanes.files, self._find, done=self._on_found, failed=self.failed.emit)

    def keep_soon(self) -> None:
        """Something was typed."""
        if not self._timer.isActive():
            self._timer.start()

    def keep(self) -> None:
        """Write down what is new, drop what was saved or discarded; behind."""
        self._timer.stop()
        for work in self._changes():
            self._bridge.run(self._services.lanes.files, work, done=lambda _: None, failed=self._on_failed)

    def keep_now(self) -> None:
        """As keep, and wait until it is on disk."""
        self._timer.stop()
        for future in [self._services.lanes.files.submit(work) for work in self._changes()]:
            try:
                future.result(_PATIENCE_SECONDS)
            except (TimeoutError, AssistantError) as error:
                _log.warning("unsaved text was not kept: %s", error)

    def _changes(self) -> list[Callable[[], None]]:
        """What has to be done so that the drafts on disk are what is not saved now."""
        from assistant.workspace.drafts import Draft

        pending, now = self._pending(), datetime.now().astimezone().isoformat(timespec="seconds")
        work: list[Callable[[], None]] = []
        for file, typed in pending.items():
            if self._kept.get(file) != typed.text:
                base = typed.base
                draft = Draft(file, typed.text, base.text, base.sha256, base.newline, typed.kept or now)
                work.append(partial(self._drafts.keep, draft))
        work += [partial(self._drafts.drop, file) for file in self._kept if file not in pending]
        self._kept = {file: typed.text for file, typed in pending.items()}
        return work

    def _on_failed(self, error: BaseException) -> None:
        self._kept.clear()  # the next word typed tries again
        if not self._told:
            self._told = True
            self.failed.emit(error)

    def _find(self) -> dict[str, Unsaved]:
        """Drafts that say something else than their file does; the others were saved after all."""
        found = {}
        for draft in self._drafts.all():
            unsaved = self._unsaved(draft)
            if unsaved is None:
                self._drafts.drop(draft.file)
            else:
                found[draft.file] = unsaved
        return found

    def _unsaved(self, draft: Draft) -> Unsaved | None:
        from assistant.workspace.text_files import TextFile

        try:
            current = self._services.workspace.memory.read(draft.file)
        except AssistantError:  # the file is not there any more, and its name is none that we would make
            current = TextFile("", "utf-8", "\n", False, "")
        if current.sha256 and as_shown(current.text) == draft.text:
            return None
        if current.sha256 == draft.base_sha:
            return Unsaved(draft.text, current, draft.time)
        return Unsaved(draft.text, TextFile(draft.base_text, "utf-8", draft.newline, False, draft.base_sha), draft.time)

    def _on_found(self, found: dict[str, Unsaved]) -> None:
        self._kept |= {file: typed.text for file, typed in found.items()}
        if found:
            self.restored.emit(found)
