"""Receipts of the turns on screen: asked for once, behind, and kept while the window is open."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from assistant.core.values import Receipt
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge


class KnownReceipts(QObject):
    """By chat and turn. ``found`` follows an ``ask`` that brought something."""

    found = Signal(str, object)
    """chat, {turn: Receipt}"""

    def __init__(self, services: Backend, bridge: Bridge, parent: QObject) -> None:
        super().__init__(parent)
        self._services, self._bridge = services, bridge
        self._known: dict[tuple[str, int], Receipt] = {}
        self._cleared = 0  # times

    def get(self, chat: str, turn: int) -> Receipt | None:
        return self._known.get((chat, turn))

    def put(self, chat: str, turn: int, receipt: Receipt) -> None:
        self._known[(chat, turn)] = receipt

    def clear(self) -> None:
        """Ask for them all again: what they say may have been forgotten."""
        self._known.clear()
        self._cleared += 1

    def ask(self, chat: str, turns: Sequence[int]) -> None:
        """Find those that are not known yet, newest first."""
        wanted = [n for n in turns if n > 0 and (chat, n) not in self._known]
        if not wanted:
            return
        services = self._services

        def fetch() -> dict[int, Receipt]:
            looked = ((n, services.receipt(chat, n)) for n in reversed(wanted))
            return {n: receipt for n, receipt in looked if receipt is not None}

        cleared, lane = (
            self._cleared,
            services.lanes.recall,
        )  # those of a long chat take seconds: no message waits for it
        self._bridge.run(lane, fetch, done=lambda found: self._on_fetched(chat, found, cleared))

    def _on_fetched(self, chat: str, found: dict[int, Receipt], cleared: int) -> None:
        if cleared != self._cleared:  # read before the words were forgotten
            return
        self._known.update({(chat, n): receipt for n, receipt in found.items()})
        if found:
            self.found.emit(chat, found)
