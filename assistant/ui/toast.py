"""Short messages at the bottom of the window, each with one thing to do about it; they leave by themselves."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QFontMetrics, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from assistant.ui.i18n import tr
from assistant.ui.widgets import button, label, spread

_MOST = 3
_GAP = 8
_WIDEST = 420  # pixels of words; longer ones are cut in the middle, and whole for a screen reader and as a tooltip


class Toast(QFrame):
    """One message. It waits while it is pointed at or has the focus; Esc ends it."""

    ended = Signal()

    def __init__(
        self, parent: QWidget, words: str, action: str, act: Callable[[], object] | None, seconds: float
    ) -> None:
        super().__init__(parent)
        self.setObjectName("toast")
        self.setAccessibleName(words)
        self._act = act
        self._words = label("")
        self._words.setText(QFontMetrics(self._words.font()).elidedText(words, Qt.TextElideMode.ElideMiddle, _WIDEST))
        self._words.setToolTip(words if self._words.text() != words else "")
        self._button = button(action, "", self._on_acted)
        self._button.setAccessibleDescription(words)
        self._button.installEventFilter(self)
        row = QHBoxLayout(self)
        spread(row, (16, 8, 8 if action else 16, 8), 12)
        row.addWidget(self._words)
        row.addWidget(self._button)
        self._button.setVisible(bool(action))  # not earlier: without a parent it would be a window
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(int(seconds * 1000))
        self._timer.timeout.connect(self.end)
        self._timer.start()
        self.adjustSize()

    def text(self) -> str:
        return self.accessibleName()

    def action_button(self) -> QPushButton:
        return self._button

    def end(self) -> None:
        """Leave now."""
        self._timer.stop()
        self.hide()
        self.ended.emit()

    def waits(self) -> bool:
        """Whether it stays for as long as it is looked at."""
        return not self._timer.isActive()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Enter:
            self._timer.stop()
        elif event.type() == QEvent.Type.Leave and not self.isHidden():
            self._timer.start()
        return super().event(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusIn:
            self._timer.stop()
        elif event.type() == QEvent.Type.FocusOut and not self.isHidden():
            self._timer.start()
        return False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.end()
        else:
            super().keyPressEvent(event)

    def _on_acted(self) -> None:
        act, self._act = self._act, None
        self.end()
        if act is not None:
            act()


class Toasts(QObject):
    """The newest at the bottom, three at most: what comes after pushes the oldest out."""

    def __init__(self, parent: QWidget, over: QWidget, lift: Callable[[], int]) -> None:
        """``over``: the part of ``parent`` in whose middle they stand; ``lift``: pixels to keep free below them."""
        super().__init__(parent)
        self._parent, self._over, self._lift = parent, over, lift
        self._shown: list[Toast] = []
        over.installEventFilter(self)

    def show(self, words: str, action: str = "", act: Callable[[], object] | None = None, seconds: float = 8) -> Toast:
        """Show ``words``; a button named ``action`` calls ``act``, once."""
        for oldest in self._shown[: len(self._shown) - _MOST + 1]:
            oldest.end()
        made = Toast(self._parent, words, action, act, seconds)
        made.ended.connect(lambda: self._on_ended(made))
        self._shown.append(made)
        self._place()
        made.show()
        made.raise_()
        how = tr("F6 goes to the button {action}.", action=action) if action else ""
        spoken = f"{words} {how}".strip()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(made, spoken))
        return made

    def shown(self) -> list[Toast]:
        """Those on screen, the newest last."""
        return list(self._shown)

    def newest(self) -> Toast | None:
        return self._shown[-1] if self._shown else None

    def focus(self) -> None:
        """Go to the button of the newest one by keyboard."""
        if self._shown:
            self._shown[-1].action_button().setFocus(Qt.FocusReason.ShortcutFocusReason)

    def clear(self) -> None:
        """End them all."""
        for each in self.shown():
            each.end()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
            self._place()
        return False

    def _on_ended(self, toast: Toast) -> None:
        if toast in self._shown:
            self._shown.remove(toast)
            toast.deleteLater()
            self._place()

    def _place(self) -> None:
        bottom = self._parent.height() - self._lift()
        over = self._over if self._over.isVisible() else self._parent
        middle = over.mapTo(self._parent, over.rect().center()).x()
        for each in reversed(self._shown):
            left = max(8, min(middle - each.width() // 2, self._parent.width() - each.width() - 8))
            bottom -= each.height()
            each.move(QPoint(left, bottom))
            bottom -= _GAP
