"""The files of the memory: opened, edited, saved, and never losing what was typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QMessageBox

from assistant.core.events import MemoryChanged, ModelReady
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.chat.strips import secrets_in
from assistant.ui.i18n import tr, translate_message
from assistant.ui.memory.conflicts import ConflictDialog
from assistant.ui.memory.file_roles import MAIN, file_roles
from assistant.ui.memory.file_watch import FileWatch
from assistant.ui.memory.files_view import FilesView
from assistant.ui.memory.new_note import NewNoteDialog
from assistant.ui.memory.unsaved import Unsaved, ask_unsaved
from assistant.ui.models.plain import ITEM_ROLE, PlainListModel
from assistant.ui.theme import Theme
from assistant.ui.widgets import restyle
from assistant.workspace.memory_values import Conflict, MemoryFileInfo, Saved

if TYPE_CHECKING:
    from assistant.workspace.budget import Loaded
    from assistant.workspace.text_files import TextFile

END = -1
_ROW = 34


class FilesPage(FilesView):
    """What happens to the memory files. Unsaved text stays with its file while others are looked at."""

    quick = True

    def __init__(self, services: Backend, bridge: Bridge, theme: Theme) -> None:
        super().__init__(theme)
        self._services, self._bridge, self._theme = services, bridge, theme
        self._memory = services.workspace.memory
        self.current = ""
        self._base: TextFile | None = None
        self._unsaved: dict[str, Unsaved] = {}
        self._line = 0
        self._left_out: tuple[tuple[int, str], ...] = ()
        self.conflict: ConflictDialog | None = None
        self.new_note: NewNoteDialog | None = None
        self.model = PlainListModel(self._describe, self)
        self.view.setModel(self.model)
        self.view.selectionModel().currentChanged.connect(self._on_current_changed)
        self.new_asked.connect(self.ask_new)
        self.save_asked.connect(self.save)
        self.secrets.chosen.connect(self._save_chosen)
        self.editor.document().modificationChanged.connect(self._show_state)
        self._watch = FileWatch(self)
        self._watch.changed.connect(lambda: self.note_change(self.current))
        self._show_state()

    def _watch_again(self) -> None:
        root = self._services.workspace.root
        self._watch.add((root, root / "memory", root / self.current))

    def opened(self) -> None:
        self.refresh_files()
        self.refresh_budget()
        if not self.current:
            self.open_file(MAIN)

    def noted(self, event: object) -> None:
        match event:
            case MemoryChanged():
                self.note_change(event.file)
            case ModelReady():
                self.refresh_budget()

    def open_file(self, file: str, line: int = 0) -> None:
        """Show a file, at a line when one is given; END: with the cursor at its end."""
        self._line = line
        if file == self.current and self._base is not None:
            self._go()
            return
        self._keep_unsaved()
        self.secrets.hide()
        self.current = file
        self._base = None
        kept = self._unsaved.pop(file, None)
        if kept is not None:
            self._show_file(kept.base)
            self.editor.setPlainText(kept.text)
            self.editor.document().setModified(True)
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
        dialog = NewNoteDialog(self.window())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.named.connect(self._create)
        self.new_note = dialog
        dialog.open()

    def _create(self, file: str, name: str) -> None:
        """Where the file is there already, the save is a Conflict, and the file opens as it is."""
        self._bridge.run(
            self._services.lanes.files,
            lambda: self._memory.save(file, f"# {name}\n\n", ""),
            done=lambda _: self._on_created(file),
            failed=self.failed.emit,
        )

    def _on_created(self, file: str) -> None:
        self.refresh_files()
        self.open_file(file, END)
        self.editor.setFocus()

    def dirty(self) -> bool:
        """Whether any file has text that is not saved."""
        return self.editor.document().isModified() or bool(self._unsaved)

    def refresh_files(self) -> None:
        self._bridge.run(self._services.lanes.files, self._memory.files, done=self._on_files_listed)

    def refresh_budget(self) -> None:
        """Count again what loads. On the recall lane: counting tokens may have to wait for the model."""
        services = self._services
        self._bridge.run(
            services.lanes.recall,
            lambda: (services.budget(), services.settings.load().memory),
            done=self._on_budget,
            failed=lambda error: self.gauge.hide(),
        )

    def note_change(self, file: str) -> None:
        """A file changed, maybe by another program: look again."""
        self._watch_again()
        self.refresh_files()
        if file == MAIN or not file:
            self.refresh_budget()
        if file == self.current and self._base is not None:
            self._bridge.run(
                self._services.lanes.files,
                self._memory.read,
                file,
                done=lambda read: self._on_reread(file, read),
                failed=self.failed.emit,
            )

    def _keep_unsaved(self) -> None:
        typed = self._typed()
        if typed is not None:
            self._unsaved[self.current] = typed

    def _on_files_listed(self, found: Sequence[MemoryFileInfo]) -> None:
        files = list(found)
        if not any(info.file == MAIN for info in files):
            files.insert(0, MemoryFileInfo(MAIN, "memory", 0, ""))  # it is made with the first word in it
        self.model.show(files)
        self.view.setFixedHeight(min(5, max(1, len(files))) * _ROW + 10)
        self._select_current()

    def _select_current(self) -> None:
        rows = [i for i, info in enumerate(self.model.items()) if info.file == self.current]
        if rows and self.view.currentIndex().row() != rows[0]:
            self.view.selectionModel().blockSignals(True)
            self.view.setCurrentIndex(self.model.index(rows[0]))
            self.view.selectionModel().blockSignals(False)
            self.view.viewport().update()

    def _on_current_changed(self, current: QModelIndex) -> None:
        info = current.data(ITEM_ROLE)
        if info is not None and info.file != self.current:
            self.open_file(info.file)

    def _on_read(self, file: str, read: TextFile) -> None:
        if file == self.current:
            self._show_file(read)

    def _show_file(self, read: TextFile) -> None:
        self._base = read
        self.editor.show_text(read.text)
        self.editor.document().setModified(False)
        self.editor.setReadOnly(bool(read.problem) and not read.encoding)
        self.banner.setVisible(bool(read.problem))
        self.banner_words.setText(translate_message(read.problem))
        self.compare.hide()
        self._shade()
        self._watch_again()
        self._select_current()
        self._go()
        self._show_state()

    def _go(self) -> None:
        if self._line == END:
            self.editor.moveCursor(QTextCursor.MoveOperation.End)
        elif self._line > 0:
            self.editor.go_to(self._line)
        self._line = 0

    def _on_reread(self, file: str, read: TextFile) -> None:
        if file != self.current or self._base is None or read.sha256 == self._base.sha256:
            return
        if not self.editor.document().isModified() or self.editor.toPlainText() == read.text:
            self._show_file(read)
            return
        self.banner_words.setText(tr("This file changed on disk while you are editing it. Your text is kept."))
        self.compare.show()
        self.banner.show()

    # --- saving ---

    def save(self) -> None:
        """Write the file, asking first about a secret in it; asked again, it goes without the secret."""
        typed = self._typed()
        if typed is None:
            return
        asked = not self.secrets.isHidden()
        if asked or not self.secrets.asks(typed.new_lines()):
            self._save_chosen(False)

    def _save_chosen(self, keep_secrets: bool) -> None:
        typed = self._typed()
        self.secrets.hide()
        if typed is not None:
            self._save(self.current, typed.whole(), typed.base.sha256, keep_secrets)

    def _typed(self) -> Unsaved | None:
        """What is not saved of the file that is shown."""
        if self._base is None or not self.editor.document().isModified():
            return None
        return Unsaved(self.editor.toPlainText(), self._base)

    def _save(self, file: str, text: str, sha: str, keep_secrets: bool = False) -> None:
        memory = self._memory

        def work() -> tuple[Saved | Conflict, TextFile]:
            result = memory.save(file, text, sha, keep_secrets=keep_secrets)
            return result, memory.read(file)

        typed = self.editor.toPlainText()
        self._bridge.run(
            self._services.lanes.files,
            work,
            done=lambda both: self._on_saved(file, typed, *both),
            failed=self.failed.emit,
        )

    def _on_saved(self, file: str, typed: str, result: Saved | Conflict, read: TextFile) -> None:
        if isinstance(result, Conflict):
            self._ask_which(file, result, read)
            return
        if result.redacted:
            self.said.emit(tr("Saved; a secret in it was not written to disk"))
        else:
            self.said.emit(tr("Saved {file}", file=file))
        if file == self.current:
            self._base = read
            self.banner.hide()
            if self.editor.toPlainText() in (typed, read.text):
                self.editor.document().setModified(False)
                if result.redacted:
                    self._show_file(read)
        self._show_state()
        self.refresh_files()
        self.refresh_budget()

    def _ask_which(self, file: str, conflict: Conflict, read: TextFile) -> None:
        dialog = ConflictDialog(file, conflict.mine, read.text, conflict.merged, self._theme, self.window())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.chosen.connect(lambda choice: self._on_chosen(file, choice, dialog, read))
        self.conflict = dialog
        dialog.open()

    def _on_chosen(self, file: str, choice: str, dialog: ConflictDialog, read: TextFile) -> None:
        if file != self.current:
            self.open_file(file)
        if choice == "theirs":
            self._unsaved.pop(file, None)
            self._show_file(read)
            return
        text = dialog.mine if choice == "mine" or dialog.merged is None else dialog.merged
        self.editor.setPlainText(text)
        self._save(file, text, read.sha256)

    def may_leave(self) -> bool:
        """Ask what to do with unsaved text; False: stay."""
        if not self.dirty():
            return True
        answer = self.ask_unsaved()
        if answer == QMessageBox.StandardButton.Save:
            return self._save_all()
        return answer == QMessageBox.StandardButton.Discard

    def ask_unsaved(self) -> QMessageBox.StandardButton:
        """Save, discard or cancel."""
        return ask_unsaved(self.window())

    def _save_all(self) -> bool:
        """Save everything now, waiting for it; False when one of the files changed meanwhile."""
        self._keep_unsaved()
        for file, kept in list(self._unsaved.items()):
            if secrets_in(kept.new_lines()):
                self._return_to(file)
                return False
            future = self._services.lanes.files.submit(self._memory.save, file, kept.whole(), kept.base.sha256)
            try:
                result = future.result(timeout=10)
            except Exception as error:  # noqa: BLE001 - shown to the person, and the window stays open
                self.failed.emit(error)
                return False
            if isinstance(result, Conflict):
                self._return_to(file)
                return False
            del self._unsaved[file]
        self.editor.document().setModified(False)
        return True

    def _return_to(self, file: str) -> None:
        """Show what cannot be saved without a question, and ask it."""
        if file == self.current:
            del self._unsaved[file]
        else:
            self.open_file(file)
        self.save()

    def discard(self) -> None:
        """Forget unsaved text."""
        self._unsaved.clear()
        self.editor.document().setModified(False)

    # --- budget ---

    def _on_budget(self, both: tuple[Loaded, Any]) -> None:
        loaded, limits = both
        self.gauge.show_measures(
            (loaded.lines_used, limits.fact_lines),
            (loaded.bytes_used, limits.fact_bytes),
            (loaded.tokens_used, loaded.tokens_allowed),
        )
        here = [left for left in loaded.left_out if left.file == MAIN and left.line]
        self._left_out = tuple((left.line, translate_message(left.why)) for left in here)
        self._shade()

    def _shade(self) -> None:
        here = self.current == MAIN
        self.gauge.setVisible(here)
        lines = self._left_out if here else ()
        self.editor.shade(tuple(line for line, _ in lines))
        self.left_out.show_lines(lines)

    # --- words ---

    def _show_state(self) -> None:
        dirty = self.editor.document().isModified()
        self.save_button.setEnabled(dirty)
        if self._base is not None and self.editor.isReadOnly():
            self.state.setText(tr("Read-only"))
        else:
            self.state.setText(tr("Not saved yet") if dirty else tr("Saved"))
        restyle(self.state, "role", "smallamber" if dirty else "small")
        self.model.refresh()

    def _describe(self, info: MemoryFileInfo) -> dict[int, Any]:
        here = info.file == self.current and self.editor.document().isModified()
        return file_roles(info, here or info.file in self._unsaved)
