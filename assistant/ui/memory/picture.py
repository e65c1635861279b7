"""The overview: what memory takes of a prompt, and when what was written by whom."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QHeaderView,
    QListView,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from assistant.core.events import MemoryChanged, WorkspaceChanged
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr
from assistant.ui.memory.budget_bar import BudgetPicture
from assistant.ui.memory.legend import Legend
from assistant.ui.memory.page import Page
from assistant.ui.memory.rows import RowDelegate, follow_width
from assistant.ui.memory.source_colours import source_colour, source_name
from assistant.ui.memory.time_chart import ChartAxis, TimeChart, period_name
from assistant.ui.models.plain import DETAIL_ROLE, ITEM_ROLE, PlainListModel
from assistant.ui.theme import Theme
from assistant.ui.widgets import button, label, spread
from assistant.workspace.timeline import SOURCES, By, Moment, Period, best_zoom, periods

if TYPE_CHECKING:
    from assistant.runtime.picture import Picture


def describe_moment(moment: Moment) -> dict[int, Any]:
    """An entry as a row."""
    detail = f"{moment.day.isoformat()} · {source_name(moment.kind)} · {moment.file}:{moment.line}"
    return {
        Qt.ItemDataRole.DisplayRole: moment.text,
        Qt.ItemDataRole.ToolTipRole: moment.text,
        Qt.ItemDataRole.AccessibleTextRole: f"{moment.text}, {detail}",
        DETAIL_ROLE: detail,
    }


class PicturePage(Page):
    """Reads when it is shown, and again while it is shown and memory changes."""

    def __init__(self, services: Backend, bridge: Bridge, theme: Theme) -> None:
        super().__init__()
        self._services, self._bridge, self._theme = services, bridge, theme
        self._moments: tuple[Moment, ...] = ()
        self._by: By | None = None
        self.shown: tuple[Period, ...] = ()
        self.budget = BudgetPicture(theme)
        self.budget.section_chosen.connect(self.place_chosen)
        self.chart = TimeChart(theme)
        self.chart.chosen.connect(self._on_chosen)
        self.area = QScrollArea()
        self.area.setObjectName("plain")
        self.area.setWidget(self.chart)
        self.area.setWidgetResizable(True)
        self.area.setFixedHeight(self.chart.height() + 14)
        self.area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.table = _table()
        self.stack = QStackedWidget()
        self.axis = ChartAxis(theme)
        self.stack.addWidget(self._beside_axis())
        self.stack.addWidget(self.table)
        self.zooms = self._make_zooms()
        self.as_table = button(tr("As a table"), "quiet")
        self.as_table.setCheckable(True)
        self.as_table.toggled.connect(self._show_table)
        self.legend = Legend()
        self.what = label("", "section")
        self.model = PlainListModel(describe_moment, self)
        self.view = self._make_list()
        words = tr("As soon as something is remembered, it stands here by its day and by who wrote it.")
        self.hint = label(words, "muted", wrap=True)
        self._lay_out()
        theme.changed.connect(self._show_legend)

    def _beside_axis(self) -> QWidget:
        whole = QWidget()
        row = QHBoxLayout(whole)
        spread(row)
        row.addWidget(self.axis, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.area, 1)
        return whole

    def _make_zooms(self) -> dict[By, QPushButton]:
        group = QButtonGroup(self)
        made: dict[By, QPushButton] = {}
        names: tuple[tuple[By, str], ...] = (("day", tr("Days")), ("week", tr("Weeks")), ("month", tr("Months")))
        for by, words in names:
            made[by] = button(words, "quiet", partial(self.zoom, by))
            made[by].setCheckable(True)
            group.addButton(made[by])
        return made

    def _make_list(self) -> QListView:
        view = QListView()
        view.setModel(self.model)
        view.setItemDelegate(RowDelegate(self._theme, 3, view))
        view.setAccessibleName(tr("What was written then"))
        view.setMouseTracking(True)
        follow_width(view)
        view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        view.setUniformItemSizes(False)
        view.setLayoutMode(QListView.LayoutMode.Batched)
        view.activated.connect(self._on_activated)
        return view

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        spread(head, spacing=2)
        head.addWidget(label(tr("When it was written"), "section"))
        head.addStretch()
        for each in self.zooms.values():
            head.addWidget(each)
        foot = QHBoxLayout()
        spread(foot, spacing=8)
        foot.addWidget(self.what, 1)
        foot.addWidget(self.as_table)
        self.time = QWidget()
        column = QVBoxLayout(self.time)
        spread(column, spacing=6)
        column.addLayout(head)
        column.addWidget(self.stack)
        column.addWidget(self.legend)
        column.addLayout(foot)
        column.addWidget(self.view, 1)
        whole = QVBoxLayout(self)
        spread(whole, (16, 8, 16, 12), 16)
        whole.addWidget(self.budget)
        whole.addWidget(self.hint)
        whole.addWidget(self.time, 1)
        whole.addStretch(0)
        self.time.hide()

    # --- reading ---

    def opened(self) -> None:
        self._read()

    def noted(self, event: object) -> None:
        if isinstance(event, MemoryChanged | WorkspaceChanged) and self.isVisible():
            self._read()

    def _read(self) -> None:
        self._bridge.run(
            self._services.lanes.files, self._services.picture.take, done=self._show, failed=self.failed.emit
        )

    def _show(self, picture: Picture) -> None:
        self.budget.show_use(picture.use)
        if picture.moments == self._moments and self.shown:
            return
        self._moments = picture.moments
        self.hint.setVisible(not self._moments)
        self.time.setVisible(bool(self._moments))
        if self._moments:
            self.zoom(self._by or best_zoom(self._moments), chosen=self._by is not None)

    def zoom(self, by: By, *, chosen: bool = True) -> None:
        """Days, weeks or months; ``chosen``: by the person, so it stays when more is written."""
        self._by = by if chosen else None
        self.zooms[by].setChecked(True)
        self.shown = periods(self._moments, by)
        self.chart.show_periods(self.shown, by)
        self.axis.show_most(self.chart.most)
        self._show_table(self.as_table.isChecked())
        self._show_legend()
        self.chart.choose(len(self.shown) - 1)
        bar = self.area.horizontalScrollBar()
        bar.setValue(bar.maximum())

    # --- showing ---

    def _show_table(self, on: bool) -> None:
        """Its thousands of cells are made only for who wants to see them."""
        if on:
            _fill(self.table, self.shown, self._shown_by())
        self.stack.setCurrentIndex(int(on))

    def _shown_by(self) -> By:
        return next(by for by, each in self.zooms.items() if each.isChecked())

    def _on_chosen(self, index: int) -> None:
        period = self.shown[index]
        self.what.setText(f"{period_name(period, self._shown_by())} · {_count_words(period.total)}")
        self.model.show(period.moments[::-1])
        column = self.chart.bar_rect(index)
        self.area.ensureVisible(int(column.center().x()), 0, 40, 0)

    def _on_activated(self, index: QModelIndex) -> None:
        moment: Moment = index.data(ITEM_ROLE)
        self.place_chosen.emit(moment.file, moment.line)

    def _show_legend(self) -> None:
        there = {moment.kind for moment in self._moments}
        kinds = [kind for kind in SOURCES if kind in there]
        self.legend.show_rows([(source_colour(self._theme.palette, kind), source_name(kind)) for kind in kinds])


def _count_words(n: int) -> str:
    return tr("1 entry") if n == 1 else tr("{n} entries", n=n)


def _table() -> QTableWidget:
    made = QTableWidget(0, 2 + len(SOURCES))
    made.setHorizontalHeaderLabels([tr("When"), tr("All"), *(source_name(kind) for kind in SOURCES)])
    made.verticalHeader().hide()
    made.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    made.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
    made.setShowGrid(False)
    made.setAccessibleName(tr("When it was written"))
    return made


def _fill(table: QTableWidget, shown: tuple[Period, ...], by: str) -> None:
    """The newest first, those in which something was written."""
    rows = [period for period in reversed(shown) if period.total]
    table.setRowCount(len(rows))
    for row, period in enumerate(rows):
        numbers = [period.total, *(period.counts.get(kind, 0) for kind in SOURCES)]
        table.setItem(row, 0, QTableWidgetItem(period_name(period, by)))
        for column, number in enumerate(numbers, 1):
            table.setItem(row, column, QTableWidgetItem(str(number) if number else ""))
