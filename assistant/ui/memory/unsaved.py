"""Text that is not saved: what is kept of it, what is new in it, and the question before it would be lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QMessageBox, QWidget

from assistant.ui.backend import Lane, Memory
from assistant.ui.chat.strips import secrets_in
from assistant.ui.i18n import tr
from assistant.ui.memory.endings import restore_endings
from assistant.workspace.memory_values import Conflict
from assistant.workspace.merged_save import Outcome, save_merged

if TYPE_CHECKING:
    from assistant.workspace.text_files import TextFile

_PATIENCE_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Unsaved:
    """What was typed into a file, and the file as it was read before. kept: when, for a draft of an earlier time."""

    text: str
    base: TextFile
    kept: str = ""

    def whole(self) -> str:
        """The text to write, with the endings of the lines that were there.

        Its last line ends too where it did: what another program adds then begins a line of its own.
        """
        before, text = self.base.text, self.text
        ended = text + "\n" if text and not text.endswith("\n") and (not before or before.endswith("\n")) else text
        return restore_endings(before, ended, self.base.newline)

    def save(self, memory: Memory, file: str, keep_secrets: bool = False) -> Outcome:
        """Write it. Blocking."""
        base = self.base
        return save_merged(memory, file, self.whole(), base.sha256, base.text, keep_secrets=keep_secrets)

    def new_lines(self) -> str:
        """The lines that the file did not have: only in them a save takes secrets out."""
        known = set(self.base.text.splitlines())
        return "\n".join(line for line in self.text.splitlines() if line not in known)


class UnsavedTexts:
    """What is not saved of the files that are not in the editor; of deleted ones too, should they come back."""

    def __init__(self) -> None:
        self.waiting: dict[str, Unsaved] = {}
        self._aside: dict[str, Unsaved] = {}

    def put(self, file: str, typed: Unsaved | None) -> None:
        """The editor leaves a file; None: nothing in it waits."""
        if typed is not None:
            self.waiting[file] = typed

    def take(self, file: str) -> Unsaved | None:
        """The editor shows a file."""
        return self.waiting.pop(file, None)

    def set_aside(self, file: str, typed: Unsaved | None) -> None:
        """The person deleted the file."""
        self.waiting.pop(file, None)
        if typed is not None:
            self._aside[file] = typed

    def bring_back(self, file: str) -> bool:
        """The person took that back; whether there is text of theirs again."""
        typed = self._aside.pop(file, None)
        self.put(file, typed)
        return typed is not None

    def clear(self) -> None:
        self.waiting.clear()
        self._aside.clear()


def save_all(lane: Lane, memory: Memory, unsaved: dict[str, Unsaved]) -> str:
    """Save each and take it out of ``unsaved``, waiting for it; the first file that needs an answer, "" for none.

    Raises what saving raises.
    """
    for file, kept in list(unsaved.items()):
        if secrets_in(kept.new_lines()):
            return file
        future = lane.submit(kept.save, memory, file)
        if isinstance(future.result(timeout=_PATIENCE_SECONDS).result, Conflict):
            return file
        del unsaved[file]
    return ""


def ask_unsaved(parent: QWidget) -> QMessageBox.StandardButton:
    """Save, discard or cancel."""
    box = QMessageBox(parent)
    box.setWindowTitle("Keepsake")
    box.setText(tr("Some text in your memory files is not saved."))
    buttons = QMessageBox.StandardButton
    box.setStandardButtons(buttons.Save | buttons.Discard | buttons.Cancel)
    box.button(buttons.Save).setText(tr("Save"))
    box.button(buttons.Discard).setText(tr("Discard"))
    box.button(buttons.Cancel).setText(tr("Cancel"))
    box.setDefaultButton(buttons.Save)
    return QMessageBox.StandardButton(box.exec())
