"""Says at the start that text of a memory file waits unsaved, where the memory panel is not open to show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assistant.ui.i18n import tr

if TYPE_CHECKING:
    from assistant.ui.main_window import MainWindow


def tell_drafts(window: MainWindow) -> None:
    """Look behind; a toast leads to the text."""
    drafts = window.services.workspace.drafts
    window.bridge.run(
        window.services.lanes.files, drafts.any, done=lambda found: _on_looked(window, found), failed=lambda _: None
    )


def _on_looked(window: MainWindow, found: bool) -> None:
    if found and not window.memory_shown():
        words = tr("Unsaved text of your memory files was kept")
        window.toasts.show(words, tr("Show"), lambda: window.show_memory_page("files"), seconds=20)
