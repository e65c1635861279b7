"""The tools that were used for a reply, one line each above it: what for, what came of it, and the whole result."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from assistant.chat.told import is_turn, words_of
from assistant.core.values import MadeCall, PromptLine
from assistant.ui.chat.receipt_words import short_place, shown_words
from assistant.ui.i18n import tr, translate_message
from assistant.ui.theme import Theme
from assistant.ui.widgets import ElidedLabel, IconButton, button, label, spread

_ICONS = {
    "memory_write": "memory",
    "memory_search": "search",
    "memory_read": "file",
    "chats_search": "chat",
    "forget": "trash",
}
_MOST_CHARACTERS = 600
_INDENT = 32  # pixels: the words stand in one column
_EDGE = 6  # pixels: where the words of a link or of a fold end, too
_TOP = Qt.AlignmentFlag.AlignTop


class CallsView(QWidget):
    """All calls of a turn, in order."""

    place_chosen = Signal(str, int)
    turn_chosen = Signal(str, int)
    undo_asked = Signal(str)
    """A journal id."""
    review_asked = Signal()
    forget_asked = Signal(str, tuple)
    """The person's words, and ids of what a search found for them."""
    size_changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._calls: tuple[MadeCall, ...] = ()
        self.rows: list[CallRow] = []
        self._column = QVBoxLayout(self)
        spread(self._column, (0, 0, 0, 6), 2)
        self.setAccessibleName(tr("Tools that were used"))
        self.hide()

    def show_calls(self, calls: tuple[MadeCall, ...]) -> bool:
        """Show these; rows that stay as they are keep what was unfolded. Whether anything is new."""
        if calls == self._calls:
            return False
        keep = sum(1 for old, new in zip(self._calls, calls, strict=False) if old == new)
        for row in self.rows[keep:]:
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        del self.rows[keep:]
        for call in calls[keep:]:
            self._add(CallRow(call, self._theme))
        self._calls = calls
        self.setVisible(bool(calls))
        return True

    def journal_ids(self) -> list[str]:
        """Of the writes that may be taken back."""
        return [row.call.journal for row in self.rows if row.call.journal]

    def show_undoable(self, known: Mapping[str, bool]) -> None:
        """Whether each of them can be taken back now, or was; of those that are not in it nobody knows."""
        for row in self.rows:
            if row.call.journal:
                row.show_undoable(known.get(row.call.journal))

    def _add(self, row: CallRow) -> None:
        row.place_chosen.connect(self.place_chosen)
        row.turn_chosen.connect(self.turn_chosen)
        row.undo_asked.connect(self.undo_asked)
        row.review_asked.connect(self.review_asked)
        row.forget_asked.connect(self.forget_asked)
        row.size_changed.connect(self.size_changed)
        self.rows.append(row)
        self._column.addWidget(row)
        row.show()


