"""The window: chats on the left, the conversation in the middle, memory on the right."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QAction, QActionGroup, QCloseEvent, QDesktopServices, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QDialog, QMainWindow, QMenu, QMessageBox, QSplitter, QVBoxLayout, QWidget

from assistant.core.clock import system_clock
from assistant.ui.backend import Backend
from assistant.ui.bars import BottomBar, TopBar
from assistant.ui.bridge import Bridge
from assistant.ui.chat.chat_list import Sidebar
from assistant.ui.chat.markdown import is_web
from assistant.ui.chat.page import ChatPage
from assistant.ui.chat.session import ChatSession
from assistant.ui.errors import ErrorDialog
from assistant.ui.events import EventRouter
from assistant.ui.i18n import tr
from assistant.ui.model_actions import ModelActions
from assistant.ui.models.chats import chat_title
from assistant.ui.theme import CHOICES, Theme
from assistant.ui.widgets import Toast, spread

if TYPE_CHECKING:
    from assistant.ui.memory.panel import MemoryPanel
    from assistant.workspace.chat_list import ChatInfo
    from assistant.workspace.chat_store import DeletedChat

_REFRESH_MS = 60
_NARROW = 1040  # below this, chats and memory do not both fit beside a readable conversation


class MainWindow(QMainWindow):
    """Start the services after it is shown; after it is closed, ``release`` it, then close them."""

    closed = Signal()

    def __init__(self, services: Backend, theme: Theme, clock: Callable[[], datetime] = system_clock) -> None:
        super().__init__()
        self.services, self.theme = services, theme
        self._clock = clock
        self.bridge = Bridge(services, self)
        self.session = ChatSession(services, self.bridge, self)
        self._memory: MemoryPanel | None = None
        self._hid_sidebar = False
        self.setWindowTitle("Keepsake")
        self.resize(1200, 800)
        self.setMinimumSize(640, 480)
        self._build()
        self._make_actions()
        self._connect()
        self._refresh = QTimer(self)  # one turn says three times that the list changed
        self._refresh.setSingleShot(True)
        self._refresh.setInterval(_REFRESH_MS)
        self._refresh.timeout.connect(self.refresh_chats)
        QTimer.singleShot(0, self, self.refresh_chats)

    # --- building ---

    def _build(self) -> None:
        self.topbar = TopBar(self.theme)
        self.page = ChatPage(self.session, self.theme, self._root())
        self.sidebar = Sidebar(self.theme, self._clock)
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
        whole = QWidget()
        rows = QVBoxLayout(whole)
        spread(rows)
        rows.addWidget(self.splitter, 1)
        rows.addWidget(self.bottombar)
        self.setCentralWidget(whole)
        self.toast = Toast(whole, lambda: self.page.composer.height() + self.bottombar.height() + 28)
        self.page.composer.edit.setFocus()

    def _root(self) -> Path:
        return self.services.workspace.root

    def _make_actions(self) -> None:
        bar = self.menuBar()
        chat = bar.addMenu(tr("&Chat"))
        self._action(chat, tr("New chat"), "Ctrl+N", self.new_chat)
        self._action(chat, tr("Rename chat"), "", self.sidebar.rename_current)
        self._action(chat, tr("Find a chat"), "Ctrl+F", self._focus_filter)
        chat.addSeparator()
        self._action(chat, tr("Settings…"), "Ctrl+,", self.open_settings)
        self._action(chat, tr("Quit"), "Ctrl+Q", self.close)
        view = bar.addMenu(tr("&View"))
        self._action(view, tr("Chats"), "Ctrl+B", self.toggle_sidebar)
        self._action(view, tr("Memory"), "Ctrl+M", self.toggle_memory)
        view.addSeparator()
        self._theme_actions(view)
        view.addSeparator()
        self._action(view, tr("Write a message"), "Ctrl+L", self.page.composer.edit.setFocus)
        model = bar.addMenu(tr("&Model"))
        self._action(model, tr("Models…"), "Ctrl+Shift+M", self.models.open)
        self._action(model, tr("How to add a model"), "", self.models.explain)

    def _action(self, menu: QMenu, words: str, keys: str, act: Callable[[], object]) -> QAction:
        action = QAction(words, self)
        if keys:
            action.setShortcut(QKeySequence(keys))
        action.triggered.connect(lambda: act())
        menu.addAction(action)
        return action

    def actions_by_name(self) -> list[QAction]:
        """Everything the menus offer."""
        return self.findChildren(QAction, options=Qt.FindChildOption.FindDirectChildrenOnly)

    def _theme_actions(self, menu: QMenu) -> None:
        names = {"system": tr("Theme of the system"), "light": tr("Light theme"), "dark": tr("Dark theme")}
        group = QActionGroup(self)
        self.theme_actions = {}
        for choice in CHOICES:
            action = self._action(menu, names[choice], "", partial(self.choose_theme, choice))
            action.setCheckable(True)
            action.setChecked(self.theme.choice == choice)
            group.addAction(action)
            self.theme_actions[choice] = action

    def _connect(self) -> None:
        self.router = EventRouter(self.bridge, self.topbar, self.bottombar, self)
        self.router.chats_changed.connect(lambda: self._refresh.start())
        self.router.model_ready.connect(self.models.on_ready)
        self.router.model_failed.connect(self.models.on_failed)
        self.router.model_ready.connect(self.session.ask_window)
        self.router.model_noted.connect(self.page.note_model)
        self.bridge.work_failed.connect(self.show_error)
        self.models.failed.connect(self.show_error)
        self.session.failed.connect(self.show_error)
        self.session.opened.connect(self._on_opened)
        self.session.created.connect(self._on_created)
        self.session.streaming_changed.connect(self._on_streaming_changed)
        self.session.window_used.connect(self.topbar.gauge.show_use)
        self.sidebar.new_asked.connect(self.new_chat)
        self.sidebar.chosen.connect(self.open_chat)
        self.sidebar.delete_asked.connect(self.delete_chat)
        self.sidebar.rename_asked.connect(self.rename_chat)
        self.topbar.sidebar_asked.connect(self.toggle_sidebar)
        self.topbar.memory_asked.connect(self.toggle_memory)
        self.topbar.models_asked.connect(self.models.open)
        self.page.link_activated.connect(self.ask_to_open)
        self.page.place_chosen.connect(self.show_place)

    # --- chats ---

    def refresh_chats(self) -> None:
        """Read the list of chats again, behind."""
        self.bridge.run(self.services.lanes.files, self.services.list_chats, done=self._on_chats_listed)

    def new_chat(self) -> None:
        self.session.open_new()
        self.page.composer.edit.setFocus()

    def open_chat(self, chat: str) -> None:
        self.session.open(chat)

    def rename_chat(self, chat: str, title: str) -> None:
        rename = self.services.rename_chat
        self.bridge.run(self.services.lanes.files, rename, chat, title, done=lambda _: self._on_renamed(chat, title))

    def delete_chat(self, chat: str) -> None:
        """Delete at once; a toast brings it back."""
        if self.session.streaming(chat):
            self.services.stop(chat)
        info = next((info for info in self.sidebar.model.infos() if info.id == chat), None)
        title = chat_title(info.title if info else "")
        self.session.forget(chat)  # now, or the end of its reply would be looked for in a file that is gone
        delete = self.services.delete_chat
        self.bridge.run(
            self.services.lanes.files, delete, chat, done=lambda deleted: self._on_deleted(chat, title, deleted)
        )

    def _on_chats_listed(self, chats: list[ChatInfo]) -> None:
        self.sidebar.show_chats(chats)
        current = next((info for info in chats if info.id == self.session.chat_id), None)
        if current is not None:
            self.session.renamed(current.title)
            self._show_title(current.title)
            self.session.refresh(current.turns)

    def _on_renamed(self, chat: str, title: str) -> None:
        if chat == self.session.chat_id:
            self.session.renamed(title)
            self._show_title(title)
        self.refresh_chats()

    def _on_deleted(self, chat: str, title: str, deleted: DeletedChat) -> None:
        self.session.forget(chat)
        self.refresh_chats()
        words = tr("Deleted “{title}”", title=title)
        self.toast.show_message(words, tr("Undo"), lambda: self._restore(chat, deleted))

    def _restore(self, chat: str, deleted: DeletedChat) -> None:
        restore = self.services.restore_chat
        self.bridge.run(self.services.lanes.files, restore, deleted, done=lambda _: self._on_restored(chat))

    def _on_restored(self, chat: str) -> None:
        self.refresh_chats()
        self.open_chat(chat)

    def _on_opened(self) -> None:
        self.sidebar.select(self.session.chat_id)
        self._show_title(self.session.title())
        if not self.session.chat_id:
            self.topbar.gauge.show_use(0, 0)

    def _on_created(self, chat: str) -> None:
        self.sidebar.select(chat)
        self.refresh_chats()

    def _show_title(self, title: str) -> None:
        shown = chat_title(title)
        self.topbar.title.set_text(shown)
        self.setWindowTitle(f"{shown} — Keepsake" if self.session.chat_id else "Keepsake")

    def _on_streaming_changed(self) -> None:
        self.sidebar.model.set_busy(self.session.busy_chats())

    def _focus_filter(self) -> None:
        self.sidebar.show()
        self.sidebar.filter.setFocus()

    # --- memory ---

    def toggle_sidebar(self) -> None:
        self._hid_sidebar = False
        self.sidebar.setVisible(self.sidebar.isHidden())

    def toggle_memory(self) -> None:
        """Show or hide the memory panel; it is built when it is first asked for."""
        panel = self.memory_panel()
        self._show_memory(panel.isHidden())

    def memory_open(self) -> bool:
        """Whether the memory panel was built."""
        return self._memory is not None

    def memory_panel(self) -> MemoryPanel:
        if self._memory is None:
            from assistant.ui.memory.panel import MemoryPanel

            self._memory = MemoryPanel(self.services, self.bridge, self.theme)
            self._memory.failed.connect(self.show_error)
            self._memory.closed.connect(lambda: self._show_memory(False))
            self._memory.chat_chosen.connect(self.open_chat)
            self._memory.said.connect(self.bottombar.show_notice)
            self._memory.hide()
            self.splitter.addWidget(self._memory)
        return self._memory

    def show_place(self, file: str, line: int) -> None:
        """Open the memory panel at a line; a line of a chat opens the chat."""
        if file.startswith("chats/"):
            self.open_chat(Path(file).stem)
            return
        self._show_memory(True)
        self.memory_panel().open_place(file, line)

    def _show_memory(self, shown: bool) -> None:
        panel = self.memory_panel()
        panel.setVisible(shown)
        self.topbar.memory.setChecked(shown)
        self._make_room()
        if shown:
            width = max(380, min(520, self.width() * 36 // 100))
            left = self.sidebar.width() if self.sidebar.isVisible() else 0
            self.splitter.setSizes([left, self.width() - left - width, width])
            panel.start()

    def _make_room(self) -> None:
        """In a narrow window the chats make way for the memory, and come back after it."""
        open_memory = self._memory is not None and not self._memory.isHidden()
        narrow = self.width() < _NARROW
        if open_memory and narrow and not self.sidebar.isHidden():
            self.sidebar.hide()
            self._hid_sidebar = True
        elif self._hid_sidebar and not (open_memory and narrow):
            self.sidebar.show()
            self._hid_sidebar = False

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

    # --- the rest ---

    def choose_theme(self, choice: str) -> None:
        self.theme.choose(choice)
        self.theme_actions[choice].setChecked(True)
        update = self.services.settings.update
        self.bridge.run(self.services.lanes.files, lambda: update("general", theme=choice), done=lambda _: None)

    def open_settings(self) -> None:
        from assistant.ui.settings.dialog import SettingsDialog

        dialog = SettingsDialog(self.services, self.bridge, self)
        dialog.theme_chosen.connect(self.choose_theme)
        dialog.failed.connect(self.show_error)
        self._open_dialog(dialog)

    def _open_dialog(self, dialog: QDialog) -> None:
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def ask_to_open(self, address: str) -> None:
        """Ask before the browser opens a web address; other addresses are never opened."""
        if not is_web(address):
            self.bottombar.show_notice(tr("Keepsake does not open this kind of link."))
            return
        box = QMessageBox(self)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setWindowTitle(tr("Open a web page?"))
        box.setText(tr("This link leaves your laptop and opens in the browser:"))
        box.setInformativeText(address[:500])
        go = box.addButton(tr("Open in the browser"), QMessageBox.ButtonRole.AcceptRole)
        stay = box.addButton(tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(stay)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.buttonClicked.connect(lambda pressed: self.open_address(address) if pressed is go else None)
        box.open()

    def open_address(self, address: str) -> None:
        QDesktopServices.openUrl(QUrl(address))

    def show_error(self, error: BaseException) -> None:
        """Show a failure: an expected one as written, a bug with its details."""
        self._open_dialog(ErrorDialog(error, self))

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._memory is not None and not self._memory.may_close():
            event.ignore()
            return
        self.closed.emit()
        event.accept()

    def release(self) -> None:
        """Take nothing more from the services; they may be closed after this."""
        self._refresh.stop()
        self.bridge.close()
