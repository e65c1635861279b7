"""A scripted stand-in for the services: chats and memory in plain dictionaries, events when the test says so."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from assistant.chat.line_now import LineNow
from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.events import (
    Event,
    EventSink,
    IndexStateChanged,
    ModelReady,
    Recalled,
    TextArrived,
    TurnFinished,
    TurnSaved,
)
from assistant.core.ports import Progress
from assistant.core.values import (
    Done,
    Hit,
    LeftOut,
    ModelInfo,
    Prompt,
    PromptLine,
    RecallAnswer,
    RecallQuery,
    Receipt,
    StopReason,
)
from assistant.engine.model_files import ModelFile
from assistant.engine.tuning import Tuning
from assistant.recall.index.file_states import FileState
from assistant.recall.reports import IndexStatus
from assistant.runtime.assistants import AssistantService
from assistant.runtime.index_state import IndexState
from assistant.runtime.picture import BudgetUse, Picture, Section
from assistant.runtime.remote import ServerTest
from assistant.runtime.self_test import SelfTest
from assistant.runtime.told import ReceiptNow
from assistant.runtime.watching import WatchState
from assistant.settings.paths import find_paths
from assistant.settings.store import SettingsStore
from assistant.workspace.budget import Limits, Loaded
from assistant.workspace.chat_list import ChatInfo
from assistant.workspace.chats import Chat, Turn
from assistant.workspace.conflicts import MemoryConflict
from assistant.workspace.drafts import Drafts
from assistant.workspace.inbox_files import Proposal
from assistant.workspace.journal import JournalEntry
from assistant.workspace.layout import kind_of
from assistant.workspace.memory_values import Conflict, Edit, MemoryFileInfo, Saved, Written
from assistant.workspace.redaction import redact
from assistant.workspace.text_files import TextFile
from assistant.workspace.tidy import TidyPlan, plan_tidy
from assistant.workspace.timeline import Moment

NOW = datetime.fromisoformat("2026-11-29T15:30:00").astimezone()


class InlineLane:
    """Does the work at once, on the caller's thread."""

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(*args))
        except Exception as error:  # noqa: BLE001 - a lane hands every failure on
            future.set_exception(error)
        return future


class HeldLane:
    """Keeps the work until ``release``: to see what the window does meanwhile."""

    def __init__(self) -> None:
        self.held: list[tuple[Future[Any], Callable[[], Any]]] = []

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.held.append((future, lambda: function(*args)))
        return future

    def release(self) -> None:
        while self.held:
            future, work = self.held.pop(0)
            future.set_result(work())


@dataclass
class FakeLanes:
    files: Any = field(default_factory=InlineLane)
    recall: Any = field(default_factory=InlineLane)
    chat: Any = field(default_factory=InlineLane)
    keeping: Any = field(default_factory=InlineLane)


def make_chat(ident: str, title: str, turns: tuple[Turn, ...] = (), last_active: str = NOW.isoformat()) -> Chat:
    """A chat as the workspace reads it."""
    return Chat(ident, title, NOW.isoformat(), last_active, ("you", "Keepsake"), (), False, 0, turns)


def make_entry(ident: str, path: str, actor: str, diff: str, can_undo: bool = True, summary: str = "") -> JournalEntry:
    return JournalEntry(ident, NOW.isoformat(), path, actor, "", "", diff, None, can_undo, summary)


