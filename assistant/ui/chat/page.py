"""The middle of the window: transcript or a kind empty state, and the composer under it. Keeps a draft per chat."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QStackedWidget, QVBoxLayout, QWidget

from assistant.ui.chat.composer import Composer
from assistant.ui.chat.session import ChatSession
from assistant.ui.chat.transcript import COLUMN_WIDTH, Transcript
from assistant.ui.i18n import tr
from assistant.ui.icons import app_icon
from assistant.ui.theme import Theme
from assistant.ui.widgets import IconButton, button, label, spread


class EmptyState(QWidget):
    """What an empty chat shows: a greeting and a few ways to begin."""

    suggested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column = QVBoxLayout(self)
        spread(column, (24, 24, 24, 24), 8)
        centre = Qt.AlignmentFlag.AlignHCenter
        column.addStretch(3)
        picture = QLabel()
        picture.setPixmap(app_icon().pixmap(64, 64))
        column.addWidget(picture, 0, centre)
        column.addSpacing(8)
        column.addWidget(label(tr("What is on your mind?"), "headline"), 0, centre)
        words = label(tr("Keepsake remembers what matters to you, in plain files you own."), "muted", wrap=True)
        words.setAlignment(centre)
        column.addWidget(words)
        column.addSpacing(16)
        for text in suggestions():
            column.addWidget(self._suggestion(text), 0, centre)
        column.addStretch(4)

    def _suggestion(self, text: str) -> QWidget:
        made = button(text, "suggestion", lambda: self.suggested.emit(text))
        made.setFixedWidth(380)
        return made


def suggestions() -> list[str]:
    """Ways to begin; they fill the composer and are not sent."""
    return [
        tr("Remember that I like my answers short."),
        tr("What do you know about me?"),
        tr("Help me plan a quiet weekend."),
    ]


class ChatPage(QWidget):
    """Transcript and composer over one session."""

    link_activated = Signal(str)
    place_chosen = Signal(str, int)

    def __init__(self, session: ChatSession, theme: Theme, root: Path) -> None:
        super().__init__()
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._session = session
        self._drafts: dict[str, str] = {}
        self._draft_chat = ""
        self._editing = 0
        self._before_edit = ""
        self.empty = EmptyState()
        self.transcript = Transcript(theme, root)
        self.composer = Composer(theme)
        self._stack = QStackedWidget()
        self._edit_bar = QFrame()
        self._lay_out(theme)
        self._connect()
        self._on_opened()

    def _lay_out(self, theme: Theme) -> None:
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self.transcript)
        bar = QHBoxLayout(self._edit_bar)
        spread(bar, (8, 0, 0, 0), 8)
        bar.addWidget(
            label(tr("You are changing an earlier message. What came after it stays, on its own branch."), "small"), 1
        )
        cancel = IconButton(theme, "close", tr("Do not change it (Esc)"), 14)
        cancel.clicked.connect(self.cancel_edit)
        bar.addWidget(cancel)
        self._edit_bar.hide()
        inner = QWidget()
        inner.setMaximumWidth(COLUMN_WIDTH)
        below = QVBoxLayout(inner)
        spread(below, (0, 0, 0, 0), 4)
        below.addWidget(self._edit_bar)
        below.addWidget(self.composer)
        row = QHBoxLayout()
        spread(row, (24, 8, 24, 16))
        row.addStretch(1)
        row.addWidget(inner, 1000)
        row.addStretch(1)
        column = QVBoxLayout(self)
        spread(column)
        column.addWidget(self._stack, 1)
        column.addLayout(row)

    def _connect(self) -> None:
        session, transcript, composer = self._session, self.transcript, self.composer
        session.chosen.connect(self._switch_draft)
        session.opened.connect(self._on_opened)
        session.turns_changed.connect(self._on_turns_changed)
        session.last_turn_changed.connect(self._on_last_turn_changed)
        session.streaming_changed.connect(self._on_streaming_changed)
        session.draft_returned.connect(self._on_draft_returned)
        session.created.connect(self._on_created)
        composer.sent.connect(self._on_sent)
        composer.stop_asked.connect(session.stop)
        composer.edit_cancelled.connect(self.cancel_edit)
        transcript.came_up.connect(session.ask_receipts)
        transcript.edit_asked.connect(self.start_edit)
        transcript.regenerate_asked.connect(session.regenerate)
        transcript.retry_asked.connect(session.regenerate)
        transcript.branch_chosen.connect(session.choose_branch)
        transcript.link_activated.connect(self.link_activated)
        transcript.place_chosen.connect(self.place_chosen)
        self.empty.suggested.connect(self._on_suggested)

    def draft(self, chat: str) -> str:
        """What is written but not sent in a chat ("": the new one)."""
        return self.composer.text() if chat == self._draft_chat else self._drafts.get(chat, "")

    def has_drafts(self) -> bool:
        return bool(self.composer.text().strip() or any(text.strip() for text in self._drafts.values()))

    def start_edit(self, n: int) -> None:
        """Put an earlier message into the composer; sending makes another branch."""
        turn = next((turn for turn in self._session.turns() if turn.n == n), None)
        if turn is None or self._session.streaming():
            return
        if not self._editing:
            self._before_edit = self.composer.text()
        self._editing = n
        self._edit_bar.show()
        self.composer.set_text(turn.user)
        self.composer.edit.setFocus()

    def cancel_edit(self) -> None:
        if self._editing:
            self._editing = 0
            self._edit_bar.hide()
            self.composer.set_text(self._before_edit)

    def _on_sent(self, text: str) -> None:
        editing, self._editing = self._editing, 0
        self._edit_bar.hide()
        self.composer.set_text(self._before_edit if editing else "")
        self._before_edit = ""
        if editing:
            self._session.resend(editing, text)
        else:
            self._session.send(text)
        self.transcript.scroll_to_end()

    def _on_suggested(self, text: str) -> None:
        self.composer.set_text(text)
        self.composer.edit.setFocus()

    def keep_draft(self) -> None:
        """Called before another chat opens."""
        self.cancel_edit()
        self._drafts[self._draft_chat] = self.composer.text()

    def _switch_draft(self, chat: str) -> None:
        """At once, while the chat is still being read: Enter must not send one chat's words in another."""
        if chat != self._draft_chat:
            self.keep_draft()
            self._draft_chat = chat
            self.composer.set_text(self._drafts.pop(chat, ""))

    def _on_opened(self) -> None:
        self.cancel_edit()
        self.transcript.show_turns(self._session.turns(), fresh=True)
        self._show_stack()

    def _on_created(self, chat: str) -> None:
        """The new chat has a name now; what is in the composer belongs to it."""
        self._draft_chat = chat

    def _on_turns_changed(self) -> None:
        self.transcript.show_turns(self._session.turns())
        self._show_stack()

    def _on_last_turn_changed(self) -> None:
        last = self._session.last_turn()
        if last is not None:
            self.transcript.update_turn(last)

    def _on_streaming_changed(self) -> None:
        self.composer.set_streaming(self._session.streaming())
        self.composer.set_hint(self._session.why_not())

    def _on_draft_returned(self, chat: str, text: str) -> None:
        if chat != self._draft_chat:
            kept = self._drafts.get(chat, "")
            self._drafts[chat] = f"{text}\n{kept}".strip() if kept else text
            return
        kept = self.composer.text()
        self.composer.set_text(f"{text}\n{kept}" if kept.strip() else text)

    def _show_stack(self) -> None:
        self._stack.setCurrentWidget(self.transcript if self._session.turns() else self.empty)
