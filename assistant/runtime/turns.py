"""Turns on the chat lane: saved first, answered one at a time, stopped at once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from assistant.chat.intents import read_intent
from assistant.chat.receipts import ReceiptStore
from assistant.chat.turn import TurnOutcome, TurnRunner
from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.events import ChatsChanged, EventSink, Notice, TurnFailed, TurnSaved
from assistant.runtime.distilling import DistilService
from assistant.runtime.lanes import Lanes
from assistant.runtime.models import ModelService
from assistant.runtime.prompts import DEFAULT_PLAN, PromptService, TurnPlan
from assistant.runtime.tickets import Ticket, UnderWay
from assistant.workspace.temporary import Chats, TemporaryChats
from assistant.workspace.workspace import Workspace

_TITLE_CHARACTERS = 48
_END_SECONDS = 3.0  # a stop takes some 200 ms; a worker that hangs must not hold the files lane for ever
_BUG = AssistantError("turn.bug", "Keepsake made a mistake; your words are saved.", "Try again; the log has details.")
_log = logging.getLogger(__name__)


class TurnService:
    """Sends, regenerates and stops. Blocking forms end in ``_now``; the others return at once."""

    def __init__(
        self,
        workspace: Workspace,
        receipts: ReceiptStore,
        prompts: PromptService,
        models: ModelService,
        distilling: DistilService,
        lanes: Lanes,
        emit: EventSink,
        temporary: TemporaryChats | None = None,
        plan: Callable[[str], TurnPlan] = lambda _: DEFAULT_PLAN,
    ) -> None:
        """temporary: the chats that the turns are of, instead of the workspace's own. plan: of a chat's turns."""
        self._chats: Chats = temporary or workspace.chats
        self._keeps = temporary is None
        self._plan = plan
        self._prompts = prompts
        self._models = models
        self._distilling = distilling
        self._lanes = lanes
        self._emit = emit
        self._runner = TurnRunner(workspace, receipts, prompts.engine, emit, prompts.tools.box, temporary)
        self._under_way = UnderWay()

    # --- turns ---------------------------------------------------------------------------------------------------

    def send(self, chat: str, text: str, after: int | None = None, *, keep_secrets: bool = False) -> None:
        """The words go to disk on the files lane, then the turn waits its turn on the chat lane."""
        ticket = self._under_way.add(chat)
        save = partial(self._save, chat, text, after, keep_secrets)
        self._lanes.files.submit(self._save_and_queue, chat, ticket, save, 0)

    def regenerate(self, chat: str, turn: int) -> None:
        """Another reply to the same words: a sibling of ``turn``."""
        ticket = self._under_way.add(chat)
        self._lanes.files.submit(self._save_and_queue, chat, ticket, partial(self._save_again, chat, turn), turn)

    def stop(self, chat: str) -> None:
        """Stop the reply that runs in this chat, and what waits in it; the text so far is kept. Returns at once."""
        for ticket in self._stopped(chat):
            self._lanes.files.submit(self._end_unstarted, chat, ticket)

    def end(self, chat: str) -> None:
        """Stop what is under way in this chat and wait until it is on disk. Blocks, on the files lane or none."""
        for ticket in self._stopped(chat):
            self._end_unstarted(chat, ticket)
        self._make_way(chat)
        self._under_way.wait_for_queued(chat, _END_SECONDS)

    def busy(self, chat: str) -> bool:
        """Whether a turn of this chat is being saved, waits or runs."""
        return bool(self._under_way.of(chat))

    def close(self) -> None:
        """Stop everything; the lanes may be closed then."""
        for chat in self._under_way.chats():
            for ticket in self._under_way.of(chat):
                ticket.token.cancel()

    def _make_way(self, chat: str) -> None:
        """What is distilled lets this chat go first; a chat that is on no disk is not read again afterwards."""
        self._distilling.make_way(chat if self._keeps else "")

    def _stopped(self, chat: str) -> list[Ticket]:
        """Ask all that is under way in the chat to stop; the tickets of turns that will not start any more."""
        tickets = self._under_way.of(chat)
        for ticket in tickets:
            ticket.token.cancel()
        return [ticket for ticket in tickets if ticket.future and ticket.future.cancel()]

    def _end_unstarted(self, chat: str, ticket: Ticket) -> None:
        """A turn that was stopped while it waited ends at once, not after what it waited for."""
        if self._under_way.remove(chat, ticket):
            with self._told(chat, ticket.turn):
                self._runner.end_unstarted(chat, ticket.turn)

    def send_now(
        self, chat: str, text: str, cancel: CancelToken, plan: TurnPlan = DEFAULT_PLAN, after: int | None = None
    ) -> TurnOutcome:
        """One turn on this thread."""
        turn = self._save(chat, text, after)
        return self._run(chat, turn, cancel, plan)

    def _save(self, chat: str, text: str, after: int | None, keep_secrets: bool = False) -> int:
        start = self._chats.begin_turn(chat, text, after, keep_secrets=keep_secrets)
        if start.n == 1:
            self._title(chat, start.text)
        self._emit(TurnSaved(chat, start.n, after, start.text, start.redacted))
        self._emit(ChatsChanged())
        return start.n

    def _save_again(self, chat: str, turn: int) -> int:
        """The same words once more, as they stand: what they hold was redacted or kept by choice before."""
        old = self._chats.read(chat).by_number.get(turn)
        if old is None:
            raise _no_turn(turn)
        return self._save(chat, old.user, old.after or 0, keep_secrets=True)

    def _title(self, chat: str, text: str) -> None:
        """An untitled chat is called by its first words. It stays untitled where that fails: the words are saved."""
        first = " ".join(text.split())
        short = first if len(first) <= _TITLE_CHARACTERS else first[:_TITLE_CHARACTERS].rsplit(" ", 1)[0] + "…"
        try:
            if any(info.id == chat and not info.title for info in self._chats.list()):
                self._chats.rename(chat, short)
        except AssistantError as error:
            self._emit(Notice(str(error), error=True))

    def _save_and_queue(self, chat: str, ticket: Ticket, save: Callable[[], int], number: int) -> None:
        """number: of the turn that a failure to save is told for; 0: a new one."""
        try:
            with self._told(chat, number):
                ticket.turn = save()
        except BaseException as error:
            self._under_way.remove(chat, ticket)
            if not isinstance(error, AssistantError):
                raise
            _log.info("a message in %s was not saved: %s", chat, error)
            return
        self._queue(chat, ticket)

    def _queue(self, chat: str, ticket: Ticket) -> None:
        ticket.future = self._lanes.chat.submit(self._run_queued, chat, ticket)
        self._make_way(chat)  # once the turn is in the queue, so that what distils next waits behind it
        if ticket.token.cancelled and ticket.future.cancel():  # the stop came before there was a future to cancel
            self._end_unstarted(chat, ticket)

    def _run_queued(self, chat: str, ticket: Ticket) -> None:
        try:
            outcome = self._run(chat, ticket.turn, ticket.token, self._plan(chat))
        except AssistantError as error:
            _log.info("turn %s#%d failed: %s", chat, ticket.turn, error)
            return
        finally:
            self._under_way.remove(chat, ticket)
            self._distilling.quiet_from_now()
        if outcome.left and self._keeps:
            self._distilling.note(chat)

    def _run(self, chat_id: str, turn: int, cancel: CancelToken, plan: TurnPlan) -> TurnOutcome:
        with self._told(chat_id, turn), self._prompts.kept_here(self._keeps and self._chats.is_private(chat_id)):
            lacking = None
            try:
                self._models.ensure(plan.model, cancel)
            except Cancelled:
                return self._runner.end_unstarted(chat_id, turn)
            except AssistantError as error:
                lacking = error
            chat = self._chats.read(chat_id)
            said = chat.by_number.get(turn)
            if said is None:
                raise _no_turn(turn)
            if lacking and read_intent(said.user) is None:
                raise lacking
            try:
                builder, options = self._prompts.builder(plan, chat_id), plan.options or self._prompts.options()
                return self._runner.run(chat, said, builder, options, cancel, lacking)
            except AssistantError as error:
                self._models.note_failure(error)
                raise

    @contextmanager
    def _told(self, chat: str, turn: int) -> Iterator[None]:
        """Whatever fails inside is told as TurnFailed, or the window would wait for ever; then it is raised."""
        try:
            yield
        except AssistantError as error:
            self._emit(TurnFailed(chat, turn, error))
            raise
        except Exception:
            self._emit(TurnFailed(chat, turn, _BUG))  # the lane logs the bug
            raise


def _no_turn(turn: int) -> AssistantError:
    return AssistantError("chat.no_turn", f"Turn {turn} is no longer in this chat.", "Open the chat again.")
