"""The transcript: a window of the newest turns in a scroll area; older ones page in when the person scrolls up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import shiboken6
from PySide6.QtCore import QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from assistant.ui.chat.markdown import MarkdownRenderer
from assistant.ui.chat.shown import ShownTurn
from assistant.ui.chat.turn_view import TurnView
from assistant.ui.i18n import tr
from assistant.ui.theme import Theme
from assistant.ui.widgets import IconButton, label, spread

FIRST_PAGE = 6
"""Turns built when a chat opens, so that it opens within 100 ms; more follow until there is a screen above."""
PAGE = 8
"""Turns added at a time when the person scrolls up."""
MAX_TURNS = 50
"""About 100 messages: more than this stay only while the person reads far up."""
COLUMN_WIDTH = 768
_MARGIN = 24
_BAR = 12  # the scroll bar's width in the style sheet
_NEAR_TOP = 200
_AT_BOTTOM = 24
_ABOVE, _BELOW = 64, 24  # pixels kept in sight around a receipt that opens


class Transcript(QScrollArea):
    """Shows turns; keeps to the bottom while the person is there, and leaves them alone elsewhere."""

    edit_asked = Signal(int)
    forget_asked = Signal(int)
    regenerate_asked = Signal(int)
    retry_asked = Signal(int)
    branch_chosen = Signal(int)
    place_chosen = Signal(str, int)
    link_activated = Signal(str)
    receipt_opened = Signal(object)
    calls_shown = Signal(object)
    came_up = Signal(list)
    """Numbers of turns that are on screen now and were not before."""

    def __init__(self, theme: Theme, root: Path) -> None:
        super().__init__()
        self._theme, self._root = theme, root
        self._renderer = MarkdownRenderer()
        self._all: list[ShownTurn] = []
        self._cut: int | None = None  # only the turns before this one are on screen; None: all to the end
        self._turns: list[ShownTurn] = []  # those; the views show the last of them
        self._views: list[TurnView] = []
        self._following = True
        self._paging = False
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("Conversation"))
        self._build()
        bar = self.verticalScrollBar()
        bar.valueChanged.connect(self._on_scrolled)
        bar.rangeChanged.connect(self._on_range_changed)
        self._order = QTimer(self)
        self._order.setSingleShot(True)
        self._order.setInterval(0)
        self._order.timeout.connect(self._order_tabs)
        theme.changing.connect(self._let_go)
        theme.changed.connect(self._fill_soon)

    def _build(self) -> None:
        self._page = QWidget()
        self._page.setObjectName("transcript")
        self._column = QWidget()
        self._column.setMaximumWidth(COLUMN_WIDTH)
        self._stack = QVBoxLayout(self._column)
        spread(self._stack, (0, 32, 0, 32), 28)
        self._earlier = label(tr("Scroll up for earlier messages"), "small")
        self._earlier.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._earlier.hide()
        self._stack.addWidget(self._earlier)
        self._stack.addStretch()
        self._row = row = QHBoxLayout(self._page)
        spread(row, (_MARGIN, 0, _MARGIN, 0))
        row.addStretch(1)
        row.addWidget(self._column, 1000)
        row.addStretch(1)
        self.setWidget(self._page)
        self._jump = IconButton(self._theme, "down", tr("Go to the newest message"), 18)
        self._jump.setParent(self)
        self._jump.setObjectName("jump")
        self._jump.clicked.connect(self.scroll_to_end)
        self._jump.hide()
        self._dress_jump()
        self._theme.changed.connect(self._dress_jump)

    def show_turns(self, turns: Sequence[ShownTurn], fresh: bool = False) -> None:
        """Show these turns. ``fresh``: another chat, or another branch: start at its end."""
        if fresh:
            self._clear()
        self._all = list(turns)
        if self._cut is not None and self._cut >= len(turns):
            self._cut = None
        turns = turns[: self._cut]
        first = self._first_shown(turns, fresh)
        self._turns = list(turns)
        wanted = self._turns[first:]
        while len(self._views) > len(wanted):
            self._drop_last()
        for i, turn in enumerate(wanted):
            if i == len(self._views):
                self._append(turn)
            elif self._views[i].turn != turn:
                self._views[i].show_turn(turn)
        self._settle(first)
        if fresh:
            self.came_up.emit(self.shown_numbers())
            self._following = True
            QTimer.singleShot(0, self, self._follow)
        self._fill_soon()

    def _first_shown(self, turns: Sequence[ShownTurn], fresh: bool) -> int:
        if fresh or not self._views:
            return max(0, len(turns) - FIRST_PAGE)
        return min(len(self._turns) - len(self._views), max(0, len(turns) - 1))

    def update_turn(self, turn: ShownTurn) -> None:
        """Show the newest state of the last turn, alone."""
        if not self._views:
            return
        self._all[-1] = turn
        if self._cut is None:
            self._turns[-1] = turn
            self._views[-1].show_turn(turn)

    def shown_numbers(self) -> list[int]:
        """The numbers of the turns that have a widget now."""
        return [view.turn.n for view in self._views]

    def views(self) -> list[TurnView]:
        return self._views

    def following(self) -> bool:
        return self._following

    def _follow(self) -> None:
        if self._following:
            self.scroll_to_end()

    def scroll_to_end(self) -> None:
        if self._cut is not None:
            self.show_turns(self._all, fresh=True)
        self._following = True
        bar = self.verticalScrollBar()
        bar.setValue(bar.maximum())
        self._place_jump()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_jump()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_End:
            self.scroll_to_end()
        elif event.key() == Qt.Key.Key_Home:
            self.verticalScrollBar().setValue(0)
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, next: bool) -> bool:  # noqa: A002 - Qt's own name
        """Tab: what has the focus comes in sight, also the first thing after the transcript itself."""
        moved = super().focusNextPrevChild(next)
        here = QApplication.focusWidget()
        if moved and here is not None and self._page.isAncestorOf(here):
            self.ensureWidgetVisible(here, 0, 40)
        return moved

    def _settle(self, first: int) -> None:
        self._earlier.setVisible(first > 0)
        self._order.start()

    def _on_stops_changed(self) -> None:
        """A receipt opened or closed: the person reads there, so the end does not pull them away."""
        self._following = False
        self._order.start()

    def _on_receipt_opened(self, receipt: QWidget) -> None:
        QTimer.singleShot(0, receipt, lambda: self._bring_in(receipt))

    def _bring_in(self, receipt: QWidget) -> None:
        """Scroll down to all of what just opened, but not past its beginning."""
        self._page.adjustSize()
        top, bar = receipt.mapTo(self._page, QPoint(0, 0)).y(), self.verticalScrollBar()
        whole = top + receipt.height() + _BELOW - self.viewport().height()
        bar.setValue(max(bar.value(), min(top - _ABOVE, whole)))
        self._following = False

    def _order_tabs(self) -> None:
        """Qt puts new widgets last; Tab is to lead through the turns from the top, then on to what is below."""
        stops = [stop for view in self._views for stop in view.tab_stops()]
        for before, after in pairwise([self, *stops]):
            QWidget.setTabOrder(before, after)

    def _append(self, turn: ShownTurn) -> None:
        view = self._make_view(turn)
        self._stack.insertWidget(self._stack.count() - 1, view)
        view.show()  # the layout counts it at once
        self._views.append(view)

    def _make_view(self, turn: ShownTurn) -> TurnView:
        view = TurnView(self._theme, self._root, self._renderer)
        view.resize(min(COLUMN_WIDTH, max(200, self.viewport().width() - 48)), view.height())
        view.edit_asked.connect(self.edit_asked)
        view.forget_asked.connect(self.forget_asked)
        view.regenerate_asked.connect(self.regenerate_asked)
        view.retry_asked.connect(self.retry_asked)
        view.branch_chosen.connect(self.branch_chosen)
        view.place_chosen.connect(self.place_chosen)
        view.link_activated.connect(self.link_activated)
        view.calls_shown.connect(self.calls_shown)
        view.receipt_opened.connect(self.receipt_opened)
        view.receipt_opened.connect(self._on_receipt_opened)
        view.stops_changed.connect(self._on_stops_changed)
        view.show_turn(turn)
        return view

    def _drop_last(self) -> None:
        self._remove(self._views.pop())

    def _remove(self, view: TurnView, now: bool = False) -> None:
        self._stack.removeWidget(view)
        view.hide()
        view.setParent(None)
        if now:
            shiboken6.delete(view)
        else:
            view.deleteLater()

    def _clear(self) -> None:
        while self._views:
            self._drop_last()
        self._turns, self._cut = [], None
        self._earlier.hide()

    def _on_scrolled(self, value: int) -> None:
        bar = self.verticalScrollBar()
        at_bottom = value >= bar.maximum() - _AT_BOTTOM
        self._following = at_bottom and self._cut is None
        self._place_jump()
        if at_bottom and self._cut is not None:
            QTimer.singleShot(0, self, self._page_on)
        if value < _NEAR_TOP and bar.maximum() > 0 and len(self._views) < len(self._turns) and not self._paging:
            self._paging = True
            QTimer.singleShot(0, self, self._page_in)
        elif self._following and len(self._views) > MAX_TURNS:
            QTimer.singleShot(0, self, self._trim)

    def _fill_soon(self) -> None:
        QTimer.singleShot(0, self, self._fill)

    def _fill(self) -> None:
        """Short turns: add older ones until there is something to scroll to."""
        more = len(self._views) < len(self._turns)
        if self._views and more and self.verticalScrollBar().maximum() < self.viewport().height():
            self._page_in(FIRST_PAGE)
            self._fill_soon()

    def _page_in(self, count: int = PAGE) -> None:
        """Add older turns above, and keep what the person reads where it is."""
        first = len(self._turns) - len(self._views)
        start = max(0, first - count)
        if self._views:
            self._keep_place(self._views[0], lambda: self._put_above(start, first))
        self._paging = False
        self.came_up.emit([turn.n for turn in self._turns[start:first]])

    def _put_above(self, start: int, first: int) -> None:
        for i, turn in enumerate(self._turns[start:first]):
            view = self._make_view(turn)
            self._stack.insertWidget(1 + i, view)
            view.show()
            self._views.insert(i, view)
        self._settle(start)

    def _page_on(self) -> None:
        """Add newer turns below; what is far above goes."""
        bar = self.verticalScrollBar()
        if self._cut is None or not self._views or bar.value() < bar.maximum() - _AT_BOTTOM:
            return
        start, end = self._cut, min(len(self._all), self._cut + PAGE)
        self._cut = None if end == len(self._all) else end
        self._turns = self._all[:end]
        self._keep_place(self._views[-1], lambda: self._put_below(start))
        self.came_up.emit([turn.n for turn in self._turns[start:]])

    def _put_below(self, start: int) -> None:
        for turn in self._turns[start:]:
            self._append(turn)
        self._drop_above(len(self._views) - MAX_TURNS)

    def show_index(self, i: int) -> TurnView:
        """Have a view for the turn at place ``i`` of the branch, and leave the end for that if it is far away."""
        first = len(self._turns) - len(self._views)
        if i >= len(self._turns) or i < first - PAGE:
            self._show_around(i)
        while i < len(self._turns) - len(self._views):
            self._page_in()
        self._following = False
        return self._views[i - len(self._turns)]

    def _show_around(self, i: int) -> None:
        self._clear()
        end = min(len(self._all), i + PAGE)
        self._cut = None if end == len(self._all) else end
        self._turns = self._all[:end]
        self._following = False
        first = max(0, i - 2)
        for turn in self._turns[first:]:
            self._append(turn)
        self._settle(first)
        self._lay_out_now()
        self.verticalScrollBar().setValue(self._top_of(self._views[i - first]))
        self.came_up.emit(self.shown_numbers())

    def bring_up(self, widget: QWidget, rect: QRect) -> None:
        """Scroll so that a place in a widget of the transcript stands in the upper third, if it is not in sight."""
        self._lay_out_now()
        top = widget.mapTo(self._page, rect.topLeft()).y()
        bar, height = self.verticalScrollBar(), self.viewport().height()
        if not bar.value() + 8 <= top <= bar.value() + height - rect.height() - 8:
            bar.setValue(top - height // 3)

    def _let_go(self) -> None:
        """Drop the views that are out of sight; they are built again when they come up."""
        top = self.verticalScrollBar().value()
        bottom = top + self.viewport().height()
        seen = [view for view in self._views if self._top_of(view) < bottom and self._bottom_of(view) > top]
        if not seen or len(seen) == len(self._views):
            return
        first, after = self._views.index(seen[0]), self._views.index(seen[-1]) + 1
        self._keep_place(seen[0], lambda: self._drop_far(first, after))

    def _drop_far(self, first: int, after: int) -> None:
        dropped = len(self._views) - after
        for view in self._views[after:]:
            self._remove(view, now=True)
        del self._views[after:]
        if dropped:
            self._cut = len(self._turns) - dropped
            self._turns = self._turns[: self._cut]
        self._drop_above(first, now=True)

    def _drop_above(self, count: int, now: bool = False) -> None:
        for _ in range(count):
            self._remove(self._views.pop(0), now)
        self._settle(len(self._turns) - len(self._views))

    def _keep_place(self, anchor: TurnView, change: Callable[[], None]) -> None:
        """Change what stands around ``anchor`` without moving it on screen."""
        bar = self.verticalScrollBar()
        following, offset = self._following, bar.value() - self._top_of(anchor)
        change()
        self._lay_out_now()
        bar.setValue(bar.maximum() if following else offset + self._top_of(anchor))
        self._following = following and self._cut is None

    def _lay_out_now(self) -> None:
        self._row.activate()
        self._stack.activate()
        height = max(self.viewport().height(), self._page.sizeHint().height())
        self._page.resize(self._page.width(), height)  # adjustSize would make it narrow for a moment

    def _bottom_of(self, view: TurnView) -> int:
        return self._top_of(view) + view.height()

    def _trim(self) -> None:
        """Back at the end: drop what was paged in far above."""
        if not self._following:
            return
        self._drop_above(len(self._views) - MAX_TURNS)

    def _top_of(self, view: TurnView) -> int:
        return view.mapTo(self._page, QPoint(0, 0)).y()

    def _on_range_changed(self, low: int, high: int) -> None:
        # The column stands over the composer, with the scroll bar and without.
        self._row.setContentsMargins(_MARGIN, 0, _MARGIN - _BAR if high > 0 else _MARGIN, 0)
        if self._following:
            self.verticalScrollBar().setValue(high)
        self._place_jump()

    def _place_jump(self) -> None:
        above = not self._following and self.verticalScrollBar().maximum() > 0
        self._jump.setVisible(above or self._cut is not None)
        self._jump.adjustSize()
        self._jump.move((self.width() - self._jump.width()) // 2, self.height() - self._jump.height() - 12)
        self._jump.raise_()

    def _dress_jump(self) -> None:
        colours = self._theme.palette
        self._jump.setStyleSheet(
            f"QToolButton {{ background: {colours.surface}; border: 1px solid {colours.border_strong};"
            " border-radius: 15px; padding: 5px; }"
        )
