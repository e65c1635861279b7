"""Tidying memory up: the one diff is shown first, applied only then, and can be undone as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr
from assistant.ui.memory.diff import DiffView
from assistant.ui.theme import Theme
from assistant.ui.widgets import button, label, spread
from assistant.workspace.tidy import TidyPlan

_SHOWN = 5
"""Conflicts that are named one by one; the review has them all."""


class TidyDialog(QDialog):
    """What would change, in counts and line by line. ``accepted``: do it."""

    def __init__(self, plan: TidyPlan, conflicts: Sequence[str], theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Tidy up"))
        self.resize(720, 560)
        self.counts = label(count_words(plan, conflicts), wrap=True)
        self.diff = DiffView(theme, tr("What would change"))
        self.diff.show_diff(plan.diff)
        self.apply = button(tr("Tidy up"), "primary", self.accept)
        self.cancel = button(tr("Cancel"), "", self.reject)
        row = QHBoxLayout()
        spread(row, (0, 4, 0, 0), 8)
        row.addWidget(label(tr("One click undoes all of it."), "small"), 1)
        row.addWidget(self.cancel)
        row.addWidget(self.apply)
        column = QVBoxLayout(self)
        spread(column, (24, 20, 24, 16), 12)
        column.addWidget(label(tr("Tidy up"), "title"))
        column.addWidget(self.counts)
        column.addWidget(self.diff, 1)
        column.addLayout(row)


class Tidying(QObject):
    """``ask`` looks and shows the dialog. ``tidied``: words, and what undoes it; ``said``: nothing to do."""

    tidied = Signal(str, str)
    said = Signal(str)
    failed = Signal(object)

    def __init__(
        self, services: Backend, bridge: Bridge, theme: Theme, window: Callable[[], QWidget], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._services, self._bridge, self._theme, self._window = services, bridge, theme, window
        self.dialog: TidyDialog | None = None

    def ask(self) -> None:
        """Plan, then show the plan."""
        tidying = self._services.tidying
        self._bridge.run(
            self._services.lanes.files,
            lambda: (tidying.plan(), tidying.conflicts()),
            done=lambda both: self._on_planned(*both),
            failed=self.failed.emit,
        )

    def _on_planned(self, plan: TidyPlan, conflicts: Sequence[str]) -> None:
        if not plan.edits:
            waiting = tr("There is nothing to tidy up; contradictions in the review: {n}", n=len(conflicts))
            self.said.emit(waiting if conflicts else tr("There is nothing to tidy up"))
            return
        dialog = TidyDialog(plan, conflicts, self._theme, self._window())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.accepted.connect(lambda: self._apply(plan))
        self.dialog = dialog
        dialog.open()

    def _apply(self, plan: TidyPlan) -> None:
        self._bridge.run(
            self._services.lanes.files,
            self._services.tidying.apply,
            plan,
            done=lambda batch: self.tidied.emit(tr("Memory is tidied up"), batch),
            failed=self.failed.emit,
        )


def count_words(plan: TidyPlan, conflicts: Sequence[str]) -> str:
    """What the plan does, a line each."""
    said = []
    if plan.moved:
        said.append(tr("Moves to the archive: {n}", n=len(plan.moved)))
    if plan.merged:
        said.append(tr("Written twice, kept once: {n}", n=len(plan.merged)))
    if conflicts:
        said.append(tr("Contradictions that wait for your word in the review: {n}", n=len(conflicts)))
        said += [f"    {words}" for words in conflicts[:_SHOWN]]
    if plan.over:
        said.append(tr("MEMORY.md stays above its limit, for facts never move by themselves."))
    return "\n".join(said)
