"""The list of chats: new, find, rename in place, delete with a way back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPoint, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QColor, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QLineEdit,
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from assistant.ui.assistants.switcher import AssistantSwitcher
from assistant.ui.chat.kinds import ICONS, Kind
from assistant.ui.i18n import tr
from assistant.ui.icons import paint_icon
from assistant.ui.models.chats import BUSY_ROLE, DETAIL_ROLE, HEADING_ROLE, ID_ROLE, KIND_ROLE, ChatListModel
from assistant.ui.theme import Theme
from assistant.ui.widgets import IconButton, SearchField, label, spread
from assistant.workspace.assistants import DEFAULT

if TYPE_CHECKING:
    from assistant.workspace.chat_list import ChatInfo

_ROW = 52
_HEADING = 36
_PAD = 12

Index = QModelIndex | QPersistentModelIndex


class ChatDelegate(QStyledItemDelegate):
    """Paints a row: the title, and below it when and how much."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(160, _HEADING if index.data(HEADING_ROLE) else _ROW)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = option.rect.adjusted(8, 1, -8, -1)
        if index.data(HEADING_ROLE):
            self._paint_heading(painter, rect, index)
        else:
            self._paint_chat(painter, rect, option.state, index)
        painter.restore()

    def _paint_heading(self, painter: QPainter, rect: QRect, index: Index) -> None:
        self._font(painter, 12, True)
        painter.setPen(QColor(self._theme.palette.muted))
        area = rect.adjusted(_PAD, 10, -_PAD, 0)
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, index.data())

    def _paint_chat(self, painter: QPainter, rect: QRect, state: QStyle.StateFlag, index: Index) -> None:
        colours = self._theme.palette
        selected = bool(state & QStyle.StateFlag.State_Selected)
        if selected or state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.selected if selected else colours.hover))
            painter.drawRoundedRect(rect, 8, 8)
        inner = rect.adjusted(_PAD, 6, -_PAD, -6)
        if index.data(BUSY_ROLE):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.accent))
            painter.drawEllipse(QPoint(inner.right() - 3, inner.top() + 10), 4, 4)
            inner.setRight(inner.right() - 16)
        half = inner.height() // 2
        self._line(painter, QRect(inner.left(), inner.top(), inner.width(), half), index.data(), 14, colours.text)
        below = QRect(inner.left(), inner.top() + half, inner.width(), half)
        if name := ICONS.get(index.data(KIND_ROLE)):
            paint_icon(painter, QRectF(below.left() - 1, below.center().y() - 6, 13, 13), name, colours.muted)
            below.setLeft(below.left() + 17)
        self._line(painter, below, index.data(DETAIL_ROLE), 12, colours.muted)

    def _line(self, painter: QPainter, rect: QRect, text: str, pixels: int, colour: str) -> None:
        self._font(painter, pixels, False)
        painter.setPen(QColor(colour))
        short = QFontMetrics(painter.font()).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, short)

    def _font(self, painter: QPainter, pixels: int, strong: bool) -> None:
        font = painter.font()
        font.setPixelSize(pixels)
        font.setBold(strong)
        painter.setFont(font)

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = QLineEdit(parent)
        editor.setAccessibleName(tr("Title of the chat"))
        return editor

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        rect = option.rect
        editor.setGeometry(rect.adjusted(10, 8, -10, -8))


