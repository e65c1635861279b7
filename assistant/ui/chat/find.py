"""Finding words in the open chat: from the newest message up, through messages that are not on screen yet too."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QColor, QKeyEvent, QTextCursor
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QTextEdit

from assistant.ui.chat.session import ChatSession
from assistant.ui.chat.shown import ShownTurn
from assistant.ui.chat.transcript import Transcript
from assistant.ui.chat.turn_view import TurnView
from assistant.ui.i18n import tr
from assistant.ui.theme import Theme
from assistant.ui.widgets import IconButton, SearchField, label, spread

TextView = QTextEdit | QPlainTextEdit

_WAIT_MS = 120
_MARKS = str.maketrans("", "", "*_`~")  # Markdown that is not seen on screen


def holds(turn: ShownTurn, needle: str) -> bool:
    """Whether a turn has ``needle`` (casefolded) in it, with its Markdown marks or without them."""
    for text in (turn.user, turn.reply or ""):
        folded = text.casefold()
        if needle in folded or needle in folded.translate(_MARKS):
            return True
    return False


def places_in(view: TextView, needle: str) -> list[QTextCursor]:
    """Where ``needle`` stands in what a view shows."""
    document = view.document()
    found: list[QTextCursor] = []
    cursor = document.find(needle)
    while not cursor.isNull() and len(found) < 500:
        found.append(cursor)
        cursor = document.find(needle, cursor)
    return found


class FindBar(QFrame):
    """Enter goes to the match before (up), Shift+Enter to the one after, Esc closes."""

    closed = Signal()

    def __init__(self, session: ChatSession, transcript: Transcript, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("findbar")
        self._session, self._transcript, self._theme = session, transcript, theme
        self._turns: list[int] = []  # places in the branch that hold the words
        self._numbers: list[int] = []  # of the turns in those places
        self._at = -1  # which of them
        self._here = -1  # which place in that turn
        self._marked: list[TextView] = []
        self.field = SearchField(theme, tr("Find in this chat"))
        self.count = label("", "small")
        self.earlier = IconButton(theme, "up", tr("Match before (Enter)"), 16)
        self.later = IconButton(theme, "down", tr("Match after (Shift+Enter)"), 16)
        self.close_button = IconButton(theme, "close", tr("Close the search (Esc)"), 16)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_WAIT_MS)
        self._lay_out()
        self._connect()
        self.hide()

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        spread(row, (24, 8, 16, 8), 4)
        row.addStretch(1)
        self.field.setMinimumWidth(260)
        for widget in (self.field, self.count, self.earlier, self.later, self.close_button):
            row.addWidget(widget)
        row.insertSpacing(2, 4)

    def _connect(self) -> None:
        self._timer.timeout.connect(self.search)
        self.field.textChanged.connect(lambda: self._timer.start())
        self.earlier.clicked.connect(lambda: self.step(-1))
        self.later.clicked.connect(lambda: self.step(1))
        self.close_button.clicked.connect(self._on_close_clicked)
        self._theme.changed.connect(self._clear_marks)

    def start(self) -> None:
        """Show the bar; what was looked for before is selected."""
        self.show()
        self.field.setFocus()
        self.field.selectAll()
        if self.field.text():
            self.search()

    def stop(self) -> None:
        """Hide the bar and its marks."""
        self._timer.stop()
        self._clear_marks()
        self.hide()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._on_close_clicked()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.step(1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else -1)
        else:
            super().keyPressEvent(event)

    def search(self) -> None:
        """Look for the words of the field, and go to the newest match."""
        self._timer.stop()
        needle = self.field.text().strip().casefold()
        turns = self._session.turns() if needle else []
        self._turns = [i for i, turn in enumerate(turns) if holds(turn, needle)]
        self._numbers = [turns[i].n for i in self._turns]
        self._at, self._here = len(self._turns) - 1, -1
        self._clear_marks()
        if self._turns:
            self._show(-1)
        self._say()

    def follow(self) -> None:
        """Other turns may be shown now: look again where those that were found are not in their places any more."""
        turns = self._session.turns()
        found = zip(self._turns, self._numbers, strict=True)
        if not self.isHidden() and any(i >= len(turns) or (n and turns[i].n != n) for i, n in found):
            self.search()

    def step(self, by: int) -> None:
        """Go to the next place, -1 up or 1 down, around the ends."""
        if self._timer.isActive():
            self.search()
            return
        if not self._turns:
            return
        places = len(self._places(self._view()))
        if 0 <= self._here + by < places:
            self._here += by
            self._mark()
        else:
            self._at = (self._at + by) % len(self._turns)
            self._show(by)
        self._say()

    def _show(self, by: int) -> None:
        """Bring the turn up, at its last place when coming from below, at its first otherwise."""
        view = self._view()
        if not self._places(view):
            view.bubble.show_all()
        self._here = len(self._places(view)) - 1 if by < 0 else 0
        self._mark()

    def _view(self) -> TurnView:
        return self._transcript.show_index(self._turns[self._at])

    def _places(self, view: TurnView) -> list[tuple[TextView, QTextCursor]]:
        needle = self.field.text().strip()
        return [(text, cursor) for text in view.texts() for cursor in places_in(text, needle)]

    def _mark(self) -> None:
        """Colour every place on screen, and the one we are at more."""
        self._clear_marks()
        here = self._places(self._view())
        current = here[self._here] if 0 <= self._here < len(here) else None
        for view in self._transcript.views():
            found = here if view is self._view() else self._places(view)
            for text in view.texts():
                self._colour(text, [cursor for owner, cursor in found if owner is text], current)
        if current is None:
            self._transcript.bring_up(self._view(), self._view().rect())
            return
        text, cursor = current
        if isinstance(text, QPlainTextEdit):  # it scrolls inside itself
            text.setTextCursor(QTextCursor(text.document().findBlock(cursor.selectionStart())))
            text.centerCursor()
        place = text.cursorRect(cursor).translated(text.viewport().pos())
        self._transcript.bring_up(text, place)

    def _colour(self, text: TextView, cursors: list[QTextCursor], current: tuple[TextView, QTextCursor] | None) -> None:
        colours, marks = self._theme.palette, []
        for cursor in cursors:
            mark = QTextEdit.ExtraSelection()
            here = current is not None and text is current[0] and cursor == current[1]
            mark.cursor = cursor
            mark.format.setBackground(QColor(colours.accent if here else colours.amber_soft))
            mark.format.setForeground(QColor(colours.on_accent if here else colours.text))
            marks.append(mark)
        if marks:
            text.setExtraSelections(marks)
            self._marked.append(text)

    def _clear_marks(self) -> None:
        shown = {text for view in self._transcript.views() for text in view.texts()}
        for text in self._marked:
            if text in shown:
                text.setExtraSelections([])
        self._marked = []

    def _say(self) -> None:
        several = bool(self._turns)
        for made in (self.earlier, self.later):
            made.setEnabled(several)
        if not self.field.text().strip():
            self.count.setText("")
        elif not several:
            self.count.setText(tr("No match"))
        else:
            self.count.setText(tr("Message {n} of {total}", n=self._at + 1, total=len(self._turns)))

    def _on_close_clicked(self) -> None:
        self.stop()
        self.closed.emit()
