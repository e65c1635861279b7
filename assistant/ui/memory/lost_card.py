"""What got lost, since when, and the button that undoes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QVBoxLayout

from assistant.ui.i18n import tr
from assistant.ui.widgets import button, label, spread

if TYPE_CHECKING:
    from assistant.runtime.self_test import SelfTest


class LostCard(QFrame):
    """Hidden while nothing is lost."""

    def __init__(self, roll_back: Callable[[], object]) -> None:
        super().__init__()
        self.setObjectName("notecard")
        self.words = label("", wrap=True)
        self.why = label("", "small", wrap=True)
        self.back = button(tr("Roll back"), "", roll_back)
        column = QVBoxLayout(self)
        spread(column, (16, 12, 16, 12), 6)
        column.addWidget(self.words)
        column.addWidget(self.why)
        column.addWidget(self.back, 0, Qt.AlignmentFlag.AlignLeft)
        self.hide()

    def show_test(self, test: SelfTest) -> None:
        """Say what the last runs found."""
        lost = test.lost
        one = tr("1 question is not answered any more.")
        self.words.setText(one if lost == 1 else tr("{n} questions are not answered any more.", n=lost))
        why, back = _why(test.cause)
        self.why.setText(why)
        self.why.setVisible(bool(why))
        self.back.setText(back)
        self.back.setVisible(bool(back))
        self.setVisible(bool(lost))


def _why(cause: str) -> tuple[str, str]:
    """Words for what may have done it, and for the button; "" where there is nothing to undo."""
    if cause == "tidy":
        return tr("Memory was tidied up before that."), tr("Undo the tidy-up")
    if cause == "model":
        return tr("The embedding model was changed before that."), tr("Back to the model before")
    if cause == "rebuild":
        return tr("The index was built anew; your files did not change, so there is nothing to roll back."), ""
    return tr("The lines were changed, or others are nearer now."), ""
