"""Begins the git history when it was chosen; asks first where the folder has a repository of the person's own."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from assistant.core.errors import AssistantError
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr


def begin_history(services: Backend, bridge: Bridge, window: QWidget | None) -> None:
    """Follow the setting; what fails is shown by the window."""

    def failed(error: BaseException) -> None:
        if isinstance(error, AssistantError) and error.code == "history.foreign":
            _ask(services, bridge, window)
        else:
            bridge.work_failed.emit(error)

    bridge.run(services.lanes.keeping, services.history.apply_setting, done=lambda _: None, failed=failed)


def _ask(services: Backend, bridge: Bridge, window: QWidget | None) -> None:
    box = QMessageBox(window)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setWindowTitle(tr("History"))
    box.setText(tr("Your folder has a git repository of its own already."))
    words = tr(
        "Keepsake can add its commits to the branch you are on and touches nothing else in it. What you forget is not"
        " taken out of a repository of your own."
    )
    box.setInformativeText(words)
    go = box.addButton(tr("Add commits to it"), QMessageBox.ButtonRole.AcceptRole)
    stay = box.addButton(tr("Leave it alone"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(stay)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

    def pressed(button: object) -> None:
        if button is go:
            turn_on = services.history.turn_on
            bridge.run(services.lanes.keeping, lambda: turn_on(existing=True), done=lambda _: None)

    box.buttonClicked.connect(pressed)
    box.open()
