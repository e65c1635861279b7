"""The column of turns that the transcript scrolls: their views one below the other, and where each of them stands."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import shiboken6
from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from assistant.ui.chat.markdown import MarkdownRenderer
from assistant.ui.chat.shown import ShownTurn
from assistant.ui.chat.turn_view import TurnView
from assistant.ui.i18n import tr
from assistant.ui.theme import Theme
from assistant.ui.widgets import centred, label, spread

COLUMN_WIDTH = 768
_NARROWEST = 200
_MARGIN = 24
_BAR = 12  # the scroll bar's width in the style sheet


class TurnColumn(QWidget):
    """views: from the top. before: what Tab leaves for the first of them. The signals are those of the views."""

    edit_asked = Signal(int)
    forget_asked = Signal(int)
    regenerate_asked = Signal(int)
    retry_asked = Signal(int)
    branch_chosen = Signal(int)
    place_chosen = Signal(str, int)
    link_activated = Signal(str)
    receipt_opened = Signal(object)
    calls_shown = Signal(object)
    stops_changed = Signal()

    def __init__(self, theme: Theme, root: Path, before: QWidget) -> None:
        super().__init__()
        self.setObjectName("transcript")
        self._theme, self._root, self._before = theme, root, before
        self._renderer = MarkdownRenderer()
        self.views: list[TurnView] = []
        self._order = QTimer(self)
        self._order.setSingleShot(True)
        self._order.setInterval(0)
        self._order.timeout.connect(self._order_tabs)
        self._lay_out()

    def _lay_out(self) -> None:
        column = QWidget()
        self._stack = QVBoxLayout(column)
        spread(self._stack, (0, 32, 0, 32), 28)
        self._earlier = label(tr("Scroll up for earlier messages"), "small")
        self._earlier.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._earlier.hide()
        self._stack.addWidget(self._earlier)
        self._stack.addStretch()
        self._row = centred(column, COLUMN_WIDTH, (_MARGIN, 0, _MARGIN, 0))
        self.setLayout(self._row)

    def put(self, place: int, turn: ShownTurn, room: int) -> None:
        """Show a turn at a place among the others. room: pixels from edge to edge, so that it is laid out once."""
        view = TurnView(self._theme, self._root, self._renderer)
        view.resize(min(COLUMN_WIDTH, max(_NARROWEST, room - 2 * _MARGIN)), view.height())
        self._connect(view)
        view.show_turn(turn)
        self._stack.insertWidget(1 + place, view)
        view.show()  # the layout counts it at once
        self.views.insert(place, view)

    def _connect(self, view: TurnView) -> None:
        view.edit_asked.connect(self.edit_asked)
        view.forget_asked.connect(self.forget_asked)
        view.regenerate_asked.connect(self.regenerate_asked)
        view.retry_asked.connect(self.retry_asked)
        view.branch_chosen.connect(self.branch_chosen)
        view.place_chosen.connect(self.place_chosen)
        view.link_activated.connect(self.link_activated)
        view.receipt_opened.connect(self.receipt_opened)
        view.calls_shown.connect(self.calls_shown)
        view.stops_changed.connect(self._order.start)
        view.stops_changed.connect(self.stops_changed)

    def drop(self, first: int, after: int, now: bool = False) -> None:
        """Take away the views from place ``first`` on, up to but without ``after``. now: their memory, too."""
        gone = self.views[first:after]
        del self.views[first:after]
        for view in gone:
            self._stack.removeWidget(view)
            view.hide()
            view.setParent(None)
            if now:
                shiboken6.delete(view)
            else:
                view.deleteLater()

    def settle(self, earlier: bool) -> None:
        """Other turns are shown now. earlier: there are some before them."""
        self._earlier.setVisible(earlier)
        self._order.start()

    def _order_tabs(self) -> None:
        """Qt puts new widgets last; Tab is to lead through the turns from the top, then on to what is below."""
        stops = [stop for view in self.views for stop in view.tab_stops()]
        for before, after in pairwise([self._before, *stops]):
            QWidget.setTabOrder(before, after)

    def top_of(self, view: TurnView) -> int:
        """Pixels from the top of the column."""
        return view.mapTo(self, QPoint(0, 0)).y()

    def between(self, top: int, bottom: int) -> tuple[int, int]:
        """The places of the first view that is seen between these heights, and of the one after the last."""
        tops = [self.top_of(view) for view in self.views]
        seen = [i for i, y in enumerate(tops) if y < bottom and y + self.views[i].height() > top]
        return (seen[0], seen[-1] + 1) if seen else (0, 0)

    def lay_out_now(self, least: int) -> None:
        """Give every view its place at once. least: the height that is seen."""
        self._row.activate()
        self._stack.activate()
        height = max(least, self.sizeHint().height())
        self.resize(self.width(), height)  # adjustSize would make it narrow for a moment

    def make_way_for_bar(self, shown: bool) -> None:
        """Stand over the composer, with the scroll bar and without."""
        self._row.setContentsMargins(_MARGIN, 0, _MARGIN - _BAR if shown else _MARGIN, 0)
