"""The preview: what the next message will carry, byte for byte, what each line costs, and what was left out and why."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QListView, QProgressBar, QVBoxLayout, QWidget

from assistant.chat.intents import fact_to_remember
from assistant.core.errors import AssistantError
from assistant.core.events import (
    ChatsChanged,
    MemoryChanged,
    ModelReady,
    PromptChanged,
    TurnFailed,
    TurnFinished,
    WorkspaceChanged,
)
from assistant.core.values import Prompt
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.chat.receipt_words import mode_words
from assistant.ui.i18n import tr, translate_message
from assistant.ui.memory.page import Page
from assistant.ui.memory.prompt_rows import PromptDelegate, PromptRow, describe_row, rows_of
from assistant.ui.memory.rows import follow_width
from assistant.ui.models.plain import ITEM_ROLE, PlainListModel
from assistant.ui.theme import Theme
from assistant.ui.widgets import IconButton, button, label, spread
from assistant.workspace.chat_files import chat_of

Message = tuple[str, str, int | None]
"""A chat ("": a new one), what would be said in it, and after which turn (see Backend.told.preview)."""
_PAUSE_MS = 300  # typing is over
_LATE_MS = 1000
_CHOOSE = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
_CHANGES = (ChatsChanged, MemoryChanged, ModelReady, PromptChanged, TurnFailed, TurnFinished, WorkspaceChanged)


class PromptPage(Page):
    """Asks only while it is shown, one question at a time, after a pause. ``source``: what would be sent now."""

    turn_chosen = Signal(str, int)

    def __init__(self, services: Backend, bridge: Bridge, theme: Theme) -> None:
        super().__init__()
        self._services, self._bridge = services, bridge
        self.source: Callable[[], Message] = lambda: ("", "", None)
        self.prompt: Prompt | None = None
        self._asked: Message | None = None
        self._busy = self._stale = False
        self._turned: frozenset[str] = frozenset()
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_PAUSE_MS)
        self._soon.timeout.connect(self._ask)
        self._late = QTimer(self)
        self._late.setSingleShot(True)
        self._late.setInterval(_LATE_MS)
        self._late.timeout.connect(self._on_late)
        self._build_head(theme)
        self._build_list(theme)
        column = QVBoxLayout(self)
        spread(column, (16, 0, 0, 0), 6)
        column.addWidget(self._head)
        column.addWidget(self.view, 1)

    def _build_head(self, theme: Theme) -> None:
        self.tools = QWidget()
        tools = QHBoxLayout(self.tools)
        spread(tools, spacing=2)
        self.copy = IconButton(theme, "copy", tr("Copy the whole prompt"), 18)
        self.copy.clicked.connect(self.copy_all)
        self.renew = IconButton(theme, "refresh", tr("Take memory into this chat anew…"), 18)
        self.renew.clicked.connect(lambda: self._strip.setVisible(self._strip.isHidden()))
        tools.addWidget(self.copy)
        tools.addWidget(self.renew)
        self.cost = label("", wrap=True)
        self.what = label("", "small", wrap=True)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Share of the context window"))
        self.note = label("", "smallamber", wrap=True)
        self.note.hide()
        self._head = QWidget()
        column = QVBoxLayout(self._head)
        spread(column, (0, 0, 16, 0), 4)
        for widget in (self.cost, self.bar, self.what, self.note):
            column.addWidget(widget)
        column.addWidget(self._renew_strip())

    def _renew_strip(self) -> QFrame:
        self._strip = QFrame()
        self._strip.setObjectName("notecard")
        self.renew_words = label("", wrap=True)
        self.renew_now = button(tr("Renew"), "primary", self._on_renew)
        row = QHBoxLayout()
        spread(row, spacing=8)
        row.addStretch()
        row.addWidget(button(tr("Cancel"), "", self._strip.hide))
        row.addWidget(self.renew_now)
        column = QVBoxLayout(self._strip)
        spread(column, (12, 8, 12, 8), 8)
        column.addWidget(self.renew_words)
        column.addLayout(row)
        self._strip.hide()
        return self._strip

    def _build_list(self, theme: Theme) -> None:
        self.view = QListView()
        self.view.setAccessibleName(tr("The next prompt, line by line"))
        self.view.setMouseTracking(True)
        follow_width(self.view)
        self.view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.model = PlainListModel(describe_row, self)
        self.view.setModel(self.model)
        self.view.setItemDelegate(PromptDelegate(theme, self.view))
        self.view.clicked.connect(self._on_chosen)
        self.view.installEventFilter(self)  # "activated" comes with a click too, where the desktop wants that
        theme.changed.connect(self.view.viewport().update)

    # --- asking ---

    def opened(self) -> None:
        self._asked = None
        self._ask()

    def noted(self, event: object) -> None:
        if isinstance(event, _CHANGES):
            self._asked = None
            self.ask_soon()

    def ask_soon(self) -> None:
        """What would be sent may be another now."""
        if self.isVisible():
            self._soon.start()

    def _ask(self) -> None:
        wanted = self.source()
        if self._busy:
            self._stale = True
        elif self.isVisible() and wanted != self._asked:
            self._busy, self._asked = True, wanted
            self._late.start()
            lane, preview = self._services.lanes.chat, self._services.told.preview
            self._bridge.run(lane, preview, *wanted, done=partial(self._on_known, wanted), failed=self._on_unknown)

    def _answered(self) -> None:
        self._busy = False
        self._late.stop()
        if self._stale:
            self._stale = False
            self._ask()

    def _on_known(self, wanted: Message, prompt: Prompt) -> None:
        chat, text, _ = wanted
        self.prompt = prompt
        searched = mode_words(prompt.mode) if prompt.mode != "off" else ""
        self.cost.setText(" · ".join(part for part in (_cost_words(prompt), searched) if part))
        self.bar.setRange(0, max(1, prompt.window))
        self.bar.setValue(min(prompt.tokens, prompt.window))
        self.what.setText(
            tr("As it would go now. At the right: what each line costs and the sum so far, in tokens.")
            if chat
            else tr(
                "As the first message of a new chat. At the right: what each line costs and the sum so far, in tokens."
            )
        )
        self._say(tr("This is first written to memory, then answered.") if fact_to_remember(text) else "")
        self.renew.setEnabled(bool(chat))
        self.renew_words.setText(
            tr(
                "Memory as it is now goes to the front of this chat. The next reply then begins later, once: about "
                "{n} tokens are read anew.",
                n=f"{prompt.tokens:,}",
            )
        )
        self._show_rows()
        self._answered()

    def _on_unknown(self, error: BaseException) -> None:
        if isinstance(error, AssistantError):
            self._say(f"{translate_message(error.message)} {translate_message(error.hint)}".strip())
        else:
            self.failed.emit(error)
        self._answered()

    def _on_late(self) -> None:
        """A reply is being written, or a model is being loaded."""
        self._say(tr("This is from before; it is read anew when the model is free."))

    def _say(self, words: str) -> None:
        self.note.setText(words)
        self.note.setVisible(bool(words))

    # --- what is shown ---

    def _show_rows(self) -> None:
        if self.prompt is None:
            return
        bar = self.view.verticalScrollBar()
        here, place = self.view.currentIndex().row(), bar.value()
        self.model.show(rows_of(self.prompt, self._turned))
        if 0 <= here < self.model.rowCount():
            self.view.setCurrentIndex(self.model.index(here))
        bar.setValue(place)

    def exact_text(self) -> str:
        """The whole prompt as it goes to the model's template, message by message."""
        messages = self.prompt.messages if self.prompt is not None else ()
        return "\n\n".join(f"[{message.role.value}]\n{message.text}" for message in messages)

    def copy_all(self) -> None:
        """Copy the whole prompt."""
        QGuiApplication.clipboard().setText(self.exact_text())
        self.said.emit(tr("The prompt was copied"))

    # --- what the person does ---

    def _on_chosen(self, index: QModelIndex) -> None:
        row: PromptRow = index.data(ITEM_ROLE)
        if row.kind in ("block", "rule"):
            if row.key:
                self._turned = self._turned ^ {row.key}
                self._show_rows()
        elif "#" in row.unit:
            chat, _, turn = row.unit.partition("#")
            self.turn_chosen.emit(chat, int(turn) if turn.isdecimal() else 0)
        elif row.file.startswith("chats/"):
            self.chat_chosen.emit(chat_of(row.file))
        elif row.file:
            self.place_chosen.emit(row.file, row.line)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in _CHOOSE:
            if self.view.currentIndex().isValid():
                self._on_chosen(self.view.currentIndex())
            return True
        return False

    def _on_renew(self) -> None:
        self._strip.hide()
        chat = self.source()[0]
        lane, renew = self._services.lanes.chat, self._services.told.renew
        self._bridge.run(lane, renew, chat, done=self._on_renewed, failed=self.failed.emit)

    def _on_renewed(self, _result: None) -> None:
        self.said.emit(tr("From the next message on this chat is told memory as it is now"))
        self.opened()


def _cost_words(prompt: Prompt) -> str:
    share = round(100 * prompt.tokens / max(1, prompt.window))
    numbers = {"used": f"{prompt.tokens:,}", "total": f"{prompt.window:,}", "share": share}
    return tr("{used} of {total} tokens ({share} % of the window)", **numbers)
