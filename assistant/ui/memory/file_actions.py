"""What the person does with whole memory files: begin, rename, delete, open in other programs, follow a link."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr
from assistant.ui.memory.file_model import shown_name
from assistant.ui.memory.new_note import NewNoteDialog, RenameDialog
from assistant.ui.memory.open_in import Opener, OpenIn
from assistant.workspace.note_files import delete_note, rename_note


class FileActions(QObject):
    """Everything is journaled; what can be taken back is offered in a toast."""

    failed = Signal(object)
    said = Signal(str)
    undo_offered = Signal(str, str)
    created = Signal(str)
    renamed = Signal(str, str)
    deleted = Signal(str)
    found = Signal(str)
    """The file that a link leads to."""

    def __init__(self, services: Backend, bridge: Bridge, page: QWidget, files: Callable[[], frozenset[str]]) -> None:
        super().__init__(page)
        self._services, self._bridge, self._page, self._files = services, bridge, page, files
        self._memory = services.workspace.memory
        self.going: set[str] = set()
        """Files that are being renamed or deleted: that they vanish is no news."""
        self.opener: Opener | None = None
        self.new_note: NewNoteDialog | None = None
        self.rename_dialog: RenameDialog | None = None

    # --- begin ---

    def ask_new(self, name: str = "") -> None:
        """Ask for the name of a new note, make it and open it."""
        dialog = NewNoteDialog(self._page.window(), name)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.named.connect(self._create)
        self.new_note = dialog
        dialog.open()

    def _create(self, file: str, name: str) -> None:
        """Where the file is there already, the save is a Conflict, and the file opens as it is."""
        self._run(lambda: self._memory.save(file, f"# {name}\n\n", ""), lambda _: self.created.emit(file))

    # --- rename and delete ---

    def ask_rename(self, file: str) -> None:
        """Ask for another name. Only notes have names of their own."""
        if not can_change(file):
            self.said.emit(tr("{name} keeps its name; only notes can be renamed.", name=shown_name(file)))
            return
        dialog = RenameDialog(file, self._files(), self._page.window())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.named.connect(lambda to, _: self.rename(file, to, dialog.keeps_links.isChecked()))
        self.rename_dialog = dialog
        dialog.open()

    def rename(self, file: str, to: str, keeps_links: bool) -> None:
        if file != to:
            self.going.add(file)
            self._run(
                lambda: rename_note(self._memory, file, to, keeps_links),
                lambda ident: self._on_renamed(file, to, ident),
            )

    def delete(self, file: str) -> None:
        """At once; a toast brings it back. Only notes can be deleted."""
        if not can_change(file):
            self.said.emit(tr("{name} cannot be deleted; only notes can.", name=shown_name(file)))
            return
        self.going.add(file)
        self._run(lambda: delete_note(self._memory, file), lambda ident: self._on_deleted(file, ident))

    def _on_renamed(self, file: str, to: str, ident: str) -> None:
        self.going.discard(file)
        self.renamed.emit(file, to)
        self.undo_offered.emit(tr("Renamed “{old}” to “{new}”", old=shown_name(file), new=shown_name(to)), ident)

    def _on_deleted(self, file: str, ident: str) -> None:
        self.going.discard(file)
        self.deleted.emit(file)
        self.undo_offered.emit(tr("Deleted the note “{name}”", name=shown_name(file)), ident)

    # --- elsewhere ---

    def open_in(self) -> OpenIn:
        return OpenIn(self._services.workspace.root, self.said.emit, self.opener)

    def fill_more(self, menu: QMenu, file: str) -> None:
        """What can be done with the file itself."""
        changeable = can_change(file)
        for words, act in ((tr("Rename…"), self.ask_rename), (tr("Delete"), self.delete)):
            action = QAction(words, menu)
            action.setEnabled(changeable)
            action.triggered.connect(lambda _=False, act=act: act(file))
            menu.addAction(action)

    def show_menu(self, file: str, place: QPoint) -> None:
        """All of it, at a place of the screen."""
        menu = QMenu(self._page)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.open_in().fill(menu, file, menu)
        menu.addSeparator()
        self.fill_more(menu, file)
        menu.popup(place)

    def follow(self, target: str) -> None:
        """Open what a link names; a note that is not there is offered to be made."""
        from assistant.workspace.links import resolve_link

        root = self._services.workspace.root
        self._run(lambda: resolve_link(root, target), lambda file: self._on_resolved(target, file))

    def _on_resolved(self, target: str, file: str | None) -> None:
        if file:
            self.found.emit(file)
        else:
            self.ask_new(target)

    def renew_open(self, menu: QMenu, file: str) -> None:
        """The menu of the other programs, for this file."""
        menu.clear()
        self.open_in().fill(menu, file, menu)

    def renew_more(self, menu: QMenu, file: str) -> None:
        """The menu of what can be done with this file."""
        menu.clear()
        self.fill_more(menu, file)

    def _run(self, work: Callable[[], object], done: Callable[[Any], None]) -> None:
        self._bridge.run(self._services.lanes.files, work, done=done, failed=self._on_failed)

    def _on_failed(self, error: BaseException) -> None:
        self.going.clear()
        self.failed.emit(error)


def can_change(file: str) -> bool:
    """Whether it is a note, which may be renamed and deleted."""
    return file.startswith("memory/") and not file.startswith("memory/log/") and file != "memory/archive.md"
