"""Settings: how fast the model is on this computer, and the button that measures it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import shiboken6
from PySide6.QtCore import QDate, QLocale, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from assistant.core.cancel import CancelToken
from assistant.core.errors import Cancelled
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr
from assistant.ui.widgets import button, label, spread

if TYPE_CHECKING:
    from assistant.engine.tuning import Tuning


class SpeedRow(QWidget):
    """What was measured for the chosen model, in words. Measuring runs on the chat lane and can be stopped."""

    failed = Signal(object)
    _told = Signal(int, int)

    def __init__(self, services: Backend, bridge: Bridge) -> None:
        super().__init__()
        self._services, self._bridge = services, bridge
        self._cancel: CancelToken | None = None
        self.words = label("", "small", wrap=True)
        self.button = button(tr("Measure"), "", self._on_pressed)
        column = QVBoxLayout(self)
        spread(column, spacing=8)
        row = QHBoxLayout()
        spread(row)
        row.addWidget(self.button)
        row.addStretch()
        column.addLayout(row)
        column.addWidget(self.words)
        self._told.connect(self._on_told)

    def look(self) -> None:
        """Show what was measured before."""
        self._bridge.run(
            self._services.lanes.files, self._services.tuning.of, done=self.show_tuning, failed=lambda _: None
        )

    def show_tuning(self, tuning: Tuning | None) -> None:
        self._cancel = None
        self.button.setEnabled(True)
        self.button.setText(tr("Measure again") if tuning else tr("Measure"))
        self.words.setText(speed_words(tuning, self.locale()) if tuning else _unmeasured())

    def stop(self) -> None:
        """End measuring, if it runs; what was measured before stays."""
        if self._cancel:
            self._cancel.cancel()

    def _on_pressed(self) -> None:
        if self._cancel:
            self.button.setEnabled(False)
            self.stop()
            return
        self._cancel = CancelToken()
        self.button.setText(tr("Stop"))
        self.words.setText(tr("Waiting for the reply that is being written …"))
        self._bridge.run(
            self._services.lanes.chat,
            self._services.tuning.measure,
            "",
            self._cancel,
            self._tell,
            done=self.show_tuning,
            failed=self._on_failed,
        )

    def _tell(self, done: int, total: int, _what: str) -> None:
        """On the lane's thread."""
        if shiboken6.isValid(self):
            self._told.emit(done, total)

    def _on_told(self, done: int, total: int) -> None:
        if self._cancel and not self._cancel.cancelled:
            words = tr("Measuring, step {step} of {steps}. Messages wait until it is done.")
            self.words.setText(words.format(step=done + 1, steps=total))

    def _on_failed(self, error: Any) -> None:
        if not isinstance(error, Cancelled):
            self.failed.emit(error)
        self.show_tuning(None)
        self.look()


def speed_words(tuning: Tuning, locale: QLocale) -> str:
    """The figures that matter to a person, and what follows from them."""
    write, read = tuning.policy, tuning.reading_policy
    quiet = tr("Reads {read} and writes {write} tokens a second; {busy} while another program keeps a core busy.")
    lines = [
        quiet.format(read=f"{read.quiet.read:.0f}", write=f"{write.quiet.decode:.0f}", busy=f"{write.busy.decode:.0f}"),
        tr("Threads: {write} to write, {read} to read.").format(write=write.threads, read=read.threads),
    ]
    if tuning.chosen.get("flash_attention") == "on":
        lines.append(tr("Flash attention is on."))
    if tuning.chosen.get("draft"):
        lines.append(tr("Words that repeat the conversation are computed several at once."))
    moment = locale.toString(
        QDate.fromString(tuning.measured[:10], Qt.DateFormat.ISODate), QLocale.FormatType.ShortFormat
    )
    lines.append(tr("Measured on {date}.").format(date=moment))
    if tuning.disturbed:
        lines.append(tr("Other programs were busy meanwhile; measure again in a quiet moment."))
    return "\n".join(lines)


def _unmeasured() -> str:
    return tr("Not measured yet. It takes about a minute and finds what is fastest on this computer.")
