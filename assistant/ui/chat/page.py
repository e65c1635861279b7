"""The middle of the window: transcript or a kind empty state, and the composer under it. Keeps a draft per chat."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from assistant.ui.chat.composer import Composer
from assistant.ui.chat.empty_state import EmptyState
from assistant.ui.chat.find import FindBar
from assistant.ui.chat.kinds import TemporaryBanner
from assistant.ui.chat.session import ChatSession
from assistant.ui.chat.strips import EditStrip, QueuedStrip, SecretStrip
from assistant.ui.chat.transcript import Transcript
from assistant.ui.chat.turn_column import COLUMN_WIDTH
from assistant.ui.chat.waiting import WaitingMessages, joined
from assistant.ui.i18n import tr
from assistant.ui.theme import Theme
from assistant.ui.widgets import centred, spread
from assistant.workspace.assistants import DEFAULT
from assistant.workspace.redaction import redact


class ChatPage(QWidget):
    """Transcript and composer over one session."""

    link_activated = Signal(str)
    place_chosen = Signal(str, int)

    def __init__(self, session: ChatSession, theme: Theme, root: Path, assistant: str = DEFAULT) -> None:
        super().__init__()
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._session = session
        self._drafts: dict[str, str] = {}
        self._draft_chat = ""
        self._editing = 0
        self._before_edit = ""
        self._waiting = WaitingMessages()
        self._model_note = ""
        self.empty = EmptyState(assistant)
        self.transcript = Transcript(theme, root)
        self.composer = Composer(theme)
        self.secrets = SecretStrip(tr("Send without it"))
        self.queued = QueuedStrip(theme)
        self.banner = TemporaryBanner(theme)
        self.find_bar = FindBar(session, self.transcript, theme)
        self._stack = QStackedWidget()
        self._edit_strip = EditStrip(theme)
        self._lay_out()
        self._connect()
        self._on_opened()

    def _lay_out(self) -> None:
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self.transcript)
        inner = QWidget()
        below = QVBoxLayout(inner)
        spread(below, (0, 0, 0, 0), 4)
        below.addWidget(self.queued)
        below.addWidget(self.secrets)
        below.addWidget(self._edit_strip)
        below.addWidget(self.composer)
        column = QVBoxLayout(self)
        spread(column)
        column.addWidget(self.banner)
        column.addWidget(self.find_bar)
        column.addWidget(self._stack, 1)
        column.addLayout(centred(inner, COLUMN_WIDTH, (24, 8, 24, 16)))

    def _connect(self) -> None:
        session, transcript, composer = self._session, self.transcript, self.composer
        turns = transcript.column
        session.chosen.connect(self._switch_draft)
        session.opened.connect(self._on_opened)
        session.turns_changed.connect(self._on_turns_changed)
        session.last_turn_changed.connect(self._on_last_turn_changed)
        session.streaming_changed.connect(self._on_streaming_changed)
        session.draft_returned.connect(self._on_draft_returned)
        session.created.connect(self._on_created)
        composer.sent.connect(self._on_sent)
        composer.stop_asked.connect(session.stop)
        session.reply_ended.connect(self._on_reply_ended)
        self.find_bar.closed.connect(composer.edit.setFocus)
        composer.edit.escaped.connect(self._on_escaped)
        composer.edit.earlier_asked.connect(self.edit_last)
        composer.edit.textChanged.connect(self.secrets.hide)
        self.secrets.chosen.connect(self._dispatch)
        self.secrets.toggled.connect(self._show_hint)
        self._edit_strip.left.connect(self.cancel_edit)
        self.queued.taken_back.connect(self._take_back)
        self.queued.dropped.connect(self._drop_queued)
        transcript.came_up.connect(session.ask_receipts)
        turns.edit_asked.connect(self.start_edit)
        turns.regenerate_asked.connect(session.regenerate)
        turns.retry_asked.connect(session.regenerate)
        turns.branch_chosen.connect(session.choose_branch)
        turns.link_activated.connect(self.link_activated)
        turns.place_chosen.connect(self.place_chosen)
        self.empty.suggested.connect(composer.offer)

    def draft(self, chat: str) -> str:
        """What is written but not sent in a chat ("": the new one)."""
        return self.composer.text() if chat == self._draft_chat else self._drafts.get(chat, "")

    def drafts(self) -> dict[str, str]:
        """Everything written but not sent, by chat; what waits for a reply and what an edit put aside are part."""
        now = self._before_edit if self._editing else self.composer.text()
        found = {**self._drafts, self._draft_chat: now}
        for chat, text in self._waiting.texts().items():
            found[chat] = joined(text, found.get(chat, ""))
        return {chat: text for chat, text in found.items() if text.strip()}

    def set_drafts(self, drafts: dict[str, str]) -> None:
        """Bring back what an earlier window kept. Before anything is written."""
        self._drafts = dict(drafts)
        self.composer.set_text(self._drafts.pop(self._draft_chat, ""))

    def next_message(self) -> tuple[str, str, int | None]:
        """The open chat, what is in the composer, and after which turn it would go (None: the newest, 0: none)."""
        turns = self._session.turns()
        after: int | None = turns[-1].n if turns and not self._session.streaming() else None
        if self._editing:
            after = next((turn.after or 0 for turn in turns if turn.n == self._editing), after)
        return self._session.chat_id, self.composer.text(), after

    def forget(self, chat: str) -> None:
        """A chat is gone, and with it what was written there."""
        self._drafts.pop(chat, None)
        self._waiting.take(chat)

    def rename_draft(self, chat: str, name: str) -> None:
        """A chat has another id now; what is written there stays with it."""
        self._on_draft_returned(name, self.draft(chat))
        self.forget(chat)
        if self._draft_chat == chat:
            self.composer.set_text("")

    def note_model(self, words: str) -> None:
        """What the state of the model means for a message that is sent now; "" when it is ready."""
        self._model_note = words
        self._show_hint()

    def start_edit(self, n: int) -> None:
        """Put an earlier message into the composer; sending makes another branch."""
        turn = next((turn for turn in self._session.turns() if turn.n == n), None)
        if turn is None or self._session.streaming():
            return
        if not self._editing:
            self._before_edit = self.composer.text()
        self._editing = n
        self._edit_strip.show()
        self.composer.offer(turn.user)

    def start_find(self) -> None:
        """Show the search in this chat; without a conversation there is nothing to search."""
        if self._session.turns():
            self.find_bar.start()

    def edit_last(self) -> None:
        """Put the newest message of the person into the composer."""
        turns = self._session.turns()
        if turns:
            self.start_edit(turns[-1].n)

    def cancel_edit(self) -> None:
        if self._editing:
            self._editing = 0
            self._edit_strip.hide()
            self.composer.set_text(self._before_edit)

    def _on_sent(self, text: str) -> None:
        """Enter. A secret is asked about first; Enter again sends without it."""
        if not self.secrets.isHidden() or not self.secrets.asks(text):
            self._dispatch(False)

    def _dispatch(self, keep_secrets: bool) -> None:
        text, streaming = self.composer.text(), self._session.streaming()
        self.secrets.hide()
        self.composer.edit.setFocus()
        if streaming and self._editing:  # the message to change and the reply under way stand in one place
            return
        if streaming:
            self._waiting.add(self._draft_chat, text if keep_secrets else redact(text).text, keep_secrets)
            self.composer.clear()
            self._show_queued()
            return
        editing, self._editing = self._editing, 0
        self._edit_strip.hide()
        self.composer.set_text(self._before_edit if editing else "")
        self._before_edit = ""
        if editing:
            self._session.resend(editing, text, keep_secrets)
        else:
            self._session.send(text, keep_secrets)
        self.transcript.scroll_to_end()

    def _on_escaped(self) -> None:
        """Esc goes back one step: the question, then the reply, then the search, then the edit."""
        if not self.secrets.isHidden():
            self.secrets.hide()
        elif self._session.streaming():
            self._session.stop()
        elif not self.find_bar.isHidden():
            self.find_bar.stop()
        else:
            self.cancel_edit()

    def _on_reply_ended(self, chat: str, turn: int, well: bool) -> None:
        """What waited is sent; after a stop or a failure the person decides again."""
        queued = self._waiting.take(chat)
        if queued is None:
            return
        self._show_queued()
        if well:
            self._session.send_after(chat, queued.text, turn, queued.keep_secrets)
        else:
            self._on_draft_returned(chat, queued.text)

    def _take_back(self) -> None:
        queued = self._waiting.take(self._draft_chat)
        self._show_queued()
        if queued is not None:
            self.composer.offer(joined(queued.text, self.composer.text()))

    def _drop_queued(self) -> None:
        self._waiting.take(self._draft_chat)
        self._show_queued()
        self.composer.edit.setFocus()

    def _show_queued(self) -> None:
        self.queued.show_text(self._waiting.text(self._draft_chat))
        self._show_hint()

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
            self._show_queued()

    def _on_opened(self) -> None:
        self.cancel_edit()
        self.find_bar.stop()
        self.transcript.show_turns(self._session.turns(), fresh=True)
        self._show_stack()
        if not self._session.streaming():  # its reply ended unseen, or never began
            self._take_back()

    def _on_created(self, chat: str) -> None:
        """The new chat has a name now; what is in the composer and what waits belong to it."""
        self._waiting.move(self._draft_chat, chat)
        self._draft_chat = chat

    def _on_turns_changed(self) -> None:
        self.transcript.show_turns(self._session.turns())
        self.find_bar.follow()
        self._show_stack()

    def _on_last_turn_changed(self) -> None:
        last = self._session.last_turn()
        if last is not None:
            self.transcript.update_turn(last)

    def _on_streaming_changed(self) -> None:
        self.composer.set_streaming(self._session.streaming())
        self._show_hint()

    def _show_hint(self) -> None:
        """Below the text: what Enter and Esc do now."""
        if not self.secrets.isHidden():
            self.composer.set_hint(tr("Enter sends without the secret · Esc goes back"))
        elif not self._session.streaming():
            self.composer.set_hint(self._model_note)
        elif self._draft_chat in self._waiting:
            self.composer.set_hint(tr("Your message is sent when the reply is finished · Esc stops the reply"))
        else:
            self.composer.set_hint(tr("Esc stops the reply · Enter lets your message wait for it"))

    def _on_draft_returned(self, chat: str, text: str) -> None:
        if chat != self._draft_chat:
            self._drafts[chat] = joined(text, self._drafts.get(chat, ""))
        else:
            self.composer.set_text(joined(text, self.composer.text()))

    def _show_stack(self) -> None:
        self._stack.setCurrentWidget(self.transcript if self._session.turns() else self.empty)
