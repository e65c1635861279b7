"""The dialogs about an assistant: a new one, its prompt, its name, and the questions before it goes."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLineEdit, QMessageBox, QPlainTextEdit, QVBoxLayout, QWidget

from assistant.core.errors import AssistantError
from assistant.ui.i18n import tr, translate_message
from assistant.ui.widgets import button, label, spread
from assistant.workspace.assistants import LONGEST_PERSONA

_WIDTH = 520


class AssistantDialog(QDialog):
    """A name, a prompt, or both. ``done_asked(name, prompt)``; whoever obeys closes it or shows what is wrong."""

    done_asked = Signal(str, str)

    def __init__(self, title: str, done: str, parent: QWidget, name: str | None, prompt: str | None) -> None:
        """name, prompt: what is there now; None for a dialog without that field."""
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setMinimumWidth(_WIDTH)
        self.name = QLineEdit(name or "")
        self.name.setAccessibleName(tr("Name"))
        self.name.setPlaceholderText(tr("Name"))
        self.prompt = QPlainTextEdit(prompt or "")
        self.prompt.setAccessibleName(tr("Prompt"))
        self.prompt.setPlaceholderText(
            tr("Who it is and how it speaks, in your own words. For example: You are Anna, a patient gardener.")
        )
        self.prompt.setTabChangesFocus(True)
        self.prompt.setMinimumHeight(180)
        self.count = label("", "small")
        self.problem = label("", "smallred", wrap=True)
        self.problem.hide()
        self.done_button = button(done, "primary", self._on_done)
        self.done_button.setDefault(True)
        self._needs_name = name is not None
        self._lay_out(title, name is not None, prompt is not None)
        self.name.textChanged.connect(self._refresh)
        self.prompt.textChanged.connect(self._refresh)
        self._refresh()

    def _lay_out(self, title: str, with_name: bool, with_prompt: bool) -> None:
        column = QVBoxLayout(self)
        spread(column, (24, 20, 24, 16), 12)
        column.addWidget(label(title, "title"))
        for widget, shown in ((self.name, with_name), (self.prompt, with_prompt)):
            widget.setVisible(shown)
            column.addWidget(widget)
        if with_prompt:
            words = tr("Left empty, it has the prompt that comes along. {date} and {weekday} are filled in.")
            below = QHBoxLayout()
            spread(below, spacing=12)
            below.addWidget(label(words, "small", wrap=True), 1)
            below.addWidget(self.count)
            column.addLayout(below)
        column.addWidget(self.problem)
        foot = QHBoxLayout()
        spread(foot, (0, 4, 0, 0), 8)
        foot.addStretch()
        foot.addWidget(button(tr("Cancel"), "", self.reject))
        foot.addWidget(self.done_button)
        column.addLayout(foot)

    def show_problem(self, error: BaseException) -> None:
        """Say what is wrong; the dialog stays, with all that was written."""
        words = translate_message(str(error)) if isinstance(error, AssistantError) else str(error)
        self.problem.setText(words)
        self.problem.show()
        self.done_button.setEnabled(True)

    def _refresh(self) -> None:
        length = len(self.prompt.toPlainText().strip())
        self.count.setText(tr("{n} of {most}", n=f"{length:,}", most=f"{LONGEST_PERSONA:,}"))
        named = bool(self.name.text().strip()) or not self._needs_name
        self.done_button.setEnabled(named and length <= LONGEST_PERSONA)
        self.problem.hide()

    def _on_done(self) -> None:
        self.done_button.setEnabled(False)
        self.done_asked.emit(self.name.text().strip(), self.prompt.toPlainText())


def ask(parent: QWidget, title: str, words: str, yes: str) -> bool:
    """A question whose safe answer is the default."""
    box = QMessageBox(parent)
    box.setWindowTitle(title)
    box.setText(words)
    go = box.addButton(yes, QMessageBox.ButtonRole.DestructiveRole)
    stay = box.addButton(tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(stay)
    box.setEscapeButton(stay)
    box.exec()
    pressed = box.clickedButton()
    box.deleteLater()
    return pressed is go
