"""Taking changes of the memory files back: one, or a batch as one; exactly, by merging, or by reverse patch."""

from __future__ import annotations

from assistant.core.errors import AssistantError
from assistant.workspace.changes import merge, merge_for
from assistant.workspace.forgotten_text import FORGOTTEN
from assistant.workspace.journal import Journal, JournalEntry
from assistant.workspace.memory_files import FileChange, MemoryFiles
from assistant.workspace.memory_values import Conflict, Saved
from assistant.workspace.patches import reverse_patch
from assistant.workspace.text_files import TextFile, check_writable, decode, exact_bytes, exact_text, visible


class Undoing:
    """Called under the lock of the memory files."""

    def __init__(self, files: MemoryFiles, journal: Journal) -> None:
        self._files = files
        self._journal = journal

    def undo(self, ident: str) -> Saved | Conflict:
        """Take back a change or a batch; see Memory.undo."""
        entry = self._journal.get(ident)
        entries = [entry] if entry else self._journal.batch(ident)
        if not entries:
            raise AssistantError("journal.missing", "This change is not in the journal.", "Reload the journal.")
        able = [each for each in entries if each.can_undo]
        if not able:
            if any(FORGOTTEN in entry.diff for entry in entries):
                raise AssistantError(
                    "journal.forgotten", "What this change held was forgotten; it cannot be taken back."
                )
            raise AssistantError("journal.undone", "This change was taken back already.")
        changes = []
        for each in able:
            change = self._change(each)
            if isinstance(change, Conflict):
                return change
            changes.append(change)
        batch = "" if entry else self._journal.new_id("batch-")
        done = self._files.change_all(changes, batch)
        if entry:
            raw = changes[0].raw
            return Saved(done[0], "" if raw is None else decode(raw).sha256)
        return Saved(batch if any(done) else "", "")

    def _change(self, entry: JournalEntry) -> FileChange | Conflict:
        current = self._files.load(entry.path)
        check_writable(current, entry.path)
        wanted = self._without(entry, current)
        if wanted is None:
            return self._conflict(entry, current)
        gone = not entry.before_sha and not wanted
        raw = None if gone else exact_bytes(wanted, current)
        return FileChange(entry.path, current, raw, "undo", f"Took back: {entry.summary}", undoes=entry.id)

    def _without(self, entry: JournalEntry, current: TextFile) -> str | None:
        """The exact text without the change; None where it cannot be told from what came later."""
        text = exact_text(current)
        if current.sha256 == entry.after_sha:
            return self._journal.undo_of(entry.id, text)
        if texts := self._journal.texts(entry.id):
            prior, after = texts
            if (merged := merge(after, text, prior)) is not None:
                return merged
        return reverse_patch(entry.diff, text)

    def _conflict(self, entry: JournalEntry, current: TextFile) -> Conflict:
        """mine: what later changes leave of the text before, with its own words where both touch the same lines."""
        text = exact_text(current)
        prior, after = self._journal.texts(entry.id) or (entry.prior, None)
        if prior is None:
            raise AssistantError(
                "journal.unknown",
                "What the file was before this change is not known any more, and the lines it changed are others now.",
                "The journal shows what it changed; put it right by hand.",
            )
        mine = prior if after is None else merge_for(after, text, prior)
        base = visible(after or "")
        return Conflict(base, visible(mine), visible(text), None, current.sha256, entry.path)
