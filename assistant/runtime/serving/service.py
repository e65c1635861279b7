"""What is served: the loaded model and the embedding model, one request at a time, memory included."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from assistant.chat.tokens import EstimatedTokens
from assistant.chat.turn import receipt_of
from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.values import Delta, Done, GenerateOptions, Message, ModelInfo, PromptRead
from assistant.runtime.idle import IdleScheduler
from assistant.runtime.services import Services
from assistant.runtime.serving.conversations import Conversations, as_talk, conversation_of
from assistant.runtime.serving.jobs import told_from
from assistant.runtime.serving.requests import ApiError, ChatRequest, EmbeddingRequest
from assistant.runtime.workers import EMBEDDING_MODEL

T = TypeVar("T")
ANY_MODEL = ("", "keepsake")
"""What a request may call the model that is served, whatever its name is."""
_LOOK_SECONDS = 5.0
_TOO_LONG = ("prompt.too_long", "engine.window")


@dataclass(frozen=True, slots=True)
class Answer:
    """The end of a reply. keepsake: what was told to the model for it, and on which server it runs (host)."""

    done: Done
    keepsake: dict[str, Any]


Told = PromptRead | Delta | Answer
Gone = Callable[[], bool]


class Serving:
    """Replies and vectors for clients; for any thread but the lanes'. Writes nothing, neither memory nor chats.

    model: the name of the one that is served, "" for that of the settings; memory: whether requests may have it.
    """

    def __init__(self, services: Services, model: str = "", *, memory: bool = True) -> None:
        self._services = services
        self._model = model
        self._memory = memory
        self._conversations = Conversations(services.workspace, services.recall, services.prompts)
        self._idle = IdleScheduler(self._look, _LOOK_SECONDS)
        self.closing = CancelToken()

    # --- life --------------------------------------------------------------------------------------------------------

    def start(self, cancel: CancelToken) -> ModelInfo:
        """Load the model, and let the index follow the files from now on. Blocks. Raises AssistantError, Cancelled."""
        services = self._services
        info = services.lanes.chat.submit(services.model_service.ensure, self._model, cancel).result()
        services.indexing.start()
        services.lanes.recall.submit(services.recall.warm, self.closing)
        self._idle.start()
        return info

    def close(self) -> None:
        """End what runs, keeping what was said so far; what waits is not begun. The services are the caller's."""
        self.closing.cancel()
        self._idle.close()

    # --- what clients ask --------------------------------------------------------------------------------------------

    @property
    def chat_model(self) -> str:
        """The name of the model that replies."""
        info = self._services.prompts.engine.info
        return info.name if info else self._model

    @property
    def embedding_model(self) -> str:
        """The name of the model that makes vectors; "" where there is none."""
        wanted = self._services.settings.load().embedding.model or EMBEDDING_MODEL
        return Path(wanted).name if self._services.embedder else ""

    def models(self) -> list[str]:
        """The names of the models that are served, the one that chats first."""
        return [name for name in (self.chat_model, self.embedding_model) if name]

    def chat(self, request: ChatRequest, gone: Gone) -> Generator[Told, None, None]:
        """The reply as it comes; the last one told is an Answer. Raises ApiError, ClientGone."""
        _check_model(request.model, self.chat_model)
        lane = self._services.lanes.chat
        return _in_api_words(
            told_from(lane, lambda cancel, tell: self._reply(request, cancel, tell), gone, self.closing)
        )

    def embed(self, request: EmbeddingRequest, gone: Gone) -> tuple[Sequence[Sequence[float]], int]:
        """The texts' vectors, of length 1, and about how many tokens they have. Raises ApiError, ClientGone."""
        embedder = self._services.embedder
        if embedder is None:
            raise ApiError(404, "There is no embedding model here.", "model_not_found", "model")
        _check_model(request.model, self.embedding_model)

        def work(cancel: CancelToken, tell: Callable[[list[list[float]]], None]) -> None:
            tell(embedder.embed(request.texts, cancel).tolist())

        (vectors,) = _in_api_words(told_from(self._services.lanes.recall, work, gone, self.closing))
        return vectors, sum(EstimatedTokens().count(request.texts))

    # --- inside ------------------------------------------------------------------------------------------------------

    def _reply(self, request: ChatRequest, cancel: CancelToken, tell: Callable[[Told], None]) -> None:
        """One reply, on the chat lane."""
        services = self._services
        model = services.model_service.ensure(self._model, cancel)
        options = replace(services.prompts.options(), **request.sampling)
        memory = self._memory and request.memory
        messages, options, keepsake = self._prompt(request, options, memory=memory)
        for event in services.prompts.engine.chat(messages, options, cancel):
            if isinstance(event, Done):
                own = {"memory": memory, "host": model.host, "ignored": request.ignored}
                tell(Answer(event, {**own, **keepsake(event, model.name)}))
            else:
                tell(event)

    def _prompt(
        self, request: ChatRequest, options: GenerateOptions, *, memory: bool
    ) -> tuple[Sequence[Message], GenerateOptions, Callable[[Done, str], dict[str, Any]]]:
        """What the model gets, and what is told of it in the end. Without memory it is what the client said."""
        talk = as_talk(request.messages)
        ident = conversation_of(talk)
        options = replace(options, conversation=ident)
        if not memory:
            return request.messages, options, lambda _done, _model: {"receipt": [], "mode": "off", "turns_left_out": 0}
        draft = self._conversations.draft(talk, options)

        def told(done: Done, model: str) -> dict[str, Any]:
            receipt = receipt_of(draft, ident, 0, done, model)
            lines = [asdict(line) for line in receipt.lines]
            return {"receipt": lines, "mode": receipt.recall_mode, "turns_left_out": len(draft.left)}

        return draft.prompt.messages, options, told

    def _look(self) -> None:
        """Now and then: give the memory of models back that were not used for long."""
        services, settings = self._services, self._services.settings.load()
        services.indexing.tick()
        services.model_service.rest(settings.model.idle_minutes * 60.0)
        if services.embedder:
            services.embedder.retire(settings.embedding.idle_minutes * 60.0)


def _in_api_words(events: Iterator[T]) -> Generator[T, None, None]:
    """The same, with what went wrong as a client understands it."""
    try:
        yield from events
    except AssistantError as error:
        raise _refusal(error) from error
    except Cancelled:
        raise ApiError(503, "Keepsake is closing.", "closing", kind="server_error") from None


def _check_model(wanted: str, served: str) -> None:
    if wanted not in (*ANY_MODEL, served):
        message = f"There is no model {wanted[:100]!r} here; there is {served}."
        raise ApiError(404, message, "model_not_found", "model")


def _refusal(error: AssistantError) -> ApiError:
    """The messages of our errors are for people; a hint about the window's settings helps no client."""
    if error.code in _TOO_LONG:
        return ApiError(400, error.message, "context_length_exceeded", "messages")
    return ApiError(503, error.message, error.code, kind="server_error")
