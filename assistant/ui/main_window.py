"""The window: chats on the left, the conversation in the middle, memory on the right."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QAction, QCloseEvent, QDesktopServices, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QDialog, QMainWindow, QSplitter, QVBoxLayout, QWidget

from assistant.core.clock import system_clock
from assistant.ui.assistants.actions import AssistantActions
from assistant.ui.backend import Backend
from assistant.ui.bars import BottomBar, TopBar
from assistant.ui.bridge import Bridge
from assistant.ui.chat.call_actions import CallActions
from assistant.ui.chat.chat_list import Sidebar
from assistant.ui.chat.markdown import is_web
from assistant.ui.chat.page import ChatPage
from assistant.ui.chat.receipt_actions import ReceiptActions
from assistant.ui.chat.session import ChatSession
from assistant.ui.chat.turn_finder import TurnFinder
from assistant.ui.chat_actions import ChatActions
from assistant.ui.chat_kinds import ChatKinds
from assistant.ui.draft_notice import tell_drafts
from assistant.ui.errors import ErrorDialog
from assistant.ui.events import EventRouter
from assistant.ui.forget_flow import ForgetFlow
from assistant.ui.i18n import tr
from assistant.ui.index_strip import IndexStrip
from assistant.ui.memory.remembered import RememberedToasts
from assistant.ui.memory_pane import MemoryPane
from assistant.ui.memory_undo import UndoOffers
from assistant.ui.menus import Menus, ShortcutsDialog
from assistant.ui.model_actions import ModelActions
from assistant.ui.room import Room
from assistant.ui.theme import Theme
from assistant.ui.toast import Toasts
from assistant.ui.web_question import ask_about_page
from assistant.ui.whereabouts import Whereabouts
from assistant.ui.widgets import spread
from assistant.ui.window_keeper import WindowKeeper
from assistant.ui.wiring import connect
from assistant.workspace.chat_files import chat_of

if TYPE_CHECKING:
    from assistant.ui.memory.panel import MemoryPanel


class MainWindow(QMainWindow):
    """Start the services after it is shown; after it is closed, ``release`` it, then close them."""

    closed = Signal()
    moved = Signal(object)
    """To another assistant: a Move, for whoever holds the window."""

    def __init__(self, services: Backend, theme: Theme, clock: Callable[[], datetime] = system_clock) -> None:
        super().__init__()
        self.services, self.theme = services, theme
        self._clock = clock
        self.bridge = Bridge(services, self)
        self.session = ChatSession(services, self.bridge, self)
        self._unasked = False
        self.setWindowTitle(self.services.assistants.current)
        self.resize(1200, 800)
        self.setMinimumSize(640, 480)
        self._build()
        self.chats = ChatActions(services, self.bridge, self.session, self.sidebar, self.toasts, self)
        self.memory = MemoryPane(self)
        self.undo_offers = UndoOffers(services, self.bridge, theme, self.toasts, self.show_error, self)
        asked = (self.memory.review, self.memory.is_reviewing, self.session.answering)
        self.remembered = RememberedToasts(services, self.bridge, self.toasts, self.undo_offers, *asked, self)
        self.kinds = ChatKinds(self)
        self.assistants = AssistantActions(self, self.sidebar.switcher)
        self.receipts = ReceiptActions(services, self.bridge, self.toasts, self)
        self.calls = CallActions(services, self.bridge, self.session, self)
        self.finder = TurnFinder(self.session, self.page.transcript, self)
        self.menus = Menus(self)
        self.keeper = WindowKeeper(self)
        self._connect()
        self.keeper.restore_frame()
        QTimer.singleShot(0, self, self._begin)

    def _begin(self) -> None:
        """The services have started: open what was open, and read the list of chats."""
        self.keeper.restore_rest()
        tell_drafts(self)
        self.chats.refresh()

    # --- building ---

    def _build(self) -> None:
        self.topbar = TopBar(self.theme)
        self.page = ChatPage(self.session, self.theme, self.services.workspace.root, self.services.assistants.current)
        self.sidebar = Sidebar(self.theme, self._clock, self.services.assistants.current)
        self.bottombar = BottomBar(self.theme)
        self.models = ModelActions(self.services, self.bridge, self.topbar, self.bottombar, self)
        middle = QWidget()
        middle.setMinimumWidth(380)
        column = QVBoxLayout(middle)
        spread(column)
        column.addWidget(self.topbar)
        column.addWidget(self.page, 1)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setHandleWidth(1)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(self.sidebar)
        self.splitter.addWidget(middle)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setSizes([264, 936])
        self.room = Room(self.splitter, self.sidebar, middle)
        whole = QWidget()
        rows = QVBoxLayout(whole)
        spread(rows)
        rows.addWidget(self.splitter, 1)
        self.forgetting = ForgetFlow(self.services, self.bridge, self.theme, self.show_error, self)
        rows.addWidget(self.forgetting)
        self.indexing = IndexStrip(self.services, self.bridge, self.theme)
        rows.addWidget(self.indexing)
        rows.addWidget(self.bottombar)
        self.setCentralWidget(whole)
        self.toasts = Toasts(whole, self.page, self._below_toasts)
        self.page.composer.edit.setFocus()

    def _below_toasts(self) -> int:
        strips = sum(strip.height() for strip in (self.forgetting, self.indexing) if strip.isVisible())
        return self.page.composer.height() + strips + self.bottombar.height() + 28

    def _connect(self) -> None:
        self.router = EventRouter(self.bridge, self.topbar, self.bottombar, self)
        self.whereabouts = Whereabouts(self.session, self.topbar, self.bottombar, self.router, self)
        connect(self)
        self.session.opened.connect(self._on_opened)
        self.session.created.connect(self._on_created)
        self.session.streaming_changed.connect(self._on_streaming_changed)
        self.chats.titled.connect(self._show_title)

    # --- chats ---

    def new_chat(self) -> None:
        self.session.open_new()
        self.write_message()

    def open_chat(self, chat: str) -> None:
        self.show_conversation()
        self.session.open(chat)

    def copy_reply(self) -> None:
        """Copy the last reply of the open chat, as Markdown."""
        reply = next((turn.reply for turn in reversed(self.session.turns()) if turn.reply), None)
        if reply:
            QGuiApplication.clipboard().setText(reply)
            self.bottombar.show_notice(tr("The last reply was copied"))

    def _on_opened(self) -> None:
        self.sidebar.select(self.session.chat_id)
        self._show_title(self.session.title())
        if not self.session.chat_id:
            self.topbar.gauge.show_use(0, 0)
        self.keeper.keep_soon()

    def _on_created(self, chat: str) -> None:
        self.sidebar.select(chat)
        self.chats.refresh()

    def _show_title(self, title: str) -> None:
        shown = self.kinds.title(title)
        self.topbar.title.set_text(shown)
        name = self.services.assistants.current
        self.setWindowTitle(f"{shown} — {name}" if self.session.chat_id else name)

    def _on_streaming_changed(self) -> None:
        self.sidebar.model.set_busy(self.session.busy_chats())

    def focus_filter(self) -> None:
        self.sidebar.show()
        self.sidebar.filter.setFocus()
        self.sidebar.filter.selectAll()

    # --- memory ---

    def memory_panel(self) -> MemoryPanel:
        """The panel, built hidden if need be."""
        return self.memory.panel()

    def memory_open(self) -> bool:
        """Whether the panel was built."""
        return self.memory.is_built

    def memory_shown(self) -> bool:
        """Whether the panel is open."""
        return self.memory.is_shown

    def toggle_memory(self) -> None:
        """Show or hide the panel."""
        self.memory.toggle()

    def show_memory_page(self, key: str) -> None:
        """Open the panel at a page."""
        self.memory.show(page=key)

    def show_place(self, file: str, line: int) -> None:
        """Open the memory panel at a line; a line of a chat opens the chat."""
        if file.startswith("chats/"):
            self.open_chat(chat_of(file))
            return
        self.memory.show()
        self.memory.panel().open_place(file, line)

    def show_conversation(self) -> None:
        """Where memory has its place, memory goes."""
        if self.room.is_tight:
            self.memory.show(False)

    def write_message(self) -> None:
        """Go to where a message is written."""
        self.show_conversation()
        self.page.composer.edit.setFocus()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.memory.share_room()

    # --- the rest ---

    def choose_theme(self, choice: str) -> None:
        self.theme.choose(choice)
        self.menus.themes[choice].setChecked(True)
        update = self.services.settings.update
        self.bridge.run(self.services.lanes.files, lambda: update("general", theme=choice), done=lambda _: None)

    def actions_by_name(self) -> list[QAction]:
        """Everything the menus offer."""
        return [action for _, actions in self.menus.groups for action in actions]

    def show_shortcuts(self) -> None:
        self._open_dialog(ShortcutsDialog(self.menus, self))

    def open_settings(self, page: int = 0) -> None:
        """page: its place in the list."""
        from assistant.ui.settings.dialog import SettingsDialog

        dialog = SettingsDialog(self.services, self.bridge, self)
        dialog.theme_chosen.connect(self.choose_theme)
        dialog.failed.connect(self.show_error)
        dialog.choose_page(page)
        self._open_dialog(dialog)

    def _open_dialog(self, dialog: QDialog) -> None:
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def ask_to_open(self, address: str) -> None:
        """Ask before the browser opens a web address; other addresses are never opened."""
        if not is_web(address):
            self.bottombar.show_notice(tr("Keepsake does not open this kind of link."))
        else:
            ask_about_page(self, address, lambda: self.open_address(address))

    def open_address(self, address: str) -> None:
        QDesktopServices.openUrl(QUrl(address))

    def show_error(self, error: BaseException) -> None:
        """Show a failure: an expected one as written, a bug with its details."""
        self._open_dialog(ErrorDialog(error, self))

    def may_leave(self) -> bool:
        """Ask about what would be lost: temporary chats, unsaved text. False when the person stays."""
        if self._unasked:
            self.memory.keep()
            return True
        if not self.kinds.may_leave() or not self.memory.may_close():
            return False
        self.kinds.leave()
        return True

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.may_leave():
            event.ignore()
            return
        self.keeper.finish()
        self.closed.emit()
        event.accept()

    def end(self) -> None:
        """Close without a question: the system asks for it. What is not saved is kept for the next time."""
        self._unasked = True
        self.close()

    def release(self) -> None:
        """Take nothing more from the services; they may be closed after this."""
        self.chats.stop()
        self.bridge.close()
