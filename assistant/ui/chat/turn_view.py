"""One turn in the transcript: the person's words, the reply, what can be done with them, and the receipt."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QEnterEvent, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from assistant.core.errors import AssistantError
from assistant.ui.chat.bubble import UserBubble
from assistant.ui.chat.calls import CallsView
from assistant.ui.chat.markdown import MarkdownRenderer
from assistant.ui.chat.receipt_view import ReceiptView
from assistant.ui.chat.receipt_words import summary
from assistant.ui.chat.reply_view import ReplyView
from assistant.ui.chat.shown import Phase, ShownTurn
from assistant.ui.chat.thought import ThoughtFold
from assistant.ui.i18n import tr, translate_message
from assistant.ui.theme import Theme
from assistant.ui.widgets import IconButton, button, label, spread
from assistant.workspace.forgotten_text import FORGOTTEN

_ROW_PIXELS = 12  # buttons whose tops differ by less stand in one row


class TurnView(QWidget):
    """One turn. Signals name the turn by its number on disk."""

    edit_asked = Signal(int)
    forget_asked = Signal(int)
    regenerate_asked = Signal(int)
    retry_asked = Signal(int)
    branch_chosen = Signal(int)
    place_chosen = Signal(str, int)
    link_activated = Signal(str)
    calls_shown = Signal(object)
    """The CallsView, whenever it shows other calls."""
    receipt_opened = Signal(object)
    """The ReceiptView that was just built."""
    stops_changed = Signal()
    """``tab_stops`` gives others now."""

    def __init__(self, theme: Theme, root: Path, renderer: MarkdownRenderer) -> None:
        super().__init__()
        self._theme = theme
        self.turn = ShownTurn(0, "")
        self.bubble = UserBubble(theme, root)
        self.bubble.resized.connect(self.fit_bubble)
        self.reply = ReplyView(theme, root, renderer)
        self.reply.link_activated.connect(self.link_activated)
        self.calls = CallsView(theme)
        self.calls.place_chosen.connect(self.place_chosen)
        self.calls.size_changed.connect(self.stops_changed)
        self.thought = ThoughtFold(theme, root)
        self.thought.toggled.connect(self.stops_changed)
        self.state = label("", "small")
        self._receipt_view: ReceiptView | None = None
        self._error: QFrame | None = None
        self._lay_out()

    def _lay_out(self) -> None:
        self._column = QVBoxLayout(self)
        spread(self._column, (0, 0, 0, 0), 4)
        line = QHBoxLayout()
        line.addStretch()
        line.addWidget(self.bubble)
        self._column.addLayout(line)
        self._column.addLayout(self._user_row())
        self._column.addWidget(self.calls)
        self._column.addWidget(self.state)
        self._column.addWidget(self.thought)
        self._column.addWidget(self.reply)
        self._column.addSpacing(4)
        self._reply_row = QWidget()
        self._fill_reply_row()
        self._column.addWidget(self._reply_row)

    def _user_row(self) -> QHBoxLayout:
        self.redacted = label("", "smallamber")
        self.copy_user = self._action(
            "copy", tr("Copy your message"), lambda: self._copy(self.copy_user, self.turn.user), True
        )
        self.edit = self._action("edit", tr("Edit and send again"), lambda: self.edit_asked.emit(self.turn.n), True)
        self.forget = self._action("trash", tr("Forget this turn…"), lambda: self.forget_asked.emit(self.turn.n), True)
        row = QHBoxLayout()
        spread(row, spacing=0)
        row.addStretch()
        for widget in (self.redacted, self.copy_user, self.edit, self.forget):
            row.addWidget(widget)
        return row

    def _fill_reply_row(self) -> None:
        row = QHBoxLayout(self._reply_row)
        spread(row)
        row.addSpacing(-6)  # the first icon, not its button, stands on the text's edge
        self.copy_reply = self._action(
            "copy", tr("Copy reply"), lambda: self._copy(self.copy_reply, self.turn.reply or "")
        )
        self.regenerate = self._action(
            "refresh", tr("Write the reply again"), lambda: self.regenerate_asked.emit(self.turn.n)
        )
        self.older = self._action("left", tr("Earlier version"), lambda: self._step(-1))
        self.which = label("", "small")
        self.newer = self._action("right", tr("Later version"), lambda: self._step(1))
        self.receipt_button = button("", "quiet", self._on_receipt_clicked)
        self.mark = label("", "smallamber")
        for widget in (self.older, self.which, self.newer, self.copy_reply, self.regenerate):
            row.addWidget(widget)
        row.addSpacing(4)
        row.addWidget(self.receipt_button)
        row.addSpacing(8)
        row.addWidget(self.mark)
        row.addStretch()

    def _action(self, name: str, words: str, act: Callable[[], object], quiet: bool = False) -> IconButton:
        made = IconButton(self._theme, name, words, 16, quiet)
        made.clicked.connect(lambda: act())
        return made

    def show_turn(self, turn: ShownTurn) -> None:
        """Show a turn, changing only what is not as it was."""
        self.turn = turn
        self.bubble.show_text(turn.user)
        self.fit_bubble()
        self.reply.show_text(turn.reply or "")
        self.reply.setVisible(bool(turn.reply))
        self.redacted.setText(_redacted_words(turn.redacted))
        self.redacted.setVisible(turn.redacted > 0)
        if self.calls.show_calls(turn.used):
            self.calls_shown.emit(self.calls)
        self.thought.show_turn(turn)
        self._show_state(turn)
        self._show_actions(turn)
        self._show_error(turn.error)
        if turn.receipt is not None and self._receipt_view is None:
            self.receipt_button.setText(f"{summary(turn.receipt)}  ›")

    def fit_bubble(self) -> None:
        self.bubble.fit(int(self.width() * 0.82))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self.fit_bubble()

    def enterEvent(self, event: QEnterEvent) -> None:
        self._reveal(True)
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._reveal(False)
        super().leaveEvent(event)

    def _reveal(self, shown: bool) -> None:
        for made in (self.copy_user, self.edit, self.forget):
            made.reveal(shown)

    def _show_state(self, turn: ShownTurn) -> None:
        words = state_words(turn)
        self.state.setText(words)
        self.state.setVisible(bool(words))

    def _show_actions(self, turn: ShownTurn) -> None:
        place = turn.siblings.index(turn.n) if turn.n in turn.siblings else 0
        several = len(turn.siblings) > 1
        for widget in (self.older, self.which, self.newer):
            widget.setVisible(several)
        self.which.setText(f"{place + 1}/{len(turn.siblings)}")
        self.older.setEnabled(place > 0)
        self.newer.setEnabled(place + 1 < len(turn.siblings))
        self.edit.setEnabled(turn.n > 0 and not turn.live)
        self.forget.setEnabled(turn.n > 0 and not turn.live and turn.user != FORGOTTEN)
        self.copy_reply.setVisible(bool(turn.reply))
        self.regenerate.setVisible(turn.n > 0)
        self.mark.setText(end_words(turn))
        self.mark.setVisible(bool(self.mark.text()))
        self.receipt_button.setVisible(turn.receipt is not None)
        self._reply_row.setVisible(not turn.live)

    def _show_error(self, error: AssistantError | None) -> None:
        if self._error is not None:
            self._error.hide()
            self._error.deleteLater()
            self._error = None
        if error is not None:
            self._error = error_card(error, lambda: self.retry_asked.emit(self.turn.n))
            self._column.insertWidget(self._column.indexOf(self._reply_row), self._error)

    def _step(self, by: int) -> None:
        place = self.turn.siblings.index(self.turn.n) + by
        self.branch_chosen.emit(self.turn.siblings[place])

    def _copy(self, source: IconButton, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        source.set_icon_name("check", "accent")
        QTimer.singleShot(1500, source, lambda: source.set_icon_name("copy"))

    def _on_receipt_clicked(self) -> None:
        if self.turn.receipt is None:
            return
        if self._receipt_view is not None:
            self._receipt_view.hide()
            self._receipt_view.deleteLater()
            self._receipt_view = None
            self.receipt_button.setText(f"{summary(self.turn.receipt)}  ›")
            self.stops_changed.emit()
            return
        self._receipt_view = ReceiptView(self.turn.receipt, self._theme)
        self._receipt_view.place_chosen.connect(self.place_chosen)
        self._receipt_view.size_changed.connect(self.stops_changed)
        self._column.addWidget(self._receipt_view)
        self.receipt_button.setText(f"{summary(self.turn.receipt)}  ⌄")
        self.stops_changed.emit()
        self.receipt_opened.emit(self._receipt_view)

    def tab_stops(self) -> list[QWidget]:
        """What Tab reaches, in reading order."""
        found = [made for made in self.findChildren(QWidget) if made.focusPolicy() & Qt.FocusPolicy.TabFocus]
        shown = [made for made in found if made.isVisibleTo(self)]
        places = {made: made.mapTo(self, QPoint(0, 0)) for made in shown}
        return sorted(shown, key=lambda made: (places[made].y() // _ROW_PIXELS, places[made].x()))

    def texts(self) -> list[QTextEdit | QPlainTextEdit]:
        """The views of the person's words, of an open thought and of the reply, from the top."""
        return [*self.bubble.texts(), *self.thought.texts(), *self.reply.texts()]

    def receipt_view(self) -> ReceiptView | None:
        return self._receipt_view

    def error_card(self) -> QFrame | None:
        return self._error


