"""One pass of an import over what is found: counted, planned, and written unless it is a dry run."""

from __future__ import annotations

from pathlib import Path

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.ports import Progress
from assistant.workspace import layout
from assistant.workspace.changes import unified_diff
from assistant.workspace.imports.chat_book import ChatBook
from assistant.workspace.imports.ledger import Ledger
from assistant.workspace.imports.planner import MemoryPlanner, PlannedFile
from assistant.workspace.imports.report import ImportReport, Tally
from assistant.workspace.imports.systems import read_system
from assistant.workspace.imports.values import SYSTEMS, Found, FoundChat, Skipped
from assistant.workspace.memory_values import Edit
from assistant.workspace.workspace import Workspace

_TRIES = 3
_TOLD_EVERY = 20  # found things


class ImportRun:
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
        """What would be imported; nothing is written. Raises AssistantError, Cancelled."""
        for number, found in enumerate(read_system(self._system, self._path), 1):
            self._step(number)
            self._take(found, write=False)
        return self._report(list(self._planner.files()), "")

    def apply(self) -> ImportReport:
        """Import it. Raises AssistantError, Cancelled; what was written then is in the ledger under ``ident``."""
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
        written = self._book.write(chat, lambda chat: self._ledger.note_chat(self.ident, chat))
        self._chats.append(written.id)

    def _write_memory(self) -> tuple[list[PlannedFile], str]:
        """All memory files as one batch; planned anew when one of them changed meanwhile."""
        summary = f"Imported from {SYSTEMS[self._system]}"
        for attempt in range(_TRIES):
            files = list(self._planner.files())
            edits = [Edit(file.file, file.text, file.base.sha256) for file in files]
            try:
                if edits:
                    batch = self._workspace.journal.new_id("batch-")
                    self._ledger.note_batch(self.ident, batch)
                    batch = self._workspace.memory.change_many(edits, "import", summary, batch=batch)
                else:
                    batch = ""
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
