"""A server over a real workspace, asked by real HTTP; its engine says what it is told to."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from assistant.core.cancel import CancelToken
from assistant.runtime.serving.endpoint import Endpoint
from assistant.runtime.serving.gate import Gate
from assistant.runtime.serving.service import Serving
from tests.runtime.conftest import Stage

TOKEN = "a-secret"
PATIENCE = 60.0


@dataclass(frozen=True)
class Heard:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Any]:
        """Of a stream, which must have come to its end."""
        *events, end = [line[6:] for line in self.body.decode().split("\n\n") if line]
        assert end == "[DONE]"
        return [json.loads(event) for event in events]

    @property
    def text(self) -> str:
        return "".join(c["delta"].get("content", "") for event in self.events for c in event["choices"])


class Server:
    """Answers on a free port until it is closed."""

    def __init__(self, stage: Stage, *, memory: bool = True, origins: Sequence[str] = ()) -> None:
        self.stage = stage
        self.serving = Serving(stage.services, memory=memory)
        self.endpoint = Endpoint(self.serving, Gate(TOKEN, frozenset(origins)), 0)
        self.serving.start(CancelToken())
        self.endpoint.start()

    @property
    def port(self) -> int:
        return self.endpoint.port

    def send(self, method: str, path: str, body: Any = None, address: str = "127.0.0.1", **headers: str) -> Heard:
        """One request on a connection of its own; with the token unless ``Authorization`` says otherwise."""
        named = {"Authorization": f"Bearer {TOKEN}", **{name.replace("_", "-"): each for name, each in headers.items()}}
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        with closing(http.client.HTTPConnection(address, self.port, timeout=PATIENCE)) as connection:
            connection.request(method, path, data, {name: each for name, each in named.items() if each})
            answer = connection.getresponse()
            return Heard(answer.status, dict(answer.getheaders()), answer.read())

    def chat(self, *said: str, system: str = "", **more: Any) -> Heard:
        """Ask for a reply to a talk: what the user and the assistant said in turn."""
        roles = ("user", "assistant")
        messages = [{"role": roles[at % 2], "content": text} for at, text in enumerate(said)]
        first = [{"role": "system", "content": system}] if system else []
        return self.send("POST", "/v1/chat/completions", {"messages": [*first, *messages], **more})

    def asked(self) -> str:
        """All that the model was told for the last reply."""
        return "\n".join(message.text for message in self.stage.engine.asked[-1])

    def wait_for_connections(self, count: int) -> None:
        """Until so many connections are open."""
        (listener, *_) = self.endpoint._listeners
        with listener._changed:
            assert listener._changed.wait_for(lambda: len(listener._connections) == count, PATIENCE)

    def close(self) -> None:
        self.serving.close()
        self.endpoint.close()


MakeServer = Callable[..., Server]


@pytest.fixture
def make_server(stage: Stage) -> Iterator[MakeServer]:
    made: list[Server] = []

    def make(**how: Any) -> Server:
        made.append(Server(stage, **how))
        return made[-1]

    yield make
    for server in made:
        server.close()


@pytest.fixture
def server(make_server: MakeServer) -> Server:
    return make_server()


@contextmanager
def connected(server: Server) -> Iterator[Any]:
    import socket

    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as raw:
        yield raw


def spoken(raw: Any, data: bytes) -> Heard:
    """Send bytes, if there are any, and read until the other side closes."""
    if data:
        raw.sendall(data)
    got = b""
    while piece := raw.recv(65_536):
        got += piece
    head, _, body = got.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    return Heard(int(status.split()[1]), headers, body)
