"""Turns and distilling on the chat lane: one at a time, the person always first."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from assistant.chat.distil import Batch, Distiller
from assistant.chat.prompt import PromptBuilder, PromptRules, Question, turns_in_window
from assistant.chat.receipts import ReceiptStore
from assistant.chat.tokens import EstimatedTokens, TokenCounter
from assistant.chat.turn import TurnOutcome, TurnRunner, receipt_of
from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.events import ChatsChanged, DistillProgress, EventSink, Notice, TurnFailed, TurnSaved
from assistant.core.ports import Engine
from assistant.core.values import Delta, Done, GenerateOptions, Prompt, Receipt
from assistant.recall.search import Recall
from assistant.runtime.lanes import Lanes
from assistant.runtime.models import ModelService
from assistant.settings.schema import Settings
from assistant.workspace.budget import Limits
from assistant.workspace.chats import Chat, Turn
from assistant.workspace.workspace import Workspace

_TITLE_CHARACTERS = 48
_END_SECONDS = 5.0  # a stop takes effect within 0.2 s; a slow disk may take longer
_BUG = AssistantError("turn.bug", "Keepsake made a mistake; your words are saved.", "Try again; the log has details.")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TurnPlan:
    """What the next turns run with. options None: those of the settings."""

    model: str = ""
    options: GenerateOptions | None = None
    memory: bool = True


DEFAULT_PLAN = TurnPlan()


@dataclass
class _Running:
    """Tokens of turns that run or wait, by chat; and the chats that are worked on at this moment."""

    tokens: dict[str, list[CancelToken]] = field(default_factory=dict)
    _active: list[str] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def add(self, chat: str) -> CancelToken:
        token = CancelToken()
        self.tokens.setdefault(chat, []).append(token)
        return token

    def remove(self, chat: str, token: CancelToken) -> None:
        waiting = self.tokens.get(chat, [])
        if token in waiting:
            waiting.remove(token)

    @contextmanager
    def active(self, chat: str) -> Iterator[None]:
        with self._changed:
            self._active.append(chat)
        try:
            yield
        finally:
            with self._changed:
                self._active.remove(chat)
                self._changed.notify_all()

    def wait_for_end(self, chat: str, seconds: float) -> bool:
        """True once nothing works on the chat any more."""
        with self._changed:
            return self._changed.wait_for(lambda: chat not in self._active, seconds)


class TurnService:
    """Sends, regenerates, stops and distils. Blocking forms end in ``_now``; the others return at once."""

    def __init__(
        self,
        workspace: Workspace,
        recall: Recall,
        receipts: ReceiptStore,
        distiller: Distiller,
        engine: Engine,
        models: ModelService,
        settings: Callable[[], Settings],
        lanes: Lanes,
        emit: EventSink,
    ) -> None:
        self._workspace = workspace
        self._recall = recall
        self._receipts = receipts
        self._distiller = distiller
        self._engine = engine
        self.models = models
        self._settings = settings
        self._lanes = lanes
        self._emit = emit
        self._runner = TurnRunner(workspace, receipts, engine, emit)
        self._running = _Running()
        self._distilling = CancelToken()
        self._closed = False

    # --- turns ---------------------------------------------------------------------------------------------------

    def send(self, chat: str, text: str, after: int | None = None, *, keep_secrets: bool = False) -> None:
        """The words go to disk on the files lane, then the turn waits its turn on the chat lane."""
        token = self._running.add(chat)
        self._lanes.files.submit(self._save_and_queue, chat, text, after, token, keep_secrets)

    def regenerate(self, chat: str, turn: int) -> None:
        """Another reply to the same words: a sibling of ``turn``."""
        token = self._running.add(chat)
        self._lanes.files.submit(self._regenerate, chat, turn, token)

    def stop(self, chat: str) -> None:
        """Stop the reply that runs in this chat, and what waits in it; the text so far is kept."""
        for token in list(self._running.tokens.get(chat, ())):
            token.cancel()

    def end(self, chat: str) -> None:
        """Stop what runs in this chat and wait until the text so far is on disk, so that the chat may be deleted."""
        self.stop(chat)
        self._distilling.cancel()
        if not self._running.wait_for_end(chat, _END_SECONDS):
            _log.warning("the chat %s is still worked on", chat)

    def close(self) -> None:
        """Stop everything; the lanes may be closed then."""
        self._closed = True
        self._distilling.cancel()
        for chat in list(self._running.tokens):
            self.stop(chat)

    def send_now(
        self, chat: str, text: str, cancel: CancelToken, plan: TurnPlan = DEFAULT_PLAN, after: int | None = None
    ) -> TurnOutcome:
        """One turn on this thread."""
        turn = self._save(chat, text, after)
        return self._run(chat, turn, cancel, plan)

    def _save(self, chat: str, text: str, after: int | None, keep_secrets: bool = False) -> int:
        start = self._workspace.chats.begin_turn(chat, text, after, keep_secrets=keep_secrets)
        if start.n == 1:
            self._title(chat, start.text)
        self._emit(TurnSaved(chat, start.n, after, start.text, start.redacted))
        self._emit(ChatsChanged())
        return start.n

    def _title(self, chat: str, text: str) -> None:
        """An untitled chat is called by its first words."""
        if any(info.id == chat and not info.title for info in self._workspace.chats.list()):
            first = " ".join(text.split())
            short = first if len(first) <= _TITLE_CHARACTERS else first[:_TITLE_CHARACTERS].rsplit(" ", 1)[0] + "…"
            self._workspace.chats.rename(chat, short)

    def _save_and_queue(
        self, chat: str, text: str, after: int | None, token: CancelToken, keep_secrets: bool = False
    ) -> None:
        try:
            turn = self._save(chat, text, after, keep_secrets)
        except AssistantError as error:
            self._running.remove(chat, token)
            self._emit(TurnFailed(chat, 0, error))
            return
        self._queue(chat, turn, token)

    def _regenerate(self, chat: str, turn: int, token: CancelToken) -> None:
        old = next((t for t in self._workspace.chats.read(chat).turns if t.n == turn), None)
        if old is None:
            self._running.remove(chat, token)
            error = AssistantError("chat.no_turn", f"Turn {turn} is no longer in this chat.", "Open the chat again.")
            self._emit(TurnFailed(chat, turn, error))
            return
        self._save_and_queue(chat, old.user, old.after or 0, token)

    def _queue(self, chat: str, turn: int, token: CancelToken) -> None:
        if self._closed:  # the words are saved; a reply can be asked for at the next start
            return
        self._lanes.chat.submit(self._run_queued, chat, turn, token)
        self._distilling.cancel()  # after the turn is in the queue, so that what is left to distil waits behind it

    def _run_queued(self, chat: str, turn: int, token: CancelToken) -> None:
        try:
            if token.cancelled and self._is_deleted(chat):
                return
            outcome = self._run(chat, turn, token, DEFAULT_PLAN)
        except AssistantError as error:
            _log.info("turn %s#%d failed: %s", chat, turn, error)
            return
        except Exception:
            self._emit(TurnFailed(chat, turn, _BUG))  # or the window would wait for ever; the lane logs the bug
            raise
        finally:
            self._running.remove(chat, token)
        if outcome.left and not self._closed:
            self.distil(chat)

    def _is_deleted(self, chat: str) -> bool:
        try:
            self._workspace.chats.path(chat)
        except AssistantError as error:
            return error.code == "chat.missing"
        return False

    def _run(self, chat: str, turn: int, cancel: CancelToken, plan: TurnPlan) -> TurnOutcome:
        try:
            self.models.ensure(plan.model)
        except AssistantError as error:
            self._emit(TurnFailed(chat, turn, error))
            raise
        with self._running.active(chat):
            return self._run_active(chat, turn, cancel, plan)

    def _run_active(self, chat_id: str, turn: int, cancel: CancelToken, plan: TurnPlan) -> TurnOutcome:
        try:
            chat = self._workspace.chats.read(chat_id)
            said = next(t for t in chat.turns if t.n == turn)
        except AssistantError as error:
            if not (cancel.cancelled and error.code == "chat.missing"):  # else it was deleted while it waited
                self._emit(TurnFailed(chat_id, turn, error))
            raise
        builder = self.builder(self._engine, plan)
        return self._runner.run(chat, said, builder, plan.options or self.options(), cancel)

    def ask_temporary(
        self, text: str, cancel: CancelToken, plan: TurnPlan = DEFAULT_PLAN
    ) -> Iterator[str | tuple[Done, Receipt]]:
        """One turn that leaves nothing on disk: yields the new texts, then how it ended."""
        self.models.ensure(plan.model)
        draft = self.builder(self._engine, plan).build(Question(Chat.empty(), (), text))
        for event in self._engine.chat(draft.prompt.messages, plan.options or self.options(), cancel):
            if isinstance(event, Delta):
                yield event.text
            elif isinstance(event, Done):
                yield event, receipt_of(draft, "", 0, event)

    # --- prompts -------------------------------------------------------------------------------------------------

    def options(self) -> GenerateOptions:
        """How replies are sampled, by the settings."""
        m = self._settings().model
        return GenerateOptions(m.max_tokens, m.temperature, m.top_p, m.top_k, m.min_p, m.repeat_penalty)

    def rules(self, plan: TurnPlan = DEFAULT_PLAN) -> PromptRules:
        settings = self._settings()
        memory = settings.memory
        window = self._engine.info.window if self._engine.info else settings.model.window
        limits = Limits(memory.fact_lines, memory.fact_bytes, memory.entries, memory.window_share)
        reply = (plan.options or self.options()).max_tokens
        return PromptRules(window, reply, memory.recall_hits, limits, plan.memory)

    def counter(self) -> TokenCounter:
        """The loaded model's own count, an estimate while there is none."""
        return self._engine if self._engine.info else EstimatedTokens()

    def builder(self, counter: TokenCounter, plan: TurnPlan = DEFAULT_PLAN) -> PromptBuilder:
        return PromptBuilder(self._workspace, self._recall, self._receipts, counter, self.rules(plan))

    def preview(self, chat: Chat, text: str) -> Prompt:
        """The exact prompt that ``text`` would have as the chat's next turn."""
        return self.builder(self.counter()).build(Question(chat, chat.branch(), text)).prompt

    # --- distilling ----------------------------------------------------------------------------------------------

    def distil(self, chat: str) -> None:
        """Distil what is due in a chat when no turn waits."""
        token = self._distilling = CancelToken()
        self._lanes.chat.submit(self._distil_quietly, chat, token)

    def distil_now(self, chat_id: str, cancel: CancelToken) -> list[Batch]:
        """Distil what is due in a chat, on this thread. Raises AssistantError, Cancelled."""
        chat = self._workspace.chats.read(chat_id)
        left = self._left(chat)
        if not self._distiller.due(chat, left):
            return list(self._distiller.run(chat, left, self._engine, 0, cancel, self._progress))
        self.models.ensure()
        window = self.rules().window
        with self._running.active(chat_id):
            return list(self._distiller.run(chat, left, self._engine, window, cancel, self._progress))

    def _left(self, chat: Chat) -> Sequence[Turn]:
        """The turns of the newest branch that are out of the window."""
        branch = chat.branch()
        row = self._receipts.row(chat.id)
        if row is not None and row.cut_at:
            staying = turns_in_window(branch, row)
            return branch[: len(branch) - len(staying)]
        return self.builder(self.counter()).build(Question(chat, branch, "")).left

    def _progress(self, done: int, total: int, chat: str) -> None:
        self._emit(DistillProgress(chat, done, total))

    def _distil_quietly(self, chat: str, token: CancelToken) -> None:
        if token.cancelled:
            self._distil_again(chat)
            return
        try:
            batches = self.distil_now(chat, token)
        except Cancelled:
            self._progress(1, 1, chat)
            self._distil_again(chat)
            return
        except AssistantError as error:
            self._progress(1, 1, chat)
            if not self._is_deleted(chat):
                self._emit(Notice(str(error), error=True))
            return
        if any(batch.fallback for batch in batches):
            self._emit(Notice("The model could not summarize; your own sentences were kept as notes instead."))

    def _distil_again(self, chat: str) -> None:
        """Wait behind the turn that came first."""
        if not self._closed:
            self.distil(chat)
