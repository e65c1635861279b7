"""“Pin as check” in the menu of a search hit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QAction

from assistant.ui.i18n import tr
from assistant.ui.models.plain import ITEM_ROLE

if TYPE_CHECKING:
    from assistant.ui.backend import Backend
    from assistant.ui.bridge import Bridge
    from assistant.ui.memory.search import SearchPage


def pin_action(page: SearchPage, services: Backend, bridge: Bridge) -> QAction:
    """Pins the chosen hit as what must be found for the words in the field."""

    def pin() -> None:
        hit, question = page.view.currentIndex().data(ITEM_ROLE), page.field.text().strip()
        if hit is None or not question:
            return
        bridge.run(
            services.lanes.keeping,
            lambda: services.self_test.add(question, hit.id, hit.text),
            done=lambda _: page.said.emit(tr("Pinned: “{question}” must find this line", question=question)),
            failed=page.failed.emit,
        )

    action = QAction(tr("Pin as check"), page.view)
    action.triggered.connect(lambda: pin())
    return action
