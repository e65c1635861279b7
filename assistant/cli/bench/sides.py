"""Who is measured against whom: our engine, llama-cpp-python itself, a llama.cpp server; all asked the same."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from assistant.core.cancel import CancelToken
from assistant.core.values import Delta, Done, EngineSettings, GenerateOptions, Message
from assistant.engine.threads import ThreadPlan, worker_environment
from assistant.runtime.engine_client import WorkerEngine
from assistant.runtime.worker_process import WorkerProcess

SERVER = "xllamacpp"
_PATIENCE = 600.0  # seconds for one answer of the server
CHAT = "bench"


@dataclass(frozen=True, slots=True)
class Run:
    """One reply. tokens: that were generated."""

    ttft_ms: float
    tokens_per_s: float
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Setting:
    """What all sides are measured with. plan: our threads; settings: how our engine loads the model."""

    path: Path
    settings: EngineSettings
    plan: ThreadPlan
    sentences: int
    runs: int


class Side(Protocol):
    """One of those that are compared. fresh: a prompt that has nothing to do with the one before."""

    def say(self, messages: Sequence[Message], tokens: int, *, fresh: bool = True) -> Run: ...


def greedy(tokens: int) -> GenerateOptions:
    return GenerateOptions(max_tokens=tokens, temperature=0.0, repeat_penalty=1.0, conversation=CHAT)


class Ours:
    """The engine behind its worker, measured at the window's end of the pipe: what a person sees."""

    def __init__(self, engine: WorkerEngine) -> None:
        self.engine = engine

    def say(self, messages: Sequence[Message], tokens: int, *, fresh: bool = True) -> Run:
        began, first = time.perf_counter(), 0.0
        done: Done | None = None
        for event in self.engine.chat(messages, greedy(tokens), CancelToken()):
            if isinstance(event, Delta) and not first:
                first = time.perf_counter()
            if isinstance(event, Done):
                done = event
        last = time.perf_counter()
        assert done is not None
        return Run((first - began) * 1000, (done.tokens - 1) / (last - first), done.text, done.tokens)


class Raw:
    """llama_cpp.Llama, measured inside its own process."""

    def __init__(self, worker: WorkerProcess) -> None:
        self.worker = worker

    def say(self, messages: Sequence[Message], tokens: int, *, fresh: bool = True) -> Run:
        prompt = self.worker.call("tokens", {"messages": as_dicts(messages)}, CancelToken())["tokens"]
        args = {"tokens": prompt, "max_tokens": tokens, "reset": fresh}
        result = self.worker.call("generate", args, CancelToken())
        return Run(result["ttft_ms"], result["tokens_per_s"], result["text"], result["tokens"])


class Server:
    """The server, measured at its client's end of the connection."""

    def __init__(self, url: str) -> None:
        self._address = urlsplit(url if "//" in url else f"//{url}")

    def say(self, messages: Sequence[Message], tokens: int, *, fresh: bool = True) -> Run:
        body = {
            "messages": as_dicts(messages),
            "max_tokens": tokens,
            "temperature": 0.0,
            "repeat_penalty": 1.0,
            "cache_prompt": not fresh,
            "stream": True,
        }
        connection = HTTPConnection(self._address.hostname or "", self._address.port, timeout=_PATIENCE)
        began, times, text = time.perf_counter(), list[float](), ""
        try:
            connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
            for said in _said(connection.getresponse()):
                times.append(time.perf_counter())
                text += said
        finally:
            connection.close()
        rate = (len(times) - 1) / (times[-1] - times[0])  # it sends each token by itself
        return Run((times[0] - began) * 1000, rate, text, len(times))


def _said(lines: Any) -> Iterator[str]:
    """The texts of a stream of chat completion chunks."""
    for line in lines:
        data = line.removeprefix(b"data: ").strip()
        if line.startswith(b"data: ") and data != b"[DONE]":
            for choice in json.loads(data).get("choices", ()):
                if content := choice.get("delta", {}).get("content"):
                    yield content


def as_dicts(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [{"role": message.role.value, "content": message.text} for message in messages]


@contextmanager
def our_side(setting: Setting) -> Iterator[Ours]:
    engine = WorkerEngine(None)
    try:
        engine.load(setting.path, setting.settings, CancelToken(), lambda *_: None)
        yield Ours(engine)
    finally:
        engine.close()


@contextmanager
def raw_side(setting: Setting, plan: ThreadPlan | None, wait: str = "library") -> Iterator[Raw]:
    """plan None: the threads that the library chooses by itself. wait: as EngineSettings.wait."""
    worker = WorkerProcess("assistant.cli.bench.raw_llama", env=worker_environment(os.environ, wait))
    args: dict[str, Any] = {"path": str(setting.path), "window": setting.settings.window, "batch": setting.plan.step}
    if plan:
        args.update(batch=plan.step, threads=plan.decode, threads_batch=plan.read)
    try:
        worker.call("load", args, CancelToken())
        yield Raw(worker)
    finally:
        worker.close()


@contextmanager
def server_side(setting: Setting) -> Iterator[Server | None]:
    """None where the package is not installed. It runs with the threads that it chooses by itself."""
    if find_spec(SERVER) is None:
        yield None
        return
    worker = WorkerProcess("assistant.cli.bench.raw_server")
    args: Mapping[str, Any] = {"path": str(setting.path), "window": setting.settings.window, "threads": 0}
    try:
        yield Server(worker.call("load", args, CancelToken())["url"])
    finally:
        worker.close()
