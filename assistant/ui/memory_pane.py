"""Where the memory panel is in the window: built when it is first asked for, and opened at what is wanted of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from assistant.ui.main_window import MainWindow
    from assistant.ui.memory.panel import MemoryPanel

_LEAST, _MOST, _PERCENT = 380, 520, 36  # pixels, pixels, and of the window's width: how wide it is at first


class MemoryPane(QObject):
    """The third column of a window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._panel: MemoryPanel | None = None

    @property
    def is_built(self) -> bool:
        """Whether the panel was ever asked for."""
        return self._panel is not None

    @property
    def is_shown(self) -> bool:
        """Whether the panel is open."""
        return self._panel is not None and not self._panel.isHidden()

    def is_reviewing(self) -> bool:
        """Whether the person looks at what waits for their word."""
        return self._panel is not None and self.is_shown and self._panel.current == "review"

    def panel(self) -> MemoryPanel:
        """The panel, built hidden if need be."""
        if self._panel is None:
            self._panel = self._build()
        return self._panel

    def toggle(self) -> None:
        """Show or hide it."""
        self.show(self.panel().isHidden())

    def show(self, shown: bool = True, page: str = "") -> None:
        """Show it, at a page if one is named, or hide it."""
        panel, window = self.panel(), self._window
        panel.setVisible(shown)
        window.topbar.memory.setChecked(shown)
        self.share_room()
        if shown:
            window.room.widen_memory(window.width(), self._width())
            panel.start(page)

    def share_room(self) -> None:
        """Lay out the window, which may have another size now."""
        self._window.room.share(self._window.width(), self._width() if self.is_shown else 0)

    def review(self) -> None:
        """Open it at what waits for the person's word."""
        self.show(page="review")

    def search(self) -> None:
        """Open it at its search."""
        self.show()
        self.panel().start_search()

    def new_note(self) -> None:
        """Open it and ask for the name of a new memory file."""
        self.show()
        self.panel().start_note()

    def tidy(self) -> None:
        """Open it at its journal, and show there what tidying up would do."""
        self.show(page="journal")
        self.panel().journal.tidying.ask()

    def may_close(self) -> bool:
        """Ask about what is not saved. False when the person stays."""
        return self._panel is None or self._panel.may_close()

    def keep(self) -> None:
        """Keep what is not saved for the next time, without a question."""
        if self._panel is not None:
            self._panel.keep()

    def _width(self) -> int:
        return self._window.keeper.memory_width or max(_LEAST, min(_MOST, self._window.width() * _PERCENT // 100))

    def _build(self) -> MemoryPanel:
        from assistant.ui.memory.draft_feed import DraftFeed  # here: a window opens without the panel
        from assistant.ui.memory.panel import MemoryPanel

        window = self._window
        panel = MemoryPanel(window.services, window.bridge, window.theme)
        panel.failed.connect(window.show_error)
        panel.closed.connect(lambda: self.show(False))
        panel.chat_chosen.connect(window.open_chat)
        panel.forget_asked.connect(lambda thing: window.forgetting.ask([thing]))
        panel.said.connect(window.bottombar.show_notice)
        panel.undo_offered.connect(window.undo_offers.offer)
        panel.page_built.connect(DraftFeed(window.page, window.session, window.finder, panel).serve)
        panel.hide()
        window.splitter.addWidget(panel)
        return panel
