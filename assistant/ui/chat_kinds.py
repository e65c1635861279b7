"""What the person does with private and temporary chats: begin, mark, keep, close."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from assistant.chat.intents import fact_to_remember
from assistant.core.errors import AssistantError
from assistant.core.events import TurnSaved
from assistant.ui.chat.kinds import Kind, Way, ask_about_temporary
from assistant.ui.i18n import tr
from assistant.ui.models.chats import chat_title
from assistant.ui.widgets import restyle
from assistant.workspace.temporary import is_temporary

if TYPE_CHECKING:
    from assistant.ui.main_window import MainWindow
    from assistant.workspace.memory_values import Written

_PATIENCE_SECONDS = 10.0
_REMEMBER_SECONDS = 20.0
_log = logging.getLogger(__name__)


class ChatKinds(QObject):
    """Behind the menus, the mark beside the title and the banner above a temporary chat."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._services, self._bridge, self._session = window.services, window.bridge, window.session
        self._talked: set[str] = set()  # temporary chats with something in them
        self._open = ""
        sidebar, banner, mark = window.sidebar, window.page.banner, window.topbar.private
        sidebar.private_new_asked.connect(self.new_private)
        sidebar.temporary_new_asked.connect(self.new_temporary)
        sidebar.private_asked.connect(self.set_private)
        sidebar.keep_asked.connect(self.keep)
        mark.ended.connect(lambda: self.set_private(self._session.chat_id, False))
        banner.keep_asked.connect(lambda: self.keep(self._session.chat_id))
        banner.close_asked.connect(lambda: self.close(self._session.chat_id))
        banner.memory_chosen.connect(self._use_memory)
        self._session.chosen.connect(self._on_chosen)
        self._session.opened.connect(self._show)
        self._session.kind_changed.connect(self._show)
        self._session.streaming_changed.connect(self._show)
        self._bridge.event_arrived.connect(self._on_event)
        self._show()

    # --- private ---

    def new_private(self) -> None:
        """Start an empty private chat; its file is made with the first message."""
        self._session.open_new(private=True)
        self._window.page.composer.edit.setFocus()

    def switch_private(self) -> None:
        """Mark the open chat as private, or no longer."""
        kind = self._session.kind()
        if kind is not Kind.TEMPORARY:
            self.set_private(self._session.chat_id, kind is Kind.ORDINARY)

    def set_private(self, chat: str, private: bool) -> None:
        """Mark a chat; "" is the new one that is open."""
        if not chat:
            self._session.open_new(private=private)
            return
        self._bridge.run(
            self._services.lanes.files,
            self._services.set_private,
            chat,
            private,
            done=lambda kept: self._on_marked(chat, private, kept),
        )

    def _on_marked(self, chat: str, private: bool, kept: int) -> None:
        if chat == self._session.chat_id:
            self._session.marked(private)
        self._window.chats.refresh()
        if not private:
            words = tr("No longer private: other chats may be told of it")
        elif kept:
            words = tr("Private now; what memory has from it stays ({n})", n=kept)
        else:
            words = tr("Private now: other chats are told nothing of it")
        undo = tr("Undo")
        self._window.toasts.show(words, undo, lambda: self.set_private(chat, not private))

    # --- temporary ---

    def new_temporary(self) -> None:
        """Start a conversation of which nothing is written to disk."""
        self._session.open(self._services.temporary.create())
        self._window.page.composer.edit.setFocus()

    def close(self, chat: str) -> None:
        """End a temporary chat; asks when something was said in it."""
        way = ask_about_temporary(self._window, 1) if chat in self._with_words() else Way.CLOSE
        if way is Way.KEEP:
            self.keep(chat)
        elif way is Way.CLOSE:
            self._end(chat)

    def keep(self, chat: str) -> None:
        """Make an ordinary chat of a temporary one. A reply that is being written is finished first, by the person."""
        self._bridge.run(
            self._services.lanes.files,
            self._services.keep_chat,
            chat,
            done=lambda kept: self._on_kept(chat, kept),
        )

    def may_leave(self) -> bool:
        """The window goes: ask once about what was said in temporary chats. False when the person stays."""
        talked = self._with_words()
        if not talked:
            return True
        way = ask_about_temporary(self._window, len(talked))
        if way is Way.KEEP:
            return all(self._keep_now(chat) for chat in sorted(talked))
        return way is Way.CLOSE

    def _with_words(self) -> set[str]:
        """Temporary chats in which something was said, or is just being sent."""
        return {*self._talked, *filter(is_temporary, self._session.busy_chats())}

    def leave(self) -> None:
        """The window goes; nobody is asked again."""
        self._talked.clear()

    def _keep_now(self, chat: str) -> bool:
        """Stop what is being written, and write all of it down before the window goes."""
        keep = self._services.keep_chat
        try:
            self._services.lanes.files.submit(lambda: keep(chat, stop=True)).result(_PATIENCE_SECONDS)
        except (AssistantError, TimeoutError) as error:
            self._window.show_error(error)
            return False
        self._talked.discard(chat)
        return True

    def _end(self, chat: str) -> None:
        self._talked.discard(chat)
        self._services.stop(chat)
        self._session.forget(chat)
        self._window.page.forget(chat)
        done = self._window.chats.refresh
        self._bridge.run(self._services.lanes.files, self._services.temporary.close, chat, done=lambda _: done())

    def _on_kept(self, chat: str, kept: str) -> None:
        self._talked.discard(chat)
        self._window.page.rename_draft(chat, kept)
        if self._session.chat_id == chat:
            self._session.open(kept)
        self._window.chats.refresh()
        self._window.toasts.show(tr("Kept as an ordinary chat"))

    def _use_memory(self, wanted: bool) -> None:
        chat, use = self._session.chat_id, self._services.temporary.use_memory
        done = self._session.ask_window
        self._bridge.run(self._services.lanes.files, use, chat, wanted, done=lambda _: done())

    def _on_event(self, event: object) -> None:
        if isinstance(event, TurnSaved) and is_temporary(event.chat):
            self._talked.add(event.chat)
            self._show()
            if fact := fact_to_remember(event.text):
                self._offer(fact)

    def _offer(self, fact: str) -> None:
        """What the person asks to be remembered in a temporary chat is written only when they say so again."""
        words = tr("A temporary chat writes nothing to memory by itself")
        remember = tr("Remember it all the same")
        self._window.toasts.show(words, remember, lambda: self._remember(fact), _REMEMBER_SECONDS)

    def _remember(self, fact: str) -> None:
        self._bridge.run(self._services.lanes.files, self._services.remember, fact, done=self._on_remembered)

    def _on_remembered(self, written: Written) -> None:
        place = f"{written.file}:{written.line}"
        self._window.bottombar.show_notice(tr("Remembered in {place}", place=place))

    # --- what is shown ---

    def _on_chosen(self, chat: str) -> None:
        """A temporary chat that was left before anything was said is not worth a row."""
        left, self._open = self._open, chat
        if left != chat and is_temporary(left) and left not in self._with_words() and not self._window.page.draft(left):
            self._end(left)
        self._show()

    def _show(self) -> None:
        kind, chat = self._session.kind(), self._session.chat_id
        page, private = self._window.page, kind is Kind.PRIVATE
        self._window.topbar.private.setVisible(private)
        page.banner.setVisible(kind is Kind.TEMPORARY)
        page.banner.keep.setEnabled(chat in self._talked and not self._session.streaming(chat))
        page.empty.show_kind(kind)
        restyle(page.composer, "temporary", kind is Kind.TEMPORARY)
        if kind is Kind.TEMPORARY:
            page.banner.memory.setChecked(self._services.temporary.uses_memory(chat))
        if (menus := getattr(self._window, "menus", None)) is not None:
            menus.show_kind(kind)

    def title(self, title: str) -> str:
        """What the open chat is called at the head of the window."""
        if not title.strip() and self._session.kind() is Kind.TEMPORARY:
            return tr("Temporary chat")
        if not title.strip() and self._session.kind() is Kind.PRIVATE:
            return tr("New private chat")
        return chat_title(title)
