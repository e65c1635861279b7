"""A server of the person's own as an engine: chat completions over HTTP behind the same port as the local worker."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.ports import Progress
from assistant.core.values import (
    ChatEvent,
    Done,
    EngineSettings,
    GenerateOptions,
    Message,
    ModelInfo,
    StopReason,
    ToolSpec,
)
from assistant.engine.remote.address import ServerAddress
from assistant.engine.remote.events import EventReader, unreadable
from assistant.engine.remote.failures import cut, said_in_reply
from assistant.engine.remote.pieces import BadPieceError, read_piece
from assistant.engine.remote.reply import RemoteReply
from assistant.runtime.remote_asking import Manners, asked
from assistant.runtime.remote_counts import ServerCounts
from assistant.runtime.remote_facts import ServerFacts, find_facts
from assistant.runtime.remote_http import Exchange, Patience, ServerClient

_NO_SERVER = AssistantError("remote.none", "No server is connected.", "Choose one in the settings.")
_NO_MORE = ("remote.cut", "remote.silent")


@dataclass(frozen=True, slots=True)
class ServerChoice:
    """A server that the person agreed to. model: "" for its first; window: tokens, 0 for what it says itself.

    private: private chats may go there, too. proxy: as engine.downloads.web has it.
    """

    address: ServerAddress
    model: str = ""
    window: int = 0
    proxy: str = ""
    private: bool = False


@dataclass(frozen=True, slots=True)
class _Connection:
    """All that is known of a server from when it was connected; each later connection is another one."""

    choice: ServerChoice
    client: ServerClient
    facts: ServerFacts
    manners: Manners
    counts: ServerCounts
    info: ModelInfo


class RemoteEngine:
    """Implements core.ports.Engine. For any thread. key: of a server's origin, "" where there is none.

    Its counts are exact for a llama-server on this machine and careful estimates for any other: see ServerCounts.
    """

    def __init__(
        self,
        key: Callable[[str], str] = lambda _origin: "",
        patience: Patience | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._key = key
        self._patience = patience
        self._clock = clock
        self._choice: ServerChoice | None = None
        self._connection: _Connection | None = None

    @property
    def info(self) -> ModelInfo | None:
        now = self._connection
        return replace(now.info, tools=now.info.tools and now.manners.takes_tools) if now else None

    @property
    def choice(self) -> ServerChoice | None:
        """The server that ``info`` is of."""
        return self._connection.choice if self._connection else None

    @property
    def facts(self) -> ServerFacts:
        """What it has. Raises ("remote.none")."""
        return self._connected().facts

    def connect(self, choice: ServerChoice, usual_window: int, cancel: CancelToken) -> ModelInfo:
        """See that the server is there and what it has; usual_window: where nobody says how large it is.

        Raises AssistantError (``remote.*``, ``keyring.*``), Cancelled; there is no model then.
        """
        self._choice, self._connection = choice, None
        client = ServerClient(choice.address, self._key(choice.address.origin), self._patience, choice.proxy)
        facts = find_facts(client, choice.model, cancel)
        info = _info(choice, facts, usual_window)
        counts = ServerCounts(client, facts.is_llama)
        self._connection = _Connection(choice, client, facts, Manners(facts.is_llama), counts, info)
        return info

    def load(self, path: Path, settings: EngineSettings, cancel: CancelToken, progress: Progress) -> ModelInfo:
        """Connect to the same server again; it has no use for a path. Raises as ``connect`` does, ("remote.none")."""
        if self._choice is None:
            raise _NO_SERVER
        return self.connect(self._choice, settings.window, cancel)

    def chat(self, messages: Sequence[Message], options: GenerateOptions, cancel: CancelToken) -> Iterator[ChatEvent]:
        """As core.ports.Engine. Raises AssistantError (``remote.*``, engine.window); what came before it counts."""
        now = self._connected()
        try:
            prompt = now.counts.count_prompt(messages, options.tools, cancel)
        except Cancelled:
            yield Done(StopReason.STOPPED, "", 0, 0, 0, 0.0, 0.0)
            return
        reply = RemoteReply(options, prompt, self._clock)
        stopped = False
        try:
            with asked(now.client, now.manners, now.facts.model, messages, options, cancel) as exchange:
                yield from _stream(now.client, exchange, reply)
        except Cancelled:
            stopped = True
        except AssistantError:
            yield from reply.finish()
            raise
        yield from reply.finish()
        done = reply.done(stopped)
        if done.stop is StopReason.END and not (done.text or done.thought or done.tokens):
            raise AssistantError("remote.empty", f"{now.info.host} ended without a reply.", "Try again.")
        yield done

    def count(self, texts: Sequence[str]) -> list[int]:
        return self._connected().counts.count(texts)

    def count_prompt(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> int:
        return self._connected().counts.count_prompt(messages, tools)

    def unload(self) -> None:
        """Let go of the server; nothing is held there."""
        self._connection = None

    def close(self) -> None:
        self.unload()

    def _connected(self) -> _Connection:
        if (now := self._connection) is None:
            raise _NO_SERVER
        return now


def _stream(client: ServerClient, exchange: Exchange, reply: RemoteReply) -> Iterator[ChatEvent]:
    """The events of a reply. Raises AssistantError when it does not end as a reply does."""
    reader = EventReader(client.address.host)
    try:
        for chunk in exchange.pieces(client.patience.first, client.patience.between):
            yield from _taken(client, reader.push(chunk), reply)
            if reader.over or reply.enough:
                return
        yield from _taken(client, reader.finish(), reply)
    except AssistantError as error:
        if reply.ended and error.code in _NO_MORE:  # it had said all, only not goodbye
            return
        raise
    if not (reply.ended or reader.over or reply.enough):
        raise cut(client.address.host)


def _taken(client: ServerClient, values: Iterable[Any], reply: RemoteReply) -> Iterator[ChatEvent]:
    for value in values:
        try:
            piece = read_piece(value)
        except BadPieceError as error:
            raise unreadable(client.address.host) from error
        if piece.error:
            raise said_in_reply(client.without_key(piece.error), client.address.host)
        yield from reply.take(piece)
        if reply.enough:
            return


def _shown(model: str) -> str:
    """A llama-server calls a model by the path of its file, which says more of that machine than of the model."""
    return PurePosixPath(model.replace("\\", "/")).name if model.endswith(".gguf") else model


def _info(choice: ServerChoice, facts: ServerFacts, usual_window: int) -> ModelInfo:
    """window: what is set, but never more than the server says it has."""
    told = choice.window or facts.window or usual_window
    return ModelInfo(
        name=_shown(facts.model),
        path=Path(),
        architecture="",
        quantisation="",
        size_bytes=0,
        window=min(told, facts.window) if facts.window else told,
        window_trained=facts.window_trained,
        template="server",
        tools=facts.tools,
        host=choice.address.host,
        here=choice.address.here,
        private=choice.private,
    )
