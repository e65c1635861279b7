"""Where what is written in the open chat goes: the mark beside the model and the line at the foot of the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from assistant.core.errors import AssistantError
from assistant.core.values import ModelInfo
from assistant.ui.bars import BottomBar, TopBar
from assistant.ui.chat.kinds import Kind
from assistant.ui.chat.session import ChatSession

if TYPE_CHECKING:
    from assistant.ui.events import EventRouter


_ASKS_NOBODY = ("remote.unasked", "remote.address", "remote.none")
"""Errors with which nothing goes out."""


class Whereabouts(QObject):
    """Follows the model and the open chat: a private one stays here while a server answers all others."""

    def __init__(
        self, session: ChatSession, top: TopBar, bottom: BottomBar, router: EventRouter, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._session, self._top, self._bottom = session, top, bottom
        self._info: ModelInfo | None = None
        self._fails = False  # a server that is asked anew with the next message
        router.model_told.connect(self._on_model_told)
        router.model_failed.connect(self._on_model_failed)
        session.chosen.connect(lambda _: self._show())
        session.opened.connect(self._show)
        session.kind_changed.connect(self._show)

    def _on_model_told(self, info: ModelInfo | None) -> None:
        self._info, self._fails = info, False
        self._show()

    def _on_model_failed(self, error: AssistantError) -> None:
        self._fails = error.code.startswith("remote.") and error.code not in _ASKS_NOBODY
        self._show()

    def _show(self) -> None:
        info = self._info
        stays = info is not None and not info.private and self._session.kind() is Kind.PRIVATE
        self._top.server.show_info(None if stays else info)
        self._bottom.show_where(None if stays else info, fails=self._fails)
