"""The question before a web address is opened: it is the one way out of the window."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from assistant.ui.i18n import tr

_SHOWN = 500  # characters: the beginning says whose page it is


def ask_about_page(parent: QWidget, address: str, go_on: Callable[[], None]) -> None:
    """Show the address, and ``go_on`` where the person says so. Returns at once."""
    box = QMessageBox(parent)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setWindowTitle(tr("Open a web page?"))
    box.setText(tr("This link leaves your laptop and opens in the browser:"))
    box.setInformativeText(address[:_SHOWN])
    go = box.addButton(tr("Open in the browser"), QMessageBox.ButtonRole.AcceptRole)
    stay = box.addButton(tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(stay)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.buttonClicked.connect(lambda pressed: go_on() if pressed is go else None)
    box.open()