def make_loaded(left_out: tuple[LeftOut, ...] = (), size: int = 900, lines: int = 12, tokens: int = 210) -> Loaded:
    return Loaded((), (), left_out, size, lines, tokens, 1024, tokens / 4096)


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class FakeMemory:
    """Memory files on a real disk (the window watches them), without journal files."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.saved: list[tuple[str, str, str]] = []
        self.undone: list[str] = []
        self.merged: str | None = None
        self.batches: list[tuple[str, tuple[Edit, ...]]] = []

    def files(self) -> list[MemoryFileInfo]:
        names = sorted(path.relative_to(self.root).as_posix() for path in self.root.rglob("*.md"))
        found = [name for name in names if name == "MEMORY.md" or name.startswith("memory/")]
        found.sort(key=lambda name: (name != "MEMORY.md", name == "memory/archive.md", name))
        return [
            MemoryFileInfo(name, kind_of(name), (self.root / name).stat().st_size, NOW.isoformat()) for name in found
        ]

    def read(self, file: str) -> TextFile:
        if not (self.root / file).exists():
            return TextFile("", "utf-8", "\n", False, "")
        text = (self.root / file).read_text(encoding="utf-8")
        return TextFile(text, "utf-8", "\n", False, sha(text))

    def save(self, file: str, text: str, base_sha: str, *, keep_secrets: bool = False) -> Saved | Conflict:
        theirs = self.read(file)
        if theirs.sha256 != base_sha:
            return Conflict("", text, theirs.text, self.merged, theirs.sha256)
        self.saved.append((file, text, base_sha))
        found = redact(text, theirs.text)
        text, redacted = (text, 0) if keep_secrets else (found.text, found.count)
        (self.root / file).write_text(text, encoding="utf-8")
        return Saved("j1", sha(text), redacted)

    def change_many(self, edits: Sequence[Edit], actor: str, summary: str, *, keep_secrets: bool = False) -> str:
        for edit in edits:
            path = self.root / edit.file
            if edit.text is None:
                path.unlink()
            else:
                path.write_text(edit.text, encoding="utf-8")
        self.batches.append((summary, tuple(edits)))
        return f"batch-{len(self.batches)}"

    def undo(self, journal_id: str) -> Saved | Conflict:
        self.undone.append(journal_id)
        return Saved("j2", "")


@dataclass
class FakeJournal:
    found: list[JournalEntry] = field(default_factory=list)

    def entries(
        self, limit: int | None = None, path: str | None = None, actor: str | None = None, before: str | None = None
    ) -> list[JournalEntry]:
        ids = [entry.id for entry in self.found]
        older = self.found[ids.index(before) + 1 :] if before in ids else self.found
        return [entry for entry in older if path in (None, entry.path) and actor in (None, entry.actor)][:limit]

    def get(self, ident: str) -> JournalEntry | None:
        return next((entry for entry in self.found if entry.id == ident), None)


class FakeTidying:
    """Plans for the real files, or what ``planned`` says."""

    def __init__(self, memory: FakeMemory) -> None:
        self._memory = memory
        self.waiting: list[str] = []

    def plan(self) -> TidyPlan:
        return plan_tidy(self._memory, Limits(), NOW.date())  # type: ignore[arg-type]  # reads like the real one

    def conflicts(self) -> list[str]:
        return self.waiting

    def apply(self, plan: TidyPlan) -> str:
        return self._memory.change_many(plan.edits, "you", plan.summary)


class FakeWorkspace:
    def __init__(self, root: Path) -> None:
        (root / "memory").mkdir(parents=True, exist_ok=True)
        if not (root / "MEMORY.md").exists():
            (root / "MEMORY.md").write_text("# About me\n\n- I live in Lisbon.\n\n2026-11-20|you|likes tea\n")
        self.root = root
        self.memory = FakeMemory(root)
        self.journal = FakeJournal()
        self.drafts = Drafts(root.parent / "drafts")


class FakeTold:
    """What became of receipts' lines: by default nothing. Remembers what was asked."""

    def __init__(self, calls: list[tuple[Any, ...]]) -> None:
        self.calls = calls
        self.found: dict[str, LineNow] = {}
        self.nevers: set[str] = set()
        self.prompt = Prompt((), (), (), 0, 4096)

    def now(self, receipt: Receipt) -> ReceiptNow:
        lines = tuple(self.found.get(o.unit, LineNow("same", o.file, o.line, o.text)) for o in receipt.lines)
        return ReceiptNow(lines, tuple(line.unit in self.nevers for line in receipt.lines))

    def never(self, chat: str, unit: str, never: bool = True) -> None:
        self.calls.append(("never", chat, unit, never))
        self.nevers = self.nevers | {unit} if never else self.nevers - {unit}

    def preview(self, chat: str, text: str, after: int | None = None) -> Prompt:
        self.calls.append(("preview", chat, text, after))
        return self.prompt

    def renew(self, chat: str) -> None:
        self.calls.append(("renew", chat))


class FakeIndexing:
    """An index that is as the test says."""

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self._emit = emit
        self.paused = False
        self.found = IndexState(IndexStatus(3, 40, 40, "e5", 0, ()), "ready", 40, 40, "", WatchState("events"))
        self.wrong: list[FileState] = []

    def pause(self) -> None:
        self.paused = True
        self._emit(IndexStateChanged())

    def resume(self) -> None:
        self.paused = False
        self._emit(IndexStateChanged())

    def state(self) -> IndexState:
        return self.found

    def files(self) -> list[FileState]:
        return self.wrong


class FakeSelfTest:
    """No question is pinned."""

    def state(self) -> SelfTest:
        return SelfTest((), None, "")


class FakeReview:
    """Nothing waits for the person's word."""

    def today(self) -> date:
        return NOW.date()

    def waiting(self) -> list[Proposal]:
        return []

    def pairs(self) -> list[MemoryConflict]:
        return []


class FakePicture:
    """One entry."""

    def take(self) -> Picture:
        moment = Moment(NOW.date(), "you", "MEMORY.md", 5, "likes tea", True)
        return Picture((moment,), BudgetUse(120, 30, 1024, 0, (Section("About me", 1, 120),)))


