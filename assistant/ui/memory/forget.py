"""Before something is forgotten: what goes, from which places, and what was remembered from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from assistant.ui.i18n import tr
from assistant.ui.widgets import button, fit_height, label, rule, spread
from assistant.workspace.entries import format_item, parse_entry

if TYPE_CHECKING:
    from assistant.workspace.forget_values import ForgetPlan, Target

_WIDTH = 560
_SHOWN = 160  # characters of a line
_MOST = 50  # lines; more are counted
_LIST_HEIGHT = 240


def place_words(place: str) -> str:
    """The name of a place of the proof."""
    names = {
        "files": tr("Memory files"),
        "chats": tr("Chats"),
        "index": tr("Search index"),
        "vectors": tr("Meaning index"),
        "journal": tr("Journal"),
        "receipts": tr("Receipts"),
        "snapshots": tr("What the model keeps to start faster"),
        "deleted chats": tr("Deleted chats"),
        "state": tr("Other things Keepsake keeps"),
        "logs": tr("Logs"),
        "search": tr("A search for it"),
        "inbox": tr("Inbox"),
        "history": tr("Git history"),
        "backups": tr("Backups"),
        "earlier workspaces": tr("Earlier workspaces"),
        "self-test": tr("Self-test"),
        "drafts": tr("Drafts"),
        "temporary chats": tr("What temporary chats were told"),
        "window": tr("What the window keeps"),
    }
    return names.get(place, place)


def target_words(target: Target) -> tuple[str, str]:
    """A thing that goes, and where it stands."""
    flat = " ".join(_said(target).split())
    said = flat if len(flat) <= _SHOWN else flat[: _SHOWN - 1].rstrip() + "…"
    match target.kind:
        case "turn":
            return said, tr("chat, turn {n}", n=target.number)
        case "title":
            return said, tr("title of a chat")
        case _:
            return said, f"{target.file}:{target.line}"


def _said(target: Target) -> str:
    """The words of a target, of an entry without its date and source."""
    entry = parse_entry(target.text) if target.kind == "memory" else None
    if entry is None:
        return target.text
    return "; ".join(format_item(item) for n, item in enumerate(entry.items) if n in target.items or not target.items)


class ForgetDialog(QDialog):
    """``agreed`` gives what of ``also`` goes too; closing it decides nothing and removes nothing."""

    agreed = Signal(list)

    def __init__(self, plan: ForgetPlan, counts: Sequence[tuple[str, int]], seconds: int, parent: QWidget) -> None:
        super().__init__(parent)
        self.plan = plan
        count = len(plan.targets)
        title = tr("Forget this?") if count == 1 else tr("Forget these {n}?", n=count)
        self.setWindowTitle(title)
        column = QVBoxLayout(self)
        spread(column, (24, 20, 24, 16), 12)
        column.addWidget(label(title, "title"))
        words = tr(
            "It goes from memory, chats and every other place where Keepsake keeps words. For {n} seconds you can bring"
            " it back; then it is erased, and a search shows that nothing is left.",
            n=seconds,
        )
        column.addWidget(label(words, wrap=True))
        column.addWidget(self._list(plan.targets))
        if counts:
            column.addWidget(label(tr("Where it stands now"), "section"))
            self.places = label(" · ".join(f"{place_words(name)} {n}" for name, n in counts), "muted", wrap=True)
            column.addWidget(self.places)
        self.also = [self._check(target) for target in plan.also[:_MOST]]
        if self.also:
            column.addWidget(label(tr("Also remembered from it; tick what goes too"), "section"))
            for box in self.also:
                column.addWidget(box)
        column.addLayout(self._buttons())
        fit_height(self, _WIDTH)

    def chosen(self) -> list[Target]:
        """What of ``also`` is ticked."""
        return [target for target, box in zip(self.plan.also, self.also, strict=False) if box.isChecked()]

    def _list(self, targets: Sequence[Target]) -> QWidget:
        inside = QWidget()
        inside.setObjectName("forgetlist")
        rows = QVBoxLayout(inside)
        spread(rows, (12, 8, 12, 8), 8)
        for n, target in enumerate(targets[:_MOST]):
            if n:
                rows.addWidget(rule())
            said, place = target_words(target)
            for words, role in ((said, ""), (place, "small")):
                each = label(words, role, wrap=True)
                each.setTextFormat(Qt.TextFormat.PlainText)
                rows.addWidget(each)
        if len(targets) > _MOST:
            rows.addWidget(label(tr("and {n} more", n=len(targets) - _MOST), "small"))
        rows.addStretch()
        area = _List(inside)
        area.setAccessibleName(tr("What goes"))
        return area

    def _check(self, target: Target) -> QCheckBox:
        said, place = target_words(target)
        box = QCheckBox(said.replace("&", "&&"))
        box.setToolTip(place)
        return box

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        spread(row, (0, 4, 0, 0), 8)
        self.cancel = button(tr("Cancel"), "", self.reject)
        self.forget = button(tr("Forget"), "danger", self._on_agreed)
        row.addStretch()
        row.addWidget(self.cancel)
        row.addWidget(self.forget)
        self.cancel.setDefault(True)
        self.cancel.setFocus()
        return row

    def _on_agreed(self) -> None:
        chosen = self.chosen()
        self.accept()
        self.agreed.emit(chosen)


class _List(QScrollArea):
    """As high as what is in it, up to a limit."""

    def __init__(self, inside: QWidget) -> None:
        super().__init__()
        self.setObjectName("card")
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setObjectName("forgetlist")
        self._inside = inside
        self.setWidget(inside)

    def sizeHint(self) -> QSize:
        height = self._inside.heightForWidth(_WIDTH - 64)
        return QSize(_WIDTH - 48, min(_LIST_HEIGHT, max(48, height) + 4))
