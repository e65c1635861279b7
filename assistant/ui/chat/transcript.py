"""The transcript: a window of the newest turns in a scroll area; older ones page in when the person scrolls up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget

from assistant.ui.chat.jump_button import JumpButton
from assistant.ui.chat.shown import ShownTurn
from assistant.ui.chat.turn_column import TurnColumn
from assistant.ui.chat.turn_view import TurnView
from assistant.ui.i18n import tr
from assistant.ui.theme import Theme

FIRST_PAGE = 6
"""Turns built when a chat opens, so that it opens within 100 ms; more follow until there is a screen above."""
PAGE = 8
"""Turns added at a time when the person scrolls up."""
MAX_TURNS = 50
"""About 100 messages: more than this stay only while the person reads far up."""
_NEAR_TOP = 200
_AT_BOTTOM = 24
_ABOVE, _BELOW = 64, 24  # pixels kept in sight around a receipt that opens


class Transcript(QScrollArea):
    """Shows turns; keeps to the bottom while the person is there, and leaves them alone elsewhere.

    column: the turns themselves, with what is asked of them.
    """

    came_up = Signal(list)
    """Numbers of turns that are on screen now and were not before."""

    def __init__(self, theme: Theme, root: Path) -> None:
        super().__init__()
        self._all: list[ShownTurn] = []
        self._cut: int | None = None  # only the turns before this one are on screen; None: all to the end
        self._turns: list[ShownTurn] = []  # those; the views show the last of them
        self._following = True
        self._paging = False
        self.column = TurnColumn(theme, root, self)
        self.column.receipt_opened.connect(self._on_receipt_opened)
        self.column.stops_changed.connect(self._on_stops_changed)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("Conversation"))
        self.setWidget(self.column)
        self._jump = JumpButton(theme, self)
        self._jump.clicked.connect(self.scroll_to_end)
        bar = self.verticalScrollBar()
        bar.valueChanged.connect(self._on_scrolled)
        bar.rangeChanged.connect(self._on_range_changed)
        theme.changing.connect(self._let_go)
        theme.changed.connect(self._fill_soon)

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
        wanted, views = self._turns[first:], self.views()
        self.column.drop(len(wanted), len(views))
        for i, turn in enumerate(wanted):
            if i == len(views):
                self._append(turn)
            elif views[i].turn != turn:
                views[i].show_turn(turn)
        self.column.settle(first > 0)
        if fresh:
            self.came_up.emit(self.shown_numbers())
            self._following = True
            QTimer.singleShot(0, self, self._follow)
        self._fill_soon()

    def _first_shown(self, turns: Sequence[ShownTurn], fresh: bool) -> int:
        if fresh or not self.views():
            return max(0, len(turns) - FIRST_PAGE)
        return min(self._first(), max(0, len(turns) - 1))

    def update_turn(self, turn: ShownTurn) -> None:
        """Show the newest state of the last turn, alone."""
        if not self.views():
            return
        self._all[-1] = turn
        if self._cut is None:
            self._turns[-1] = turn
            self.views()[-1].show_turn(turn)

    def shown_numbers(self) -> list[int]:
        """The numbers of the turns that have a widget now."""
        return [view.turn.n for view in self.views()]

    def views(self) -> list[TurnView]:
        """The widgets of turns, from the top."""
        return self.column.views

    def _first(self) -> int:
        """The place in the branch of the first turn that has a widget."""
        return len(self._turns) - len(self.views())

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
        if moved and here is not None and self.column.isAncestorOf(here):
            self.ensureWidgetVisible(here, 0, 40)
        return moved

    def _on_stops_changed(self) -> None:
        """A receipt opened or closed: the person reads there, so the end does not pull them away."""
        self._following = False

    def _on_receipt_opened(self, receipt: QWidget) -> None:
        QTimer.singleShot(0, receipt, lambda: self._bring_in(receipt))

    def _bring_in(self, receipt: QWidget) -> None:
        """Scroll down to all of what just opened, but not past its beginning."""
        self.column.adjustSize()
        top, bar = receipt.mapTo(self.column, QPoint(0, 0)).y(), self.verticalScrollBar()
        whole = top + receipt.height() + _BELOW - self.viewport().height()
        bar.setValue(max(bar.value(), min(top - _ABOVE, whole)))
        self._following = False

    def _append(self, turn: ShownTurn) -> None:
        self.column.put(len(self.views()), turn, self.viewport().width())

    def _clear(self) -> None:
        self.column.drop(0, len(self.views()))
        self._turns, self._cut = [], None
        self.column.settle(False)

    def _on_scrolled(self, value: int) -> None:
        bar = self.verticalScrollBar()
        at_bottom = value >= bar.maximum() - _AT_BOTTOM
        self._following = at_bottom and self._cut is None
        self._place_jump()
        if at_bottom and self._cut is not None:
            QTimer.singleShot(0, self, self._page_on)
        if value < _NEAR_TOP and bar.maximum() > 0 and self._first() > 0 and not self._paging:
            self._paging = True
            QTimer.singleShot(0, self, self._page_in)
        elif self._following and len(self.views()) > MAX_TURNS:
            QTimer.singleShot(0, self, self._trim)

    def _fill_soon(self) -> None:
        QTimer.singleShot(0, self, self._fill)

    def _fill(self) -> None:
        """Short turns: add older ones until there is something to scroll to."""
        if self.views() and self._first() > 0 and self.verticalScrollBar().maximum() < self.viewport().height():
            self._page_in(FIRST_PAGE)
            self._fill_soon()

    def _page_in(self, count: int = PAGE) -> None:
        """Add older turns above, and keep what the person reads where it is."""
        first = self._first()
        start = max(0, first - count)
        if self.views():
            self._keep_place(self.views()[0], lambda: self._put_above(start, first))
        self._paging = False
        self.came_up.emit([turn.n for turn in self._turns[start:first]])

    def _put_above(self, start: int, first: int) -> None:
        for i, turn in enumerate(self._turns[start:first]):
            self.column.put(i, turn, self.viewport().width())
        self.column.settle(start > 0)

    def _page_on(self) -> None:
        """Add newer turns below; what is far above goes."""
        bar = self.verticalScrollBar()
        if self._cut is None or not self.views() or bar.value() < bar.maximum() - _AT_BOTTOM:
            return
        start, end = self._cut, min(len(self._all), self._cut + PAGE)
        self._cut = None if end == len(self._all) else end
        self._turns = self._all[:end]
        self._keep_place(self.views()[-1], lambda: self._put_below(start))
        self.came_up.emit([turn.n for turn in self._turns[start:]])

    def _put_below(self, start: int) -> None:
        for turn in self._turns[start:]:
            self._append(turn)
        self._drop_above(len(self.views()) - MAX_TURNS)

    def show_index(self, i: int) -> TurnView:
        """Have a view for the turn at place ``i`` of the branch, and leave the end for that if it is far away."""
        if i >= len(self._turns) or i < self._first() - PAGE:
            self._show_around(i)
        while i < self._first():
            self._page_in()
        self._following = False
        return self.views()[i - len(self._turns)]

    def _show_around(self, i: int) -> None:
        self._clear()
        end = min(len(self._all), i + PAGE)
        self._cut = None if end == len(self._all) else end
        self._turns = self._all[:end]
        self._following = False
        first = max(0, i - 2)
        for turn in self._turns[first:]:
            self._append(turn)
        self.column.settle(first > 0)
        self._lay_out_now()
        self.verticalScrollBar().setValue(self.column.top_of(self.views()[i - first]))
        self.came_up.emit(self.shown_numbers())

    def bring_up(self, widget: QWidget, rect: QRect) -> None:
        """Scroll so that a place in a widget of the transcript stands in the upper third, if it is not in sight."""
        self._lay_out_now()
        top = widget.mapTo(self.column, rect.topLeft()).y()
        bar, height = self.verticalScrollBar(), self.viewport().height()
        if not bar.value() + 8 <= top <= bar.value() + height - rect.height() - 8:
            bar.setValue(top - height // 3)

    def _let_go(self) -> None:
        """Drop the views that are out of sight; they are built again when they come up."""
        top, views = self.verticalScrollBar().value(), self.views()
        first, after = self.column.between(top, top + self.viewport().height())
        if 0 < after - first < len(views):
            self._keep_place(views[first], lambda: self._drop_far(first, after))

    def _drop_far(self, first: int, after: int) -> None:
        if dropped := len(self.views()) - after:
            self.column.drop(after, len(self.views()), now=True)
            self._cut = len(self._turns) - dropped
            self._turns = self._turns[: self._cut]
        self._drop_above(first, now=True)

    def _drop_above(self, count: int, now: bool = False) -> None:
        self.column.drop(0, max(0, count), now)
        self.column.settle(self._first() > 0)

    def _keep_place(self, anchor: TurnView, change: Callable[[], None]) -> None:
        """Change what stands around ``anchor`` without moving it on screen."""
        bar = self.verticalScrollBar()
        following, offset = self._following, bar.value() - self.column.top_of(anchor)
        change()
        self._lay_out_now()
        bar.setValue(bar.maximum() if following else offset + self.column.top_of(anchor))
        self._following = following and self._cut is None

    def _lay_out_now(self) -> None:
        self.column.lay_out_now(self.viewport().height())

    def _trim(self) -> None:
        """Back at the end: drop what was paged in far above."""
        if self._following:
            self._drop_above(len(self.views()) - MAX_TURNS)

    def _on_range_changed(self, low: int, high: int) -> None:
        self.column.make_way_for_bar(high > 0)
        if self._following:
            self.verticalScrollBar().setValue(high)
        self._place_jump()

    def _place_jump(self) -> None:
        above = not self._following and self.verticalScrollBar().maximum() > 0
        self._jump.show_if(above or self._cut is not None)
