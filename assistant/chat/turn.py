"""One turn: the person's words to disk, recall, prompt, the streamed reply, and the reply to disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from assistant.chat.call_records import saved_call
from assistant.chat.growing_reply import GrowingReply
from assistant.chat.must_look import asks_of_own_life
from assistant.chat.obeying import Obeyed, Obeying, answer_without_model
from assistant.chat.prompt import Draft, PromptBuilder, Question
from assistant.chat.receipts import ReceiptStore
from assistant.chat.tool_rounds import ToolRounds, joined
from assistant.chat.tool_use import Toolbox, ToolPlace
from assistant.chat.tools import SEARCHES
from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.events import EventSink, Notice, PromptProgress, Recalled, TextArrived, ToolUsed, TurnFinished
from assistant.core.ports import Engine
from assistant.core.values import Delta, Done, GenerateOptions, MadeCall, Message, PromptRead, Receipt, StopReason
from assistant.workspace.chats import Chat, Turn
from assistant.workspace.temporary import Chats, TemporaryChats
from assistant.workspace.thoughts import NO_THOUGHT, Thought
from assistant.workspace.workspace import Workspace

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
    toolbox: what the person's words and the model use.
    """

    def __init__(
        self,
        workspace: Workspace,
        receipts: ReceiptStore,
        engine: Engine,
        emit: EventSink,
        toolbox: Toolbox,
        chats: TemporaryChats | None = None,
    ) -> None:
        self._workspace = workspace
        self._chats: Chats = chats or workspace.chats
        self._keeps = chats is None
        self._receipts = receipts
        self._engine = engine
        self._emit = emit
        self._toolbox = toolbox

    def run(
        self,
        chat: Chat,
        turn: Turn,
        builder: PromptBuilder,
        options: GenerateOptions,
        cancel: CancelToken,
        lacking: AssistantError | None = None,
    ) -> TurnOutcome:
        """Answer ``turn``, whose words are on disk already. Whatever was generated is kept, whatever happens.

        lacking: why there is no model; only what needs none is done then, or it is raised. The last event is
        TurnFinished. Raises AssistantError when there is no (whole) reply; the caller tells it.
        """
        text = GrowingReply(lambda so_far: self._chats.keep_partial(chat.id, turn.n, so_far), self._emit)
        draft: Draft | None = None
        calls: list[MadeCall] = []
        try:
            place = ToolPlace(chat.id, turn.n, private=builder.tells_private)
            obeyed = self._obey(place, turn.user, builder.reads_memory, calls)
            answer = obeyed.answer or (answer_without_model(obeyed, turn.user) if lacking else "")
            if answer:
                done = self._say(chat.id, turn.n, answer, text)
            elif lacking:
                raise lacking
            else:
                branch = chat.branch(turn.after) if turn.after else ()
                place = replace(place, said=_said(branch, turn.user))
                question = Question(chat, branch, turn.user, turn.n, hits=obeyed.hits, notes=obeyed.notes)
                draft = builder.build(question)
                self._emit(Recalled(chat.id, turn.n, self._keep_receipt(chat.id, turn.n, draft, calls)))
                done = self._answer(replace(place, seen=draft.seen), draft, options, cancel, text, calls)
        except Cancelled:
            done = replace(_NOTHING, text=text.value, thought=text.thought, thought_s=text.thought_s)
        except BaseException as error:  # Ctrl+C and a reader of our output that is gone, too
            self._keep_cut_off(chat, turn.n, text, error)
            raise
        self._end(chat.id, turn.n, done.text, _MARKS.get(done.stop, ""), thought_of(done))
        model = self._model()
        if draft:
            receipt = receipt_of(draft, chat.id, turn.n, done, model, calls)
        else:
            receipt = _no_receipt(chat.id, turn.n, model, calls)
        self._afterwards(lambda: self._log_turn(chat, done.text or turn.user, "", calls))
        if draft or calls:
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

    def _keep_cut_off(self, chat: Chat, turn: int, reply: GrowingReply, error: BaseException) -> None:
        thought = _thought(reply.thought, reply.thought_s)
        if reply.value or reply.thought:
            self._afterwards(lambda: self._end(chat.id, turn, reply.value, "interrupted", thought))
        why = error.message if isinstance(error, AssistantError) else type(error).__name__
        self._afterwards(lambda: self._log_turn(chat, reply.value, why))

    def _afterwards(self, step: Callable[[], None]) -> None:
        """What comes behind the reply must not cost it, nor hide why there is none: a failure is told beside it."""
        try:
            step()
        except AssistantError as error:
            self._emit(Notice(str(error), error=True))

    def _model(self) -> str:
        return self._engine.info.name if self._engine.info else ""

    def _obey(self, place: ToolPlace, message: str, looks: bool, calls: list[MadeCall]) -> Obeyed:
        """What the person's own words ask for, done; ``calls`` gets what was used for it."""
        obeying = Obeying(self._workspace, self._toolbox, self._emit, keeps=self._keeps, looks=looks)
        obeyed = obeying.obey(message, place)
        self._note_calls(place.chat, place.turn, obeyed.calls, calls)
        return obeyed

    def _note_calls(self, chat: str, turn: int, new: Sequence[MadeCall], calls: list[MadeCall]) -> None:
        """Each call is in the chat's file and on screen before anything goes on."""
        for call in new:
            calls.append(call)
            self._afterwards(partial(self._chats.add_call, chat, turn, saved_call(call)))
            self._emit(ToolUsed(chat, turn, call))

    def _say(self, chat: str, turn: int, words: str, text: GrowingReply) -> Done:
        """A reply that no model wrote."""
        text.add(words)
        self._emit(TextArrived(chat, turn, words))
        return replace(_NOTHING, stop=StopReason.END, text=words)

    def _answer(
        self,
        place: ToolPlace,
        draft: Draft,
        options: GenerateOptions,
        cancel: CancelToken,
        text: GrowingReply,
        calls: list[MadeCall],
    ) -> Done:
        """The reply; where the model asks for tools, they are used and it goes on behind their results."""
        chat, turn, prompt = place.chat, place.turn, draft.prompt
        options = replace(options, tools=prompt.tools, conversation=chat)
        must = SEARCHES if prompt.tools and self._must_look(draft, place) else ()
        done = self._stream(chat, turn, prompt.messages, replace(options, must=must), cancel, text)
        if not prompt.tools:
            return done
        rounds = ToolRounds(self._toolbox, self._engine, prompt, place, calls)
        last = done
        while last.stop is StopReason.CALLS and not cancel.cancelled and not rounds.over:
            self._note_calls(chat, turn, rounds.use(last), calls)
            self._afterwards(partial(self._receipts.add, receipt_of(draft, chat, turn, None, self._model(), calls)))
            text.part()
            last = self._stream(chat, turn, rounds.messages, replace(options, tools=rounds.tools), cancel, text)
            done = joined(done, last)
        ends = {StopReason.CALLS: StopReason.STOPPED if cancel.cancelled else StopReason.END}
        return replace(done, stop=ends.get(done.stop, done.stop), calls=())

    def _must_look(self, draft: Draft, place: ToolPlace) -> bool:
        """A question about the person's own life of which nothing was recalled, nor stands in the window already."""
        message = draft.prompt.blocks[-1].text
        if not asks_of_own_life(message) or any(line.why != "date" for line in draft.recalled.lines):
            return False
        told = {line.unit for line in draft.row.memory_lines}
        near = self._toolbox.search(message, "all", replace(place, seen=frozenset()))
        return not any(hit.id in told or hit.id in draft.seen for hit in near)

    def _keep_receipt(self, chat: str, turn: int, draft: Draft, calls: Sequence[MadeCall]) -> Receipt:
        """Durable before the model starts: what was told can be shown even if this process dies now."""
        if draft.new_row:
            self._receipts.add_row(chat, draft.row)
        receipt = receipt_of(draft, chat, turn, None, self._model(), calls)
        self._receipts.add(receipt)
        return receipt

    def _stream(
        self,
        chat: str,
        turn: int,
        messages: Sequence[Message],
        options: GenerateOptions,
        cancel: CancelToken,
        text: GrowingReply,
    ) -> Done:
        for event in self._engine.chat(messages, options, cancel):
            match event:
                case PromptRead(read, total):
                    self._emit(PromptProgress(chat, turn, read, total))
                case Delta(new, thought=True):
                    text.think(new)
                    self._emit(TextArrived(chat, turn, new, thought=True))
                case Delta(new):
                    self._emit(TextArrived(chat, turn, text.add(new)))
                case Done():
                    return event
        raise AssistantError("engine.silent", "The model ended without an answer.", "Try again.")

    def _log_turn(self, chat: Chat, said: str, failed: str, calls: Sequence[MadeCall] = ()) -> None:
        """One line of the diary, none for a private chat: other programs read the diary, too."""
        if self._chats.is_private(chat.id):
            return
        tools = tuple(dict.fromkeys(call.name for call in calls))
        self._workspace.log.add(self._workspace.clock(), chat.title, said, tools, failed)