def error_card(error: AssistantError, retry: Callable[[], object]) -> QFrame:
    """A card that says what failed and what to do, with "Try again"."""
    card = QFrame()
    card.setObjectName("errorcard")
    column = QVBoxLayout(card)
    spread(column, (16, 12, 16, 12), 8)
    message: QLabel = label(translate_message(error.message), wrap=True)
    column.addWidget(message)
    if error.hint:
        column.addWidget(label(translate_message(error.hint), "muted", wrap=True))
    again = button(tr("Try again"), "", retry)
    again.setObjectName("retry")
    row = QHBoxLayout()
    row.addWidget(again)
    row.addStretch()
    column.addLayout(row)
    return card


def state_words(turn: ShownTurn) -> str:
    """What a live turn is waiting for."""
    if turn.phase is Phase.SAVING:
        return tr("Saving your message…")
    if turn.phase is Phase.WAITING:
        return tr("Looking through memory…") if turn.receipt is None else tr("Thinking…")
    if turn.phase is Phase.READING and turn.total:
        return tr("Reading prompt {n} %", n=min(100, 100 * turn.read // turn.total))
    if turn.phase is Phase.WRITING and not turn.reply and not turn.thought:
        return tr("Thinking…")
    return ""


def end_words(turn: ShownTurn) -> str:
    """How a turn at rest ended, where its reply does not say so: one that died before its first word has none."""
    if turn.error is not None:
        return ""
    if turn.reply is None and turn.n > 0 and turn.user != FORGOTTEN:
        return tr("Not answered yet")
    return mark_words(turn.mark)


def mark_words(mark: str) -> str:
    """What a reply's mark means."""
    words = {
        "stopped": tr("Stopped by you"),
        "interrupted": tr("Interrupted: the reply ends where the program did"),
        "length": tr("Ended at the length limit"),
        "window": tr("Ended: the context window is full"),
    }
    return words.get(mark, mark)


def _redacted_words(count: int) -> str:
    if count == 0:
        return ""
    if count == 1:
        return tr("1 secret was not written to disk")
    return tr("{n} secrets were not written to disk", n=count)
