"""One turn: the person's words to disk, recall, prompt, the streamed reply, and the reply to disk."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from assistant.chat.intents import fact_to_remember
from assistant.chat.prompt import Draft, PromptBuilder, Question
from assistant.chat.receipts import ReceiptStore
from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.events import EventSink, Notice, PromptProgress, Recalled, TextArrived, TurnFinished
from assistant.core.ports import Engine
from assistant.core.values import Delta, Done, GenerateOptions, PromptRead, Receipt, StopReason
from assistant.workspace.chats import Chat, Turn
from assistant.workspace.temporary import Chats, TemporaryChats
from assistant.workspace.thoughts import NO_THOUGHT, Thought
from assistant.workspace.workspace import Workspace

_PARTIAL_SECONDS = 1.0  # how much of a reply a crash may cost
_MARKS = {StopReason.STOPPED: "stopped", StopReason.INTERRUPTED: "interrupted"}
_NOTHING = Done(StopReason.STOPPED, "", 0, 0, 0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """A finished turn. left: turns of its branch that are out of the window now, for the distiller."""

    done: Done
    receipt: Receipt
    left: tuple[Turn, ...]


class TurnRunner:
    """Runs turns of one workspace on one engine.

    chats: temporary ones instead of the workspace's own; then nothing is written, to memory and day log neither.
    """

    def __init__(
        self,
        workspace: Workspace,
        receipts: ReceiptStore,
        engine: Engine,
        emit: EventSink,
        chats: TemporaryChats | None = None,
    ) -> None:
        self._workspace = workspace
        self._chats: Chats = chats or workspace.chats
        self._keeps = chats is None
        self._receipts = receipts
        self._engine = engine
        self._emit = emit

    def run(
        self,
        chat: Chat,
        turn: Turn,
        builder: PromptBuilder,
        options: GenerateOptions,
        cancel: CancelToken,
    ) -> TurnOutcome:
        """Answer ``turn``, whose words are on disk already. Whatever was generated is kept, whatever happens.

        The last event is TurnFinished. Raises AssistantError when there is no (whole) reply; the caller tells it.
        """
        text = _Reply(lambda so_far: self._chats.keep_partial(chat.id, turn.n, so_far), self._emit)
        draft: Draft | None = None
        try:
            self._remember(turn)
            branch = chat.branch(turn.after) if turn.after else ()
            draft = builder.build(Question(chat, branch, turn.user, turn.n))
            self._emit(Recalled(chat.id, turn.n, self._keep_receipt(chat.id, turn.n, draft)))
            done = self._stream(chat.id, turn.n, draft, options, cancel, text)
        except Cancelled:
            done = replace(_NOTHING, text=text.value)
        except BaseException as error:  # Ctrl+C and a reader of our output that is gone, too
            self._keep_cut_off(chat, turn.n, text.value, error)
            raise
        self._end(chat.id, turn.n, done.text, _MARKS.get(done.stop, ""), thought_of(done))
        model = self._model()
        receipt = receipt_of(draft, chat.id, turn.n, done, model) if draft else _no_receipt(chat.id, turn.n, model)
        self._afterwards(lambda: self._log_turn(chat, done.text or turn.user, ""))
        self._afterwards(lambda: self._receipts.add(receipt))
        window = draft.prompt.window if draft else 0
        self._emit(TurnFinished(chat.id, turn.n, done, receipt, window))
        return TurnOutcome(done, receipt, draft.left if draft else ())

    def end_unstarted(self, chat: str, turn: int) -> TurnOutcome:
        """End a turn that was stopped before its prompt was made. Raises AssistantError."""
        self._chats.end_turn(chat, turn, "", mark="stopped")
        receipt = _no_receipt(chat, turn, self._model())
        self._emit(TurnFinished(chat, turn, _NOTHING, receipt, 0))
        return TurnOutcome(_NOTHING, receipt, ())

    def _end(self, chat: str, turn: int, text: str, mark: str, thought: Thought = NO_THOUGHT) -> None:
        """The reply goes into its chat; where that cannot be written, into the state folder, for the next start."""
        try:
            self._chats.end_turn(chat, turn, text, mark, thought)
        except AssistantError:
            self._afterwards(lambda: self._chats.keep_partial(chat, turn, text))
            raise

    def _keep_cut_off(self, chat: Chat, turn: int, text: str, error: BaseException) -> None:
        if text:
            self._afterwards(lambda: self._end(chat.id, turn, text, "interrupted"))
        why = error.message if isinstance(error, AssistantError) else type(error).__name__
        self._afterwards(lambda: self._log_turn(chat, text, why))

    def _afterwards(self, step: Callable[[], None]) -> None:
        """What comes behind the reply must not cost it, nor hide why there is none: a failure is told beside it."""
        try:
            step()
        except AssistantError as error:
            self._emit(Notice(str(error), error=True))

    def _model(self) -> str:
        return self._engine.info.name if self._engine.info else ""

    def _remember(self, turn: Turn) -> None:
        """Obey "remember that ...": the model then reads the new entry in this turn's recalled block.

        Where it cannot be written the person is told, and answered all the same.
        """
        if self._keeps and (fact := fact_to_remember(turn.user)):
            try:
                self._workspace.memory.remember(fact, source="you")
            except AssistantError as error:
                self._emit(Notice(str(error), error=True))

    def _keep_receipt(self, chat: str, turn: int, draft: Draft) -> Receipt:
        """Durable before the model starts: what was told can be shown even if this process dies now."""
        if draft.new_row:
            self._receipts.add_row(chat, draft.row)
        receipt = receipt_of(draft, chat, turn, model=self._model())
        self._receipts.add(receipt)
        return receipt

    def _stream(
        self, chat: str, turn: int, draft: Draft, options: GenerateOptions, cancel: CancelToken, text: _Reply
    ) -> Done:
        for event in self._engine.chat(draft.prompt.messages, replace(options, conversation=chat), cancel):
            match event:
                case PromptRead(read, total):
                    self._emit(PromptProgress(chat, turn, read, total))
                case Delta(new, thought=True):
                    self._emit(TextArrived(chat, turn, new, thought=True))
                case Delta(new):
                    text.add(new)
                    self._emit(TextArrived(chat, turn, new))
                case Done():
                    return event
        raise AssistantError("engine.silent", "The model ended without an answer.", "Try again.")

    def _log_turn(self, chat: Chat, said: str, failed: str) -> None:
        """One line of the diary, none for a private chat: other programs read the diary, too."""
        if self._chats.is_private(chat.id):
            return
        self._workspace.log.add(self._workspace.clock(), chat.title, said, failed=failed)


def thought_of(done: Done) -> Thought:
    """What a reply was thought with, as its chat keeps it."""
    return Thought(done.thought, max(1, round(done.thought_s))) if done.thought else NO_THOUGHT


class _Reply:
    """The text of a reply so far, kept on disk now and then so that a crash costs at most a second of it.

    Where it cannot be kept the reply goes on all the same; that is told once.
    """

    def __init__(self, keep: Callable[[str], None], emit: EventSink) -> None:
        self.value = ""
        self._keep = keep
        self._emit = emit
        self._keeps = True
        self._kept_at = time.monotonic()

    def add(self, text: str) -> None:
        self.value += text
        if not self._keeps or time.monotonic() - self._kept_at < _PARTIAL_SECONDS:
            return
        try:
            self._keep(self.value)
        except AssistantError as error:
            self._keeps = False
            self._emit(Notice(str(error), error=True))
        self._kept_at = time.monotonic()


def receipt_of(draft: Draft, chat: str, turn: int, done: Done | None = None, model: str = "") -> Receipt:
    """What a prompt tells the model. done: the cost as it came out, where it is known."""
    return Receipt(
        chat=chat,
        turn=turn,
        model=model,
        lines=(*draft.row.lines, *draft.recalled.lines),
        left_out=draft.prompt.left_out,
        prompt_tokens=done.prompt_tokens if done else draft.prompt.tokens,
        reused_tokens=done.reused_tokens if done else 0,
        recall_mode=draft.mode,
        recalled_block=draft.recalled.text,
        host=draft.prompt.host,
    )


def _no_receipt(chat: str, turn: int, model: str) -> Receipt:
    """Of a turn whose prompt was never made: nothing was told."""
    return Receipt(chat, turn, model, (), (), 0, 0, "off")
