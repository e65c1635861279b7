"""One workspace: its memory, chats, journal and day log, and what is wrong with any of its files."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.core.clock import Clock
from assistant.core.errors import AssistantError
from assistant.core.folders import make_private
from assistant.workspace import layout
from assistant.workspace.assistants import PERSONA, persona_problem, strangers
from assistant.workspace.chat_files import chat_folders, scan_chats
from assistant.workspace.chat_store import ChatStore, DeletedChat
from assistant.workspace.chats import parse_chat
from assistant.workspace.conflict_book import ConflictBook
from assistant.workspace.day_log import DayLog
from assistant.workspace.declined import Declined
from assistant.workspace.drafts import Drafts
from assistant.workspace.inbox import Inbox
from assistant.workspace.journal import Journal
from assistant.workspace.memory import Memory
from assistant.workspace.safe_files import as_error, read_text, remove_stale_temps
from assistant.workspace.undone import UndoneEntries

if TYPE_CHECKING:
    from assistant.workspace.foreign import Record

_STALE_SECONDS = 60.0  # no write takes that long
_COPY = "A sync program made this copy of a conflict."


class Workspace:
    """The parts of a workspace.

    root: the person's folder; data: journal, seen copies, deleted chats; state: locks, pending replies, caches; both
    are this workspace's own folders and lie outside the root. name: of the assistant whose workspace it is.
    """

    def __init__(self, root: Path, data: Path, state: Path, clock: Clock, name: str = "Keepsake") -> None:
        self.root = root
        self.name = name
        self.data = data
        self.state = state
        self.clock = clock
        self.journal = Journal(data, clock)
        self.memory = Memory(root, state, self.journal, clock)
        self.chats = ChatStore(root, data, state, clock, name)
        self.log = DayLog(root, state, lambda file: self.memory.note_written(file, "assistant"))
        self.drafts = Drafts(data / "drafts")
        self.declined = Declined(data / "declined")
        self.undone = UndoneEntries(self.memory, self.journal, self.declined, data / "declined")
        self.conflicts = ConflictBook(root, data / "conflicts", clock)
        self.inbox = Inbox(data / "inbox", state / "locks" / "inbox.lock", self.memory, self.declined, clock)
        self.memory.subscribe(self.undone.on_change)

    def prepare(self) -> None:
        """Make the folders (mode 0700), remove what a killed process left, take note of what other programs changed.

        Raises ("workspace.read_only"), ("workspace.gone"), ("workspace.io") where the folder cannot be used.
        """
        try:
            for folder in (self.root, self.root / layout.TOPICS, self.root / layout.CHATS, self.data, self.state):
                if folder.parent != self.root or not os.path.lexists(folder):  # a file in its place: the doctor says so
                    make_private(folder)
            stale = time.time() - _STALE_SECONDS
            own = (self.data, self.state, *_subfolders(self.data), *_subfolders(self.state))
            for folder in (self.root, *self._memory_folders(), *chat_folders(self.root), *own):
                remove_stale_temps(folder, stale)
        except OSError as error:
            raise as_error(error, Path(error.filename or self.root)) from error
        self.memory.note_disk_changes()

    def close(self) -> None:
        """Nothing is under way any more."""
        self.chats.close()

    def purge_chat(self, deleted: DeletedChat) -> None:
        """End a deleted chat for good: its files, and its lines in the day logs. What became memory stays memory."""
        chat = self.chats.read_deleted(deleted)
        self.log.forget(chat, {info.title for info in self.chats.list() if info.id != chat.id})
        self.inbox.forget_chat(chat.id)
        self.chats.purge(deleted)

    def problems(self) -> list[tuple[str, str]]:
        """(file, what is wrong) for every file of the workspace that is not as it should be, by name."""
        found = [(info.file, info.problem) for info in self.memory.files() if info.problem]
        copies = layout.conflict_copies(self.root)
        found += [(file, _COPY) for file in copies]
        links = layout.links_out(self.root)
        found += [(file, "It is a link out of the workspace; it is not followed.") for file in links]
        found += layout.misplaced(self.root)
        found += [(name, "It is no assistant: nothing reads it.") for name in strangers(self.root)]
        found += self._foreign_problems()
        found += self._chat_problems()
        found += [(PERSONA, problem) for problem in [persona_problem(self.root)] if problem]
        return sorted(found)

    def foreign_counts(self) -> dict[str, int]:
        """The files in other programs' forms, and how much of each can be found."""
        return {file: len(self._records(file)[0]) for file in layout.foreign_files(self.root)}

    def _foreign_problems(self) -> list[tuple[str, str]]:
        found = [(file, self._records(file)[1]) for file in layout.foreign_files(self.root)]
        return [(file, problem) for file, problem in found if problem]

    def _records(self, file: str) -> tuple[list[Record], str]:
        from assistant.workspace.foreign import foreign_records  # parsers that the window does not start with

        if (self.root / file).stat().st_size > layout.MOST_FOREIGN:
            return [], "It is larger than Keepsake reads of another program."
        return foreign_records(file, self.memory.read(file).text)

    def _chat_problems(self) -> list[tuple[str, str]]:
        found = []
        for ident, files in scan_chats(self.root).items():
            name = files[0][0].relative_to(self.root).as_posix()
            found += [(name, _COPY)] if layout.is_conflict_copy(name) else []
            try:
                texts = [read_text(path) for path, _ in files]
            except AssistantError as error:
                found.append((name, error.message))
                continue
            chat = parse_chat([text.text for text in texts], ident)
            found += [(name, problem) for problem in (*(t.problem for t in texts if t.problem), *chat.problems)]
        return found

    def _memory_folders(self) -> list[Path]:
        names = {Path(file).parent for file in layout.memory_files(self.root)}
        folders = {self.root / name for name in names} | {self.root / layout.TOPICS, self.root / layout.LOGS}
        return [folder for folder in sorted(folders) if folder.is_dir()]


def _subfolders(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:
        return [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
