"""What of MEMORY.md loads, shown in the gauge, in the list of lines that do not, and in the editor itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import translate_message
from assistant.ui.memory.file_model import MAIN
from assistant.ui.memory.files_view import FilesView
from assistant.ui.memory.live_budget import LiveBudget
from assistant.workspace.budget import FACTS_BUDGET, TOKEN_BUDGET

if TYPE_CHECKING:
    from assistant.workspace.budget import Loaded


class BudgetView(QObject):
    """Shown only while MEMORY.md is in the editor: nothing else has a budget."""

    def __init__(self, services: Backend, bridge: Bridge, view: FilesView) -> None:
        super().__init__(view)
        self._view = view
        self._left_out: tuple[tuple[int, str], ...] = ()
        self._over = False
        self._file = ""
        self._live = LiveBudget(services, bridge, self)
        self._live.counted.connect(self._on_counted)
        self._live.failed.connect(lambda _: view.gauge.hide())

    def count(self, text: str | None) -> None:
        """Count now; None: what is on disk."""
        self._live.count(text)

    def count_soon(self, text: str) -> None:
        """Count once typing pauses."""
        self._live.count_soon(text)

    def show_for(self, file: str) -> None:
        """This file is in the editor now."""
        self._file = file
        here = file == MAIN
        self._view.gauge.setVisible(here and bool(self._view.gauge.measures))
        lines = self._left_out if here else ()
        self._view.editor.shade(tuple(line for line, _ in lines))
        self._view.left_out.show_lines(lines, self._over)

    def _on_counted(self, loaded: Loaded, limits: Any) -> None:
        self._view.gauge.show_measures(
            (max(loaded.lines_used, loaded.lines_asked), limits.fact_lines),
            (max(loaded.bytes_used, loaded.bytes_asked), limits.fact_bytes),
            (max(loaded.tokens_used, loaded.tokens_asked), loaded.tokens_allowed),
        )
        here = [left for left in loaded.left_out if left.file == MAIN and left.line]
        self._over = any(left.why in (FACTS_BUDGET, TOKEN_BUDGET) for left in here)
        self._left_out = tuple((left.line, translate_message(left.why)) for left in here)
        self.show_for(self._file)