class ChatListView(QListView):
    """Delete and Backspace act here only, while the list itself has the focus."""

    delete_asked = Signal(str)
    menu_asked = Signal(str, QPoint)

    def __init__(self, model: ChatListModel, theme: Theme) -> None:
        super().__init__()
        self.setModel(model)
        self.setItemDelegate(ChatDelegate(theme, self))
        self.setAccessibleName(tr("Chats"))
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu_requested)
        self.doubleClicked.connect(self.edit)

    def current_chat(self) -> str:
        return self.currentIndex().data(ID_ROLE) or ""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and self.current_chat():
            self.delete_asked.emit(self.current_chat())
        elif event.key() == Qt.Key.Key_F2 and self.currentIndex().isValid():
            self.edit(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _on_menu_requested(self, place: QPoint) -> None:
        chat = self.indexAt(place).data(ID_ROLE)
        if chat:
            self.menu_asked.emit(chat, self.viewport().mapToGlobal(place))


class Sidebar(QWidget):
    """The left column."""

    new_asked = Signal()
    chosen = Signal(str)
    delete_asked = Signal(str)
    rename_asked = Signal(str, str)
    private_new_asked = Signal()
    temporary_new_asked = Signal()
    private_asked = Signal(str, bool)
    keep_asked = Signal(str)
    left_empty = Signal()
    """The list had the focus, and its last chat is gone."""

    def __init__(self, theme: Theme, now: Callable[[], datetime], assistant: str = DEFAULT) -> None:
        super().__init__()
        self.setObjectName("sidebar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumWidth(208)
        self._theme = theme
        self._quiet = False
        self._waiting: list[ChatInfo] | None = None
        self._chat = ""
        self.model = ChatListModel(now, self)
        self.view = ChatListView(self.model, theme)
        self.switcher = AssistantSwitcher(theme, assistant)
        self.filter = SearchField(theme, tr("Find a chat"))
        self.new = IconButton(theme, "plus", tr("New chat (Ctrl+N)"), 20)
        self.kinds = IconButton(theme, "down", tr("Other kinds of chats"), 14)
        self.empty = label("", "muted", wrap=True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        spread(head, (12, 12, 12, 8), 0)
        head.addWidget(self.switcher)
        head.addStretch(1)
        head.addWidget(self.new)
        head.addWidget(self.kinds)
        find = QHBoxLayout()
        spread(find, (12, 0, 12, 4))
        find.addWidget(self.filter)
        column = QVBoxLayout(self)
        spread(column)
        column.addLayout(head)
        column.addLayout(find)
        column.addWidget(self.view, 1)
        column.addWidget(self.empty, 1)
        self.empty.setContentsMargins(24, 40, 24, 0)
        self._show_empty()

    def _connect(self) -> None:
        self.new.clicked.connect(self.new_asked)
        self.kinds.clicked.connect(self._on_kinds_asked)
        self.filter.textChanged.connect(self._on_filter_changed)
        self.view.selectionModel().currentChanged.connect(self._on_current_changed)
        self.view.delete_asked.connect(self.delete_asked)
        self.view.menu_asked.connect(self._on_menu_asked)
        self.model.rename_asked.connect(self.rename_asked)
        self.view.itemDelegate().closeEditor.connect(lambda: QTimer.singleShot(0, self, self._show_waiting))

    def show_chats(self, chats: list[ChatInfo]) -> None:
        """Replace the list and keep the open chat selected. A title that is being edited is finished first."""
        self._waiting = None
        if self.view.state() == QAbstractItemView.State.EditingState:
            self._waiting = chats
            return
        place = self.view.verticalScrollBar().value()
        self._quiet = True
        self.model.show(chats)
        self._quiet = False
        self.select(self._chat)
        self.view.verticalScrollBar().setValue(place)
        self._show_empty()

    def _show_waiting(self) -> None:
        if self._waiting is not None:
            self.show_chats(self._waiting)

    def select(self, chat: str) -> None:
        """Mark a chat as the open one, without opening it."""
        self._chat = chat
        self._quiet = True
        row = self.model.row_of(chat)
        if row >= 0:
            self.view.setCurrentIndex(self.model.index(row))
        else:
            self.view.selectionModel().clear()
        self._quiet = False

    def rename_current(self) -> None:
        """Edit the title of the open chat in place."""
        if self.view.currentIndex().isValid():
            self.view.setFocus()
            self.view.edit(self.view.currentIndex())

    def _show_empty(self) -> None:
        nothing = self.model.rowCount() == 0
        if nothing and self.view.hasFocus():
            self.left_empty.emit()
        self.view.setVisible(not nothing)
        self.empty.setVisible(nothing)
        searched = bool(self.filter.text().strip())
        self.empty.setText(
            tr("No chat has these words in its title.") if searched else tr("Your chats will be listed here.")
        )

    def _on_filter_changed(self, text: str) -> None:
        self._quiet = True
        self.model.filter(text)
        self._quiet = False
        self.select(self._chat)
        self._show_empty()

    def _on_current_changed(self, current: QModelIndex) -> None:
        chat = current.data(ID_ROLE)
        if chat and not self._quiet and chat != self._chat:
            self._chat = chat
            self.chosen.emit(chat)

    def _on_menu_asked(self, chat: str, place: QPoint) -> None:
        menu = QMenu(self)
        rename = QAction(tr("Rename"), menu)
        rename.triggered.connect(lambda: self.view.edit(self.model.index(self.model.row_of(chat))))
        kind = self.model.index(self.model.row_of(chat)).data(KIND_ROLE)
        delete = QAction(tr("Close") if kind is Kind.TEMPORARY else tr("Delete"), menu)
        delete.triggered.connect(lambda: self.delete_asked.emit(chat))
        menu.addActions([rename, self._kind_action(menu, chat, kind), delete])
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(place)

    def _kind_action(self, menu: QMenu, chat: str, kind: Kind) -> QAction:
        if kind is Kind.TEMPORARY:
            action = QAction(tr("Keep this chat"), menu)
            action.triggered.connect(lambda: self.keep_asked.emit(chat))
            return action
        private = kind is Kind.PRIVATE
        action = QAction(tr("No longer private") if private else tr("Make private"), menu)
        action.triggered.connect(lambda: self.private_asked.emit(chat, not private))
        return action

    def _on_kinds_asked(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        kinds = (
            ("lock", tr("New private chat"), self.private_new_asked),
            ("temporary", tr("New temporary chat"), self.temporary_new_asked),
        )
        for name, words, asked in kinds:
            menu.addAction(self._theme.icon(name, "text"), words).triggered.connect(lambda _=False, a=asked: a.emit())
        menu.popup(self.kinds.mapToGlobal(QPoint(0, self.kinds.height() + 4)))
