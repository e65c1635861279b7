"""What the person does with assistants: go to another, make one, edit its prompt, rename and delete it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import shiboken6
from PySide6.QtCore import QObject, Qt

from assistant.ui.assistants.dialogs import AssistantDialog, ask
from assistant.ui.assistants.switcher import AssistantSwitcher
from assistant.ui.bridge import Done, Failed
from assistant.ui.i18n import tr
from assistant.ui.window_state import FILE, forget_workspace

if TYPE_CHECKING:
    from assistant.ui.main_window import MainWindow
    from assistant.workspace.assistants import DeletedAssistant


def _nothing() -> None:
    """Nothing is to be done in between."""


@dataclass(frozen=True, slots=True)
class Move:
    """To which assistant the window goes. between: once nothing of the one before is open; then: in the new window."""

    name: str
    between: Callable[[], object] = _nothing
    then: Callable[[MainWindow], object] = lambda _: None


class AssistantActions(QObject):
    """Behind the switcher. Moves themselves are for whoever holds the window: ``window.moved``."""

    def __init__(self, window: MainWindow, switcher: AssistantSwitcher) -> None:
        super().__init__(window)
        self._window = window
        self._bridge, self._lane = window.bridge, window.services.lanes.files
        self._assistants = window.services.assistants
        self._switcher = switcher
        switcher.listed.connect(self.open_menu)
        switcher.chosen.connect(self.switch)
        switcher.add_asked.connect(self.add)
        switcher.prompt_asked.connect(self.edit_prompt)
        switcher.rename_asked.connect(self.rename)
        switcher.delete_asked.connect(self.delete)

    def open_menu(self) -> None:
        """The list of assistants; it is read anew each time."""
        self._window.sidebar.show()
        self._run(self._assistants.names, self._show_names)

    def _show_names(self, names: list[str]) -> None:
        self._switcher.show_names(names)

    def switch(self, name: str) -> None:
        """Go to another assistant. What is being written is finished by the person, or stopped and kept."""
        if name != self._assistants.current and self._may_stop(name):
            self._window.moved.emit(Move(name))

    def add(self) -> None:
        """Ask for a name and a prompt, and go there."""
        dialog = self._open(AssistantDialog(tr("New assistant"), tr("Create"), self._window, "", ""))

        def create(name: str, prompt: str) -> None:
            self._run(partial(self._assistants.add, name, prompt), lambda _: created(name), dialog.show_problem)

        def created(name: str) -> None:
            _close(dialog)
            self.switch(name)

        dialog.done_asked.connect(create)

    def edit_prompt(self) -> None:
        """Show the prompt of the present one for editing. It counts from the next chat on."""
        name = self._assistants.current
        self._run(partial(self._assistants.prompt, name), partial(self._edit_prompt, name))

    def _edit_prompt(self, name: str, known: str) -> None:
        title = tr("Prompt of {name}", name=name)
        dialog = self._open(AssistantDialog(title, tr("Save"), self._window, None, known.rstrip("\n")))

        def save(_name: str, prompt: str) -> None:
            work = partial(self._assistants.set_prompt, name, prompt, known)
            self._run(work, lambda text: saved(prompt, text), dialog.show_problem)

        def saved(prompt: str, text: str) -> None:
            _close(dialog)
            words = tr("Saved. New chats begin with it")
            if text.strip() != prompt.strip():
                words = tr("Saved; a secret in it was not written down")
            self._window.bottombar.show_notice(words)

        dialog.done_asked.connect(save)

    def rename(self) -> None:
        """Ask for another name; the window goes on under it."""
        old = self._assistants.current
        title = tr("Rename {name}", name=old)
        dialog = self._open(AssistantDialog(title, tr("Rename"), self._window, old, None))
        dialog.name.selectAll()

        def rename(name: str, _prompt: str) -> None:
            dialog.accept()
            if name != old and self._may_stop(name):
                self._window.moved.emit(Move(name, partial(self._assistants.rename, old, name)))

        dialog.done_asked.connect(rename)

    def delete(self) -> None:
        """Ask, go to the default one, and put this one into the trash; a toast brings it back."""
        name = self._assistants.current
        words = tr("Delete {name} with all of its memory and chats?", name=name)
        if not ask(self._window, tr("Delete an assistant"), words, tr("Delete")):
            return
        state, root = self._window.services.paths.state, self._window.services.workspace.root
        deleted: list[DeletedAssistant] = []

        def put_away() -> None:
            deleted.append(self._assistants.delete(name))
            forget_workspace(state / FILE, root)

        self._window.moved.emit(Move("", put_away, lambda window: window.assistants.offer_back(deleted[0])))

    def offer_back(self, deleted: DeletedAssistant) -> None:
        """Say that it is gone, with a way back."""
        words = tr("Deleted {name}", name=deleted.name)
        self._window.toasts.show(words, tr("Undo"), lambda: self._bring_back(deleted), 20)

    def _bring_back(self, deleted: DeletedAssistant) -> None:
        self._run(partial(self._assistants.restore, deleted), lambda _: self.switch(deleted.name))

    def _may_stop(self, name: str) -> bool:
        """A reply that is being written would be stopped: the person decides."""
        if not self._window.session.busy_chats():
            return True
        words = tr("A reply is being written. It is stopped, and what there is of it is kept.")
        return ask(self._window, tr("Go to {name}", name=name), words, tr("Stop it and go"))

    def _open(self, dialog: AssistantDialog) -> AssistantDialog:
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()
        return dialog

    def _run(self, work: Callable[[], Any], done: Done, failed: Failed | None = None) -> None:
        self._bridge.run(self._lane, work, done=done, failed=failed)


def _close(dialog: AssistantDialog) -> None:
    if shiboken6.isValid(dialog):  # the person may have been quicker
        dialog.accept()
