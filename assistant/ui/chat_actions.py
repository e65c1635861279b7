"""What the person does with whole chats: open, rename, delete, bring back, go to the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.chat.chat_list import Sidebar
from assistant.ui.chat.session import ChatSession
from assistant.ui.i18n import tr
from assistant.ui.models.chats import chat_title
from assistant.ui.toast import Toast, Toasts
from assistant.workspace.temporary import is_temporary

if TYPE_CHECKING:
    from assistant.workspace.chat_list import ChatInfo
    from assistant.workspace.chat_store import DeletedChat

_REFRESH_MS = 60


class ChatActions(QObject):
    """Behind the list of chats and the Chat menu. Deleted chats can come back until the window closes."""

    titled = Signal(str)
    """The open chat's title was read or changed."""
    close_asked = Signal(str)
    """A temporary chat is to be closed."""
    deleted_changed = Signal(bool)
    """Whether there is a deleted chat to bring back."""

    def __init__(
        self, services: Backend, bridge: Bridge, session: ChatSession, sidebar: Sidebar, toasts: Toasts, window: QWidget
    ) -> None:
        super().__init__(window)
        self._services, self._bridge, self._session = services, bridge, session
        self._sidebar, self._toasts = sidebar, toasts
        self._offers: dict[str, Toast] = {}  # on screen now, by chat
        self._deleted: list[DeletedChat] = []  # newest last
        self._going: set[str] = set()  # asked to be deleted, and not gone yet
        self.listed = False
        self._timer = QTimer(self)  # one turn says three times that the list changed
        self._timer.setSingleShot(True)
        self._timer.setInterval(_REFRESH_MS)
        self._timer.timeout.connect(self.refresh)

    def refresh_soon(self) -> None:
        self._timer.start()

    def stop(self) -> None:
        """Refresh no more."""
        self._timer.stop()

    def refresh(self) -> None:
        """Read the list of chats again, behind."""
        self._bridge.run(self._services.lanes.files, self._services.list_chats, done=self._on_listed)

    def rename(self, chat: str, title: str) -> None:
        rename = self._services.rename_chat
        self._bridge.run(self._services.lanes.files, rename, chat, title, done=lambda _: self._on_renamed(chat, title))

    def rename_open(self) -> None:
        """Edit the title of the open chat in place, in the list."""
        self._sidebar.show()
        self._sidebar.rename_current()

    def delete(self, chat: str) -> None:
        """Delete at once; a toast brings it back, and the Chat menu after the toast is gone. A temporary one closes."""
        if is_temporary(chat):
            self.close_asked.emit(chat)
            return
        if self._session.streaming(chat):
            self._services.stop(chat)
        info = next((info for info in self._sidebar.model.infos() if info.id == chat), None)
        title = chat_title(info.title if info else "")
        self._session.forget(chat)  # now, or the end of its reply would be looked for in a file that is gone
        self._going.add(chat)
        self._bridge.run(
            self._services.lanes.files,
            self._services.delete_chat,
            chat,
            done=lambda deleted: self._on_deleted(title, deleted),
            failed=lambda error: self._on_not_deleted(chat, error),
        )

    def put_away(self) -> set[str]:
        """The chats that were deleted here, also those that are just going; they can be brought back."""
        return {deleted.id for deleted in self._deleted} | self._going

    def restore_last(self) -> None:
        """Bring the chat back that was deleted last."""
        if self._deleted:
            self._restore(self._deleted[-1])

    def step(self, by: int) -> None:
        """Open the chat ``by`` places further down the list, around its ends."""
        chats = self._sidebar.model.shown_chats()
        if not chats:
            return
        open_chat = self._session.chat_id
        place = chats.index(open_chat) + by if open_chat in chats else (0 if by > 0 else -1)
        self._session.open(chats[place % len(chats)])

    def _on_listed(self, chats: list[ChatInfo]) -> None:
        self.listed = True
        self._sidebar.show_chats(chats)
        current = next((info for info in chats if info.id == self._session.chat_id), None)
        if current is not None:
            self._session.renamed(current.title)
            self._session.marked(current.private)
            self.titled.emit(current.title)
            self._session.refresh(current.turns)

    def _on_renamed(self, chat: str, title: str) -> None:
        if chat == self._session.chat_id:
            self._session.renamed(title)
            self.titled.emit(title)
        self.refresh()

    def _on_not_deleted(self, chat: str, error: BaseException) -> None:
        self._going.discard(chat)
        self._bridge.work_failed.emit(error)

    def _on_deleted(self, title: str, deleted: DeletedChat) -> None:
        self._going.discard(deleted.id)
        self._deleted.append(deleted)
        self.deleted_changed.emit(True)
        self.refresh()
        words = tr("Deleted “{title}”", title=title)
        toast = self._toasts.show(words, tr("Undo"), lambda: self._restore(deleted))
        self._offers[deleted.id] = toast
        toast.ended.connect(lambda: self._offers.pop(deleted.id, None))

    def _restore(self, deleted: DeletedChat) -> None:
        if deleted not in self._deleted:
            return
        self._deleted.remove(deleted)
        if toast := self._offers.get(deleted.id):
            toast.end()
        restore = self._services.restore_chat
        self._bridge.run(
            self._services.lanes.files,
            restore,
            deleted,
            done=lambda _: self._on_restored(deleted.id),
            failed=lambda error: self._on_not_restored(deleted, error),
        )
        self.deleted_changed.emit(bool(self._deleted))

    def _on_restored(self, chat: str) -> None:
        self.refresh()
        self._session.open(chat)

    def _on_not_restored(self, deleted: DeletedChat, error: BaseException) -> None:
        self._deleted.append(deleted)
        self.deleted_changed.emit(True)
        self._bridge.work_failed.emit(error)