class CallRow(QFrame):
    """One call: folded to a line at first."""

    place_chosen = Signal(str, int)
    turn_chosen = Signal(str, int)
    undo_asked = Signal(str)
    review_asked = Signal()
    forget_asked = Signal(str, tuple)
    size_changed = Signal()

    def __init__(self, call: MadeCall, theme: Theme) -> None:
        super().__init__()
        self.call = call
        self.details: QWidget | None = None
        self.icon = IconButton(theme, _ICONS.get(call.name, "info"), call_words(call), 14)
        self.icon.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # only a picture
        self.icon.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.words = ElidedLabel(call_words(call), "muted")
        self.state = label(outcome_words(call), "smallamber" if call.outcome in ("failed", "refused") else "small")
        self.state.setContentsMargins(0, 0, _EDGE, 0)
        self.fold = button("", "quiet", self.toggle)
        self.undo = button(tr("Undo"), "link", lambda: self.undo_asked.emit(call.journal))
        self.undo.setAccessibleName(tr("Undo: {what}", what=call_words(call)))
        self.undo.hide()
        self._column = QVBoxLayout(self)
        spread(self._column, spacing=2)
        self._column.addLayout(self._line())
        self._dress()

    def _line(self) -> QHBoxLayout:
        row = QHBoxLayout()
        spread(row, spacing=6)
        row.addSpacing(-6)  # the icon, not its button, stands on the text's edge
        for widget in (self.icon, self.words, self.state, self.fold):
            row.addWidget(widget, 1 if widget is self.words else 0)
        for link in (*self._links(), self.undo):
            row.addWidget(link)
        return row

    def _links(self) -> list[QWidget]:
        """Where a write stands, where its yes is given, where forgetting is confirmed."""
        call = self.call
        file, _, line = call.detail.rpartition(":")
        if call.name == "memory_write" and call.outcome in ("written", "known") and line.isdecimal():
            link = button(short_place(file, int(line)), "link", lambda: self.place_chosen.emit(file, int(line)))
            link.setAccessibleName(tr("Open {place} in memory", place=call.detail))
            return [link]
        if call.name == "memory_write" and call.outcome == "waits":
            return [button(tr("Look at it"), "link", self.review_asked.emit)]
        if call.name == "forget":
            things = tuple(part for part in call.detail.split("; ") if part)
            what = _given(call, "what")
            return [button(tr("Look and confirm…"), "link", lambda: self.forget_asked.emit(what, things))]
        return []

    def can_unfold(self) -> bool:
        """There is more to it than its line says."""
        return bool(self.call.lines) or self.call.outcome == "failed"

    def toggle(self) -> None:
        """Show or hide the result."""
        if not self.can_unfold():
            return
        if self.details is None:
            self.details = self._make_details()
            self._column.addWidget(self.details)
        else:
            self._column.removeWidget(self.details)
            self.details.hide()
            self.details.deleteLater()
            self.details = None
        self._dress()
        self.size_changed.emit()

    def show_undoable(self, undoable: bool | None) -> None:
        """Whether the write can be taken back, or was; None: nobody knows."""
        self.undo.setVisible(undoable is True)
        self.state.setText(tr("Taken back") if undoable is False else "")
        self.state.setVisible(undoable is False)
        self.size_changed.emit()

    def _dress(self) -> None:
        is_open, said = self.details is not None, outcome_words(self.call)
        self.fold.setText(f"{said}  {'⌄' if is_open else '›'}")
        name = tr("Hide what was found") if is_open else tr("Show what was found")
        self.fold.setAccessibleName(f"{said}. {name}")
        self.fold.setVisible(self.can_unfold())
        self.state.setVisible(bool(self.state.text()) and not self.can_unfold())
        self.setAccessibleName(f"{call_words(self.call)} {said}".strip())

    def _make_details(self) -> QWidget:
        made = QWidget()
        grid = QGridLayout(made)
        spread(grid, (_INDENT - 6, 0, 0, 6), 6)
        grid.setColumnStretch(0, 1)
        if not self.call.lines:
            grid.addWidget(label(translate_message(self.call.detail), "small", wrap=True), 0, 0)
        for at, line in enumerate(self.call.lines):
            words = label(_short(shown_words(line) if is_turn(line) else words_of(line)), "small", wrap=True)
            words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            grid.addWidget(words, at, 0, _TOP)
            place = button(short_place(line.file, line.line), "link", partial(self._go, line))
            place.setToolTip(f"{line.file}:{line.line}")
            place.setAccessibleName(tr("Open {place} in memory", place=f"{line.file}:{line.line}"))
            grid.addWidget(place, at, 1, _TOP | Qt.AlignmentFlag.AlignRight)
        return made

    def _go(self, line: PromptLine) -> None:
        chat, _, turn = line.unit.partition("#")
        if is_turn(line) and turn.isdecimal():
            self.turn_chosen.emit(chat, int(turn))
        else:
            self.place_chosen.emit(line.file, line.line)


def call_words(call: MadeCall) -> str:
    """What a tool was used for."""
    text, query = _given(call, "text"), _given(call, "query")
    days = " – ".join(day for day in (_given(call, "since"), _given(call, "until")) if day)
    asked = " · ".join(part for part in (query, days) if part)
    match call.name:
        case "memory_write":
            return _write_words(call.outcome, text)
        case "memory_search":
            return tr("Searched memory: {query}", query=asked)
        case "chats_search":
            return tr("Searched earlier chats: {query}", query=asked)
        case "memory_read":
            return tr("Read {file}", file=_given(call, "file"))
        case "forget":
            return tr("You asked to forget: {what}", what=_given(call, "what"))
    return call.name


def _write_words(outcome: str, text: str) -> str:
    words = {
        "written": tr("Remembered: {text}", text=text),
        "known": tr("Remembered already: {text}", text=text),
        "waits": tr("Wants to remember: {text}", text=text),
    }
    return words.get(outcome, tr("Not remembered: {text}", text=text))


def outcome_words(call: MadeCall) -> str:
    """What came of it, where its words do not say so."""
    if call.outcome == "found" and call.name != "memory_read":
        count = len(call.detail.split("; "))
        return tr("1 found") if count == 1 else tr("{n} found", n=count)
    words = {
        "nothing": tr("nothing found"),
        "waits": tr("waits for your yes") if call.name == "memory_write" else tr("nothing is forgotten yet"),
        "failed": tr("did not work"),
        "refused": translate_message(call.detail),
    }
    return words.get(call.outcome, "")


def _given(call: MadeCall, name: str) -> str:
    value: Any = call.arguments.get(name, "")
    return "" if value is None else " ".join(str(value).split())


def _short(words: str) -> str:
    flat = " ".join(words.split())
    return flat if len(flat) <= _MOST_CHARACTERS else f"{flat[:_MOST_CHARACTERS].rstrip()} …"
