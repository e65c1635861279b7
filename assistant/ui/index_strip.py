"""A strip while the index is built: how far it is, what works meanwhile, and Pause."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QSizePolicy

from assistant.core.events import IndexProgress, IndexStateChanged
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr
from assistant.ui.theme import Theme
from assistant.ui.widgets import ElidedLabel, IconButton, button, spread

if TYPE_CHECKING:
    from assistant.runtime.index_state import IndexState

_PATIENCE_MS = 700
"""What is done sooner is not worth a strip that comes and goes."""
_BETWEEN_MS = 300


class IndexStrip(QFrame):
    """Shows itself while something is read or learnt for longer, or learning is paused; gone when it is done."""

    def __init__(self, services: Backend, bridge: Bridge, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("indexstrip")
        self._services, self._bridge = services, bridge
        self._jobs: dict[str, tuple[int, int]] = {}
        self._state: IndexState | None = None
        self._held = (0, 0)  # how far what was paused had come
        self._dismissed = False
        self.words = ElidedLabel(role="small")
        self.words.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(160)
        self.pause = button(tr("Pause"), "quiet", self._on_pause)
        self.resume = button(tr("Resume"), "quiet", services.indexing.resume)
        self.shut = IconButton(theme, "close", tr("Close"), 14)
        self.shut.clicked.connect(self._on_shut)
        row = QHBoxLayout(self)
        spread(row, (16, 3, 8, 3), 10)
        row.addWidget(self.words, 1)
        for widget in (self.bar, self.pause, self.resume, self.shut):
            row.addWidget(widget)
        self._patience = self._timer(_PATIENCE_MS, self._on_patience_over)
        self._between = self._timer(_BETWEEN_MS, self._show)
        self.hide()
        bridge.event_arrived.connect(self._on_event)

    def _timer(self, milliseconds: int, act: Callable[[], None]) -> QTimer:
        made = QTimer(self)
        made.setSingleShot(True)
        made.setInterval(milliseconds)
        made.timeout.connect(act)
        return made

    # --- what happens ---

    def _on_event(self, event: object) -> None:
        if isinstance(event, IndexProgress):
            self._note(event)
        elif isinstance(event, IndexStateChanged) and (self._services.indexing.paused or self._state):
            self._ask()

    def _note(self, event: IndexProgress) -> None:
        if event.total and event.done >= event.total:
            if self._jobs.pop(event.what, None) is not None:
                self._between.start()  # the next may follow at once
        else:
            self._jobs[event.what] = (event.done, event.total)
            if not self._patience.isActive() and self.isHidden():
                self._patience.start()
        if not self.isHidden() and self._jobs:
            self._show()

    def _on_patience_over(self) -> None:
        if self._jobs:
            self._ask()
            self._show()

    def _ask(self) -> None:
        self._bridge.run(
            self._services.lanes.recall,
            self._services.indexing.state,
            done=self._on_state,
            failed=lambda error: None,  # the bar below says what is wrong with the index
        )

    def _on_state(self, state: IndexState) -> None:
        self._state = state
        self._show()

    def _on_pause(self) -> None:
        self._dismissed = False
        self._held = self._learnt or (0, 0)
        self._services.indexing.pause()

    def _on_shut(self) -> None:
        self._dismissed = True
        self.hide()

    # --- what is shown ---

    def _show(self) -> None:
        paused = self._services.indexing.paused
        if not paused:
            self._dismissed, self._held = False, (0, 0)
        job = None if paused else self._learnt or self._jobs.get("keywords")
        done, total = job or self._paused_at()
        self.setVisible(not self._dismissed and (job is not None or (paused and done < total)))
        if self.isHidden():
            self._state = None if not paused else self._state
            return
        words = self._paused_words() if paused else self._words(job or (0, 0))
        self.words.set_text(words)
        self.bar.setAccessibleName(words)
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        self.pause.setVisible(not paused and self._learnt is not None)
        self.resume.setVisible(paused)
        self.shut.setVisible(paused)

    @property
    def _learnt(self) -> tuple[int, int] | None:
        """How far learning is, while it goes on."""
        return self._jobs.get("vectors") or self._jobs.get("pieces")

    def _paused_at(self) -> tuple[int, int]:
        """Of whole notes, while some are to be learnt; then of their sentences."""
        if self._state and self._state.done < self._state.total:
            return self._state.done, self._state.total
        return self._held

    def _words(self, job: tuple[int, int]) -> str:
        done, total = (f"{number:,}" for number in job)
        if "vectors" not in self._jobs and "pieces" in self._jobs:
            return tr("Learning your notes sentence by sentence: {done} of {total}", done=done, total=total)
        if "vectors" not in self._jobs:
            return tr("Reading your notes: {done} of {total}", done=done, total=total)
        said = tr("Learning the meaning of your notes: {done} of {total}", done=done, total=total)
        return f"{said} · {self._meanwhile()}" if self._meanwhile() else said

    def _paused_words(self) -> str:
        done, total = (f"{number:,}" for number in self._paused_at())
        said = tr("Learning is paused at {done} of {total}; nothing of it is lost", done=done, total=total)
        return f"{said} · {self._meanwhile()}" if self._meanwhile() else said

    def _meanwhile(self) -> str:
        if self._state is None or self._state.status.published:
            return ""
        return tr("search by words works meanwhile")
