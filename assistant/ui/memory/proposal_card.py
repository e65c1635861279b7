"""What the assistant wants to remember of one chat: each thing with Yes, Edit and No."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from assistant.ui.i18n import tr
from assistant.ui.memory.actors import actor_words
from assistant.ui.memory.days import day_words
from assistant.ui.widgets import button, label, rule, spread
from assistant.workspace.sources import distilled_turns

if TYPE_CHECKING:
    from assistant.workspace.inbox_files import Proposal, ProposalItem


class ItemRow(QWidget):
    """One thing to remember. ``answered``: its number, and the words to remember, "" for no."""

    answered = Signal(int, str)

    def __init__(self, item: ProposalItem) -> None:
        super().__init__()
        self.item = item
        self.said = label(item.text, wrap=True)
        self.said.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.field = QLineEdit(item.text)
        self.field.setAccessibleName(tr("What shall be remembered"))
        self.field.returnPressed.connect(self._on_yes)
        self.field.textChanged.connect(self._on_edited)
        self.yes = button(tr("Yes"), "", self._on_yes)
        self.edit = button(tr("Edit"), "quiet", self._on_edit)
        self.no = button(tr("No"), "quiet", lambda: self.answered.emit(item.n, ""))
        for each in (self.yes, self.edit, self.no):
            each.setAccessibleDescription(item.text)
        row = QHBoxLayout()
        spread(row, spacing=4)
        row.addWidget(self.yes)
        row.addWidget(self.edit)
        row.addWidget(self.no)
        row.addStretch()
        column = QVBoxLayout(self)
        spread(column, spacing=6)
        column.addWidget(self.said)
        column.addWidget(self.field)
        column.addLayout(row)
        self.field.hide()

    def editing(self) -> bool:
        """Whether its words are being changed."""
        return not self.field.isHidden()

    def start_edit(self, text: str) -> None:
        """Change its words, beginning with these."""
        self._show_edit(True)
        self.field.setText(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.editing():
            self._show_edit(False)
            self.edit.setFocus()
        else:
            super().keyPressEvent(event)

    def _on_yes(self) -> None:
        text = self.field.text().strip() if self.editing() else self.item.text
        if text:
            self.answered.emit(self.item.n, text)

    def _on_edit(self) -> None:
        self._show_edit(not self.editing())
        if self.editing():
            self.field.setFocus()

    def _show_edit(self, shown: bool) -> None:
        self.field.setText(self.item.text)
        self.field.setVisible(shown)
        self.said.setVisible(not shown)
        self.edit.setText(tr("Cancel") if shown else tr("Edit"))
        self.yes.setText(tr("Remember this") if shown else tr("Yes"))
        self.yes.setEnabled(True)

    def _on_edited(self, text: str) -> None:
        self.yes.setEnabled(bool(text.strip()))


class ProposalCard(QFrame):
    """A proposal; it says by signals what the person answered."""

    answered = Signal(str, int, str)
    """The proposal's id, the item's number, and the words to remember ("": no)."""
    chat_chosen = Signal(str)

    def __init__(self, proposal: Proposal, today: date) -> None:
        super().__init__()
        self.proposal = proposal
        self.setObjectName("card")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        day = day_words(proposal.day, today)
        column = QVBoxLayout(self)
        spread(column, (12, 10, 12, 10), 10)
        column.addLayout(self._head(proposal, day))
        self.rows: list[ItemRow] = []
        for item in proposal.items:
            if self.rows:
                column.addWidget(rule())
            row = ItemRow(item)
            row.answered.connect(lambda n, text: self.answered.emit(proposal.id, n, text))
            self.rows.append(row)
            column.addWidget(row)

    def take_over(self, before: ProposalCard) -> None:
        """Go on with the words that were being changed in the card of fewer answers."""
        edits = {row.item.n: row.field.text() for row in before.rows if row.editing()}
        for row in self.rows:
            if row.item.n in edits:
                row.start_edit(edits[row.item.n])

    def buttons(self) -> list[QPushButton]:
        return [row.yes for row in self.rows]

    def _head(self, proposal: Proposal, day: str) -> QHBoxLayout:
        row = QHBoxLayout()
        spread(row, spacing=8)
        turns = distilled_turns(proposal.source)
        if turns is None:
            words = tr("From {who}, {day}", who=actor_words(proposal.actor), day=day)
            row.addWidget(label(words, "small", wrap=True), 1)
            return row
        chat, first, last = turns
        numbers = f"#{first}" if first == last else f"#{first}–{last}"
        row.addWidget(label(tr("From a chat, {day}", day=day), "small", wrap=True), 1)
        self.link = button(numbers, "quiet", lambda: self.chat_chosen.emit(chat))
        self.link.setAccessibleName(tr("Open the chat at {numbers}", numbers=numbers))
        self.link.setToolTip(tr("Open the chat"))
        row.addWidget(self.link)
        return row
