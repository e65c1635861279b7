"""A conflict: two cards beside each other, or below each other where it is narrow, and the person's word on them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from assistant.ui.i18n import tr
from assistant.ui.memory.days import day_words
from assistant.ui.widgets import button, label, spread

if TYPE_CHECKING:
    from assistant.chat.opinion import Opinion
    from assistant.workspace.claims import Claim
    from assistant.workspace.conflicts import MemoryConflict

_SIDE_BY_SIDE = 520  # pixels; below that two texts beside each other are too narrow to read


class ClaimCard(QFrame):
    """What one line says, when and where, and the button that lets it hold."""

    def __init__(
        self, claim: Claim, today: date, words: str, holds: Callable[[], object], opens: Callable[[], object]
    ) -> None:
        super().__init__()
        self.setObjectName("card")
        self.holds = button(words, "", holds)
        when = tr("You said on {day}", day=day_words(claim.day, today)) if claim.day else tr("Written without a date")
        self.holds.setAccessibleDescription(f"{when}: {claim.text}")
        self.said = label(claim.text, wrap=True)
        self.said.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.place = button(f"{PurePosixPath(claim.file).name}:{claim.line}", "quiet", opens)
        self.place.setToolTip(f"{claim.file}:{claim.line}")
        self.place.setAccessibleName(tr("Open {place}", place=f"{claim.file}:{claim.line}"))
        foot = QHBoxLayout()
        spread(foot, spacing=8)
        foot.addWidget(self.holds)
        foot.addStretch()
        foot.addWidget(self.place)
        column = QVBoxLayout(self)
        spread(column, (12, 10, 12, 10), 6)
        column.addWidget(label(when, "small", wrap=True))
        column.addWidget(self.said)
        column.addStretch()
        column.addLayout(foot)


class ConflictCard(QWidget):
    """Says by signals what the person chose."""

    kept = Signal(str, str)
    """The conflict's id and which one holds: older or newer."""
    both_chosen = Signal(str)
    opinion_asked = Signal(str)
    place_chosen = Signal(str, int)

    def __init__(self, conflict: MemoryConflict, today: date) -> None:
        super().__init__()
        self.conflict = conflict
        is_same = conflict.how == "same"
        self.setAccessibleName(
            tr("Two lines that say the same") if is_same else tr("Two lines that contradict each other")
        )
        self.older = self._card(conflict.older, "older", today)
        self.newer = self._card(conflict.newer, "newer", today)
        self.both = button(
            tr("Keep both") if is_same else tr("Both hold"), "quiet", lambda: self.both_chosen.emit(conflict.id)
        )
        self.ask = button(tr("Ask the model"), "quiet", self._on_asked)
        self.opinion = label("", "small", wrap=True)
        self.opinion.hide()
        if is_same:
            self.ask.hide()
        self._sides = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        spread(self._sides, spacing=8)
        self._sides.addWidget(self.older, 1)
        self._sides.addWidget(self.newer, 1)
        self._lay_out()

    def _card(self, claim: Claim, which: str, today: date) -> ClaimCard:
        ident = self.conflict.id
        return ClaimCard(
            claim,
            today,
            tr("Keep this one") if self.conflict.how == "same" else tr("This holds"),
            lambda: self.kept.emit(ident, which),
            lambda: self.place_chosen.emit(claim.file, claim.line),
        )

    def _lay_out(self) -> None:
        foot = QHBoxLayout()
        spread(foot, spacing=4)
        foot.addWidget(self.both)
        foot.addWidget(self.ask)
        foot.addStretch()
        column = QVBoxLayout(self)
        spread(column, spacing=6)
        column.addLayout(self._sides)
        column.addLayout(foot)
        indented = QHBoxLayout()
        spread(indented, (7, 0, 0, 0))
        indented.addWidget(self.opinion)
        column.addLayout(indented)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    def show_opinion(self, opinion: Opinion) -> None:
        """What the model thinks. It decides nothing."""
        words = {
            "yes": tr("{model} thinks that they contradict each other.", model=opinion.model),
            "no": tr("{model} thinks that both can hold.", model=opinion.model),
            "unclear": tr("{model} gave no clear answer.", model=opinion.model),
        }
        self.say(words[opinion.verdict])

    def say(self, words: str) -> None:
        """A muted line below; "" for none. The model may be asked again."""
        self.opinion.setText(words)
        self.opinion.setVisible(bool(words))
        self.ask.setEnabled(True)

    def take_over(self, before: ConflictCard) -> None:
        """The same two lines stand elsewhere now: what the model thought of them still counts."""
        if not before.opinion.isHidden():
            self.say(before.opinion.text())
            self.ask.setEnabled(before.ask.isEnabled())

    def buttons(self) -> list[QPushButton]:
        return [self.older.holds, self.newer.holds, self.both, self.ask]

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        across = QBoxLayout.Direction.LeftToRight if self.width() >= _SIDE_BY_SIDE else QBoxLayout.Direction.TopToBottom
        if self._sides.direction() != across:
            self._sides.setDirection(across)

    def _on_asked(self) -> None:
        self.ask.setEnabled(False)
        self.opinion.setText(tr("Asking the model…"))
        self.opinion.show()
        self.opinion_asked.emit(self.conflict.id)
