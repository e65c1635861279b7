"""The look of the memory files: list, gauge, notes and editor in one column."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QFrame, QHBoxLayout, QListView, QVBoxLayout

from assistant.ui.chat.strips import SecretStrip
from assistant.ui.i18n import tr
from assistant.ui.memory.editor import MemoryEditor
from assistant.ui.memory.gauge import BudgetGauge
from assistant.ui.memory.left_out import LeftOutLines
from assistant.ui.memory.page import Page
from assistant.ui.memory.rows import RowDelegate
from assistant.ui.theme import Theme
from assistant.ui.widgets import button, label, spread


class FilesView(Page):
    """Builds and lays out; what it is asked for it only tells."""

    new_asked = Signal()
    save_asked = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.view = QListView()
        self.view.setProperty("role", "card")
        self.view.setItemDelegate(RowDelegate(theme, 1, self.view))
        self.view.setAccessibleName(tr("Memory files"))
        self.view.setMouseTracking(True)
        self.gauge = BudgetGauge(theme)
        self.editor = MemoryEditor(theme)
        words = tr("What Keepsake should always know about you goes here: one fact a line, in your own words.")
        self.editor.setPlaceholderText(words)
        self.left_out = LeftOutLines(theme)
        self.left_out.line_chosen.connect(self.editor.go_to)
        self.new_button = button(tr("New note…"), "quiet", self.new_asked.emit)
        self.banner = self._make_banner()
        self.secrets = SecretStrip(tr("Save without it"))
        self.editor.textChanged.connect(self.secrets.hide)
        self.state = label("", "small")
        self.save_button = button(tr("Save"), "primary", self.save_asked.emit)
        self.save_button.setToolTip(tr("Save (Ctrl+S)"))
        shortcut = QShortcut(QKeySequence("Ctrl+S"), self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(self.save_asked)
        self._lay_out()

    def _make_banner(self) -> QFrame:
        """Says that the file changed on disk while it is edited here."""
        banner = QFrame()
        banner.setObjectName("notecard")
        self.banner_words = label("", wrap=True)
        self.compare = button(tr("Compare…"), "", self.save_asked.emit)
        row = QHBoxLayout(banner)
        spread(row, (12, 8, 8, 8), 8)
        row.addWidget(self.banner_words, 1)
        row.addWidget(self.compare)
        banner.hide()
        return banner

    def _lay_out(self) -> None:
        new, foot = QHBoxLayout(), QHBoxLayout()
        spread(new)
        new.addWidget(self.new_button)
        new.addStretch()
        spread(foot, spacing=8)
        foot.addWidget(self.state, 1)
        foot.addWidget(self.save_button)
        column = QVBoxLayout(self)
        spread(column, (16, 12, 16, 12), 12)
        column.addWidget(self.view)
        column.addLayout(new)
        for widget in (self.gauge, self.left_out, self.banner):
            column.addWidget(widget)
        column.addWidget(self.editor, 1)
        column.addWidget(self.secrets)
        column.addLayout(foot)
