"""Search in memory and chats: hits with place, date, score, and why they were found."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtWidgets import QListView, QVBoxLayout

from assistant.core.values import Hit, RecallAnswer, RecallQuery
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr
from assistant.ui.memory.hit_actions import hit_actions
from assistant.ui.memory.page import Page
from assistant.ui.memory.pinning import pin_action
from assistant.ui.memory.rows import RowDelegate
from assistant.ui.models.plain import DETAIL_ROLE, ITEM_ROLE, SCORE_ROLE, PlainListModel
from assistant.ui.theme import Theme
from assistant.ui.widgets import SearchField, label, spread

_LIMIT = 30
_PAUSE_MS = 250  # typing is over
_BULLET = re.compile(r"^[-*+] (?=\S)")


def why_text(hit: Hit) -> str:
    """Each factor of a hit's score on a line."""
    names = {
        "keyword": tr("words"),
        "meaning": tr("meaning"),
        "recency": tr("recency"),
        "keyword_rank": tr("place by words"),
        "meaning_rank": tr("place by meaning"),
    }
    shown = {name: str(v) if isinstance(v, int) else f"{v:.2f}" for name, v in hit.why.items()}
    lines = [f"{names.get(name, name)}: {value}" for name, value in shown.items()]
    return "\n".join([tr("Score {score}", score=f"{hit.score:.2f}"), *lines])


def describe_hit(hit: Hit) -> dict[int, Any]:
    """A hit as a row."""
    place = tr("chat “{title}”", title=hit.title) if hit.kind == "turn" else f"{hit.file}:{hit.line}"
    private = tr("from a private chat") if hit.private else ""
    detail = " · ".join(part for part in (place, hit.date, private) if part)
    return {
        Qt.ItemDataRole.DisplayRole: _BULLET.sub("", " ".join(hit.text.split())),
        Qt.ItemDataRole.ToolTipRole: why_text(hit),
        Qt.ItemDataRole.AccessibleTextRole: f"{hit.text}, {detail}",
        DETAIL_ROLE: detail,
        SCORE_ROLE: hit.score,
    }


class SearchPage(Page):
    """Asks after a pause in typing, or on Enter; a double click or Enter opens a hit."""

    def __init__(self, services: Backend, bridge: Bridge, theme: Theme) -> None:
        super().__init__()
        self._services, self._bridge = services, bridge
        self._asked = ""
        self.field = SearchField(theme, tr("Search memory and chats"))
        self.status = label("", "small")
        self.model = PlainListModel(describe_hit, self)
        self.view = QListView()
        self.view.setModel(self.model)
        self.view.setItemDelegate(RowDelegate(theme, 3, self.view))
        self.view.setAccessibleName(tr("Found lines"))
        self.view.setMouseTracking(True)
        self.view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.view.setResizeMode(QListView.ResizeMode.Adjust)
        self.view.activated.connect(self._on_activated)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        for action in hit_actions(self, services, bridge):
            self.view.addAction(action)
        self.view.addAction(pin_action(self, services, bridge))
        self.hint = label(
            tr("Ask in your own words, or with a name, a date or a number you remember."), "muted", wrap=True
        )
        self.hint.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        spread(column, (16, 12, 16, 12), 8)
        for widget in (self.field, self.status):
            column.addWidget(widget)
        column.addWidget(self.view, 1)
        column.addWidget(self.hint, 1)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MS)
        self._pause.timeout.connect(self.ask)
        self.field.textChanged.connect(lambda: self._pause.start())
        self.field.returnPressed.connect(self.ask)
        self._show(None)

    def opened(self) -> None:
        self.field.setFocus()
        self.field.selectAll()

    def ask(self) -> None:
        """Search for what is in the field now."""
        self._pause.stop()
        text = self.field.text().strip()
        self._asked = text
        if not text:
            self._show(None)
            return
        query = RecallQuery(text, limit=_LIMIT)
        self._bridge.run(
            self._services.lanes.recall,
            self._services.search,
            query,
            done=lambda answer: self._on_answered(text, answer),
        )

    def _on_answered(self, text: str, answer: RecallAnswer) -> None:
        if text == self._asked:
            self._show(answer)

    def _show(self, answer: RecallAnswer | None) -> None:
        hits = list(answer.hits) if answer is not None else []
        self.model.show(hits)
        self.view.setVisible(bool(hits))
        self.hint.setVisible(not hits)
        self.status.setVisible(bool(hits))
        if answer is None:
            self.hint.setText(tr("Ask in your own words, or with a name, a date or a number you remember."))
        elif not hits:
            self.hint.setText(tr("Nothing is known about this."))
        else:
            self.status.setText(_status(answer))

    def _on_activated(self, index: QModelIndex) -> None:
        hit = index.data(ITEM_ROLE)
        if hit.kind == "turn" or hit.file.startswith("chats/"):
            self.chat_chosen.emit(Path(hit.file).stem.split("_part")[0])
        else:
            self.place_chosen.emit(hit.file, hit.line)


def _status(answer: RecallAnswer) -> str:
    count = len(answer.hits)
    found = tr("1 line found") if count == 1 else tr("{n} lines found, the best first", n=count)
    words = "" if answer.mode == "hybrid" else tr("by words only, the meaning index is not ready")
    return " · ".join(part for part in (found, words) if part)
