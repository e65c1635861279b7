"""Tells the preview of the prompt what is being written, in which chat, and where it would go."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject

from assistant.ui.chat.page import ChatPage
from assistant.ui.chat.session import ChatSession
from assistant.ui.chat.turn_finder import TurnFinder

if TYPE_CHECKING:
    from assistant.ui.memory.prompt import PromptPage


class DraftFeed(QObject):
    """``serve`` each page that the memory panel builds; only the preview needs it."""

    def __init__(self, chat: ChatPage, session: ChatSession, finder: TurnFinder, parent: QObject) -> None:
        super().__init__(parent)
        self._chat, self._session, self._finder = chat, session, finder

    def serve(self, key: str, page: object) -> None:
        if key != "prompt":
            return
        page = cast("PromptPage", page)
        page.source = self._chat.next_message
        page.turn_chosen.connect(self._finder.go_to)
        self._chat.composer.edit.textChanged.connect(page.ask_soon)
        self._session.opened.connect(page.ask_soon)
        self._session.turns_changed.connect(page.ask_soon)
        self._session.streaming_changed.connect(page.ask_soon)
