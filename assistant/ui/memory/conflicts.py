"""Two versions of one file side by side, and the person's choice between them, or a text of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from assistant.ui.i18n import tr
from assistant.ui.memory.editor import ShadedTextEdit
from assistant.ui.theme import Theme
from assistant.ui.widgets import ElidedLabel, button, label, spread
from assistant.workspace.matching import matcher

_MARGIN = 8  # pixels
_NARROW = 880  # pixels of the window
Choice = Literal["mine", "theirs", "merged", "edited"]


@dataclass(frozen=True, slots=True)
class ConflictWords:
    """What the dialog says. mine, theirs: names of the two sides, and of the buttons that take them."""

    title: str
    about: str
    mine: str
    theirs: str
    take_mine: str
    take_theirs: str
    cancel: str


def saving_words(file: str) -> ConflictWords:
    """For a save that came second."""
    return ConflictWords(
        tr("{file} changed meanwhile", file=file),
        tr("Another program, or the assistant, wrote to this file while you were editing it. Nothing is lost yet."),
        tr("Your text"),
        tr("On disk now"),
        tr("Keep my text"),
        tr("Take what is on disk"),
        tr("Go on editing"),
    )


def undo_words(file: str) -> ConflictWords:
    """For a change that cannot be taken back alone."""
    return ConflictWords(
        tr("{file} changed since", file=file),
        tr("The same lines changed again after this change. Choose how the file shall be; nothing is lost yet."),
        tr("With the change taken back"),
        tr("As it is now"),
        tr("Take it back"),
        tr("Leave it as it is"),
        tr("Cancel"),
    )


def changed_lines(mine: str, theirs: str) -> tuple[set[int], set[int]]:
    """Lines (from 0) that only one of the two texts has, for each."""
    ours, others = mine.split("\n"), theirs.split("\n")
    left, right = set(range(len(ours))), set(range(len(others)))
    for a, b, size in matcher(ours, others).get_matching_blocks():
        left -= set(range(a, a + size))
        right -= set(range(b, b + size))
    return left, right


class ConflictDialog(QDialog):
    """``chosen`` says which text to keep, ``text_of`` gives it; closing the dialog decides nothing and keeps both."""

    chosen = Signal(str)

    def __init__(
        self,
        file: str,
        mine: str,
        theirs: str,
        merged: str | None,
        theme: Theme,
        parent: QWidget,
        words: ConflictWords | None = None,
    ) -> None:
        super().__init__(parent)
        self.mine, self.theirs, self.merged = mine, theirs, merged
        self._theme = theme
        self._words = words or saving_words(file)
        self.setWindowTitle(self._words.title)
        self._narrow = parent.window().width() < _NARROW
        self.resize(600 if self._narrow else 940, 440 if self._narrow else 620)
        left, right = changed_lines(mine, theirs)
        self.left = self._side(self._words.mine, mine, left)
        self.right = self._side(self._words.theirs, theirs, right)
        self.editor = ShadedTextEdit()
        self.editor.setProperty("role", "code")
        self.editor.document().setDocumentMargin(_MARGIN)
        self.editor.setAccessibleName(tr("The text to keep"))
        self._lay_out()
        self._show_first_difference(left, right)

    def text_of(self, choice: str) -> str:
        """The text that a choice keeps."""
        if choice == "edited":
            return self.editor.toPlainText()
        if choice == "merged" and self.merged is not None:
            return self.merged
        return self.theirs if choice == "theirs" else self.mine

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        spread(column, (24, 20, 24, 16), 12)
        column.addWidget(ElidedLabel(self._words.title, "title"))
        column.addWidget(label(self._words.about, wrap=True))
        sides = QHBoxLayout()
        spread(sides, spacing=16)
        for name, view in ((self._words.mine, self.left), (self._words.theirs, self.right)):
            sides.addLayout(_named(name, view), 1)
        column.addLayout(sides, 3)
        self._own = QWidget()
        own = _named(tr("The text to keep"), self.editor)
        self._own.setLayout(own)
        self._own.hide()
        column.addWidget(self._own, 2)
        column.addLayout(self._buttons())

    def _side(self, name: str, text: str, changed: set[int]) -> ShadedTextEdit:
        view = ShadedTextEdit()
        view.setPlainText(text)
        view.setReadOnly(True)
        view.setProperty("role", "code")
        view.document().setDocumentMargin(_MARGIN)
        view.setAccessibleName(name)
        view.set_grounds({line + 1: self._theme.palette.amber_soft for line in changed})
        return view

    def _buttons(self) -> QVBoxLayout:
        """In a narrow window in two rows."""
        row, above = QHBoxLayout(), QHBoxLayout()
        whole = QVBoxLayout()
        spread(whole, (0, 4, 0, 0), 8)
        for each in (above, row):
            spread(each, spacing=8)
            whole.addLayout(each)
        self.cancel = button(self._words.cancel, "", self.reject)
        self.by_hand = button(tr("Edit by hand"), "", self._on_by_hand)
        self.take_theirs = button(self._words.take_theirs, "", lambda: self._choose("theirs"))
        self.take_mine = button(self._words.take_mine, "", lambda: self._choose("mine"))
        self.take_merged = button(tr("Keep both, merged"), "primary", lambda: self._choose("merged"))
        self.take_merged.setVisible(self.merged is not None)
        self.take_edited = button(tr("Keep the text below"), "primary", lambda: self._choose("edited"))
        self.take_edited.hide()
        first = above if self._narrow else row
        first.addWidget(self.cancel)
        first.addStretch()
        first.addWidget(self.by_hand)
        row.addStretch()
        for made in (self.take_theirs, self.take_mine, self.take_merged, self.take_edited):
            row.addWidget(made)
        return whole

    def _on_by_hand(self) -> None:
        """A third text, begun as the merge or as the person's own one; the two sides stay in view to copy from."""
        self.editor.setPlainText(self.mine if self.merged is None else self.merged)
        self._own.show()
        self.by_hand.hide()
        self.take_merged.hide()
        self.take_edited.show()
        self.editor.setFocus()

    def _show_first_difference(self, left: set[int], right: set[int]) -> None:
        for view, lines in ((self.left, left), (self.right, right)):
            block = view.document().findBlockByNumber(max(0, min(lines, default=0) - 2))
            cursor = view.textCursor()
            cursor.setPosition(block.position())
            view.setTextCursor(cursor)
            view.verticalScrollBar().setValue(block.blockNumber())

    def _choose(self, choice: Choice) -> None:
        self.accept()
        self.chosen.emit(choice)


def _named(name: str, view: QWidget) -> QVBoxLayout:
    column = QVBoxLayout()
    spread(column, spacing=4)
    column.addWidget(label(name, "section"))
    column.addWidget(view, 1)
    return column
