"""Forgetting in the window: asked about, hidden at once, erased after a grace period, proved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QVBoxLayout, QWidget

from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr
from assistant.ui.theme import Theme
from assistant.ui.widgets import ElidedLabel, IconButton, button, spread

if TYPE_CHECKING:
    from assistant.workspace.forget_values import ForgetPlan, ForgetReport, Target, Thing

GRACE_SECONDS = 30
"""How long what was forgotten can be brought back."""
_TICK_MS = 1000
_PROOF_SECONDS = 20


class ForgetStrip(QFrame):
    """One forgetting: counts down with Undo, then erases, then says what the search found."""

    undo_asked = Signal()
    due = Signal()
    proof_asked = Signal()
    ended = Signal()

    def __init__(self, count: int, theme: Theme, seconds: int = GRACE_SECONDS) -> None:
        super().__init__()
        self.setObjectName("notecard")
        self._count, self.seconds = count, seconds
        self.words = ElidedLabel()
        self.undo = button(tr("Undo"), "", self._on_undo)
        self.now = button(tr("Forget now"), "", self._on_now)
        self.show_proof = button(tr("Show the search"), "", self.proof_asked.emit)
        self.shut = IconButton(theme, "close", tr("Close"), 16)
        self.shut.clicked.connect(self.end)
        row = QHBoxLayout(self)
        spread(row, (16, 4, 8, 4), 8)
        row.addWidget(self.words, 1)
        for widget in (self.undo, self.now, self.show_proof, self.shut):
            row.addWidget(widget)
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK_MS)
        self._timer.timeout.connect(self.tick)
        self._timer.start()
        self.show_proof.hide()
        self.shut.hide()
        self._say()

    def tick(self) -> None:
        """A second has passed."""
        self.seconds -= 1
        proven = not self.show_proof.isHidden()
        if self.seconds <= 0:
            self.end() if proven else self._on_now()
        elif not proven:
            self._say()

    def say_proof(self, words: str, clean: bool) -> None:
        """It is done; where something is left the strip stays until it is closed."""
        self.words.set_text(words)
        self.setAccessibleName(words)
        self.show_proof.show()
        self.shut.show()
        self.seconds = _PROOF_SECONDS
        if clean:
            self._timer.start()
        else:
            self.setObjectName("errorcard")
            self.style().unpolish(self)
            self.style().polish(self)

    def end(self) -> None:
        self._timer.stop()
        self.hide()
        self.ended.emit()

    def go_on(self) -> None:
        """Undo failed: it can be tried again, or erased at once."""
        self._busy(False)

    def _on_undo(self) -> None:
        self._busy(True)
        self.undo_asked.emit()

    def _on_now(self) -> None:
        self._busy(True)
        self.words.set_text(tr("Erasing it everywhere…"))
        self.due.emit()

    def _busy(self, busy: bool) -> None:
        self._timer.stop()
        self.undo.setVisible(not busy)
        self.now.setVisible(not busy)

    def _say(self) -> None:
        if self._count == 1:
            words = tr("Forgotten. Erased everywhere in {n} s.", n=self.seconds)
        else:
            words = tr("{count} forgotten. Erased everywhere in {n} s.", count=self._count, n=self.seconds)
        self.words.set_text(words)
        self.setAccessibleName(words)


class ForgetFlow(QWidget):
    """``ask`` begins; a strip stands for each forgetting that is under way. Closing the window erases at once."""

    said = Signal(str)
    changed = Signal()
    """Chats and what was told in them may say other words now."""

    def __init__(
        self, services: Backend, bridge: Bridge, theme: Theme, failed: Callable[[BaseException], None], parent: QWidget
    ) -> None:
        super().__init__()
        self._services, self._bridge, self._theme, self._failed = services, bridge, theme, failed
        self._window = parent
        self.dialog: QDialog | None = None
        self._strips: list[ForgetStrip] = []
        self._column = QVBoxLayout(self)
        spread(self._column, (12, 4, 12, 4), 4)
        self.hide()

    def strips(self) -> list[ForgetStrip]:
        """Those on screen, the newest last."""
        return list(self._strips)

    def ask(self, things: Sequence[Thing]) -> None:
        """Show what would go, and ask. things: ids of units and turns, or (file, line, text) of a memory file."""
        self._run(lambda: self._look(things), lambda found: self._show(*found))

    def ask_words(self, what: str, things: Sequence[Thing]) -> None:
        """The same for what a message asked to forget. things: what a search found for it; (): all that says it."""
        self._run(lambda: self._look(things) if things else self._look_for(what), lambda found: self._show(*found))

    def _look_for(self, what: str) -> tuple[ForgetPlan, Sequence[tuple[str, int]]]:
        plan = self._services.forgetting.plan(what)
        return plan, self._services.forgetting.counted(plan)

    def _look(self, things: Sequence[Thing]) -> tuple[ForgetPlan, Sequence[tuple[str, int]]]:
        plan = self._services.forgetting.plan_things(things)
        return plan, self._services.forgetting.counted(plan)

    def _show(self, plan: ForgetPlan, counts: Sequence[tuple[str, int]]) -> None:
        from assistant.ui.memory.forget import ForgetDialog

        dialog = ForgetDialog(plan, counts, GRACE_SECONDS, self._window)
        dialog.agreed.connect(lambda more: self._begin(plan, more))
        self._open(dialog)

    def _begin(self, plan: ForgetPlan, more: Sequence[Target]) -> None:
        service = self._services.forgetting
        count = len(plan.targets) + len(more)
        self._run(lambda: service.begin(service.widened(plan, more)), lambda pending: self._count_down(pending, count))

    def _count_down(self, pending: Any, count: int) -> None:
        self.changed.emit()
        strip = ForgetStrip(count, self._theme)
        service = self._services.forgetting
        strip.undo_asked.connect(lambda: self._run(lambda: service.undo(pending), lambda _: self._undone(strip), strip))
        strip.due.connect(
            lambda: self._run(lambda: service.finish(pending), lambda done: self._prove(strip, done), strip)
        )
        strip.ended.connect(lambda: self._drop(strip))
        self._strips.append(strip)
        self._column.addWidget(strip)
        self.show()

    def _undone(self, strip: ForgetStrip) -> None:
        strip.end()
        self.changed.emit()
        self.said.emit(tr("It is back as it was"))

    def _prove(self, strip: ForgetStrip, report: ForgetReport) -> None:
        from assistant.ui.memory.forget_proof import ProofDialog, proof_words

        self.changed.emit()
        strip.proof_asked.connect(lambda: self._open(ProofDialog(report, self._theme, self._window)))
        strip.say_proof(proof_words(report), report.clean)

    def _drop(self, strip: ForgetStrip) -> None:
        self._strips.remove(strip)
        self._column.removeWidget(strip)
        strip.deleteLater()
        self.setVisible(bool(self.strips()))

    def _run(self, work: Callable[[], Any], done: Callable[[Any], None], strip: ForgetStrip | None = None) -> None:
        def failed(error: BaseException) -> None:
            if strip is not None:
                strip.go_on()
            self._failed(error)

        self._bridge.run(self._services.lanes.files, work, done=done, failed=failed)

    def _open(self, dialog: QDialog) -> None:
        self.dialog = dialog
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()