def _said(branch: Sequence[Turn], message: str) -> str:
    """Both sides' words of a conversation, the message last."""
    return "\n".join([*(text for turn in branch for text in (turn.user, turn.reply or "")), message])


def thought_of(done: Done) -> Thought:
    """What a reply was thought with, as its chat keeps it."""
    return _thought(done.thought, done.thought_s)


def _thought(text: str, seconds: float) -> Thought:
    return Thought(text, max(1, round(seconds))) if text else NO_THOUGHT


def receipt_of(
    draft: Draft, chat: str, turn: int, done: Done | None = None, model: str = "", calls: Sequence[MadeCall] = ()
) -> Receipt:
    """What a prompt tells the model. done: the cost as it came out, where it is known."""
    return Receipt(
        chat=chat,
        turn=turn,
        model=model,
        lines=(*draft.row.lines, *draft.recalled.lines, *(line for call in calls for line in call.lines)),
        left_out=draft.prompt.left_out,
        prompt_tokens=done.prompt_tokens if done else draft.prompt.tokens,
        reused_tokens=done.reused_tokens if done else 0,
        recall_mode=draft.mode,
        recalled_block=draft.recalled.text,
        host=draft.prompt.host,
        calls=tuple(calls),
    )


def _no_receipt(chat: str, turn: int, model: str, calls: Sequence[MadeCall] = ()) -> Receipt:
    """Of a turn whose prompt was never made: nothing was told."""
    return Receipt(chat, turn, model, (), (), 0, 0, "off", calls=tuple(calls))
