"""The places that every forgetting goes through, and how each is searched afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from assistant.chat.forgotten_receipts import ReceiptsPlace
from assistant.chat.receipts import ReceiptStore
from assistant.engine.snapshots import drop_all, left_in
from assistant.recall.index.forgotten_index import IndexPlace, VectorPlace
from assistant.recall.search import Recall
from assistant.workspace import layout
from assistant.workspace.disk import as_error
from assistant.workspace.forget_pending import FOLDER
from assistant.workspace.forgetting import FolderPlace, ForgetPlace, files_below, remaining_in, scrub_file
from assistant.workspace.forgotten_journal import JournalPlace
from assistant.workspace.workspace import Workspace


class MemoryFilesPlace:
    """Memory files, day logs, conflict copies and what editors and killed processes left beside them.

    What is in memory files and day logs goes before; here it is taken out of stray copies. A note that a person keeps
    beside MEMORY.md is no file of ours: it is searched, not changed.
    """

    name = "files"

    def __init__(self, workspace: Workspace) -> None:
        self._root = workspace.root

    def scrub(self, texts: Sequence[str]) -> None:
        known = {self._root / file for file in (*layout.memory_files(self._root), *layout.log_files(self._root))}
        known -= {self._root / file for file in layout.conflict_copies(self._root)}
        beside = {path for path in self._root.iterdir() if path.suffix == ".md"}
        for path in self._files():
            if path not in known and (path not in beside or layout.is_conflict_copy(path.name)):
                scrub_file(path, texts)

    def remaining(self, texts: Sequence[str]) -> int:
        return remaining_in(self._files(), texts)

    def _files(self) -> Iterable[Path]:
        yield from files_below(self._root / layout.TOPICS)
        yield from files_below(self._root / layout.SESSIONS)
        yield from (
            path
            for path in sorted(self._root.iterdir())
            if path.is_file() and (path.suffix == ".md" or _is_stray(path))
        )


class ChatsPlace:
    """The files of all chats, private ones too."""

    name = "chats"

    def __init__(self, workspace: Workspace) -> None:
        self._root = workspace.root

    def scrub(self, texts: Sequence[str]) -> None:
        """The chats are rewritten under their locks before; this is for strays and for files in another encoding."""
        for path in files_below(self._root / layout.CHATS):
            scrub_file(path, texts)

    def remaining(self, texts: Sequence[str]) -> int:
        return remaining_in(files_below(self._root / layout.CHATS), texts)


class Places:
    """All places in the order in which they are scrubbed: the files first, what follows from them after."""

    def __init__(
        self, workspace: Workspace, receipts: ReceiptStore, recall: Recall, kept: Path, more: Sequence[ForgetPlace]
    ) -> None:
        self.receipts = ReceiptsPlace(receipts)
        self.index = IndexPlace(recall)
        data, state = workspace.data, workspace.state
        own = {"journal.jsonl", "seen", "receipts", "trash", FOLDER, "snapshots"}

        def rest(path: Path) -> bool:
            below = path.relative_to(data) if path.is_relative_to(data) else path.relative_to(state)
            return below.parts[0] in own or below.parts[0].startswith("index.sqlite3")

        self._own: tuple[ForgetPlace, ...] = (
            MemoryFilesPlace(workspace),
            ChatsPlace(workspace),
            self.index,
            VectorPlace(recall),
            JournalPlace(workspace.journal, workspace.memory),
            self.receipts,
            SnapshotsPlace(state / "snapshots"),
            FolderPlace("deleted chats", lambda: [data / "trash"]),
            FolderPlace("state", lambda: [data, state], rest),
            FolderPlace("window", lambda: [path for path in kept.glob("*") if path.is_file()]),
            FolderPlace("logs", lambda: [kept / "logs"]),
        )
        self._more = more

    def all(self) -> tuple[ForgetPlace, ...]:
        """Every place; those of other parts last but one, so that what they leave in state files is found."""
        return (*self._own[:-3], *self._more, *self._own[-3:])


class SnapshotsPlace:
    """What the model had read, as it keeps it to start faster: no text to search in, so all of it goes."""

    name = "snapshots"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def scrub(self, texts: Sequence[str]) -> None:
        try:
            drop_all(self._folder)
        except OSError as error:
            raise as_error(error, self._folder) from error

    def remaining(self, texts: Sequence[str]) -> int:
        return len(left_in(self._folder))


def _is_stray(path: Path) -> bool:
    """What our killed writes and other people's editors leave beside MEMORY.md."""
    return path.name.startswith((layout.TEMP_PREFIX, f".{layout.MEMORY}")) or path.name == f"{layout.MEMORY}~"
