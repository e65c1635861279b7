"""A small dialog that asks what a new note is called."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from assistant.core.errors import AssistantError
from assistant.ui.i18n import tr, translate_message
from assistant.ui.widgets import button, label, spread
from assistant.workspace.layout import topic_file


class NewNoteDialog(QDialog):
    """``named(file, name)``: a name that a memory file may have; any other is refused in words, below the field."""

    named = Signal(str, str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("New note"))
        self.setMinimumWidth(400)
        self.field = QLineEdit()
        self.field.setPlaceholderText(tr("For example: Travel"))
        self.field.setAccessibleName(tr("Name of the note"))
        self.problem = label("", "smallred", wrap=True)
        self.problem.hide()
        self.create_button = button(tr("Create"), "primary", self._on_create)
        self.create_button.setDefault(True)
        self.create_button.setEnabled(False)
        self.field.textChanged.connect(self._on_text_changed)
        buttons = QHBoxLayout()
        spread(buttons, (0, 8, 0, 0), 8)
        buttons.addStretch()
        buttons.addWidget(button(tr("Cancel"), "", self.reject))
        buttons.addWidget(self.create_button)
        column = QVBoxLayout(self)
        spread(column, (24, 20, 24, 16), 8)
        column.addWidget(label(tr("What is the note about?"), "title"))
        column.addWidget(self.field)
        column.addWidget(self.problem)
        column.addLayout(buttons)

    def _on_text_changed(self, text: str) -> None:
        self.problem.hide()
        self.create_button.setEnabled(bool(text.strip()))

    def _on_create(self) -> None:
        name = self.field.text().strip().removesuffix(".md")
        try:
            file = topic_file(name)
        except AssistantError as error:
            self.problem.setText(translate_message(str(error)))
            self.problem.show()
            self.field.setFocus()
            return
        self.accept()
        self.named.emit(file, name)
