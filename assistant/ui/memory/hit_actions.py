"""What can be done about a found line: open it, say that it is wrong, forget it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QAction

from assistant.core.values import Hit
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr
from assistant.ui.models.plain import ITEM_ROLE

if TYPE_CHECKING:
    from assistant.ui.memory.search import SearchPage


def hit_actions(page: SearchPage, services: Backend, bridge: Bridge) -> list[QAction]:
    """The context menu's actions for the hit that is chosen."""
    return [
        _action(page, tr("Open"), lambda hit: page.view.activated.emit(page.view.currentIndex())),
        _action(page, tr("Wrong: strike it"), lambda hit: _strike(page, services, bridge, hit)),
        _action(page, tr("Forget…"), lambda hit: page.forget_asked.emit(hit.id)),
    ]


def _action(page: SearchPage, words: str, act: Any) -> QAction:
    made = QAction(words, page)

    def on_triggered() -> None:
        hit = page.view.currentIndex().data(ITEM_ROLE)
        if isinstance(hit, Hit):
            act(hit)

    made.triggered.connect(on_triggered)
    return made


def _strike(page: SearchPage, services: Backend, bridge: Bridge, hit: Hit) -> None:
    if hit.kind == "turn":
        page.said.emit(tr("What was said in a chat is not struck; forget it, or remember what is right."))
        return

    def done(saved: Any) -> None:
        page.undo_offered.emit(tr("Struck as wrong"), saved.journal_id)
        page.ask()

    bridge.run(services.lanes.files, services.workspace.memory.strike, hit.id, done=done, failed=page.failed.emit)
