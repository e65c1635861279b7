"""Finding and replacing words in the file that is edited."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from assistant.ui.i18n import tr
from assistant.ui.memory.editor import MemoryEditor
from assistant.ui.theme import Theme
from assistant.ui.widgets import IconButton, SearchField, button, label, spread

_WAIT_MS = 120
_MOST = 5_000  # matches that are coloured and counted


class EditorFind(QFrame):
    """Enter goes to the next match, Shift+Enter to the one before, Esc closes. Upper and lower case are the same."""

    closed = Signal()

    def __init__(self, editor: MemoryEditor, theme: Theme) -> None:
        super().__init__()
        self._editor = editor
        self._found: list[QTextCursor] = []
        self._at = -1
        self.field = SearchField(theme, tr("Find in this file"))
        self.count = label("", "small")
        self.earlier = IconButton(theme, "up", tr("Match before (Shift+Enter)"), 16)
        self.later = IconButton(theme, "down", tr("Match after (Enter)"), 16)
        self.close_button = IconButton(theme, "close", tr("Close the search (Esc)"), 16)
        self.replacement = QLineEdit()
        self.replacement.setPlaceholderText(tr("Replace with"))
        self.replacement.setAccessibleName(tr("Replace with"))
        self.replace_one = button(tr("Replace"), "", self.replace)
        self.replace_every = button(tr("All"), "", self.replace_all)
        self.replace_every.setAccessibleName(tr("Replace all"))
        self.replace_row = QWidget()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_WAIT_MS)
        self._lay_out()
        self._connect(theme)
        self.hide()

    def _lay_out(self) -> None:
        find, replace = QHBoxLayout(), QHBoxLayout(self.replace_row)
        spread(find, spacing=2)
        spread(replace, spacing=8)
        find.addWidget(self.field, 1)
        for widget in (self.count, self.earlier, self.later, self.close_button):
            find.addWidget(widget)
        replace.addWidget(self.replacement, 1)
        replace.addWidget(self.replace_one)
        replace.addWidget(self.replace_every)
        column = QVBoxLayout(self)
        spread(column, spacing=8)
        column.addLayout(find)
        column.addWidget(self.replace_row)

    def _connect(self, theme: Theme) -> None:
        self._timer.timeout.connect(self._search_on)
        self.field.textChanged.connect(lambda: self._timer.start())
        self._editor.textChanged.connect(lambda: self.isVisible() and self._timer.start())
        self.earlier.clicked.connect(lambda: self.step(-1))
        self.later.clicked.connect(lambda: self.step(1))
        self.close_button.clicked.connect(self.stop)
        theme.changed.connect(self._show)

    def start(self, replacing: bool = False) -> None:
        """Show the bar with what is selected in the editor, and look for it."""
        chosen = self._editor.textCursor().selectedText()
        if chosen and "\u2029" not in chosen:
            self.field.setText(chosen)
        self.replace_row.setVisible(replacing and not self._editor.isReadOnly())
        self.show()
        self.field.setFocus()
        self.field.selectAll()
        self.search()

    def stop(self) -> None:
        """Hide the bar and its marks; the cursor stays where it led."""
        self._timer.stop()
        self._found = []
        self._editor.show_matches([], -1)
        self.hide()
        self._editor.setFocus()
        self.closed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if event.key() == Qt.Key.Key_Escape:
            self.stop()
        elif is_enter and self.replacement.hasFocus():
            self.replace()
        elif is_enter:
            self.step(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        else:
            super().keyPressEvent(event)

    def search(self) -> None:
        """Look for the words of the field; go to the first match at or behind the cursor."""
        self._look()
        if self._found:
            here = self._editor.textCursor().selectionStart()
            self._at = next((i for i, found in enumerate(self._found) if found.selectionStart() >= here), 0)
            self._go()
        self._show()

    def step(self, by: int) -> None:
        """Go to the next match, -1 up or 1 down, around the ends."""
        if self._timer.isActive():
            self.search()
        elif self._found:
            self._at = (self._at + by) % len(self._found)
            self._go()
            self._show()

    def replace(self) -> None:
        """Replace the match we are at, and go to the next."""
        if not self._found or self._editor.isReadOnly():
            return
        cursor = QTextCursor(self._found[self._at])
        cursor.insertText(self.replacement.text())
        self._editor.setTextCursor(cursor)
        self.search()

    def replace_all(self) -> None:
        """Replace every match, in one step of undo."""
        self._look()
        if not self._found or self._editor.isReadOnly():
            return
        whole = QTextCursor(self._editor.document())
        whole.beginEditBlock()
        for found in reversed(self._found):
            found.insertText(self.replacement.text())
        whole.endEditBlock()
        self.search()

    def _search_on(self) -> None:
        """The words changed, or the text: keep to where we are."""
        if self.field.hasFocus():
            self.search()
        else:
            self._look()
            self._show()

    def _look(self) -> None:
        self._timer.stop()
        self._found, self._at = [], -1
        needle, document = self.field.text(), self._editor.document()
        cursor = document.find(needle) if needle else QTextCursor()
        while not cursor.isNull() and len(self._found) < _MOST:
            self._found.append(cursor)
            cursor = document.find(needle, cursor)

    def _go(self) -> None:
        self._editor.setTextCursor(self._found[self._at])
        self._editor.centerCursor()

    def _show(self) -> None:
        if self.isHidden():
            return
        self._editor.show_matches(self._found, self._at)
        several = bool(self._found)
        for made in (self.earlier, self.later, self.replace_one, self.replace_every):
            made.setEnabled(several)
        if not self.field.text():
            self.count.setText("")
        elif not several:
            self.count.setText(tr("No match"))
        elif self._at < 0:
            self.count.setText(str(len(self._found)))
        else:
            self.count.setText(tr("{n} of {total}", n=self._at + 1, total=len(self._found)))
