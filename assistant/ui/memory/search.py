"""Search in memory and chats: hits with place, date, score, and why they were found."""

from __future__ import annotations

import re
from typing import Any

from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QListView, QVBoxLayout, QWidget

from assistant.core.events import IndexStateChanged
from assistant.core.values import Hit, RecallAnswer, RecallQuery
from assistant.recall.modes import BROKEN
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr
from assistant.ui.memory.hit_actions import hit_actions
from assistant.ui.memory.index_card import IndexCard
from assistant.ui.memory.page import Page
from assistant.ui.memory.pinning import pin_action
from assistant.ui.memory.rows import RowDelegate, follow_width
from assistant.ui.memory.search_filters import SearchFilters
from assistant.ui.memory.search_words import count_words, mode_words, place_words, why_text, why_words
from assistant.ui.memory.why_card import WhyCard
from assistant.ui.models.plain import DETAIL_ROLE, ITEM_ROLE, SCORE_ROLE, PlainListModel
from assistant.ui.theme import Theme
from assistant.ui.widgets import SearchField, button, label, spread
from assistant.workspace.chat_files import chat_of
from assistant.workspace.entries import shortened

_LIMIT = 30
_LEAST_HEIGHT = 140
_PAUSE_MS = 250  # typing is over
_SLOW_MS = 400
"""A search that takes no longer is not said to go on: words that come and go are worse than none."""
_MOST_CHARACTERS = 1_000  # of a hit: a turn may be a pasted log of a megabyte
_BULLET = re.compile(r"^[-*+] (?=\S)")


def describe_hit(hit: Hit) -> dict[int, Any]:
    """A hit as a row."""
    text = shortened(hit.text[: 4 * _MOST_CHARACTERS], _MOST_CHARACTERS)
    private = tr("from a private chat") if hit.private else ""
    detail = " · ".join(part for part in (place_words(hit), hit.date, private, why_words(hit)) if part)
    return {
        Qt.ItemDataRole.DisplayRole: _BULLET.sub("", text),
        Qt.ItemDataRole.ToolTipRole: why_text(hit),
        Qt.ItemDataRole.AccessibleTextRole: f"{text}, {detail}",
        Qt.ItemDataRole.AccessibleDescriptionRole: why_text(hit),
        DETAIL_ROLE: detail,
        SCORE_ROLE: hit.score,
    }


class HitList(QListView):
    """Up from its first row goes back to the field."""

    def __init__(self, field: QWidget) -> None:
        super().__init__()
        self._field = field

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Up and self.currentIndex().row() <= 0:
            self._field.setFocus()
        else:
            super().keyPressEvent(event)


class HitField(SearchField):
    """Down goes to the first hit."""

    def __init__(self, theme: Theme, placeholder: str) -> None:
        super().__init__(theme, placeholder)
        self.view: QListView | None = None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        view = self.view
        if event.key() == Qt.Key.Key_Down and view is not None and view.isVisible():
            view.setFocus()
            if not view.currentIndex().isValid():
                view.setCurrentIndex(view.model().index(0, 0))
        else:
            super().keyPressEvent(event)


