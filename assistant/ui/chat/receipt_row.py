"""One line of a receipt: its words then and now, why it came, and what can be done about it."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from html import escape
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QEnterEvent, QResizeEvent, QTextCursor
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QMenu, QPushButton

from assistant.chat.told import is_turn, plain_words, undated, words_of
from assistant.core.values import PromptLine
from assistant.ui.chat.line_editor import LineEditor
from assistant.ui.chat.receipt_words import detail_of, short_place, shown_words, state_of, why_sentence, why_words
from assistant.ui.chat.word_diff import then_and_now
from assistant.ui.i18n import tr
from assistant.ui.theme import Theme
from assistant.ui.widgets import IconButton, button, label, restyle, spread
from assistant.workspace.file_now import bare

if TYPE_CHECKING:
    from assistant.chat.line_now import LineNow

_TOOLTIP = 600
_CHIP = 64  # pixels: the widest of the usual reasons, so that the words stand in one column
_TOP = Qt.AlignmentFlag.AlignTop
_NARROW = 460  # pixels
_BUTTON = (26, 24)  # pixels: flat, so that a line without a second one stays low
_STAYS = ("same", "moved", "changed")
_TWO = ("changed", "struck", "archived")


class Act(StrEnum):
    """What can be done about a line."""

    OPEN = "open"
    EDIT = "edit"
    WRONG = "wrong"
    FORGET = "forget"
    NEVER = "never"
    AGAIN = "again"


_FORGET: tuple[Act, ...] = (Act.FORGET,)
ICONS = {
    Act.OPEN: "open",
    Act.EDIT: "edit",
    Act.WRONG: "strike",
    Act.FORGET: "trash",
    Act.NEVER: "mute",
    Act.AGAIN: "undo",
}


def act_words(act: Act) -> str:
    """What it is called."""
    words = {
        Act.OPEN: tr("Open"),
        Act.EDIT: tr("Edit"),
        Act.WRONG: tr("Wrong: strike it"),
        Act.FORGET: tr("Forget…"),
        Act.NEVER: tr("Never recall here"),
        Act.AGAIN: tr("Recall here again"),
    }
    return words[act]


class ReceiptRow(QFrame):
    """``asked(act)``: the person wants that; ``reworded(text, keep_secrets)``: and these are the new words."""

    asked = Signal(object)
    reworded = Signal(str, bool)
    size_changed = Signal()

    def __init__(self, line: PromptLine, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("receiptrow")
        self.line, self._theme = line, theme
        self.now: LineNow | None = None
        self.never = False
        self.editor: LineEditor | None = None
        self._narrow = False
        self._strip: dict[Act, IconButton] = {}
        self.words = label("", wrap=True)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.words.setToolTip(line.text if len(line.text) < _TOOLTIP else "")
        self.state = label("", "small", wrap=True)
        self.state.setTextFormat(Qt.TextFormat.RichText)
        self.place: QPushButton | None = None
        if line.file:
            self.place = button("", "link", lambda: self.asked.emit(Act.OPEN))
        self.more = IconButton(theme, "more", tr("What to do about this line"), 14, quiet=True)
        self.more.setFixedSize(*_BUTTON)
        self.more.clicked.connect(lambda: self.show_menu(self.more.mapToGlobal(QPoint(0, self.more.height()))))
        self.more.installEventFilter(self)
        self._lay_out()
        self.dress()

    def _lay_out(self) -> None:
        chip = label(why_words(self.line.why), "chip")
        chip.setToolTip(why_sentence(self.line.why))
        chip.setAlignment(Qt.AlignmentFlag.AlignCenter)
        chip.setMinimumWidth(_CHIP)
        self._acts = QHBoxLayout()
        spread(self._acts)
        self._acts.addWidget(self.state, 1)
        self._acts.addWidget(self.more)
        self._grid = QGridLayout(self)
        spread(self._grid, (8, 6, 8, 2), 8)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(1, 1)
        self._grid.addWidget(chip, 0, 0, _TOP)
        self._grid.addWidget(self.words, 0, 1)
        if self.place is not None:
            self._grid.addWidget(self.place, 0, 2, _TOP | Qt.AlignmentFlag.AlignRight)
        self._grid.addLayout(self._acts, 3, 1, 1, 2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow window the place goes below the words, which need the width."""
        super().resizeEvent(event)
        narrow = event.size().width() < _NARROW
        if self.place is not None and narrow != self._narrow:
            self._narrow = narrow
            if narrow:
                self._grid.addWidget(self.place, 2, 1, 1, 2, _TOP | Qt.AlignmentFlag.AlignLeft)
            else:
                self._grid.addWidget(self.place, 0, 2, _TOP | Qt.AlignmentFlag.AlignRight)

    def acts(self) -> list[Act]:
        """What can be done about it now."""
        if not self.line.file or (self.now is not None and self.now.state == "forgotten"):
            return []
        state = self.now.state if self.now is not None else "same"
        keep = [Act.AGAIN if self.never else Act.NEVER] if self.line.unit else []
        if is_turn(self.line):
            return [Act.OPEN, *_FORGET, *keep] if state != "gone" else keep
        found = [Act.OPEN]
        if state in _STAYS:
            found += [Act.EDIT, Act.WRONG]
        return [*found, *(_FORGET if state != "gone" else ()), *keep]

    def show_now(self, now: LineNow, never: bool) -> None:
        """What became of the line, and whether it is never told in this chat again."""
        plain = self.now is None and now.state == "same" and not never
        if (now, never) == (self.now, self.never):
            return
        self.now, self.never = now, never
        if not plain:  # of a line that stands as it stood nothing else is shown
            self._drop_strip()
            self.dress()

    def show_line(self, line: PromptLine) -> None:
        """The receipt says other words: some were forgotten."""
        if line != self.line:
            self.line = line
            self.words.setToolTip(line.text if len(line.text) < _TOOLTIP else "")
            self._drop_strip()
            self.dress()

    def dress(self) -> None:
        """Show what there is to show, in the colours of the theme."""
        line, now = self.line, self.now
        then = shown_words(line)
        self._name_place()
        twofold = now is not None and now.state in _TWO
        self.words.setTextFormat(Qt.TextFormat.RichText if twofold else Qt.TextFormat.PlainText)
        spoken = then
        if now is not None and twofold:
            today = undated(plain_words(now.text)).replace("；", "; ")
            before = undated(words_of(line)).replace("；", "; ")
            whole = now.state == "struck" and "~~" not in today
            self.words.setText(then_and_now(before, f"~~{today}~~" if whole else today, self._theme.palette))
            spoken = tr("Then: {then} Now: {now}", then=before, now=today)
        else:
            self.words.setText(then)
        restyle(self.words, "role", "muted" if now is not None and now.state in ("gone", "forgotten") else "")
        said = [state_of(line, now) if now else "", tr("Never recalled in this chat") if self.never else ""]
        became = " · ".join(each for each in said if each)
        amber = f'<span style="color:{self._theme.palette.amber}">{escape(became)}</span>' if became else ""
        self.state.setText(" · ".join(each for each in (amber, escape(detail_of(line))) if each))
        self.more.setVisible(bool(self.acts()))
        self.words.setAccessibleName(spoken)
        self.setAccessibleName(f"{why_words(line.why)}: {spoken} {became}".strip())

    def _name_place(self) -> None:
        line, now = self.line, self.now
        if self.place is not None:
            file, at = (now.file, now.line) if now is not None and now.line else (line.file, line.line)
            self.place.setText(short_place(file, at))
            self.place.setToolTip(f"{file}:{at}")
            self.place.setAccessibleName(tr("Open {place} in memory", place=f"{file}:{at}"))

    def now_words(self) -> str:
        """What the line says now, else what it said."""
        now = self.now
        return undated(plain_words(now.text) if now is not None and now.text else words_of(self.line))

    # --- doing something about it ---

    def show_menu(self, at: QPoint) -> None:
        """All that can be done, as a menu."""
        menu = self.menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(at)

    def menu(self) -> QMenu:
        made = QMenu(self)
        for act in self.acts():
            action = made.addAction(self._theme.icon(ICONS[act]), act_words(act))
            action.triggered.connect(partial(self._on_act, act))
        return made

    def _on_act(self, act: Act, _checked: bool = False) -> None:
        if act is Act.EDIT:
            self.start_edit()
        else:
            self.asked.emit(act)

    def start_edit(self) -> None:
        """Reword the line as it is now."""
        if self.editor is not None:
            self.editor.edit.setFocus()
            return
        text = self.now.text if self.now is not None and self.now.text else self.line.text
        self.editor = LineEditor(bare(text).strip())
        self.editor.saved.connect(self.reworded)
        self.editor.left.connect(self.end_edit)
        self._grid.addWidget(self.editor, 1, 1, 1, 2)
        self.editor.edit.setFocus()
        self.editor.edit.moveCursor(QTextCursor.MoveOperation.End)
        self.size_changed.emit()

    def end_edit(self) -> None:
        """Take the editor away."""
        if self.editor is not None:
            self.editor.hide()
            self.editor.deleteLater()
            self.editor = None
            self.more.setFocus()
            self.size_changed.emit()

    def strip(self) -> dict[Act, IconButton]:
        """The buttons that show while the line is pointed at or has the focus; made when first needed."""
        if not self._strip:
            for n, act in enumerate(self.acts()):
                made = IconButton(self._theme, ICONS[act], act_words(act), 14, quiet=True)
                made.setFixedSize(*_BUTTON)
                made.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # by keyboard there is the menu: one stop a line
                made.clicked.connect(partial(self._on_act, act))
                self._acts.insertWidget(1 + n, made)
                self._strip[act] = made
        return self._strip

    def _drop_strip(self) -> None:
        for made in self._strip.values():
            self._acts.removeWidget(made)
            made.hide()
            made.deleteLater()
        self._strip = {}

    def reveal(self, shown: bool) -> None:
        """Show or hide the buttons; nothing moves."""
        for made in self.strip().values() if shown else self._strip.values():
            made.reveal(shown)
        self.more.reveal(shown)
        restyle(self, "pointed", shown)

    def enterEvent(self, event: QEnterEvent) -> None:
        self.reveal(True)
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self.reveal(False)
        super().leaveEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.reveal(event.type() == QEvent.Type.FocusIn)
        return False

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if self.acts():
            self.show_menu(event.globalPos())
