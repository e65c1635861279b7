"""What is typed into the memory files: opened, saved, kept while other files are looked at, and never lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QMessageBox

from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr
from assistant.ui.memory.budget_view import BudgetView
from assistant.ui.memory.draft_keeper import DraftKeeper
from assistant.ui.memory.file_model import MAIN, shown_name
from assistant.ui.memory.files_view import FilesView
from assistant.ui.memory.open_file import OpenFile
from assistant.ui.memory.unsaved import Unsaved, UnsavedTexts, ask_unsaved, save_all
from assistant.ui.theme import Theme
from assistant.ui.widgets import restyle

if TYPE_CHECKING:
    from assistant.workspace.text_files import TextFile

END = -1


class FilesDesk(FilesView):
    """The text of the files. Unsaved text stays with its file while others are looked at."""

    def __init__(self, services: Backend, bridge: Bridge, theme: Theme) -> None:
        super().__init__(theme)
        self._services, self._bridge = services, bridge
        self._memory = services.workspace.memory
        self._unsaved = UnsavedTexts()
        self._line = 0
        self.open = OpenFile(services, bridge, self, theme)
        self.drafts = DraftKeeper(services, bridge, self.pending, self)
        self.budget = BudgetView(services, bridge, self)
        self.save_asked.connect(self.save)
        self.open.reopen_asked.connect(lambda: self._reopen(self.current))
        self.open.ended.connect(lambda: self._reopen(MAIN))
        self.open.failed.connect(self.failed)
        self.open.said.connect(self.said)
        self.editor.document().modificationChanged.connect(self._on_modification_changed)
        self.editor.textChanged.connect(self._on_text_changed)
        self.drafts.restored.connect(self._on_restored)
        self.drafts.failed.connect(self.failed)
        self._show_state()

    # --- opening and saving ---

    @property
    def current(self) -> str:
        """The file that is shown, "" for none."""
        return self.open.file

    def open_file(self, file: str, line: int = 0) -> None:
        """Show a file, at a line when one is given; END: with the cursor at its end."""
        self._line = line
        if file == self.current and self.open.base is not None:
            self._go()
            return
        self._keep_unsaved()
        self.open.leave(file)
        kept = self._unsaved.take(file)
        if kept is not None:
            self.open.show_kept(kept)
            self._go()
            self.open.look_again()
            return
        self._bridge.run(
            self._services.lanes.files,
            self._memory.read,
            file,
            done=lambda read: self._on_read(file, read),
            failed=self.failed.emit,
        )

    def save(self) -> None:
        """Write the file that is shown."""
        self.open.save()

    def dirty(self) -> bool:
        """Whether any file has text that is not saved."""
        return self.open.dirty() or bool(self._unsaved.waiting)

    def pending(self) -> Mapping[str, Unsaved]:
        """What is not saved, by file."""
        typed = self.open.typed()
        waiting = self._unsaved.waiting
        return dict(waiting) if typed is None else {**waiting, self.current: typed}

    def refresh_budget(self) -> None:
        """Count again what loads: of what is being typed, where that is MEMORY.md."""
        self.budget.count(self.editor.toPlainText() if self.current == MAIN and self.open.dirty() else None)

    def _keep_unsaved(self) -> None:
        self._unsaved.put(self.current, self.open.typed())
        self.drafts.keep_soon()

    def _on_read(self, file: str, read: TextFile) -> None:
        if file == self.current and self.open.base is None:
            self.open.show(read)
            self._go()

    def _go(self) -> None:
        if self._line == END:
            self.editor.moveCursor(QTextCursor.MoveOperation.End)
        elif self._line > 0:
            self.editor.go_to(self._line)
        self._line = 0

    def _reopen(self, file: str) -> None:
        self.open.leave("")
        self.open_file(file)

    def _leave(self, file: str) -> None:
        """The file is not there any more by the person's own will."""
        self._unsaved.take(file)
        if file == self.current:
            self.editor.document().setModified(False)
            self.open.leave("")
        self.drafts.keep_soon()

    # --- leaving ---

    def keep(self) -> None:
        self.drafts.keep_now()

    def may_leave(self) -> bool:
        """Ask what to do with unsaved text, which is safe by then; False: stay."""
        self.drafts.keep_now()
        if not self.dirty():
            return True
        answer = self.ask_unsaved()
        if answer == QMessageBox.StandardButton.Save:
            return self._save_all()
        if answer == QMessageBox.StandardButton.Discard:
            self.discard()
            return True
        return False

    def ask_unsaved(self) -> QMessageBox.StandardButton:
        """Save, discard or cancel."""
        return ask_unsaved(self.window())

    def discard(self) -> None:
        self._unsaved.clear()
        self.editor.document().setModified(False)
        self.drafts.keep_now()

    def _save_all(self) -> bool:
        """Save everything now, waiting for it; False when one of the files needs an answer first."""
        self._keep_unsaved()
        try:
            left = save_all(self._services.lanes.files, self._memory, self._unsaved.waiting)
        except Exception as error:  # noqa: BLE001 - shown to the person, and the window stays open
            self.failed.emit(error)
            return False
        if left:
            self._return_to(left)
            return False
        self.discard()
        return True

    def _return_to(self, file: str) -> None:
        """Show what cannot be saved without a question, and ask it."""
        if file == self.current:
            self._unsaved.take(file)
        else:
            self.open_file(file)
        self.save()

    def _on_restored(self, found: dict[str, Unsaved]) -> None:
        """Text that was not saved when the window ended."""
        fresh = {file: kept for file, kept in found.items() if file not in self.pending()}
        self._unsaved.waiting |= fresh
        if self.current in fresh:
            self._reopen(self.current)
        elif fresh and not self.open.dirty() and self._line == 0:
            self.open_file(next(iter(fresh)))
        self._show_state()

    # --- how it stands ---

    def _on_text_changed(self) -> None:
        if self.open.base is not None and self.open.dirty():
            self.drafts.keep_soon()
            if self.current == MAIN:
                self.budget.count_soon(self.editor.toPlainText())

    def _on_modification_changed(self) -> None:
        self.drafts.keep_soon()
        self._show_state()

    def _show_state(self) -> None:
        dirty, gone = self.open.dirty(), self.open.gone()
        self.save_button.setEnabled(dirty or gone)
        if self.open.base is not None and self.editor.isReadOnly():
            self.state.setText(tr("Read-only"))
        else:
            self.state.setText(tr("Not saved yet") if dirty else tr("Not on disk") if gone else tr("Saved"))
        restyle(self.state, "role", "smallamber" if dirty or gone else "small")
        self.name.set_text(shown_name(self.current) if self.current else "")
        self.model.set_waiting(set(self.pending()))