class SearchPage(Page):
    """Asks after a pause in typing, or on Enter; a double click or Enter opens a hit."""

    def __init__(self, services: Backend, bridge: Bridge, theme: Theme) -> None:
        super().__init__()
        self._services, self._bridge = services, bridge
        self._asked: RecallQuery | None = None
        self.field = HitField(theme, tr("Search memory and chats"))
        self.filters = SearchFilters(services)
        self.status = label("", "small", wrap=True)
        self.why_button = button(tr("Why"), "quiet")
        self.why_button.setCheckable(True)
        self.why_button.setToolTip(tr("Show why the chosen line was found"))
        self.card = WhyCard()
        self.model = PlainListModel(describe_hit, self)
        self.view = self._make_view(theme)
        self.field.view = self.view
        self.hint = label("", "title", wrap=True)
        self.advice = label("", "muted", wrap=True)
        self.widen = button(tr("Look everywhere, at any time"), "", self.filters.clear)
        self.anyway = button(tr("Show the nearest lines"), "", lambda: self.ask(anyway=True))
        self.anyway.setToolTip(tr("Show what comes nearest, though it may not answer"))
        self.index = IndexCard(services, bridge, theme)
        self._empty = self._make_empty()
        self._lay_out()
        self._connect()
        self._show(None)

    # --- building ---

    def _make_view(self, theme: Theme) -> HitList:
        view = HitList(self.field)
        view.setModel(self.model)
        view.setItemDelegate(RowDelegate(theme, 3, view))
        view.setAccessibleName(tr("Found lines"))
        view.setMinimumHeight(_LEAST_HEIGHT)
        view.setMouseTracking(True)
        view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        follow_width(view)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        return view

    def _make_empty(self) -> QWidget:
        made = QWidget()
        column = QVBoxLayout(made)
        spread(column, (8, 32, 8, 8), 8)
        for words in (self.hint, self.advice):
            words.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
            column.addWidget(words)
        column.addWidget(self.widen, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self.anyway, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch()
        return made

    def _lay_out(self) -> None:
        said = QHBoxLayout()
        spread(said, spacing=8)
        said.addWidget(self.status, 1)
        said.addWidget(self.why_button, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        spread(column, (16, 12, 16, 12), 8)
        column.addWidget(self.field)
        column.addWidget(self.filters)
        column.addLayout(said)
        column.addWidget(self.view, 1)
        column.addWidget(self._empty, 1)
        column.addWidget(self.card)
        column.addWidget(self.index)

    def _connect(self) -> None:
        self.view.activated.connect(self._on_activated)
        for action in hit_actions(self, self._services, self._bridge):
            self.view.addAction(action)
        self.view.addAction(pin_action(self, self._services, self._bridge))
        self.view.selectionModel().currentChanged.connect(lambda *_: self._show_why())
        self.why_button.toggled.connect(self._on_why)
        self.index.toggle.toggled.connect(lambda on: self.why_button.setChecked(self.why_button.isChecked() and not on))
        self.index.place_chosen.connect(self.place_chosen)
        self.index.chat_chosen.connect(self.chat_chosen)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MS)
        self._pause.timeout.connect(lambda: self.ask())
        self._slow = QTimer(self)
        self._slow.setSingleShot(True)
        self._slow.setInterval(_SLOW_MS)
        self._slow.timeout.connect(self._on_slow)
        self.field.textChanged.connect(lambda: self._pause.start())
        self.field.returnPressed.connect(lambda: self.ask())
        self.filters.changed.connect(lambda: self.ask())

    # --- asking ---

    def opened(self) -> None:
        self.field.setFocus()
        self.field.selectAll()
        self.index.read()

    def noted(self, event: object) -> None:
        if isinstance(event, IndexStateChanged) and self.isVisible():
            self.index.read()

    def ask(self, anyway: bool = False) -> None:
        """Search for what is in the field now, or for all of a time. anyway: the nearest lines, if nothing answers."""
        self._pause.stop()
        text = self.field.text().strip()
        since, until = self.filters.days()
        if not text and since is None and until is None:
            self._asked = None
            self._slow.stop()
            self._show(None)
            return
        self._asked = query = RecallQuery(text, _LIMIT, self.filters.scope, since, until, anyway=anyway)
        self._slow.start()
        self._bridge.run(
            self._services.lanes.recall,
            self._services.search,
            query,
            done=lambda answer: self._on_answered(query, answer),
            failed=lambda error: self._on_failed(query, error),
        )

    def _on_slow(self) -> None:
        """What was found before stays meanwhile."""
        if self._asked is not None:
            self.status.setText(tr("Searching…"))
            self.status.setVisible(True)

    def _on_answered(self, query: RecallQuery, answer: RecallAnswer) -> None:
        if query is self._asked:
            self._slow.stop()
            self._show(answer)

    def _on_failed(self, query: RecallQuery, error: BaseException) -> None:
        if query is self._asked:
            self._slow.stop()
            self.status.setText("")
        self.failed.emit(error)

    # --- showing ---

    def _show(self, answer: RecallAnswer | None) -> None:
        hits = list(answer.hits) if answer is not None else []
        self.model.show(hits)
        self.view.setVisible(bool(hits))
        self._empty.setVisible(not hits)
        self.status.setVisible(bool(hits))
        self.why_button.setVisible(any(hit.why for hit in hits))
        self._show_why()
        if answer is None:
            self._say_empty("", tr("Ask in your own words, or with a name, a date or a number you remember."), False)
        elif not hits:
            self._say_nothing(answer)
        else:
            self.view.scrollToTop()
            found = tr("Nothing known answers this; these lines are the nearest") if answer.unsure else ""
            self.status.setText(f"{found or count_words(len(hits), _LIMIT)} · {mode_words(answer)}")

    def _say_nothing(self, answer: RecallAnswer) -> None:
        if answer.by_words == BROKEN:
            again = tr("The search index cannot be used just now; the next search tries again.")
            self._say_empty(tr("Your notes could not be searched."), again, False)
            return
        limited = self.filters.is_limited
        advice = tr("Other words may find it, or a name, a number or a date that you remember.")
        if limited:
            advice = tr("There may be something elsewhere, or at another time.")
        if answer.mode == "keyword":
            advice += "\n" + tr("Searched {how}.", how=mode_words(answer))
        words = tr("Nothing is known of that time.")
        if self._asked and self._asked.text:
            words = tr("Nothing is known about this.")
        self._say_empty(words, advice, limited)
        self.anyway.setVisible(bool(self._asked and self._asked.text and not self._asked.anyway))

    def _say_empty(self, title: str, advice: str, limited: bool) -> None:
        self.hint.setText(title)
        self.hint.setVisible(bool(title))
        self.advice.setText(advice)
        self.widen.setVisible(limited)
        self.anyway.setVisible(False)

    def _on_why(self, on: bool) -> None:
        """There is room for one list besides the hits."""
        if on:
            self.index.toggle.setChecked(False)
        self._show_why()

    def _show_why(self) -> None:
        hit = self.view.currentIndex().data(ITEM_ROLE)
        wanted = self.why_button.isChecked() and not self.why_button.isHidden() and isinstance(hit, Hit)
        self.card.show_hit(hit if wanted else None)

    def _on_activated(self, index: QModelIndex) -> None:
        hit = index.data(ITEM_ROLE)
        if hit.kind == "turn" or hit.file.startswith("chats/"):
            self.chat_chosen.emit(chat_of(hit.file))
        else:
            self.place_chosen.emit(hit.file, hit.line)
