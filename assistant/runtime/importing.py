"""Import from another assistant: a dry run, the import itself, and taking it back as one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.events import ChatsChanged, Event
from assistant.core.ports import Progress
from assistant.workspace import layout
from assistant.workspace.changes import unified_diff
from assistant.workspace.imports.chat_book import ChatBook, ImportedChat
from assistant.workspace.imports.chat_text import chat_digest
from assistant.workspace.imports.ledger import ImportRecord, Ledger
from assistant.workspace.imports.planner import MemoryPlanner, PlannedFile
from assistant.workspace.imports.report import ImportReport, Tally
from assistant.workspace.imports.systems import AUTO, read_system, recognise
from assistant.workspace.imports.values import SYSTEMS, Found, FoundChat, Skipped
from assistant.workspace.memory_values import Conflict, Edit
from assistant.workspace.workspace import Workspace

_TRIES = 3
_TOLD_EVERY = 20  # found things


@dataclass(frozen=True, slots=True)
class ImportUndone:
    """memory: the batch that took the changes of memory files back, "" for none; deleted, kept: ids of chats.

    kept: went on since, so they stay; gone: were deleted before.
    """

    id: str
    memory: str
    deleted: tuple[str, ...]
    kept: tuple[str, ...]
    gone: tuple[str, ...]


class ImportService:
    """All methods block; a lane of one's own suits them. emit: tells the window what changed."""

    def __init__(self, workspace: Workspace, emit: Callable[[Event], None], index: Callable[[], None]) -> None:
        self._workspace, self._emit, self._index = workspace, emit, index
        self.ledger = Ledger(workspace.data / "imports", workspace.clock)
        self._running: CancelToken | None = None

    def look(self, system: str, path: Path, cancel: CancelToken, progress: Progress) -> ImportReport:
        """What an import would do; writes nothing. system: one of SYSTEMS, or "auto" to recognise it."""
        self._running = cancel
        return self._run_of(system, path, cancel, progress).look()

    def cancel(self) -> None:
        """Stop what runs: the window closes."""
        if self._running:
            self._running.cancel()

    def run(self, system: str, path: Path, cancel: CancelToken, progress: Progress) -> ImportReport:
        """Do it. Cancelled or failed, what it wrote so far is taken back."""
        run = self._run_of(system, path, cancel, progress)
        self._running = cancel
        try:
            report = run.apply()
        except BaseException:
            if run.ident:
                with contextlib.suppress(AssistantError):
                    self._undo(self.ledger.get(run.ident))
            raise
        finally:
            self._tell()
        return report

    def undo(self, ident: str) -> ImportUndone:
        """Take an import back: its changes of memory, and its chats but for those that went on since.

        The chats go to the trash. Raises ("import.record"), ("import.undone"), ("memory.conflict") with nothing done.
        """
        record = self.ledger.get(ident)
        if record.undone:
            raise AssistantError("import.undone", "This import was taken back already.")
        try:
            return self._undo(record)
        finally:
            self._tell()

    def list(self) -> list[ImportRecord]:
        """All imports, newest first."""
        return self.ledger.list()

    def _run_of(self, system: str, path: Path, cancel: CancelToken, progress: Progress) -> _Run:
        known = _system(system, path, self._workspace.root)
        return _Run(self._workspace, self.ledger, known, path, cancel, progress)

    def _undo(self, record: ImportRecord) -> ImportUndone:
        memory = _take_back(self._workspace, record.batch) if record.batch else ""
        deleted: list[str] = []
        kept: list[str] = []
        gone: list[str] = []
        for chat in record.chats:
            try:
                (deleted if self._delete_unchanged(chat) else kept).append(chat.id)
            except AssistantError as error:
                if error.code != "chat.missing":
                    raise
                gone.append(chat.id)
        self.ledger.note_undone(record.id)
        return ImportUndone(record.id, memory, tuple(deleted), tuple(kept), tuple(gone))

    def _delete_unchanged(self, chat: ImportedChat) -> bool:
        chats = self._workspace.chats
        if chat_digest(chats.read(chat.id).turns) != chat.digest:
            return False
        month = chats.path(chat.id).parent
        chats.delete(chat.id)
        with contextlib.suppress(OSError):  # others are in it
            month.rmdir()
        return True

    def _tell(self) -> None:
        self._emit(ChatsChanged())
        self._index()