class FakeTuning:
    """Implements assistant.ui.backend.Tunings: measuring finds ``finds``, or fails with it."""

    def __init__(self) -> None:
        self.known: Tuning | None = None
        self.finds: Tuning | Exception | None = None

    def of(self, name: str = "") -> Tuning | None:
        return self.known

    def measure(self, name: str, cancel: CancelToken, progress: Progress) -> Tuning:
        progress(1, 5, "how threads wait")
        if isinstance(self.finds, Exception):
            raise self.finds
        assert self.finds is not None
        self.known = self.finds
        return self.finds


class FakeRemote:
    """A server that works, or fails as the test says; remembers what was asked of it."""

    def __init__(self, calls: list[tuple[Any, ...]]) -> None:
        self.calls = calls
        self.found: ServerTest | AssistantError = ServerTest(
            "localhost:8080", "tiny", ("tiny", "big"), 8192, True, True, "Hello there.", 12.0
        )

    def test(
        self, cancel: CancelToken, url: str = "", model: str = "", key: str | None = None, *, openly: bool = False
    ) -> ServerTest:
        self.calls.append(("test", url, model, key, openly))
        if isinstance(self.found, AssistantError):
            raise self.found
        return self.found

    def set_key(self, key: str, *, openly: bool = False) -> None:
        self.calls.append(("set_key", key, openly))


class FakeServices:
    """Implements assistant.ui.backend.Backend. ``calls`` holds what the window asked for, in order."""

    def __init__(self, folder: Path) -> None:
        self.settings = SettingsStore(folder / "config" / "settings.toml")
        self.paths = find_paths(folder / "config", folder / "kept", {})
        self.workspace = FakeWorkspace(folder / "workspace")
        self.assistants = AssistantService(self.workspace.root, self.paths)
        self.lanes = FakeLanes()
        self.tidying = FakeTidying(self.workspace.memory)
        self.tuning = FakeTuning()
        self.self_test = FakeSelfTest()
        self.indexing = FakeIndexing(self.emit)
        self.review = FakeReview()
        self.picture = FakePicture()
        self.calls: list[tuple[Any, ...]] = []
        self.told = FakeTold(self.calls)
        self.remote = FakeRemote(self.calls)
        self.chats: dict[str, Chat] = {}
        self.receipts: dict[tuple[str, int], Receipt] = {}
        self.loaded = make_loaded()
        self.counted: list[str | None] = []
        self.answer = RecallAnswer((), True, 2.0, "hybrid")
        self.queries: list[RecallQuery] = []
        self.model_files: list[ModelFile] = []
        self.fail: dict[str, AssistantError | Exception] = {}
        self._sinks: list[EventSink] = []

    # --- scripting ---

    def emit(self, *events: Event) -> None:
        for event in events:
            for sink in self._sinks:
                sink(event)

    def put_chat(self, chat: Chat) -> Chat:
        self.chats[chat.id] = chat
        return chat

    def reply(self, chat: str, text: str, stop: StopReason = StopReason.END, receipt: Receipt | None = None) -> None:
        """Play a whole turn for the last message sent to ``chat``."""
        n = self.save_turn(chat)
        told = receipt or make_receipt(chat, n)
        self.emit(Recalled(chat, n, told))
        for part in [text[i : i + 12] for i in range(0, len(text), 12)]:
            self.emit(TextArrived(chat, n, part))
        self.finish(chat, n, text, stop, told)

    def save_turn(self, chat: str) -> int:
        """The words of the last send are on disk."""
        words, after = next(
            (call[2], call[3]) for call in reversed(self.calls) if call[0] == "send" and call[1] == chat
        )
        known = self.chats[chat]
        n = max((turn.n for turn in known.turns), default=0) + 1
        place = (after or None) if after is not None else max((turn.n for turn in known.turns), default=None)
        turn = Turn(n, place, NOW.isoformat(), words)
        self.chats[chat] = replace(known, turns=(*known.turns, turn))
        self.emit(TurnSaved(chat, n, place, words, 0))
        return n

    def finish(self, chat: str, n: int, text: str, stop: StopReason, receipt: Receipt) -> None:
        known = self.chats[chat]
        mark = stop.value if stop in (StopReason.STOPPED, StopReason.INTERRUPTED) else ""
        turns = tuple(replace(turn, reply=text, mark=mark) if turn.n == n else turn for turn in known.turns)
        self.chats[chat] = replace(known, turns=turns)
        self.receipts[(chat, n)] = receipt
        self.emit(TurnFinished(chat, n, Done(stop, text, 20, 800, 640, 900.0, 21.0), receipt, 4096))

    def _called(self, *call: Any) -> None:
        self.calls.append(call)
        if call[0] in self.fail:
            raise self.fail[call[0]]

    # --- Backend ---

    def subscribe(self, sink: EventSink) -> None:
        self._sinks.append(sink)

    def list_chats(self) -> list[ChatInfo]:
        self._called("list_chats")
        infos = [
            ChatInfo(c.id, c.title, c.created, c.last_active, len(c.turns), c.tags, c.private, "")
            for c in self.chats.values()
        ]
        return sorted(infos, key=lambda info: info.last_active, reverse=True)

    def read_chat(self, chat: str) -> Chat:
        self._called("read_chat", chat)
        return self.chats[chat]

    def new_chat(self, title: str = "", private: bool = False) -> str:
        self._called("new_chat", title, *(["private"] if private else []))
        name = f"20261129_1530{len(self.chats):02}"
        self.chats[name] = replace(make_chat(name, title), private=private)
        return name

    def set_private(self, chat: str, private: bool) -> int:
        self._called("set_private", chat, private)
        self.chats[chat] = replace(self.chats[chat], private=private)
        return 0

    def rename_chat(self, chat: str, title: str) -> None:
        self._called("rename_chat", chat, title)
        self.chats[chat] = replace(self.chats[chat], title=title)

    def delete_chat(self, chat: str) -> Chat:
        self._called("delete_chat", chat)
        return self.chats.pop(chat)

    def restore_chat(self, deleted: Chat) -> None:
        self._called("restore_chat", deleted.id)
        self.chats[deleted.id] = deleted

    def receipt(self, chat: str, turn: int) -> Receipt | None:
        return self.receipts.get((chat, turn))

    def window_use(self, chat: str) -> tuple[int, int]:
        return 1024, 4096

    def search(self, query: RecallQuery) -> RecallAnswer:
        self._called("search", query.text)
        self.queries.append(query)
        return self.answer

    def budget(self, text: str | None = None) -> Loaded:
        self.counted.append(text)
        return self.loaded

    def remember(self, text: str, *, keep_secrets: bool = False) -> Written:
        self._called("remember", text, *(["keep"] if keep_secrets else []))
        file = self.workspace.root / "MEMORY.md"
        file.write_text(file.read_text() + f"2026-11-29|you|{text}\n")
        return Written("x", "MEMORY.md", 6, text, 0, "j1")

    def models(self) -> list[ModelFile]:
        self._called("models")
        return self.model_files

    def add_model(self, path: Path) -> ModelFile:
        self._called("add_model", path)
        return ModelFile(path.name, path, 1000)

    def use_server(self, wanted: bool) -> None:
        self._called("use_server", wanted)

    def send(self, chat: str, text: str, after: int | None = None, *, keep_secrets: bool = False) -> None:
        self._called("send", chat, text, after, *(["keep"] if keep_secrets else []))

    def regenerate(self, chat: str, turn: int) -> None:
        self._called("regenerate", chat, turn)

    def stop(self, chat: str) -> None:
        self._called("stop", chat)

    def load_model(self, name: str) -> None:
        self._called("load_model", name)

    def wake_model(self) -> None:
        self._called("wake_model")


