"""The one door to the memory files: redact, find duplicates and corrections, journal, write, tell who listens."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TypeVar

from assistant.core.clock import Clock, today
from assistant.core.errors import AssistantError
from assistant.workspace import layout
from assistant.workspace.changes import merge
from assistant.workspace.chat_head import printable
from assistant.workspace.entries import MemoryText, one_line, parse_item
from assistant.workspace.file_list import FileList
from assistant.workspace.ids import split_id
from assistant.workspace.journal import Journal
from assistant.workspace.line_edits import remove_unit, reword_unit, strike_unit
from assistant.workspace.memory_files import Callback, FileChange, FileChangedError, MemoryFiles
from assistant.workspace.memory_values import Conflict, Edit, Located, MemoryFileInfo, Saved, Written
from assistant.workspace.redaction import redact
from assistant.workspace.remembering import Remembering
from assistant.workspace.safe_files import read_text
from assistant.workspace.text_files import (
    TextFile,
    check_writable,
    decode,
    encode_edit,
    exact_bytes,
    exact_text,
    visible,
)
from assistant.workspace.undoing import Undoing
from assistant.workspace.unit_places import UnitPlace, find_line, find_unit

__all__ = ["Conflict", "Edit", "Located", "Memory", "MemoryFileInfo", "Saved", "Written"]
LONGEST_ITEM = 10_000  # characters; longer texts are notes, not things to remember
_TRIES = 5
_T = TypeVar("_T")


class Memory:
    """Safe to use from several threads and processes. state: folder of the lock."""

    def __init__(self, root: Path, state: Path, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock
        self._files = MemoryFiles(root, state / "locks" / "memory.lock", journal)
        self._remembering = Remembering(self._files, journal, clock)
        self._undoing = Undoing(self._files, journal)
        self._list = FileList(root, journal.seen)

    # --- who listens ---------------------------------------------------------------------------------------------

    def subscribe(self, callback: Callback) -> None:
        """Call ``callback(file, actor, journal_id, summary)`` after every change, on the thread that made it."""
        self._files.subscribe(callback)

    # --- reading -------------------------------------------------------------------------------------------------

    def read(self, file: str) -> TextFile:
        """A memory file; a missing one is empty with sha256 "". Raises ("workspace.path")."""
        return self._files.read(file)

    def document(self) -> MemoryText:
        """MEMORY.md taken apart."""
        return self._remembering.parse(self.read(layout.MEMORY))

    def files(self) -> list[MemoryFileInfo]:
        """All memory files that exist, the day logs last."""
        return self._list.files()

    def note_written(self, file: str, actor: str) -> None:
        """Remember who wrote a day log last: it grows by another door, since it is for people only."""
        self._journal.seen.note_state(file, self._files.path(file), actor)

    def locate(self, unit_id: str) -> Located | None:
        """Where the unit of an id that recall gave stands now; None where its text changed or is gone."""
        file, text = self._text_of(unit_id)
        place = find_unit(text, unit_id) if file else None
        return _located(file, place)

    def locate_line(self, file: str, line: int, text: str) -> Located | None:
        """The unit that says ``text`` and is the nearest to a line, or that line of a longer unit; None: no such."""
        try:
            return _located(file, find_line(file, self.read(file).text, line, text))
        except AssistantError:
            return None

    # --- writing -------------------------------------------------------------------------------------------------

    def remember(
        self,
        text: str,
        *,
        source: str = "you",
        topic: str | None = None,
        until: date | None = None,
        actor: str = "you",
        keep_secrets: bool = False,
    ) -> Written:
        """Write one thing as an entry of MEMORY.md, or as a bullet of a topic note.

        The same words again write nothing; a correction strikes the entry it corrects. until: the last local day on
        which it holds. keep_secrets: the person chose to keep what looks like a secret. Raises ("memory.empty"),
        ("memory.long"), and what writing a file raises.
        """
        said, redacted = _clean(text, keep_secrets)
        item = parse_item(said)
        item = replace(item, until=until) if until else item
        if topic is not None:
            return self._again(lambda: self._remembering.bullet(item, layout.topic_file(topic), actor, redacted))
        return self._again(lambda: self._remembering.entry([item], source, actor, today(self._clock), redacted))

    def append_entry(
        self,
        items: Sequence[str],
        *,
        source: str,
        actor: str,
        day: date | None = None,
        keep_secrets: bool = False,
    ) -> Written:
        """Write several things as one entry. Those that are there already are left out, but a distilled entry
        (source ``chat:…``) is written in any case since it is the proof that its turns were distilled.
        """
        cleaned = [_clean(item, keep_secrets) for item in items if item.strip()]
        if not cleaned:
            raise _empty()
        parsed = [parse_item(text) for text, _ in cleaned]
        redacted = sum(count for _, count in cleaned)
        written_on = day or today(self._clock)
        return self._again(lambda: self._remembering.entry(parsed, source, actor, written_on, redacted))

    def save(
        self, file: str, text: str, base_sha: str, actor: str = "you", *, keep_secrets: bool = False
    ) -> Saved | Conflict:
        """Write a whole file that was read when its checksum was ``base_sha`` ("" for a new file).

        Lines that stay keep their very bytes; secrets in lines that are new are redacted. A file that changed
        meanwhile is not written: see Conflict.
        """
        return self._again(lambda: self._save(file, printable(text), base_sha, actor, keep_secrets))

    def strike(self, unit_id: str, *, actor: str = "you", item: int | None = None) -> Saved:
        """Strike a unit and mark it superseded today; item: only that one of an entry's, from 0.

        What is struck already stays as it is. Raises ("memory.unit") where the unit is not there any more.
        """
        day = today(self._clock)
        return self._again(
            lambda: self._edit_unit(unit_id, actor, "Struck", lambda text, place: strike_unit(text, place, day, item))
        )

    def rewrite(self, unit_id: str, text: str, *, actor: str = "you", keep_secrets: bool = False) -> Saved:
        """Put other words in a unit's place: an entry keeps its date and source, a bullet its bullet.

        Raises ("memory.unit"), ("memory.empty").
        """
        said = printable(text).strip()
        if not said:
            raise AssistantError("memory.empty", "There is nothing to write.", "To take a line out, remove it.")
        return self._again(lambda: self._rewrite(unit_id, said, actor, keep_secrets))

    def remove(self, unit_id: str, *, actor: str = "you") -> Saved:
        """Take a unit's lines out; undo brings them back. Raises ("memory.unit")."""
        return self._again(lambda: self._edit_unit(unit_id, actor, "Removed", remove_unit))

    def change_many(
        self, edits: Sequence[Edit], actor: str, summary: str, *, keep_secrets: bool = False, batch: str = ""
    ) -> str:
        """Write several files as one batch of the journal, all or none; returns the id that undo takes ("": no change).

        What comes is written before what goes. Secrets that no file of the batch held before are redacted. Raises
        ("memory.changed") when a file is not as it was when its edit was made. batch: an id from Journal.new_id that
        the caller put down already; "" for one of its own.
        """
        return self._again(lambda: self._change_many(edits, actor, summary, keep_secrets, batch))

    def undo(self, journal_id: str) -> Saved | Conflict:
        """Take a change or a batch back: exactly when a file is as it left it, else merged with what came after.

        Of a batch all is taken back that was not yet, or nothing; Saved.journal_id is the new batch then. Raises
        ("journal.missing") for an unknown id, ("journal.undone") for a change that was taken back already.
        """
        return self._again(lambda: self._undoing.undo(journal_id))

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Nobody changes a memory file or the journal meanwhile. No other method may be called inside."""
        with self._files.locked():
            yield

    def note_disk_changes(self) -> list[str]:
        """Journal what other programs changed since the files were last seen; says which files."""
        with self._files.locked():
            return self._files.note_all()

    # --- inside --------------------------------------------------------------------------------------------------

    def _again(self, work: Callable[[], _T]) -> _T:
        """Do the work under the lock, anew when another program wrote the file meanwhile."""
        for _ in range(_TRIES):
            try:
                with self._files.locked():
                    return work()
            except FileChangedError:
                continue
        raise AssistantError(
            "workspace.busy", "Another program keeps writing the file.", "Close it there, then try again."
        )

    def _save(self, file: str, text: str, base_sha: str, actor: str, keep_secrets: bool) -> Saved | Conflict:
        current = self._files.load(file)
        if current.sha256 != base_sha:
            return self._conflict(file, text, base_sha, current)
        check_writable(current, file)
        redacted = redact(text, current.text) if not keep_secrets else None
        wanted = encode_edit(redacted.text if redacted else text, current)
        ident = self._files.change(FileChange(file, current, wanted, actor, f"Edited {file}"))
        return Saved(ident, read_text(self._files.path(file)).sha256, redacted.count if redacted else 0)

    def _conflict(self, file: str, mine: str, base_sha: str, current: TextFile) -> Conflict:
        exact = self._journal.text_with_sha(file, base_sha) if base_sha else ""
        theirs, wanted = visible(exact_text(current)), visible(mine)
        base = None if exact is None else visible(exact)
        merged = None if base is None else merge(base, theirs, wanted)
        return Conflict(base or "", wanted, theirs, merged, current.sha256, file)

    def _text_of(self, unit_id: str) -> tuple[str, str]:
        """(file, its text) of a unit's file; ("", "") for an id that names none."""
        file = split_id(unit_id)[0]
        try:
            return (file, self.read(file).text) if file else ("", "")
        except AssistantError:  # a name that is no memory file's
            return "", ""

    def _edit_unit(self, unit_id: str, actor: str, done: str, edit: Callable[[str, UnitPlace], str]) -> Saved:
        file = self._text_of(unit_id)[0]
        current = self._files.load(file) if file else None
        place = find_unit(current.text, unit_id) if current else None
        if current is None or place is None:
            raise AssistantError(
                "memory.unit", "This line is not in memory any more.", "Look at its file: it was changed or removed."
            )
        check_writable(current, file)
        raw = exact_bytes(edit(exact_text(current), place), current)
        said = one_line(place.text)[:120]
        ident = self._files.change(FileChange(file, current, raw, actor, f"{done}: {said}"))
        return Saved(ident, decode(raw).sha256)

    def _rewrite(self, unit_id: str, text: str, actor: str, keep_secrets: bool) -> Saved:
        redacted = 0

        def reword(exact: str, place: UnitPlace) -> str:
            nonlocal redacted
            found = redact(text, place.text)
            redacted = 0 if keep_secrets else found.count
            return reword_unit(exact, place, text if keep_secrets else found.text)

        return replace(self._edit_unit(unit_id, actor, "Reworded", reword), redacted=redacted)

    def _change_many(self, edits: Sequence[Edit], actor: str, summary: str, keep_secrets: bool, batch: str) -> str:
        bases = {edit.file: self._files.load(edit.file) for edit in edits}
        for edit in edits:
            if bases[edit.file].sha256 != edit.base_sha:
                raise AssistantError("memory.changed", f"{edit.file} changed meanwhile.", "Look again, then decide.")
        known = "\n".join(base.text for base in bases.values())
        changes = []
        for edit in edits:
            text = edit.text if edit.text is None or keep_secrets else redact(printable(edit.text), known).text
            raw = None if text is None else encode_edit(text, bases[edit.file])
            changes.append(FileChange(edit.file, bases[edit.file], raw, actor, summary))
        batch = batch or self._journal.new_id("batch-")
        return batch if any(self._files.change_all(changes, batch)) else ""


def _clean(text: str, keep_secrets: bool) -> tuple[str, int]:
    redacted = redact(printable(text))
    said = one_line(printable(text) if keep_secrets else redacted.text).strip()
    if not said:
        raise _empty()
    if len(said) > LONGEST_ITEM:
        raise AssistantError(
            "memory.long", f"This is longer than {LONGEST_ITEM} characters.", "Put it into a note of its own."
        )
    return said, 0 if keep_secrets else redacted.count


def _located(file: str, place: UnitPlace | None) -> Located | None:
    return None if place is None else Located(file, place.first, place.last, place.text)


def _empty() -> AssistantError:
    return AssistantError("memory.empty", "There is nothing to remember.", "Write what should be remembered.")