class _Run:
    """One pass over what is found; entries and notes wait for its end, chats are written as they come."""

    def __init__(
        self, workspace: Workspace, ledger: Ledger, system: str, path: Path, cancel: CancelToken, progress: Progress
    ) -> None:
        self._workspace, self._ledger, self._system, self._path = workspace, ledger, system, path
        self._cancel, self._progress = cancel, progress
        self._tally = Tally()
        self._book = ChatBook(workspace.chats, system, workspace.clock)
        self._planner = self._new_planner()
        self.ident = ""
        self._chats: list[str] = []

    def look(self) -> ImportReport:
        for number, found in enumerate(read_system(self._system, self._path), 1):
            self._step(number)
            self._take(found, write=False)
        return self._report(list(self._planner.files()), "")

    def apply(self) -> ImportReport:
        self.ident = self._ledger.begin(self._system)
        for number, found in enumerate(read_system(self._system, self._path), 1):
            self._step(number)
            self._take(found, write=True)
        files, batch = self._write_memory()
        new = self._tally.new
        if not batch and not self._chats:
            self._ledger.drop(self.ident)
            self.ident = ""
        else:
            self._ledger.finish(self.ident, batch, new["entries"], new["notes"])
        return self._report(files, self.ident)

    def _step(self, number: int) -> None:
        self._cancel.check()
        if number % _TOLD_EVERY == 0:
            self._progress(number, 0, "import")

    def _take(self, found: Found, write: bool) -> None:
        if isinstance(found, Skipped):
            self._tally.skip(found)
        elif isinstance(found, FoundChat):
            fresh = self._book.take(found)
            self._tally.count(found, "new" if fresh else "known")
            if fresh and write:
                self._write_chat(fresh)
        else:
            self._tally.count(found, self._planner.take(found))

    def _write_chat(self, chat: FoundChat) -> None:
        written = self._book.write(chat)
        self._ledger.note_chat(self.ident, written)
        self._chats.append(written.id)

    def _write_memory(self) -> tuple[list[PlannedFile], str]:
        """All memory files as one batch; planned anew when one of them changed meanwhile."""
        summary = f"Imported from {SYSTEMS[self._system]}"
        for attempt in range(_TRIES):
            files = list(self._planner.files())
            edits = [Edit(file.file, file.text, file.base.sha256) for file in files]
            try:
                batch = self._workspace.memory.change_many(edits, "import", summary) if edits else ""
                return files, batch
            except AssistantError as error:
                if error.code != "memory.changed" or attempt == _TRIES - 1:
                    raise
            self._plan_again()
        return [], ""

    def _plan_again(self) -> None:
        self._planner, before = self._new_planner(), self._tally
        self._tally = Tally()
        for found in read_system(self._system, self._path):
            self._cancel.check()
            if not isinstance(found, FoundChat | Skipped):
                self._tally.count(found, self._planner.take(found))
        before.new |= {kind: count for kind, count in self._tally.new.items() if kind != "chats"}
        before.known |= {kind: count for kind, count in self._tally.known.items() if kind != "chats"}
        self._tally = before

    def _new_planner(self) -> MemoryPlanner:
        files = layout.memory_files(self._workspace.root)
        return MemoryPlanner(self._workspace.memory, files, self._system, self._workspace.clock)

    def _report(self, files: list[PlannedFile], ident: str) -> ImportReport:
        memory = next((file for file in files if file.file == layout.MEMORY), None)
        return ImportReport(
            system=self._system,
            id=ident,
            new=self._tally.new,
            known=self._tally.known,
            turns=self._book.turns,
            redacted=self._planner.redacted + self._book.redacted,
            struck=self._planner.struck,
            files=tuple(file.file for file in files),
            diff=unified_diff(layout.MEMORY, memory.base.text, memory.text) if memory else "",
            skipped=self._tally.skipped(),
            chats=tuple(self._chats),
        )


def _system(system: str, path: Path, root: Path) -> str:
    """Also refuses the workspace itself, whose chats would come over as copies."""
    if Path(os.path.realpath(root)).is_relative_to(os.path.realpath(path)):
        raise AssistantError(
            "import.own", "This is Keepsake's own folder; what lies in it is found as it is.", "Choose another folder."
        )
    return recognise(path) if system == AUTO else system


def _take_back(workspace: Workspace, batch: str) -> str:
    try:
        outcome = workspace.memory.undo(batch)
    except AssistantError as error:
        if error.code == "journal.undone":  # in the journal's own view
            return ""
        raise
    if isinstance(outcome, Conflict):
        raise AssistantError(
            "memory.conflict",
            f"{outcome.file} has changed since in the same place, so the import cannot be taken back by itself.",
            "Open the journal in the window: it shows both texts side by side.",
        )
    return outcome.journal_id
