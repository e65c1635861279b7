"""The look of the memory files: the list above or beside the editor, with gauge, notes, find and what can be done."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSplitter, QVBoxLayout, QWidget

from assistant.ui.chat.strips import SecretStrip
from assistant.ui.i18n import tr
from assistant.ui.memory.banner import Banner
from assistant.ui.memory.editor import MemoryEditor
from assistant.ui.memory.file_list import FileList
from assistant.ui.memory.find_bar import EditorFind
from assistant.ui.memory.gauge import BudgetGauge
from assistant.ui.memory.left_out import LeftOutLines
from assistant.ui.memory.page import Page
from assistant.ui.theme import Theme
from assistant.ui.widgets import ElidedLabel, IconButton, button, label, spread

_LIST = 230  # pixels of the list above the editor, until the person drags
_NO_LIMIT = 16_777_215  # Qt's QWIDGETSIZE_MAX
_WIDE = 720
"""From this width on, list and editor stand side by side."""


class FilesView(Page):
    """Builds and lays out; what it is asked for it only tells."""

    new_asked = Signal()
    save_asked = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.list = FileList(theme)
        self.view, self.model = self.list.view, self.list.model
        self.name = ElidedLabel("", "section")
        self.state = label("", "small")
        self.find_button = IconButton(theme, "search", tr("Find in this file (Ctrl+F)"), 16)
        self.open_button = self._menu_button(theme, "folder", tr("Open in another program"))
        self.more_button = self._menu_button(theme, "more", tr("More for this file"))
        self.gauge = BudgetGauge(theme)
        self.editor = MemoryEditor(theme)
        words = tr("What Keepsake should always know about you goes here: one fact a line, in your own words.")
        self.editor.setPlaceholderText(words)
        self.left_out = LeftOutLines(theme)
        self.left_out.line_chosen.connect(self.editor.go_to)
        self.new_button = IconButton(theme, "plus", tr("New note…"), 18)
        self.new_button.clicked.connect(self.new_asked)
        self.tools = self.new_button
        self.banner = Banner()
        self.banner_words = self.banner.words
        self.find_bar = EditorFind(self.editor, theme)
        self.find_button.clicked.connect(lambda: self.find_bar.start())
        self.secrets = SecretStrip(tr("Save without it"))
        self.editor.textChanged.connect(self.secrets.hide)
        self.save_button = button(tr("Save"), "primary", self.save_asked.emit)
        self.save_button.setToolTip(tr("Save (Ctrl+S)"))
        shortcut = QShortcut(QKeySequence("Ctrl+S"), self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(self.save_asked)
        self._lay_out()

    def _menu_button(self, theme: Theme, icon: str, words: str) -> IconButton:
        made = IconButton(theme, icon, words, 16)
        made.setMenu(QMenu(made))
        made.setPopupMode(IconButton.ToolButtonPopupMode.InstantPopup)
        return made

    def _lay_out(self) -> None:
        head, foot = QHBoxLayout(), QHBoxLayout()
        spread(head, spacing=2)
        head.addWidget(self.name, 1)
        for made in (self.find_button, self.open_button, self.more_button):
            head.addWidget(made)
        spread(foot, spacing=8)
        foot.addWidget(self.state, 1)
        foot.addWidget(self.save_button)
        self.desk = QWidget()
        column = QVBoxLayout(self.desk)
        spread(column, spacing=8)
        column.addLayout(head)
        for widget in (self.gauge, self.left_out, self.banner, self.find_bar):
            column.addWidget(widget)
        column.addWidget(self.editor, 1)
        column.addWidget(self.secrets)
        column.addLayout(foot)
        self.splitter = QSplitter(Qt.Orientation.Vertical)
        self.splitter.setObjectName("files")
        self.splitter.setHandleWidth(12)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(self.list)
        self.splitter.addWidget(self.desk)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setSizes([_LIST, 500])
        self.list.resized.connect(self._fit_list)
        whole = QVBoxLayout(self)
        spread(whole, (16, 8, 16, 12))
        whole.addWidget(self.splitter)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Side by side where there is room."""
        super().resizeEvent(event)
        wide = self.width() >= _WIDE
        if wide != (self.splitter.orientation() == Qt.Orientation.Horizontal):
            self.splitter.setOrientation(Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical)
            self._fit_list()
            self.splitter.setSizes([260, self.width() - 260] if wide else [_LIST, max(1, self.height() - _LIST)])

    def _fit_list(self) -> None:
        """A short list above the editor leaves it the room."""
        above = self.splitter.orientation() == Qt.Orientation.Vertical
        self.list.setMaximumHeight(self.list.whole_height() if above else _NO_LIMIT)

    def event(self, event: QEvent) -> bool:
        """Ctrl+F is also the window's; in here it means the file."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and _finds(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if _is(event, Qt.Key.Key_F, ctrl=True):
            self.find_bar.start()
        elif _is(event, Qt.Key.Key_H, ctrl=True):
            self.find_bar.start(replacing=True)
        elif event.key() == Qt.Key.Key_F3:
            self.find_bar.step(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        else:
            super().keyPressEvent(event)


def _is(event: QKeyEvent, key: Qt.Key, ctrl: bool) -> bool:
    return event.key() == key and (event.modifiers() == Qt.KeyboardModifier.ControlModifier) == ctrl


def _finds(event: QKeyEvent) -> bool:
    keys = (Qt.Key.Key_F, Qt.Key.Key_H)
    return any(_is(event, key, ctrl=True) for key in keys) or event.key() == Qt.Key.Key_F3
