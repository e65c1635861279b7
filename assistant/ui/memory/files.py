"""The files of the memory: listed, opened, and never losing what was typed into any of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtGui import QHideEvent, QTextCursor
from PySide6.QtWidgets import QMessageBox

from assistant.core.events import MemoryChanged, ModelReady, WorkspaceChanged
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr
from assistant.ui.memory.budget_view import BudgetView
from assistant.ui.memory.draft_keeper import DraftKeeper
from assistant.ui.memory.file_actions import FileActions
from assistant.ui.memory.file_model import MAIN, shown_name
from assistant.ui.memory.file_watch import FileWatch
from assistant.ui.memory.files_view import FilesView
from assistant.ui.memory.open_file import OpenFile
from assistant.ui.memory.unsaved import Unsaved, ask_unsaved, save_all
from assistant.ui.theme import Theme
from assistant.ui.widgets import restyle
from assistant.workspace.memory_values import MemoryFileInfo

if TYPE_CHECKING:
    from assistant.workspace.text_files import TextFile

END = -1


class FilesPage(FilesView):
    """What happens to the memory files. Unsaved text stays with its file while others are looked at."""

    quick = True

    def __init__(self, services: Backend, bridge: Bridge, theme: Theme) -> None:
        super().__init__(theme)
        self._services, self._bridge = services, bridge
        self._memory = services.workspace.memory
        self._unsaved: dict[str, Unsaved] = {}
        self._line = 0
        self._restored = False
        self.open = OpenFile(services, bridge, self, theme)
        self.doings = FileActions(services, bridge, self, lambda: frozenset(self.model.infos()))
        self.drafts = DraftKeeper(services, bridge, self.pending, self)
        self.budget = BudgetView(services, bridge, self)
        self.watch = FileWatch(self, partial(bridge.run, services.lanes.files))
        self._connect()
        self._connect_doings()
        self._show_state()

    def _connect(self) -> None:
        self.list.chosen.connect(self.open_file)
        self.new_asked.connect(self.ask_new)
        self.save_asked.connect(self.save)
        self.open.changed.connect(self._on_open_changed)
        self.open.saved.connect(self._on_saved)
        self.open.reopen_asked.connect(lambda: self._reopen(self.current))
        self.open.ended.connect(lambda: self._reopen(MAIN))
        self.open.failed.connect(self.failed)
        self.open.said.connect(self.said)
        self.editor.document().modificationChanged.connect(self._on_modification_changed)
        self.editor.textChanged.connect(self._on_text_changed)
        self.drafts.restored.connect(self._on_restored)
        self.drafts.failed.connect(self.failed)
        self.watch.changed.connect(lambda: self.note_change(self.current))

    def _connect_doings(self) -> None:
        doings = self.doings
        self.view.delete_asked.connect(doings.delete)
        self.view.rename_asked.connect(doings.ask_rename)
        self.view.menu_asked.connect(doings.show_menu)
        self.open_button.menu().aboutToShow.connect(lambda: doings.renew_open(self.open_button.menu(), self.current))
        self.more_button.menu().aboutToShow.connect(lambda: doings.renew_more(self.more_button.menu(), self.current))
        self.editor.link_followed.connect(doings.follow)
        self.editor.forget_asked.connect(lambda line, text: self.forget_asked.emit((self.current, line, text)))
        doings.failed.connect(self.failed)
        doings.said.connect(self.said)
        doings.undo_offered.connect(self.undo_offered)
        doings.created.connect(self._on_created)
        doings.renamed.connect(self._on_renamed)
        doings.deleted.connect(self._on_deleted)
        doings.found.connect(self.open_file)

    # --- what the panel asks ---

    def opened(self) -> None:
        self.refresh_budget()
        if not self._restored:
            self._restored = True
            self.drafts.restore()
        if self.current:
            self.note_change(self.current)
        else:
            self.refresh_files()
            self.open_file(MAIN)

    def noted(self, event: object) -> None:
        match event:
            case MemoryChanged():
                self.note_change(event.file, ours=event.actor != "disk")
            case WorkspaceChanged():
                self.note_change(self.current)
            case ModelReady():
                self.refresh_budget()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.drafts.keep()
        self.watch.rest()

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

    # --- files ---

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
        kept = self._unsaved.pop(file, None)
        if kept is not None:
            self.open.show_kept(kept)
            self._go()
            self.note_change(file)
            return
        self._bridge.run(
            self._services.lanes.files,
            self._memory.read,
            file,
            done=lambda read: self._on_read(file, read),
            failed=self.failed.emit,
        )

    def ask_new(self) -> None:
        """Ask for the name of a new note, make it and open it."""
        self.doings.ask_new()

    def save(self) -> None:
        """Write the file that is shown."""
        self.open.save()

    def dirty(self) -> bool:
        """Whether any file has text that is not saved."""
        return self.open.dirty() or bool(self._unsaved)

    def pending(self) -> Mapping[str, Unsaved]:
        """What is not saved, by file."""
        typed = self.open.typed()
        return dict(self._unsaved) if typed is None else {**self._unsaved, self.current: typed}

    def refresh_files(self) -> None:
        self._bridge.run(self._services.lanes.files, self._memory.files, done=self._on_files_listed)

    def refresh_budget(self) -> None:
        """Count again what loads: of what is being typed, where that is MEMORY.md."""
        self.budget.count(self.editor.toPlainText() if self.current == MAIN and self.open.dirty() else None)

    def note_change(self, file: str, ours: bool = False) -> None:
        """A file changed, maybe by another program: look again."""
        self._watch_again()
        self.refresh_files()
        if file == MAIN or not file:
            self.refresh_budget()
        if file == self.current and file not in self.doings.going:
            self.open.look_again(ours)

    def _watch_again(self) -> None:
        root = self._services.workspace.root
        self.watch.add((root, root / "memory", root / "memory" / "log", root / self.current))
        if self.current and self.isVisible():
            self.watch.look_at(root / self.current)

    def _keep_unsaved(self) -> None:
        typed = self.open.typed()
        if typed is not None:
            self._unsaved[self.current] = typed
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

    def _on_files_listed(self, found: Sequence[MemoryFileInfo]) -> None:
        files = list(found)
        if not any(info.file == MAIN for info in files):
            files.insert(0, MemoryFileInfo(MAIN, "memory", 0, ""))  # it is made with the first word in it
        self.list.show_files(files)
        self.list.show_chosen(self.current)

    def _on_saved(self, file: str) -> None:
        if file != self.current:
            self._unsaved.pop(file, None)
        self.drafts.keep_soon()
        self._show_state()
        self.refresh_files()
        self.refresh_budget()

    def _save_all(self) -> bool:
        """Save everything now, waiting for it; False when one of the files needs an answer first."""
        self._keep_unsaved()
        try:
            left = save_all(self._services.lanes.files, self._memory, self._unsaved)
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
            del self._unsaved[file]
        else:
            self.open_file(file)
        self.save()

    def _on_created(self, file: str) -> None:
        self.refresh_files()
        self.open_file(file, END)
        self.editor.setFocus()

    def _on_renamed(self, file: str, to: str) -> None:
        """What is not saved goes with the name; it is saved into the file of the new one."""
        typed, was_shown = self.pending().get(file), file == self.current
        self._leave(file)
        if typed is not None:
            self._unsaved[to] = typed
        self.refresh_files()
        if was_shown:
            self.open_file(to)

    def _on_deleted(self, file: str) -> None:
        was_shown = file == self.current
        self._leave(file)
        self.refresh_files()
        if was_shown:
            self.open_file(MAIN)

    def _leave(self, file: str) -> None:
        """The file is not there any more by the person's own will."""
        self._unsaved.pop(file, None)
        if file == self.current:
            self.editor.document().setModified(False)
            self.open.leave("")
        self.drafts.keep_soon()

    def _on_restored(self, found: dict[str, Unsaved]) -> None:
        """Text that was not saved when the window ended."""
        fresh = {file: kept for file, kept in found.items() if file not in self.pending()}
        self._unsaved |= fresh
        if self.current in fresh:
            self._reopen(self.current)
        elif fresh and not self.open.dirty() and self._line == 0:
            self.open_file(next(iter(fresh)))
        self._show_state()

    # --- how it stands ---

    def _on_open_changed(self) -> None:
        self.budget.show_for(self.current)
        self._watch_again()
        self.list.show_chosen(self.current)
        self._show_state()

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
