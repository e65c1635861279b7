"""What the services tell the window while they work. Frozen; sent from any thread to one callback."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from assistant.core.errors import AssistantError
from assistant.core.values import Done, MadeCall, ModelInfo, Receipt


@dataclass(frozen=True, slots=True)
class ModelLoading:
    """A model is being read. fraction: 0..1."""

    name: str
    fraction: float


@dataclass(frozen=True, slots=True)
class ModelReady:
    info: ModelInfo


@dataclass(frozen=True, slots=True)
class ModelResting:
    """The model was not used for long and gave its memory back; the next message loads it again."""

    info: ModelInfo


@dataclass(frozen=True, slots=True)
class ModelFailed:
    """No model is loaded now. error says why and what to do."""

    error: AssistantError


@dataclass(frozen=True, slots=True)
class TurnSaved:
    """The person's words are on disk. redacted: how many secrets were replaced in them."""

    chat: str
    turn: int
    after: int | None
    text: str
    redacted: int


@dataclass(frozen=True, slots=True)
class Recalled:
    """The prompt of a turn is ready; receipt says what it carries (prompt_tokens as estimated before the reply)."""

    chat: str
    turn: int
    receipt: Receipt


@dataclass(frozen=True, slots=True)
class PromptProgress:
    """Tokens of the prompt read so far."""

    chat: str
    turn: int
    read: int
    total: int


@dataclass(frozen=True, slots=True)
class TextArrived:
    """More of the reply; thought: of what the model thinks before it."""

    chat: str
    turn: int
    text: str
    thought: bool = False


@dataclass(frozen=True, slots=True)
class ToolUsed:
    """A tool was used for this turn; its result is what the reply goes on with."""

    chat: str
    turn: int
    call: MadeCall


@dataclass(frozen=True, slots=True)
class ForgetAsked:
    """The person asked in words to forget something. Nothing is forgotten yet: it is for them to confirm.

    things: ids of what was found by a search; () where ForgetService.plan(what) finds it itself. count: how much.
    """

    chat: str
    turn: int
    what: str
    things: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The reply is on disk. done.stop says how it ended; window: tokens of the context window, used by this turn."""

    chat: str
    turn: int
    done: Done
    receipt: Receipt
    window: int


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """No (further) reply; the person's words and the text so far are kept."""

    chat: str
    turn: int
    error: AssistantError


@dataclass(frozen=True, slots=True)
class ChatsChanged:
    """The list of chats changed: one was created, renamed or deleted here, or a turn was saved."""


@dataclass(frozen=True, slots=True)
class WorkspaceChanged:
    """Files of the workspace were written, by us or by another program; what is shown of them may be old."""


@dataclass(frozen=True, slots=True)
class MemoryChanged:
    """A memory file changed. actor as in the journal; journal_id: what undo takes, "" where nothing can be undone."""

    file: str
    actor: str
    journal_id: str
    summary: str


@dataclass(frozen=True, slots=True)
class InboxChanged:
    """What the assistant wants to remember and waits for the person's yes changed. waiting: how many things."""

    waiting: int


@dataclass(frozen=True, slots=True)
class PromptChanged:
    """The chat's next prompt carries other memory: a line is never told there any more, or its row was taken anew."""

    chat: str


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """what: "keywords", "vectors" or "pieces"; done == total ends it."""

    what: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class IndexStateChanged:
    """A pass over the index ended, learning was paused or goes on, or files are watched in another way."""


@dataclass(frozen=True, slots=True)
class DistillProgress:
    """Turns that left the window are becoming memory; done == total ends it."""

    chat: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Notice:
    """Something worth a line in the status bar; error: shown as a warning."""

    text: str
    error: bool = False


class DownloadStatus(StrEnum):
    """How a download stands."""

    QUEUED = "queued"  # another one goes first
    READING = "reading"
    WAITING = "waiting"  # for the server; it goes on by itself
    CHECKING = "checking"
    PAUSED = "paused"
    FAILED = "failed"  # what has arrived is kept, unless it was wrong
    DONE = "done"
    GONE = "gone"  # cancelled; nothing of it is left


@dataclass(frozen=True, slots=True)
class DownloadChanged:
    """A download that a person asked for goes on, stops or ends. name: of the catalogue; host: where it comes from;
    done, total: bytes (total 0: not known); rate: bytes a second lately, 0 while that is not known; error: why it
    failed.
    """

    name: str
    status: DownloadStatus
    host: str
    done: int = 0
    total: int = 0
    error: AssistantError | None = None
    rate: float = 0.0

    @property
    def runs(self) -> bool:
        """Whether it uses the network, or will by itself."""
        return self.status in (
            DownloadStatus.QUEUED,
            DownloadStatus.READING,
            DownloadStatus.WAITING,
            DownloadStatus.CHECKING,
        )


@dataclass(frozen=True, slots=True)
class ChecksRan:
    """The recall self-test has new results. lost: questions that memory answered before and does not now."""

    lost: int


Event = (
    ModelLoading
    | ModelReady
    | ModelResting
    | ModelFailed
    | TurnSaved
    | Recalled
    | PromptProgress
    | TextArrived
    | ToolUsed
    | ForgetAsked
    | TurnFinished
    | TurnFailed
    | ChatsChanged
    | WorkspaceChanged
    | MemoryChanged
    | InboxChanged
    | PromptChanged
    | IndexProgress
    | IndexStateChanged
    | DistillProgress
    | DownloadChanged
    | ChecksRan
    | Notice
)
EventSink = Callable[[Event], None]
