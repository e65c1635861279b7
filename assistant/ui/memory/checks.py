"""The self-test page: pinned questions, what is found for each before and now, and a way back where one got lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QKeySequence, QPainter, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QListView, QStyleOptionViewItem, QVBoxLayout

from assistant.core.errors import AssistantError
from assistant.core.events import ChecksRan
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr, translate_message
from assistant.ui.memory.lost_card import LostCard
from assistant.ui.memory.page import Page
from assistant.ui.memory.rows import Index, RowDelegate, follow_width
from assistant.ui.models.plain import DETAIL_ROLE, ITEM_ROLE, PlainListModel
from assistant.ui.theme import Theme
from assistant.ui.widgets import IconButton, button, label, spread

if TYPE_CHECKING:
    from assistant.runtime.self_test import CheckState, SelfTest


def rank_words(rank: int | None) -> str:
    """Where a check was found."""
    if rank is None:
        return tr("not asked yet")
    return tr("place {n}", n=rank) if rank else tr("not found")


def describe_check(state: CheckState) -> dict[int, Any]:
    """A check as a row."""
    now = rank_words(state.now)
    moved = now if state.before in (None, state.now) else f"{rank_words(state.before)} → {now}"
    detail = f"{moved} · {state.check.text or state.check.unit}"
    return {
        Qt.ItemDataRole.DisplayRole: " ".join(state.check.question.split()),
        Qt.ItemDataRole.ToolTipRole: f"{state.check.question}\n{detail}",
        Qt.ItemDataRole.AccessibleTextRole: f"{state.check.question}, {detail}",
        DETAIL_ROLE: detail,
    }


class CheckDelegate(RowDelegate):
    """A dot in front says how it stands: found, further down than before, lost."""

    def __init__(self, theme: Theme, view: QListView) -> None:
        super().__init__(theme, 3, view)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        width = max(80, self._view.viewport().width() - 52)
        metrics = QFontMetrics(option.font)
        rows = min(2, 1 + metrics.horizontalAdvance(index.data() or "") // width)
        return QSize(120, 34 + metrics.lineSpacing() * rows)

    def _paint_more(self, painter: QPainter, rect: QRect, index: Index) -> None:
        state, colours = index.data(ITEM_ROLE), self._theme.palette
        fallen = bool(state.before and state.now and state.now > state.before)
        colour = colours.red if state.now == 0 else colours.amber if fallen else colours.accent
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colour if state.now is not None else colours.border_strong))
        painter.drawEllipse(QRectF(rect.left() + 1, rect.top() + 6, 8, 8))
        super()._paint_more(painter, rect.adjusted(20, 0, 0, 0), index)


class ChecksPage(Page):
    """Reads when it is built, for its badge, when it is shown, and after every run."""

    def __init__(self, services: Backend, bridge: Bridge, theme: Theme) -> None:
        super().__init__()
        self._services, self._bridge = services, bridge
        self.run_button = IconButton(theme, "refresh", tr("Ask all questions now"), 18)
        self.run_button.clicked.connect(self.run)
        self.tools = self.run_button
        self.card = LostCard(self.roll_back)
        self.question, self.expect = QLineEdit(), QLineEdit()
        self.add_button = button(tr("Pin the question"), "", self.add)
        self.status = label("", "small", wrap=True)
        self.model = PlainListModel(describe_check, self)
        self.view = QListView()
        self.view.setModel(self.model)
        self.view.setItemDelegate(CheckDelegate(theme, self.view))
        self.view.setAccessibleName(tr("Pinned questions"))
        self.view.setMouseTracking(True)
        follow_width(self.view)
        self.view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.view.selectionModel().selectionChanged.connect(lambda *_: self._show_buttons())
        self.remove_button = button(tr("Remove"), "", self.remove)
        words = tr(
            "Pin a question that memory must be able to answer, such as “When is my next flight?”. It is asked again"
            " whenever the index is rebuilt, the embedding model changes or memory is tidied up, and you see here what"
            " got lost. Or search, and pin a hit from its menu."
        )
        self.hint = label(words, "muted", wrap=True)
        self._lay_out()
        self._show_buttons()
        self.run_button.setEnabled(False)
        self._read()

    def _lay_out(self) -> None:
        for field, words in (
            (self.question, tr("A question, in your own words")),
            (self.expect, tr("Words that must be found")),
        ):
            field.setPlaceholderText(words)
            field.setAccessibleName(words)
            field.textChanged.connect(lambda _: self._show_buttons())
            field.returnPressed.connect(self.add)
        delete = QShortcut(QKeySequence(QKeySequence.StandardKey.Delete), self.view)
        delete.setContext(Qt.ShortcutContext.WidgetShortcut)
        delete.activated.connect(self.remove)
        row = QHBoxLayout()
        spread(row, spacing=8)
        row.addWidget(self.expect, 1)
        row.addWidget(self.add_button)
        last = QHBoxLayout()
        spread(last, spacing=8)
        last.addWidget(self.status, 1)
        last.addWidget(self.remove_button)
        column = QVBoxLayout(self)
        spread(column, (16, 8, 16, 12), 8)
        column.addWidget(self.card)
        column.addWidget(self.question)
        column.addLayout(row)
        column.addWidget(self.hint)
        column.addWidget(self.view, 1)
        column.addLayout(last)
        column.addStretch(0)

    def opened(self) -> None:
        self._read()

    def noted(self, event: object) -> None:
        if isinstance(event, ChecksRan):
            self._read()

    def run(self) -> None:
        """Ask all questions now."""
        self._do(self._services.self_test.run, tr("Asking…"))

    def add(self) -> None:
        """Pin what is in the fields."""
        question, expect = self.question.text().strip(), self.expect.text().strip()
        if question and expect:
            test = self._services.self_test
            self.question.clear()
            self.expect.clear()
            self._do(lambda: test.add(question, expect), tr("Asking…"))

    def remove(self) -> None:
        """Ask the chosen question no more."""
        state = self.view.currentIndex().data(ITEM_ROLE)
        if state is not None:
            test = self._services.self_test
            self._do(lambda: test.remove(state.check.id), "")

    def roll_back(self) -> None:
        """Undo what lost something."""
        test = self._services.self_test
        self._do(test.rollback, tr("Rolling back…"), lambda words: self.said.emit(translate_message(words)))

    def _do(self, work: Any, words: str, done: Any = None) -> None:
        self.status.setText(words)
        self.run_button.setEnabled(False)
        self._bridge.run(
            self._services.lanes.keeping,
            work,
            done=lambda result: self._after(done, result),
            failed=self._on_failed,
        )

    def _after(self, done: Any, result: object) -> None:
        if done is not None:
            done(result)
        self._read()

    def _on_failed(self, error: BaseException) -> None:
        self._read()
        if isinstance(error, AssistantError):
            self.said.emit(translate_message(str(error)))
        else:
            self.failed.emit(error)

    def _read(self) -> None:
        self._bridge.run(
            self._services.lanes.files, self._services.self_test.state, done=self._show, failed=self.failed.emit
        )

    def _show(self, test: SelfTest) -> None:
        chosen = self.view.currentIndex().row()
        self.model.show(test.states)
        if 0 <= chosen < len(test.states):
            self.view.setCurrentIndex(self.model.index(chosen))
        has_any = bool(test.states)
        self.hint.setVisible(not has_any)
        self.view.setVisible(has_any)
        self.card.show_test(test)
        self.status.setText(_last_words(test) if has_any else "")
        self.run_button.setEnabled(has_any)
        self._show_buttons()
        self.badge_changed.emit(test.lost)

    def _show_buttons(self) -> None:
        self.add_button.setEnabled(bool(self.question.text().strip() and self.expect.text().strip()))
        self.remove_button.setVisible(bool(self.model.rowCount()))
        self.remove_button.setEnabled(self.view.currentIndex().isValid())


def _last_words(test: SelfTest) -> str:
    if test.last is None:
        return ""
    how = tr("by words and meaning") if test.last.mode == "hybrid" else tr("by words only")
    return tr("Last asked {time}, {how}", time=test.last.time[:16].replace("T", " "), how=how)
