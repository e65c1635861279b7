"""What the menus offer about backups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog

if TYPE_CHECKING:
    from assistant.ui.main_window import MainWindow


def back_up(window: MainWindow) -> None:
    """Open the dialog that makes a backup."""
    from assistant.ui.backup.make_dialog import BackupDialog

    _open(BackupDialog(window.services, window.bridge, window))


def restore_backup(window: MainWindow) -> None:
    """Open the dialog that restores one."""
    from assistant.ui.backup.restore_dialog import RestoreDialog

    _open(RestoreDialog(window.services, window.bridge, window))


def _open(dialog: QDialog) -> None:
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()
