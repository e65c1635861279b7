"""The files of the memory: listed, watched, begun, renamed and deleted; their text is the desk's."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtGui import QHideEvent, QShowEvent

from assistant.core.events import MemoryChanged, ModelReady, WorkspaceChanged
from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.memory.file_actions import FileActions
from assistant.ui.memory.file_model import MAIN
from assistant.ui.memory.file_watch import FileWatch
from assistant.ui.memory.files_desk import END, FilesDesk
from assistant.ui.theme import Theme
from assistant.workspace.memory_values import MemoryFileInfo


class FilesPage(FilesDesk):
    """What happens to the memory files as a whole, here and by other programs."""

    quick = True

    def __init__(self, services: Backend, bridge: Bridge, theme: Theme) -> None:
        super().__init__(services, bridge, theme)
        self._restored = False
        self.doings = FileActions(services, bridge, self, lambda: frozenset(self.model.infos()))
        self.watch = FileWatch(self, partial(bridge.run, services.lanes.files))
        self.list.chosen.connect(self.open_file)
        self.new_asked.connect(self.ask_new)
        self.open.changed.connect(self._on_open_changed)
        self.open.saved.connect(self._on_saved)
        self.watch.changed.connect(lambda: self.note_change(self.current))
        self._connect_doings()

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
                if event.actor == "undo" and self._unsaved.bring_back(event.file):
                    self.drafts.keep_soon()
                self.note_change(event.file, ours=event.actor != "disk")
            case WorkspaceChanged():
                self.note_change(self.current)
            case ModelReady():
                self.refresh_budget()

    def showEvent(self, event: QShowEvent) -> None:
        """Back on the screen: a window that was minimised looked at nothing meanwhile."""
        super().showEvent(event)
        if event.spontaneous() and self.current:
            self.note_change(self.current)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.drafts.keep()
        self.watch.rest()

    # --- files ---

    def ask_new(self) -> None:
        """Ask for the name of a new note, make it and open it."""
        self.doings.ask_new()

    def refresh_files(self) -> None:
        self._bridge.run(self._services.lanes.files, self._memory.files, done=self._on_files_listed)

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

    def _on_files_listed(self, found: Sequence[MemoryFileInfo]) -> None:
        files = list(found)
        if not any(info.file == MAIN for info in files):
            files.insert(0, MemoryFileInfo(MAIN, "memory", 0, ""))  # it is made with the first word in it
        self.list.show_files(files)
        self.list.show_chosen(self.current)

    def _on_saved(self, file: str) -> None:
        if file != self.current:
            self._unsaved.take(file)
        self.drafts.keep_soon()
        self._show_state()
        self.refresh_files()
        self.refresh_budget()

    def _on_created(self, file: str) -> None:
        self.refresh_files()
        self.open_file(file, END)
        self.editor.setFocus()

    def _on_renamed(self, file: str, to: str) -> None:
        """What is not saved goes with the name; it is saved into the file of the new one."""
        typed, was_shown = self.pending().get(file), file == self.current
        self._leave(file)
        self._unsaved.put(to, typed)
        self.refresh_files()
        if was_shown:
            self.open_file(to)

    def _on_deleted(self, file: str) -> None:
        typed, was_shown = self.pending().get(file), file == self.current
        self._leave(file)
        self._unsaved.set_aside(file, typed)
        self.refresh_files()
        if was_shown:
            self.open_file(MAIN)

    def _on_open_changed(self) -> None:
        self.budget.show_for(self.current)
        self._watch_again()
        self.list.show_chosen(self.current)
        self._show_state()
