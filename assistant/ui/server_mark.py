"""While a server is used: the mark beside the model, and what is asked before anything goes to it the first time."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QMessageBox, QPushButton, QWidget

from assistant.core.values import ModelInfo
from assistant.ui.i18n import tr
from assistant.ui.theme import Theme

_LONGEST = 28
_AROUND = 48  # pixels of a chip that are not its words: the icon, the space around


class ServerMark(QPushButton):
    """Which host gets what is said; its tooltip says what that is. Pressing it opens the settings of the server."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setAutoDefault(False)
        self.setProperty("kind", "chip")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setIconSize(QSize(16, 16))
        self._whole = ""
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self.hide()

    def show_info(self, info: ModelInfo | None) -> None:
        """Follow the model that is in use now; None: none is."""
        self.setVisible(info is not None and bool(info.host))
        if info is None or not info.host:
            return
        self.ensurePolished()  # its letters are measured
        self._whole = short_host(info.host)
        self.updateGeometry()
        self._elide()
        words = goes_out(info)
        self.setToolTip(f"{words} {what_is_told()}")
        self.setAccessibleName(words)
        self.setAccessibleDescription(what_is_told())

    def sizeHint(self) -> QSize:
        """For the whole name; where there is less room it is cut in the middle, and the foot of the window has all."""
        words = self.fontMetrics().horizontalAdvance(self._whole)
        return QSize(words + _AROUND + 2, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(_AROUND, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        room = max(0, self.width() - _AROUND)
        self.setText(self.fontMetrics().elidedText(self._whole, Qt.TextElideMode.ElideMiddle, room))

    def _on_theme_changed(self) -> None:
        self.setIcon(self._theme.icon("server", "amber"))


def short_host(host: str) -> str:
    """A host with its beginning and its end, which say whose it is."""
    return host if len(host) <= _LONGEST else f"{host[:8]}…{host[-(_LONGEST - 9) :]}"


def goes_out(info: ModelInfo | None) -> str:
    """One line: where what is said goes."""
    if info is None or not info.host:
        return tr("Offline — nothing leaves this laptop")
    if info.here:
        return tr("Answered by a server on this laptop, {host}", host=info.host)
    return tr("Your messages go to {host}", host=info.host)


def what_is_told() -> str:
    """What a server gets."""
    return tr(
        "It gets what you write, the chat so far, the lines of memory that belong to it (each receipt shows which), and"
        " older messages to summarize. The rest of your memory stays here."
    )


def ask_to_send(parent: QWidget, host: str, here: bool, encrypted: bool, private: bool) -> bool:
    """Ask once for an address, before anything goes there. True for yes."""
    box = QMessageBox(parent)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setIcon(QMessageBox.Icon.Warning if not (here or encrypted) else QMessageBox.Icon.Question)
    box.setWindowTitle(tr("Use this server?"))
    box.setText(tr("From now on {host} answers you.", host=host))
    parts = [
        what_is_told(),
        tr("Private chats go there, too.") if private else tr("Private chats are answered on this laptop."),
        _on_the_way(here, encrypted),
        tr("While it is used, its name stands beside the model's."),
    ]
    box.setInformativeText("\n\n".join(part for part in parts if part))
    go = box.addButton(tr("Use this server"), QMessageBox.ButtonRole.AcceptRole)
    return _is_pressed(box, go, tr("Stay on this laptop"))


def ask_to_send_key(parent: QWidget, host: str) -> bool:
    """Ask before a key goes out in the clear. True for yes."""
    box = QMessageBox(parent)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setIcon(QMessageBox.Icon.Warning)
    box.setWindowTitle(tr("Send the key without encryption?"))
    box.setText(tr("Anybody in the network on the way to {host} could read the key and use it.", host=host))
    go = box.addButton(tr("Send it all the same"), QMessageBox.ButtonRole.DestructiveRole)
    return _is_pressed(box, go, tr("Cancel"))


def _is_pressed(box: QMessageBox, go: QPushButton, otherwise: str) -> bool:
    """Ask; Enter and Escape mean the other button."""
    stay = box.addButton(otherwise, QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(stay)
    box.setEscapeButton(stay)
    box.exec()
    pressed = box.clickedButton()
    box.deleteLater()
    return pressed is go


def _on_the_way(here: bool, encrypted: bool) -> str:
    if here or encrypted:
        return ""
    return tr("It is not encrypted: anybody in the network on the way can read all of it.")
