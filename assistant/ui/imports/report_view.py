"""What an import would bring over: how many of each kind, and what stays behind and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QPlainTextEdit, QScrollArea, QVBoxLayout, QWidget

from assistant.ui.i18n import tr, translate_message
from assistant.ui.widgets import button, label, spread
from assistant.workspace.imports.values import SYSTEMS

if TYPE_CHECKING:
    from assistant.workspace.imports.report import ImportReport, SkippedGroup

_EXAMPLES = 4


class ReportView(QWidget):
    """Empty until ``show_report``."""

    def __init__(self) -> None:
        super().__init__()
        self.title = label("", "title", wrap=True)
        self.remarks = label("", "small", wrap=True)
        self.counts = QFrame()
        self.counts.setObjectName("card")
        self.skipped = QVBoxLayout()
        spread(self.skipped, (0, 0, 8, 0), 10)
        self.area = _scrolled(self.skipped)
        self.skipped_title = label(tr("What stays behind, and why"), "section")
        self.diff = QPlainTextEdit()
        self.diff.setReadOnly(True)
        self.diff.setProperty("role", "code")
        self.diff.setAccessibleName(tr("Changes of MEMORY.md"))
        self.diff.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.diff.setMinimumHeight(150)
        self.toggle = button(tr("Show the changes of MEMORY.md"), "link", self._on_toggled)
        column = QVBoxLayout(self)
        spread(column, spacing=12)
        for widget in (self.title, self.counts, self.remarks, self.skipped_title):
            column.addWidget(widget)
        column.addWidget(self.area, 1)
        column.addWidget(self.toggle, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.diff, 1)

    def show_report(self, report: ImportReport) -> None:
        """Fill the page; it is made for one report."""
        name = SYSTEMS[report.system]
        found = tr("From {system}, this would come over", system=name)
        known = tr("From {system}, everything is here already", system=name)
        nothing = tr("There is nothing of {system} to bring over here", system=name)
        here = any(report.known.values())
        self.title.setText(found if report.anything else known if here else nothing)
        self._fill_counts(report)
        self.remarks.setText("\n".join(_remarks(report)))
        self.remarks.setVisible(bool(self.remarks.text()))
        for group in report.skipped:
            self.skipped.addWidget(_group(group))
        self.skipped.addStretch()
        for widget in (self.skipped_title, self.area):
            widget.setVisible(bool(report.skipped))
        self.diff.setPlainText(report.diff)
        self.diff.hide()
        self.toggle.setVisible(bool(report.diff))

    def _fill_counts(self, report: ImportReport) -> None:
        grid = QGridLayout(self.counts)
        grid.setContentsMargins(16, 12, 16, 12)
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(0, 1)
        columns = [(report.new, tr("new")), (report.known, tr("here already"))]
        columns = columns if any(report.known.values()) else columns[:1]
        for column, (_, words) in enumerate(columns, 1):
            grid.addWidget(label(words, "small"), 0, column, Qt.AlignmentFlag.AlignRight)
        rows = [(kind, words) for kind, words in _kinds().items() if report.new[kind] or report.known[kind]]
        for row, (kind, words) in enumerate(rows, 1):
            grid.addWidget(label(words), row, 0)
            for column, (counts, heading) in enumerate(columns, 1):
                number = label(f"{counts[kind]:,}", "" if counts[kind] and column == 1 else "muted")
                number.setAccessibleName(f"{words}, {heading}: {counts[kind]}")
                grid.addWidget(number, row, column, Qt.AlignmentFlag.AlignRight)
        self.counts.setVisible(bool(rows))

    def _on_toggled(self) -> None:
        shown = self.diff.isHidden()
        self.diff.setVisible(shown)
        self.toggle.setText(tr("Hide the changes of MEMORY.md") if shown else tr("Show the changes of MEMORY.md"))


def _kinds() -> dict[str, str]:
    return {
        "entries": tr("Dated memories"),
        "facts": tr("Pages of facts"),
        "notes": tr("Notes"),
        "logs": tr("Day logs"),
        "chats": tr("Chats"),
    }


def _remarks(report: ImportReport) -> list[str]:
    said = []
    if report.turns:
        many = tr("The chats hold {n} turns, every branch kept.", n=f"{report.turns:,}")
        said.append(tr("The chat holds 1 turn.") if report.turns == 1 else many)
    if report.struck:
        said.append(tr("{n} older facts will be struck, because newer ones say otherwise.", n=report.struck))
    if report.redacted:
        said.append(tr("{n} secrets will be taken out.", n=report.redacted))
    return said


def _group(group: SkippedGroup) -> QWidget:
    """A reason with its count, and where: whole names as a tooltip."""
    made = QWidget()
    column = QVBoxLayout(made)
    spread(column, spacing=2)
    words = translate_message(group.words)
    column.addWidget(label(f"{group.count:,} · {words}", wrap=True))
    names = ", ".join(group.examples[:_EXAMPLES]) + (" …" if len(group.examples) > _EXAMPLES else "")
    where = label(names, "small", wrap=True)
    where.setToolTip("\n".join(group.examples))
    column.addWidget(where)
    return made


def _scrolled(layout: QVBoxLayout) -> QScrollArea:
    inside = QWidget()
    inside.setLayout(layout)
    area = QScrollArea()
    area.setWidget(inside)
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setMinimumHeight(96)
    area.setAccessibleName(tr("What stays behind, and why"))
    return area
