"""The starter model behind real HTTP: what only a real model shows."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Condition
from typing import Any

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.values import ChatEvent, Done, GenerateOptions, Message, PromptRead, StopReason
from assistant.runtime.composition import Places, compose
from assistant.runtime.services import Services
from tests.real_embeddings import embedding_model_path
from tests.real_models import starter_model_path

from .conftest import PATIENCE, TOKEN, Server, connected

pytestmark = pytest.mark.real


class Watched:
    """Stands before the real engine and notes what it says."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.asked: list[Sequence[Message]] = []
        self.events: list[ChatEvent] = []
        self._said = Condition()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def chat(self, messages: Sequence[Message], options: GenerateOptions, cancel: CancelToken) -> Iterator[ChatEvent]:
        self.asked.append(messages)
        for event in self._engine.chat(messages, options, cancel):
            with self._said:
                self.events.append(event)
                self._said.notify_all()
            yield event

    def wait_for(self, kind: type, count: int) -> list[Any]:
        with self._said:
            assert self._said.wait_for(lambda: len(self.of(kind)) >= count, PATIENCE)
        return self.of(kind)

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


class RealStage:
    """The part of a Stage that a Server needs, with the real models."""

    def __init__(self, folder: Path) -> None:
        models = folder / "state" / "models"
        models.mkdir(parents=True)
        (models / "Starter.gguf").symlink_to(starter_model_path())
        (models / "multilingual-e5-small").symlink_to(embedding_model_path())
        (folder / "config").mkdir()
        (folder / "config" / "settings.toml").write_text("[model]\nthreads = 1\nwindow = 1024\n")
        self.services: Services = compose(Places(folder / "ws", folder / "config", folder / "state"), {})
        self.engine: Any = Watched(self.services.prompts.engine)
        self.services.prompts.engine = self.engine
        self.services.remember("the boiler Zephyrina is in the cellar")


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Server]:
    stage: Any = RealStage(tmp_path)
    server = Server(stage)
    yield server
    server.close()
    stage.services.close()


def test_a_talk_with_memory_streams_and_reads_only_what_is_new(real: Server) -> None:
    how = {"temperature": 0, "max_tokens": 16, "stream": True, "stream_options": {"include_usage": True}}
    first = real.chat("Where is Zephyrina?", system="Answer in one sentence.", **how)
    assert (first.status, bool(first.text)) == (200, True)
    assert "Zephyrina" in real.asked()
    (*_, last, counts) = first.events
    assert [line["file"] for line in last["keepsake"]["receipt"]] == ["MEMORY.md"]
    assert last["choices"][0]["finish_reason"] in ("length", "stop")
    assert counts["usage"]["prompt_tokens_details"]["cached_tokens"] == 0
    said = ["Where is Zephyrina?", first.text, "And why there?"]
    again = real.chat(*said, system="Answer in one sentence.", **how)
    before = counts["usage"]["prompt_tokens"] + counts["usage"]["completion_tokens"]
    assert again.events[-1]["usage"]["prompt_tokens_details"]["cached_tokens"] >= before - 1


def test_streamed_or_whole_it_says_the_same(real: Server) -> None:
    how = {"seed": 5, "max_tokens": 12, "keepsake": {"memory": False}}
    whole = real.chat("Tell me about tea", **how).json["choices"][0]["message"]["content"]
    assert real.chat("Tell me about tea", stream=True, **how).text == whole
    short = real.chat("Tell me about tea", stop=[whole.split()[2]], **how).json["choices"][0]
    assert short["finish_reason"] == "stop"
    assert whole.startswith(short["message"]["content"])
    assert len(short["message"]["content"]) < len(whole)


@pytest.mark.parametrize("kind", ["reading", "replying"])
def test_leaving_stops_the_model(real: Server, kind: str) -> None:
    """While it reads the prompt, and while it replies."""
    text = "tell me a very long story " + "about the sea " * (120 if kind == "reading" else 1)
    data = b'{"max_tokens": 900, "messages": [{"role": "user", "content": "%s"}]}' % text.encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
    with connected(real) as raw:
        raw.sendall(head.encode() + b"Content-Length: %d\r\n\r\n" % len(data) + data)
        real.stage.engine.wait_for(PromptRead, 1)
        if kind == "replying":
            (read, *_) = real.stage.engine.of(PromptRead)
            assert read.total < 900
    (done,) = real.stage.engine.wait_for(Done, 1)
    assert done.stop is StopReason.STOPPED
    assert real.chat("Hello", max_tokens=4).status == 200


def test_texts_become_vectors(real: Server) -> None:
    texts = ["a small cat", "a little kitten", "the tax return is due in May"]
    heard = real.send("POST", "/v1/embeddings", {"input": texts, "model": "multilingual-e5-small"}).json
    one, two, other = (item["embedding"] for item in heard["data"])
    near = sum(a * b for a, b in zip(one, two, strict=True))
    assert near > sum(a * b for a, b in zip(one, other, strict=True))
    assert [item["index"] for item in heard["data"]] == [0, 1, 2]
    names = [model["id"] for model in real.send("GET", "/v1/models").json["data"]]
    assert names == ["Starter", "multilingual-e5-small"]
    packed = real.send("POST", "/v1/embeddings", {"input": texts[0], "encoding_format": "base64"}).json
    given = struct.unpack(f"<{len(one)}f", base64.b64decode(packed["data"][0]["embedding"]))
    assert given == pytest.approx(one, abs=1e-4)
