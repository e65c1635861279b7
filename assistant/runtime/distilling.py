"""Distilling in quiet moments: the person always goes first, and their next turn waits for nothing that we undid."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from assistant.chat.distil import Batch, Distiller
from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.events import DistillProgress, EventSink, Notice
from assistant.core.values import GenerateOptions
from assistant.runtime.lanes import Lane
from assistant.runtime.models import ModelService
from assistant.runtime.prompts import PromptService
from assistant.workspace.workspace import Workspace

QUIET_SECONDS = 10.0
"""How long after the last turn we think that the person is reading or gone."""
_CHATS_AT_START = 50  # the latest ones: what was due when the app last closed is in them
_log = logging.getLogger(__name__)


class DistilService:
    """What is due waits until nothing was asked for a while, then is distilled on the chat lane, a chat at a time.

    A turn that comes meanwhile stops it; nothing is lost and it is due again. Afterwards the chat that was talked in
    last is put back into the model's cache, which distilling had for itself.
    """

    def __init__(
        self,
        workspace: Workspace,
        distiller: Distiller,
        prompts: PromptService,
        models: ModelService,
        lane: Lane,
        emit: EventSink,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._workspace = workspace
        self._distiller = distiller
        self._prompts = prompts
        self._models = models
        self._lane = lane
        self._emit = emit
        self._clock = clock
        self._lock = threading.Lock()
        self._due: dict[str, None] = {}
        self._queued: set[str] = set()
        self._token = CancelToken()
        self._quiet_since = clock()
        self._last_chat = ""
        self._closed = False

    # --- what the others tell it ---------------------------------------------------------------------------------

    def note(self, chat: str) -> None:
        """Turns of this chat have left the window: distil them when it is quiet."""
        with self._lock:
            self._due[chat] = None

    def make_way(self, chat: str) -> None:
        """A turn of this chat is in the queue: what distils stops, what waits goes behind it."""
        with self._lock:
            self._quiet_since, self._last_chat = self._clock(), chat
            self._token.cancel()

    def quiet_from_now(self) -> None:
        """A turn has ended."""
        with self._lock:
            self._quiet_since = self._clock()

    def close(self) -> None:
        """Stop; what is due is found again at the next start."""
        with self._lock:
            self._closed = True
            self._token.cancel()

    # --- when it works -------------------------------------------------------------------------------------------

    def find_due(self) -> None:
        """Note what an earlier run left undone."""
        for info in self._workspace.chats.list()[:_CHATS_AT_START]:
            if not info.private and self._prompts.was_cut(info.id):
                self.note(info.id)

    @property
    def is_quiet(self) -> bool:
        """Whether nothing was asked for a while."""
        with self._lock:
            return not self._closed and self._clock() - self._quiet_since >= QUIET_SECONDS

    def look(self) -> None:
        """Queue what is due if it has been quiet long enough. For a scheduler that calls now and then."""
        with self._lock:
            if self._closed or self._clock() - self._quiet_since < QUIET_SECONDS:
                return
            due, self._due = list(self._due), {}
        for chat in due:
            self.soon(chat)

    def soon(self, chat: str) -> None:
        """Distil a chat after the turns that wait; nothing of a private chat. Returns at once."""
        with self._lock:
            if self._closed or chat in self._queued:
                return
            if self._token.cancelled:
                self._token = CancelToken()
            self._queued.add(chat)
            token = self._token
        self._lane.submit(self._distil_quietly, chat, token)

    def now(self, chat_id: str, cancel: CancelToken, *, private: bool = False) -> list[Batch]:
        """Distil what is due in a chat, on this thread. Raises AssistantError, Cancelled.

        private: the person asks for it, although the chat is private; ("chat.private") otherwise.
        """
        chat = self._workspace.chats.read(chat_id)
        if chat.private and not private:
            raise AssistantError(
                "chat.private",
                "This chat is private: nothing of it becomes memory by itself.",
                "Say so for this chat, with --private, or make it an ordinary one.",
            )
        with self._prompts.kept_here(chat.private):
            left = self._prompts.left(chat)
            due = self._distiller.due(chat, left)
            if due:
                self._models.ensure("", cancel)
            window = self._prompts.rules().window
            return list(self._distiller.run(chat, left, self._prompts.engine, window, cancel, self._progress))

    def _distil_quietly(self, chat: str, token: CancelToken) -> None:
        with self._lock:
            self._queued.discard(chat)
        try:
            token.check()
            if self._workspace.chats.read(chat).private:
                return
            batches = self.now(chat, token)
            if batches:
                self._read_again(token)
        except Cancelled:
            self.note(chat)
            return
        except AssistantError as error:
            if error.code != "chat.missing":  # deleted meanwhile: nothing is due any more
                self._emit(Notice(str(error), error=True))
            return
        finally:
            self._progress(1, 1, chat)  # however it ended, nothing is being distilled now
        if any(batch.fallback for batch in batches):
            self._emit(Notice("The model could not summarize; your own sentences were kept as notes instead."))

    def _read_again(self, token: CancelToken) -> None:
        """Put the latest chat's prompt back into the model's cache: by a copy, or by reading where none was kept."""
        if not self._last_chat or self._prompts.asks_server:
            return
        try:
            prompt = self._prompts.preview(self._workspace.chats.read(self._last_chat), "")
            options = GenerateOptions(max_tokens=1, temperature=0.0, conversation=self._last_chat)
            for _ in self._prompts.engine.chat(prompt.messages[:-1], options, token):
                pass
        except AssistantError as error:  # the next turn reads it then
            _log.info("the prompt of %s was not read again: %s", self._last_chat, error)

    def _progress(self, done: int, total: int, chat: str) -> None:
        self._emit(DistillProgress(chat, done, total))
