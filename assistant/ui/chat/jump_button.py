"""The button over the transcript that leads back to its end."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from assistant.ui.i18n import tr
from assistant.ui.theme import Theme
from assistant.ui.widgets import IconButton

_ABOVE_FOOT = 12  # pixels


class JumpButton(IconButton):
    """In the middle above the foot of ``over``."""

    def __init__(self, theme: Theme, over: QWidget) -> None:
        super().__init__(theme, "down", tr("Go to the newest message"), 18)
        self._over = over
        self.setParent(over)
        self.setObjectName("jump")
        self.hide()
        theme.changed.connect(self._dress)
        self._dress()

    def show_if(self, wanted: bool) -> None:
        """Show it where it belongs, or hide it."""
        self.setVisible(wanted)
        self.adjustSize()
        over = self._over
        self.move((over.width() - self.width()) // 2, over.height() - self.height() - _ABOVE_FOOT)
        self.raise_()

    def _dress(self) -> None:
        colours = self._theme.palette
        self.setStyleSheet(
            f"QToolButton {{ background: {colours.surface}; border: 1px solid {colours.border_strong};"
            " border-radius: 15px; padding: 5px; }"
        )