def _info(chat: Chat) -> ChatInfo:
    return ChatInfo(
        chat.id, chat.title, chat.created, chat.last_active, len(chat.turns), chat.tags, chat.private, f"{chat.id}.md"
    )


def make_receipt(chat: str = "c", turn: int = 1, lines: int = 3) -> Receipt:
    """A receipt with one line of each kind first."""
    found = (
        PromptLine("MEMORY.md", 3, "I live in Lisbon, near the Jardim da Estrela.", "pinned", tokens=9),
        PromptLine("MEMORY.md", 5, "likes tea, no coffee after noon", "tail", tokens=7),
        PromptLine(
            "memory/travel.md", 12, "Prefers small, quiet hotels with a garden.", "meaning", tokens=10, score=0.83
        ),
    )
    left = (LeftOut("MEMORY.md", 212, "over the budget of 200 lines"),)
    return Receipt(chat, turn, "SmolLM2-135M-Instruct", found[:lines], left, 812, 640, "hybrid")


def make_hit(file: str = "memory/travel.md", line: int = 12, score: float = 0.83) -> Hit:
    return Hit(
        f"{file}:abc",
        file,
        line,
        "note",
        "2026-11-20",
        "Travel",
        "Prefers small, quiet hotels with a garden.",
        score,
        {"keyword": 0.4, "meaning": 0.7, "recency": 0.01},
    )


def ready() -> ModelReady:
    """The starter model is loaded."""
    return ModelReady(
        ModelInfo("SmolLM2-135M-Instruct.gguf", Path("/m.gguf"), "llama", "Q4_K_M", 98_000_000, 4096, 8192, "own")
    )


def days_ago(days: float) -> str:
    return (NOW - timedelta(days=days)).isoformat()


def today() -> date:
    return NOW.date()
