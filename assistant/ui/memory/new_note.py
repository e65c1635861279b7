"""Small dialogs that ask what a note is to be called."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from assistant.core.errors import AssistantError
from assistant.ui.i18n import tr, translate_message
from assistant.ui.widgets import button, label, spread
from assistant.workspace.layout import topic_file


class NoteNameDialog(QDialog):
    """``named(file, name)``: a name that a memory file may have; any other is refused in words, below the field."""

    named = Signal(str, str)

    def __init__(self, title: str, question: str, act: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setMinimumWidth(400)
        self.field = QLineEdit()
        self.field.setAccessibleName(tr("Name of the note"))
        self.problem = label("", "smallred", wrap=True)
        self.problem.hide()
        self.create_button = button(act, "primary", self._on_create)
        self.create_button.setDefault(True)
        self.create_button.setEnabled(False)
        self.field.textChanged.connect(self._on_text_changed)
        buttons = QHBoxLayout()
        spread(buttons, (0, 8, 0, 0), 8)
        buttons.addStretch()
        buttons.addWidget(button(tr("Cancel"), "", self.reject))
        buttons.addWidget(self.create_button)
        self.column = QVBoxLayout(self)
        spread(self.column, (24, 20, 24, 16), 8)
        self.column.addWidget(label(question, "title"))
        self.column.addWidget(self.field)
        self.column.addWidget(self.problem)
        self.column.addLayout(buttons)

    def refuse(self, words: str) -> None:
        """Say why this name cannot be."""
        self.problem.setText(words)
        self.problem.show()
        self.field.setFocus()

    def _on_text_changed(self, text: str) -> None:
        self.problem.hide()
        self.create_button.setEnabled(bool(text.strip()))

    def _on_create(self) -> None:
        name = self.field.text().strip().removesuffix(".md")
        try:
            file = topic_file(name)
        except AssistantError as error:
            self.refuse(translate_message(str(error)))
            return
        if self.taken(file):
            self.refuse(tr("There is a note of this name already."))
            return
        self.accept()
        self.named.emit(file, name)

    def taken(self, file: str) -> bool:
        """Whether the name is another note's."""
        return False


class NewNoteDialog(NoteNameDialog):
    """What is there already is opened, so no name is taken."""

    def __init__(self, parent: QWidget, name: str = "") -> None:
        super().__init__(tr("New note"), tr("What is the note about?"), tr("Create"), parent)
        self.field.setPlaceholderText(tr("For example: Travel"))
        self.field.setText(name)


class RenameDialog(NoteNameDialog):
    """``keeps_links``: whether the note should answer to its old name too."""

    def __init__(self, file: str, files: frozenset[str], parent: QWidget) -> None:
        super().__init__(tr("Rename note"), tr("What should the note be called?"), tr("Rename"), parent)
        self._file, self._files = file, files
        self.keeps_links = QCheckBox(tr("Links to the old name keep working (adds it to the note as an alias)"))
        self.keeps_links.setChecked(True)
        self.column.insertWidget(3, self.keeps_links)
        self.field.setText(file.removeprefix("memory/").removesuffix(".md"))
        self.field.selectAll()

    def taken(self, file: str) -> bool:
        return file != self._file and file.casefold() in {each.casefold() for each in self._files - {self._file}}
