"""The optional git history: one commit a change of memory, a commit a turn of a chat; behind every write, never before.

Private and temporary chats are in no commit, nor are the day logs, which tell of chats. A fault of the repository is
told once and stops nothing.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from assistant.core.errors import AssistantError
from assistant.core.events import ChatsChanged, Event, EventSink, MemoryChanged, Notice, TurnFailed, TurnFinished
from assistant.runtime.lanes import Lane
from assistant.settings.schema import Settings
from assistant.settings.store import SettingsStore
from assistant.workspace.chat_files import chat_of
from assistant.workspace.disk import read_bytes
from assistant.workspace.forgetting import scrub_bytes
from assistant.workspace.forgotten_text import found_in_bytes
from assistant.workspace.git_history import GitHistory, HistoryEntry
from assistant.workspace.git_rewrite import holding, rewrite
from assistant.workspace.layout import CHATS, LOGS, MEMORY, TEMP_PREFIX, TOPICS
from assistant.workspace.temporary import is_temporary
from assistant.workspace.workspace import Workspace

_COMMITTED = (MemoryChanged, TurnFinished, TurnFailed, ChatsChanged)
_AUTHORS = {"disk": "another program", "you": "you", "undo": "you", "assistant": "assistant"}
_log = logging.getLogger(__name__)


class HistoryService:
    """``noted`` returns at once; all else blocks. It is on where the setting history.git says so."""

    def __init__(self, workspace: Workspace, settings: SettingsStore, lane: Lane, emit: EventSink) -> None:
        self._workspace = workspace
        self._settings = settings
        self._lane = lane
        self._emit = emit
        self._on: bool | None = None
        self._read_at = 0
        self._complained = False
        self.repository = GitHistory(workspace.root, workspace.state / "locks" / "history.lock")
        self.place = HistoryPlace(self.repository, self._settle)

    @property
    def on(self) -> bool:
        """As the settings say; another process may have changed them."""
        written = _written(self._settings.path)
        if self._on is None or written != self._read_at:
            self._read_at = written
            self.refresh()
        return bool(self._on)

    def refresh(self) -> bool:
        """Ask the settings again."""
        settings: Settings = self._settings.load()
        self._on = settings.history.git == "on"
        return self._on

    def turn_on(self, *, existing: bool = False) -> int:
        """Begin, or go on; returns how many files the first commit holds. Raises ("history.foreign")."""
        self.repository.begin(existing=existing)
        self._settings.update("history", git="on")
        self.refresh()
        return self._catch_up()

    def turn_off(self) -> None:
        """Commit nothing any more; what is committed stays."""
        self._settings.update("history", git="off")
        self.refresh()

    def apply_setting(self) -> None:
        """After the setting was changed elsewhere: begin where it is on now."""
        if self.refresh():
            try:
                self.turn_on()
            except AssistantError:
                self.turn_off()
                raise

    def start(self) -> None:
        """Commit what changed while nobody looked; returns at once."""
        if self.on:
            self._lane.submit(self._quietly, self._catch_up)

    def noted(self, event: Event) -> None:
        """Something happened: commit what changed by it, soon. Never raises."""
        if not isinstance(event, _COMMITTED) or not self.on:  # a reply that streams is many events a second
            return
        match event:
            case MemoryChanged() if not event.file.startswith(f"{LOGS}/"):  # an import writes day logs, and its undo
                said = self._now([event.file])
                self._later(lambda: self._commit(said, event.actor, event.summary or event.file))
            case TurnFinished() | TurnFailed():
                if files := self._turn_files(event.chat):
                    self._later(lambda: self._commit(files, "you", f"Chat {event.chat}, turn {event.turn}"))
            case ChatsChanged():
                self._later(self._drop_gone)

    def log(self, limit: int | None = None) -> list[HistoryEntry]:
        """Commits, newest first."""
        return self.repository.log(limit)

    def forget_chats(self, chats: Sequence[str]) -> None:
        """Take chats out of all commits, for they were deleted for good or made private."""
        if not chats or self.repository.kind() != "ours":
            return
        self._settle()
        pattern = re.compile(rf"{CHATS}/(?:.*/)?(?:{'|'.join(re.escape(chat) for chat in chats)})(?:_part\d+)?\.md")
        if any(pattern.fullmatch(name) for name in self.repository.tracked()) or self._was_there(pattern):
            rewrite(self.repository, lambda _, data: data, lambda name: bool(pattern.fullmatch(name)))

    def _was_there(self, pattern: re.Pattern[str]) -> bool:
        return any(pattern.fullmatch(name) for entry in self.repository.log() for name in entry.files)

    def _later(self, work: Callable[[], object]) -> None:
        try:
            self._lane.submit(self._quietly, work)
        except RuntimeError:  # the lane is closed: the next start catches up
            _log.debug("a commit is left for the next start")

    def _settle(self) -> None:
        """Wait for the commits that are under way: they hold what files said a moment ago."""
        try:
            if not self._lane.runs_here():
                self._lane.submit(lambda: None).result()
        except RuntimeError:
            _log.debug("the lane is closed: all is committed")

    def _quietly(self, work: Callable[[], object]) -> None:
        try:
            work()
            self._complained = False
        except Exception as error:  # noqa: BLE001 - a repository may be broken in any way; writing goes on
            _log.info("the history could not be written: %s", error)
            if not self._complained:
                self._complained = True
                self._emit(Notice(f"The git history could not be written: {error}", error=True))

    def _commit(self, changes: dict[str, bytes | None], actor: str, message: str) -> str:
        if self.repository.kind() == "none":
            self.repository.begin()
        author = _AUTHORS.get(actor, actor or "Keepsake")
        return self.repository.commit(changes, author, message, self._workspace.clock())

    def _catch_up(self) -> int:
        names = list(self._files())
        there = set(names)
        gone: dict[str, bytes | None] = {}
        if self.repository.kind() != "none":
            gone = {name: None for name in self.repository.tracked() if _ours(name) and name not in there}
        self._commit(
            {**self._now(names), **gone}, "disk", "What was there, and what changed while history was not written"
        )
        return len(names)

    def _turn_files(self, chat: str) -> dict[str, bytes | None]:
        """The files of a chat as they are now; none of a private or temporary one, or one that has just gone."""
        try:
            if is_temporary(chat) or self._workspace.chats.is_private(chat):
                return {}
            paths = self._workspace.chats.paths(chat)
        except AssistantError as error:
            _log.debug("the chat %s is not committed: %s", chat, error)
            return {}
        names = [path.relative_to(self._workspace.root).as_posix() for path in paths]
        return self._now(names)

    def _drop_gone(self) -> None:
        if self.repository.kind() == "none":
            return
        root = self._workspace.root
        tracked = [name for name in self.repository.tracked() if name.startswith(f"{CHATS}/")]
        gone: dict[str, bytes | None] = {name: None for name in tracked if not (root / name).exists()}
        if gone:
            self._commit(gone, "you", "Deleted or moved a chat")

    def _now(self, names: Iterable[str]) -> dict[str, bytes | None]:
        """What the files say, None for one that is gone. One that cannot be read is left as it was committed last."""
        said: dict[str, bytes | None] = {}
        for name in names:
            path = self._workspace.root / name
            try:
                said[name] = read_bytes(path) if path.is_file() else None
            except AssistantError as error:
                _log.info("%s is not committed: %s", name, error)
        return said

    def _files(self) -> Iterator[str]:
        """Markdown of memory and chats; links, temporary files, day logs, private chats, other assistants apart."""
        root = self._workspace.root
        for folder in (MEMORY, TOPICS, CHATS):
            found = [root / folder] if folder == MEMORY else sorted((root / folder).rglob("*.md"))
            for path in found:
                name = path.relative_to(root).as_posix()
                plain = path.is_file() and not path.is_symlink() and not path.name.startswith((TEMP_PREFIX, "."))
                if plain and not name.startswith(f"{LOGS}/") and not (folder == CHATS and self._private(path)):
                    yield name

    def _private(self, path: Path) -> bool:
        return self._workspace.chats.is_private(chat_of(path.as_posix()))


def _written(path: Path) -> int:
    """When a file was last written, 0 where there is none."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


class HistoryPlace:
    """The history as a place where forgotten words may stand. A repository of the person's own is not rewritten."""

    name = "history"

    def __init__(self, repository: GitHistory, settle: Callable[[], None]) -> None:
        self._repository = repository
        self._settle = settle

    @property
    def hint(self) -> str:
        """What the person has to do about a repository that is not rewritten."""
        if self._repository.kind() == "foreign":
            return "The git repository of your folder is your own: rewrite it with git filter-repo, or delete it."
        return ""

    def scrub(self, texts: Sequence[str]) -> None:
        """Take the texts out of all files and messages of all commits of our own repository."""
        self._settle()
        if self._repository.kind() == "ours" and self.remaining(texts):
            rewrite(self._repository, lambda name, data: scrub_bytes(Path(name or "message.txt"), data, texts))

    def remaining(self, texts: Sequence[str]) -> int:
        """In how many objects they stand, decompressed."""
        if self._repository.kind() == "none":
            return 0
        self._settle()
        return holding(self._repository, lambda data: found_in_bytes(data, texts))


def _ours(name: str) -> bool:
    return name == MEMORY or (
        name.endswith(".md") and name.split("/")[0] in (TOPICS, CHATS) and not name.startswith(f"{LOGS}/")
    )
