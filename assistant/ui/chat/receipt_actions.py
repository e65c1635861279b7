"""What is done about the lines of open receipts: open, edit, strike, forget, never recall; and what became of them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import shiboken6
from PySide6.QtCore import QObject, QTimer, Signal

from assistant.chat.told import is_turn
from assistant.core.errors import AssistantError
from assistant.core.events import MemoryChanged, PromptChanged, WorkspaceChanged
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.chat.receipt_row import Act, ReceiptRow
from assistant.ui.chat.receipt_view import ReceiptView
from assistant.ui.i18n import tr, translate_message
from assistant.ui.toast import Toasts
from assistant.workspace.ids import line_id

if TYPE_CHECKING:
    from assistant.core.values import Receipt
    from assistant.runtime.told import ReceiptNow
    from assistant.workspace.memory_values import Saved

_PAUSE_MS = 200  # several changes of memory come at once


class ReceiptActions(QObject):
    """``attach`` each receipt that is opened; it is asked about again whenever memory changes."""

    place_chosen = Signal(str, int)
    turn_chosen = Signal(str, int)
    """A chat, and the turn to go to in it."""
    forget_asked = Signal(str, str)
    """A unit's id and its words: the one place where forgetting begins."""
    receipt_changed = Signal(object)
    """A receipt says less than it did: what was forgotten is gone from it."""
    undo_offered = Signal(str, str)
    failed = Signal(object)

    def __init__(self, services: Backend, bridge: Bridge, toasts: Toasts, parent: QObject) -> None:
        super().__init__(parent)
        self._services, self._bridge, self._toasts = services, bridge, toasts
        self._open: list[ReceiptView] = []
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.setInterval(_PAUSE_MS)
        self._again.timeout.connect(self.look_again)
        bridge.event_arrived.connect(self._on_event)

    def attach(self, view: ReceiptView) -> None:
        """Serve a receipt for as long as it is open."""
        view.asked.connect(partial(self._on_asked, view))
        view.reworded.connect(self._on_reworded)
        self._open = [*self._shown(), view]
        self._ask(view)

    def _shown(self) -> list[ReceiptView]:
        return [view for view in self._open if shiboken6.isValid(view)]

    # --- then and now ---

    def _ask(self, view: ReceiptView) -> None:
        services, told = self._services, view.receipt

        def look() -> tuple[Receipt, ReceiptNow]:
            kept = services.receipt(told.chat, told.turn) or told
            return kept, services.told.now(kept)

        lane = services.lanes.recall  # a long journal may take a second
        self._bridge.run(lane, look, done=partial(self._on_known, view), failed=self.failed.emit)

    def _on_known(self, view: ReceiptView, found: tuple[Receipt, ReceiptNow]) -> None:
        kept, now = found
        if not shiboken6.isValid(view):
            return
        if kept.lines != view.receipt.lines:
            view.show_receipt(kept)
            self.receipt_changed.emit(kept)
        if len(now.lines) == len(view.receipt.lines):
            view.show_now(now)

    def look_again(self) -> None:
        """Ask what became of the lines of all receipts that are open."""
        for view in self._shown():
            self._ask(view)

    def _on_event(self, event: object) -> None:
        if isinstance(event, MemoryChanged | WorkspaceChanged | PromptChanged) and self._shown():
            self._again.start()

    # --- what the person does ---

    def _on_asked(self, view: ReceiptView, row: ReceiptRow, act: Act) -> None:
        match act:
            case Act.OPEN:
                self._go_to(row)
            case Act.WRONG:
                self._strike(row)
            case Act.FORGET:
                self.forget_asked.emit(_unit(row), row.now_words())
            case Act.NEVER | Act.AGAIN:
                self._set_never(view.receipt.chat, row.line.unit, act is Act.NEVER)
            case Act.EDIT:
                row.start_edit()

    def _go_to(self, row: ReceiptRow) -> None:
        line, now = row.line, row.now
        if is_turn(line) and "#" in line.unit:
            chat, _, turn = line.unit.partition("#")
            self.turn_chosen.emit(chat, int(turn) if turn.isdecimal() else 0)
        elif now is not None and now.line:
            self.place_chosen.emit(now.file, now.line)
        else:
            self.place_chosen.emit(line.file, line.line)

    def _strike(self, row: ReceiptRow) -> None:
        memory = self._services.workspace.memory
        done = partial(self._on_changed, tr("Struck with today's date: {words}", words=row.now_words()))
        self._bridge.run(self._services.lanes.files, memory.strike, _unit(row), done=done, failed=self._on_failed)

    def _on_reworded(self, row: ReceiptRow, text: str, keep_secrets: bool) -> None:
        memory = self._services.workspace.memory

        def done(saved: Saved) -> None:
            if shiboken6.isValid(row):
                row.end_edit()
            hidden = tr("The line was changed; a secret in it was not written down")
            self._on_changed(hidden if saved.redacted else tr("The line was changed"), saved)

        def failed(error: BaseException) -> None:
            self._again.start()
            if shiboken6.isValid(row) and row.editor is not None and isinstance(error, AssistantError):
                row.editor.show_problem(f"{translate_message(error.message)} {translate_message(error.hint)}".strip())
            else:
                self.failed.emit(error)

        unit = _unit(row)
        self._bridge.run(
            self._services.lanes.files,
            lambda: memory.rewrite(unit, text, keep_secrets=keep_secrets),
            done=done,
            failed=failed,
        )

    def _on_changed(self, words: str, saved: Saved) -> None:
        self.undo_offered.emit(words, saved.journal_id)
        self._again.start()

    def _on_failed(self, error: BaseException) -> None:
        self._again.start()
        self.failed.emit(error)

    def _set_never(self, chat: str, unit: str, never: bool) -> None:
        done = partial(self._on_never, chat, unit, never)
        self._bridge.run(
            self._services.lanes.files, self._services.told.never, chat, unit, never, done=done, failed=self._on_failed
        )

    def _on_never(self, chat: str, unit: str, never: bool, _result: None) -> None:
        words = tr("From the next message on it is not told in this chat") if never else tr("It may be told here again")
        self._toasts.show(words, tr("Undo"), lambda: self._set_never(chat, unit, not never))
        self._again.start()


def _unit(row: ReceiptRow) -> str:
    """The id of the line as it stands now."""
    now, line = row.now, row.line
    if now is None or not now.text or is_turn(line):
        return line.unit
    return line_id(now.file, now.text)
