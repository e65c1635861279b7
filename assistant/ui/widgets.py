"""Small widgets that more than one part of the window uses."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from assistant.ui.theme import Theme


def label(text: str, role: str = "", wrap: bool = False) -> QLabel:
    """A plain-text label; ``role`` picks its look in the style sheet."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(wrap)
    if role:
        made.setProperty("role", role)
    return made


def restyle(widget: QWidget, name: str, value: object) -> None:
    """Set a property the style sheet looks at, and let the style see it."""
    if widget.property(name) != value:
        widget.setProperty(name, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def button(text: str, kind: str = "", clicked: Callable[[], object] | None = None) -> QPushButton:
    """A push button; kind: "primary", "link", "quiet", "chip", "suggestion" or "" for the plain one."""
    made = QPushButton(text)
    made.setAutoDefault(False)
    if kind:
        made.setProperty("kind", kind)
        made.setCursor(Qt.CursorShape.PointingHandCursor)
    if clicked is not None:
        made.clicked.connect(lambda: clicked())
    return made


def rule() -> QFrame:
    """A thin line between two parts."""
    line = QFrame()
    line.setObjectName("rule")
    return line


def spread(layout: QLayout, margins: tuple[int, int, int, int] = (0, 0, 0, 0), spacing: int = 0) -> None:
    """Set a layout's margins and spacing in one line."""
    layout.setContentsMargins(*margins)
    layout.setSpacing(spacing)


def fit_height(dialog: QDialog, width: int) -> None:
    """Give a dialog of wrapped text its width, and the height that the text needs then."""
    dialog.ensurePolished()
    layout = dialog.layout()
    if layout is not None:
        layout.activate()
        dialog.setFixedSize(width, layout.totalHeightForWidth(width))


def centred(widget: QWidget, widest: int, margins: tuple[int, int, int, int] = (0, 0, 0, 0)) -> QHBoxLayout:
    """A row in which the widget has all the width up to ``widest`` pixels, and stands in the middle of more."""
    widget.setMaximumWidth(widest)
    row = QHBoxLayout()
    spread(row, margins)
    row.addStretch(1)
    row.addWidget(widget, 1000)
    row.addStretch(1)
    return row


class IconButton(QToolButton):
    """A button with only an icon. A ``quiet`` one shows when its surroundings are pointed at, or it has the focus."""

    def __init__(self, theme: Theme, name: str, words: str, size: int = 18, quiet: bool = False) -> None:
        super().__init__()
        self._theme, self._name, self._quiet, self._revealed, self._colour = theme, name, quiet, not quiet, ""
        self.setIconSize(QSize(size, size))
        self.setFixedSize(size + 12, size + 12)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.set_words(words)
        self._on_theme_changed()
        theme.changed.connect(self._on_theme_changed)

    def set_words(self, words: str) -> None:
        """The accessible name and the tooltip."""
        self.setAccessibleName(words)
        self.setToolTip(words)

    def set_icon_name(self, name: str, colour: str = "") -> None:
        """Show another icon, in a colour of the theme."""
        self._name, self._colour = name, colour
        self._on_theme_changed()

    def reveal(self, shown: bool) -> None:
        """Show or hide a quiet button; it stays reachable by keyboard."""
        self._revealed = shown or not self._quiet
        self.update()

    def _on_theme_changed(self) -> None:
        self.setIcon(self._theme.icon(self._name, self._colour or "muted"))

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._revealed or self.hasFocus():
            super().paintEvent(event)


class ElidedLabel(QLabel):
    """One line of text, cut with … where there is no room; the whole of it is the tooltip."""

    def __init__(self, text: str = "", role: str = "") -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        # Absolute: a right-to-left title stays where titles stand.
        self.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter)
        if role:
            self.setProperty("role", role)
        self._whole = ""
        self.set_text(text)

    def set_text(self, text: str) -> None:
        self._whole = " ".join(text.split())
        self.setAccessibleName(self._whole)
        self._elide()

    def whole(self) -> str:
        return self._whole

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        short = QFontMetrics(self.font()).elidedText(self._whole, Qt.TextElideMode.ElideRight, self.width())
        self.setText(short)
        self.setToolTip(self._whole if short != self._whole else "")


class SearchField(QLineEdit):
    """A field with a magnifier and a clear button; the placeholder leaves while an input method composes."""

    def __init__(self, theme: Theme, placeholder: str) -> None:
        super().__init__()
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(placeholder)
        self.setClearButtonEnabled(True)
        self._theme = theme
        self._action = self.addAction(theme.icon("search"), QLineEdit.ActionPosition.LeadingPosition)
        theme.changed.connect(self._on_theme_changed)

    def _on_theme_changed(self) -> None:
        self._action.setIcon(self._theme.icon("search"))
