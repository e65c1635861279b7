"""Import from another assistant: a dry run, the import itself, and taking it back as one."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.events import ChatsChanged, Event
from assistant.core.folders import named_path
from assistant.core.ports import Progress
from assistant.workspace.forgotten_text import FORGOTTEN
from assistant.workspace.imports.ledger import ImportedChat, ImportRecord, Ledger
from assistant.workspace.imports.values import AUTO
from assistant.workspace.layout import check_there
from assistant.workspace.memory_values import Conflict, undo_clash
from assistant.workspace.safe_files import locked
from assistant.workspace.workspace import Workspace

if TYPE_CHECKING:
    from assistant.runtime.import_run import ImportRun
    from assistant.workspace.imports.report import ImportReport

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ImportUndone:
    """memory: the batch that took the changes of memory files back, "" for none; deleted, kept: ids of chats.

    kept: went on since, so they stay; gone: were deleted before. left: memory files where something of the import was
    forgotten, so that nobody knows any more what they were without it: what else it wrote there stays.
    """

    id: str
    memory: str
    deleted: tuple[str, ...]
    kept: tuple[str, ...]
    gone: tuple[str, ...]
    left: tuple[str, ...] = ()


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
        """Do it. Cancelled or failed, what it wrote so far is taken back. Raises ("import.busy") beside another one."""
        with self._alone():
            run = self._run_of(system, path, cancel, progress)
            self._running = cancel
            try:
                report = run.apply()
            except BaseException:
                if run.ident:
                    self._give_up_quietly(run.ident)
                raise
            finally:
                self._tell()
        return report

    def undo(self, ident: str) -> ImportUndone:
        """Take an import back: its changes of memory, and its chats but for those that went on since.

        The chats go to the trash. Raises ("import.record"), ("import.undone"), ("memory.conflict") with nothing done.
        """
        with self._alone():
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

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Two at once would each bring the same chats: neither knows those that the other one is writing."""
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(locked(self._workspace.state / "locks" / "import.lock"))
            except AssistantError as error:
                if error.code != "workspace.busy":
                    raise
                message = "Another import is running."
                raise AssistantError("import.busy", message, "Wait for it, or stop it first.") from error
            yield

    def _give_up(self, ident: str) -> None:
        record = self.ledger.get(ident)
        if record.batch or record.chats:
            self._undo(record)
        else:
            self.ledger.drop(ident)

    def _run_of(self, system: str, path: Path, cancel: CancelToken, progress: Progress) -> ImportRun:
        from assistant.runtime.import_run import ImportRun  # parsers that the window does not start with

        path = named_path(path)
        check_there(self._workspace.root)
        known = _system(system, path, self._workspace.root)
        return ImportRun(self._workspace, self.ledger, known, path, cancel, progress)

    def _give_up_quietly(self, ident: str) -> None:
        try:
            self._give_up(ident)
        except AssistantError as error:  # why the import ended matters more; the next start, or the person, undoes it
            _log.warning("%s could not be taken back: %s", ident, error)

    def _undo(self, record: ImportRecord) -> ImportUndone:
        left = _forgotten(self._workspace, record.batch) if record.batch else ()
        memory = _take_back(self._workspace, record) if record.batch else ""
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
        return ImportUndone(record.id, memory, tuple(deleted), tuple(kept), tuple(gone), left)

    def _delete_unchanged(self, chat: ImportedChat) -> bool:
        from assistant.workspace.imports.chat_text import chat_digest

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


def _system(system: str, path: Path, root: Path) -> str:
    """Also refuses the workspace itself, whose chats would come over as copies."""
    from assistant.workspace.imports.systems import recognise  # parsers that the window does not start with

    if Path(os.path.realpath(root)).is_relative_to(os.path.realpath(path)):
        raise AssistantError(
            "import.own", "This is Keepsake's own folder; what lies in it is found as it is.", "Choose another folder."
        )
    return recognise(path) if system == AUTO else system


def _forgotten(workspace: Workspace, batch: str) -> tuple[str, ...]:
    """The files whose change by the import cannot be taken back, for the journal had to forget some of its words."""
    entries = workspace.journal.batch(batch)
    return tuple(entry.path for entry in entries if not entry.can_undo and FORGOTTEN in entry.diff)


def _take_back(workspace: Workspace, record: ImportRecord) -> str:
    try:
        outcome = workspace.memory.undo(record.batch)
    except AssistantError as error:
        # Taken back in the journal's own view; or the import was cut off just before it wrote the memory files.
        if error.code in ("journal.undone", "journal.forgotten") or (
            error.code == "journal.missing" and not record.done
        ):
            return ""
        raise
    if isinstance(outcome, Conflict):
        raise undo_clash(outcome)
    return outcome.journal_id
