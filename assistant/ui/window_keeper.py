"""Keeps how the window looks and what is written in it, while it is open and when it closes; brings both back."""

from __future__ import annotations

import logging
from concurrent.futures import Future
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QObject, QTimer

from assistant.core.errors import AssistantError
from assistant.ui.window_state import FILE, WindowState, load_state, save_state
from assistant.workspace.temporary import is_temporary

if TYPE_CHECKING:
    from assistant.ui.main_window import MainWindow

_KEEP_MS = 2_000
"""A crash loses at most what was typed in this time."""
_PATIENCE_SECONDS = 2
_log = logging.getLogger(__name__)


class WindowKeeper(QObject):
    """Writes behind, on the files lane; one that fails is no reason to disturb, the next will do."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._path = window.services.paths.state / FILE
        self._root = window.services.workspace.root
        self._state = load_state(self._path, self._root)
        self._restored = False
        self.memory_width = self._state.memory_width
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_KEEP_MS)
        self._timer.timeout.connect(self.keep_now)
        window.page.composer.edit.textChanged.connect(self.keep_soon)
        window.splitter.splitterMoved.connect(self._on_splitter_moved)

    def restore_frame(self) -> None:
        """Place, size, and the list of chats: before the window is shown."""
        window, state = self._window, self._state
        if state.geometry:
            window.restoreGeometry(QByteArray(state.geometry))
        window.sidebar.setVisible(state.sidebar)
        if state.sidebar_width:
            window.room.set_chats_width(state.sidebar_width, window.width())
        window.page.set_drafts(state.drafts)

    def restore_rest(self) -> None:
        """The open chat and the memory panel: when the services have started."""
        self._restored = True
        if self._state.chat and not self._window.session.chat_id:
            self._window.session.open(self._state.chat, quiet=True)
        if self._state.memory and not self._window.memory_open():
            self._window.toggle_memory()
            self._window.page.composer.edit.setFocus()

    def keep_soon(self) -> None:
        """Something changed that should survive a crash."""
        if self._restored and not self._timer.isActive():
            self._timer.start()

    def keep_now(self) -> None:
        """Write behind."""
        if self._restored:
            self._write()

    def finish(self) -> None:
        """The window closes: write now, and nothing after that."""
        self._timer.stop()
        if not self._restored:
            return
        self._restored = False
        try:
            self._write().result(_PATIENCE_SECONDS)
        except (TimeoutError, AssistantError) as error:
            _log.info("the window's state was not kept: %s", error)

    def _write(self) -> Future[None]:
        return self._window.services.lanes.files.submit(save_state, self._path, self._root, self._gather())

    def _gather(self) -> WindowState:
        window = self._window
        return WindowState(
            bytes(window.saveGeometry().data()),
            not window.sidebar.isHidden() or window.room.hid_chats,
            window.room.chats_width(),
            window.memory_shown(),
            self.memory_width,
            "" if is_temporary(window.session.chat_id) else window.session.chat_id,
            self._drafts(),
        )

    def _drafts(self) -> dict[str, str]:
        """Drafts of chats that are still there; nothing of temporary ones."""
        drafts = {chat: text for chat, text in self._window.page.drafts().items() if not is_temporary(chat)}
        if not self._window.chats.listed:
            return drafts
        known = {info.id for info in self._window.sidebar.model.infos()} | {"", self._window.session.chat_id}
        known -= self._window.chats.put_away()  # the list hears of it a moment later
        return {chat: text for chat, text in drafts.items() if chat in known}

    def _on_splitter_moved(self) -> None:
        sizes = self._window.splitter.sizes()
        if self._window.memory_shown() and len(sizes) == 3 and not self._window.room.is_tight:
            self.memory_width = sizes[2]
        self.keep_soon()
