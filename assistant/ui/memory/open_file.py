"""The memory file that is in the editor: what was read of it, what was typed since, and how both meet on the disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from assistant.ui.backend import Backend
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr, translate_message
from assistant.ui.memory.conflicts import ConflictDialog
from assistant.ui.memory.endings import as_shown
from assistant.ui.memory.files_view import FilesView
from assistant.ui.memory.unsaved import Unsaved
from assistant.ui.theme import Theme
from assistant.ui.times import exact_time
from assistant.workspace.changes import merge
from assistant.workspace.memory_values import Conflict
from assistant.workspace.merged_save import Outcome

if TYPE_CHECKING:
    from assistant.workspace.text_files import TextFile

CHANGED, GONE, KEPT, PROBLEM = "changed", "gone", "kept", "problem"
"""Why the banner is shown."""


class OpenFile(QObject):
    """``base`` is None while a file is being read. Methods that write return at once; signals follow."""

    failed = Signal(object)
    said = Signal(str)
    changed = Signal()
    """What is shown, or how it stands."""
    saved = Signal(str)
    reopen_asked = Signal()
    ended = Signal()
    """The file was taken away by what the person did in here, an undo maybe, and nothing in it waits."""

    def __init__(self, services: Backend, bridge: Bridge, view: FilesView, theme: Theme) -> None:
        super().__init__(view)
        self._services, self._bridge, self._view, self._theme = services, bridge, view, theme
        self._memory = services.workspace.memory
        self.editor, self.banner, self.secrets = view.editor, view.banner, view.secrets
        self.file = ""
        self.base: TextFile | None = None
        self._kept_at = self._kept_text = ""
        self._saving = self._again = False
        self.conflict: ConflictDialog | None = None
        self.secrets.chosen.connect(self._save_chosen)

    # --- what is typed ---

    def dirty(self) -> bool:
        return self.editor.document().isModified()

    def gone(self) -> bool:
        """Whether the file is not on disk any more."""
        return self.banner.kind == GONE

    def typed(self) -> Unsaved | None:
        """What is not saved."""
        if self.base is None or not self.dirty():
            return None
        text = self.editor.toPlainText()
        return Unsaved(text, self.base, self._kept_at if text == self._kept_text else "")

    def leave(self, file: str) -> None:
        """Another file comes; what is typed was taken by then."""
        self.secrets.hide()
        self.file, self.base = file, None

    # --- showing ---

    def show(self, read: TextFile) -> None:
        """Show the file as it was read."""
        self._view.find_bar.hide()
        self.editor.show_text(read.text)
        self._settle(read)

    def show_kept(self, kept: Unsaved) -> None:
        """Show what was typed into it before."""
        self.show(kept.base)
        self.editor.renew_text(kept.text)
        self._kept_at, self._kept_text = kept.kept, kept.text
        self.editor.document().setModified(True)
        if kept.kept:
            acts = ((tr("Save"), self.save), (tr("Compare…"), self.compare), (tr("Discard"), self.discard))
            self.banner.say(KEPT, tr("Unsaved text of {time} was kept.", time=exact_time(kept.kept)), *acts)
        self.changed.emit()

    def look_again(self, ours: bool = False) -> None:
        """Read it anew, maybe another program wrote it. ours: it was changed from in here."""
        if self.base is not None:
            file = self.file
            read = self._memory.read
            done = lambda now: self._on_reread(file, now, ours)  # noqa: E731 - names what it is
            self._bridge.run(self._services.lanes.files, read, file, done=done, failed=self.failed.emit)

    def _renew(self, read: TextFile) -> None:
        """The same file, which changed: the cursor and what can be undone stay."""
        self.editor.renew_text(read.text)
        self._settle(read)

    def _settle(self, read: TextFile) -> None:
        self.base, self._kept_at = read, ""
        self.editor.document().setModified(False)
        self.editor.setReadOnly(bool(read.problem) and not read.encoding)
        self.banner.clear()
        if read.problem:
            self.banner.say(PROBLEM, translate_message(read.problem))
        self.changed.emit()

    def _on_reread(self, file: str, read: TextFile, ours: bool) -> None:
        if file != self.file or self.base is None or read.sha256 == self.base.sha256:
            return
        typed = self.editor.toPlainText()
        if not read.sha256 and ours and not self.dirty():
            self.ended.emit()
        elif not read.sha256:
            words = tr("This file is not there any more. Its text is kept here; saving writes it anew.")
            self.banner.say(GONE, words, (tr("Write it anew"), self._save_anew))
            self.changed.emit()
        elif not self.dirty() or typed == as_shown(read.text):
            self._renew(read)
        else:
            self._say_changed(read, merge(as_shown(self.base.text), typed, as_shown(read.text)))

    def _say_changed(self, read: TextFile, merged: str | None) -> None:
        if merged is None:
            words = tr("This file changed on disk while you are editing it, in the same place. Your text is kept.")
            self.banner.say(CHANGED, words, (tr("Compare…"), self.save))
        else:
            words = tr("This file changed on disk while you are editing it. Your text is kept; saving merges both.")
            self.banner.say(CHANGED, words, (tr("Merge now"), lambda: self._merge(read, merged)))

    def _merge(self, read: TextFile, merged: str) -> None:
        """Take the other's change into what is being typed: one step of undo."""
        self.base = read
        self.editor.renew_text(merged)
        self.editor.document().setModified(True)
        self.banner.clear(CHANGED)

    def discard(self) -> None:
        """Let go of what is not saved, and show the file as it is on disk."""
        self.editor.document().setModified(False)
        self.banner.clear()
        self.reopen_asked.emit()

    def compare(self) -> None:
        """Show what is typed beside what is on disk."""
        typed, file = self.typed(), self.file
        if typed is not None:
            self._bridge.run(
                self._services.lanes.files,
                self._memory.read,
                file,
                done=lambda read: self._ask_which(file, typed.text, None, read),
                failed=self.failed.emit,
            )

    # --- saving ---

    def save(self) -> None:
        """Write the file, asking first about a secret in it; asked again, it goes without the secret."""
        typed = self.typed()
        if typed is None:
            if self.gone():
                self._save_anew()
            return
        asked = not self.secrets.isHidden()
        if asked or not self.secrets.asks(typed.new_lines()):
            self._save_chosen(False)

    def _save_anew(self) -> None:
        self.editor.document().setModified(True)
        self.save()

    def _save_chosen(self, keep_secrets: bool) -> None:
        typed = self.typed()
        self.secrets.hide()
        if typed is not None:
            self._save(self.file, typed, keep_secrets)

    def _save(self, file: str, typed: Unsaved, keep_secrets: bool = False) -> None:
        """One at a time: a second one would find the file changed by the first."""
        if self._saving:
            self._again = True
            return
        self._saving, self._again = True, False
        self._bridge.run(
            self._services.lanes.files,
            lambda: typed.save(self._memory, file, keep_secrets),
            done=lambda outcome: self._on_saved(file, typed, outcome),
            failed=self._on_not_saved,
        )

    def _on_not_saved(self, error: BaseException) -> None:
        self._saving = False
        self.failed.emit(error)

    def _on_saved(self, file: str, typed: Unsaved, outcome: Outcome) -> None:
        self._saving = False
        result, read = outcome.result, outcome.read
        if isinstance(result, Conflict):
            self._ask_which(file, typed.text, result.merged, read)
            return
        self.said.emit(_saved_words(file, result.redacted, outcome.merged))
        if file == self.file:
            self._after_save(typed, read)
        self.saved.emit(file)
        if self._again:
            self.save()

    def _after_save(self, typed: Unsaved, read: TextFile) -> None:
        """Show what is on disk now; what was typed since the save is kept on top of it."""
        now = self.editor.toPlainText()
        if now == typed.text:
            self._renew(read)
            return
        self.base, self._kept_at = read, ""
        self.banner.clear()
        both = merge(typed.text, now, as_shown(read.text))
        if both is not None:
            self.editor.renew_text(both)
        self.editor.document().setModified(True)

    def _ask_which(self, file: str, mine: str, merged: str | None, read: TextFile) -> None:
        dialog = ConflictDialog(file, mine, as_shown(read.text), merged, self._theme, self._view.window())
        dialog.chosen.connect(lambda choice: self._on_chosen(file, choice, dialog, read))
        self.conflict = dialog
        dialog.open()

    def _on_chosen(self, file: str, choice: str, dialog: ConflictDialog, read: TextFile) -> None:
        if file != self.file:
            return  # another file is looked at by now; its unsaved text waits, and saving asks again
        if choice == "theirs":
            self._renew(read)
            self.saved.emit(file)
            return
        text = dialog.text_of(choice)
        self.editor.renew_text(text)
        self.editor.document().setModified(True)
        self.base = read
        self._save(file, Unsaved(text, read))


def _saved_words(file: str, redacted: int, merged: bool) -> str:
    if redacted:
        return tr("Saved; a secret in it was not written to disk")
    if merged:
        return tr("Saved {file}; what changed in it meanwhile was merged in", file=file)
    return tr("Saved {file}", file=file)
