"""A real llama.cpp server on loopback with the starter model, as the engine of the whole app."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.values import Delta, Done, GenerateOptions, Message, PromptRead, Role, StopReason
from assistant.engine.remote.address import parse_address
from assistant.engine.remote.estimate import estimate_tokens
from assistant.runtime.composition import Places, compose
from assistant.runtime.remote_engine import RemoteEngine, ServerChoice
from tests.real_models import starter_model_path

pytestmark = pytest.mark.real

_WINDOW = 1024
_SERVER = """
import sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx = int(sys.argv[2])
params.n_parallel = 1
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.hostnames = ["127.0.0.1"]
params.port = 0
server = xllamacpp.Server(params)
print("listening", server.listening_address, flush=True)
sys.stdin.read()
"""
TEXTS = [
    "What did the fox say to the hen, and why?",
    "我昨天和李雷去了上海博物馆，还吃了小笼包。",
    "今日は天気がいいから、散歩に行きましょう。",
    "def f(x): return {'a': [1, 2, 3]}  # äöü ß",
    "🙂🙂🙂 👨‍👩‍👧",
    "",
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The server's process; it ends when its input does."""
    command = [sys.executable, "-c", _SERVER, str(starter_model_path()), str(_WINDOW)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        lines = (line for line in process.stdout if line.startswith("listening "))
        yield next(lines).split()[1]
        process.kill()


@pytest.fixture
def engine(url: str) -> RemoteEngine:
    made = RemoteEngine()
    made.connect(ServerChoice(parse_address(url)), 4096, CancelToken())
    return made


def test_it_says_what_it_is(engine: RemoteEngine) -> None:
    info = engine.info
    assert info is not None
    assert (info.window, info.window_trained, info.here) == (_WINDOW, 8192, True)
    assert info.name == starter_model_path().name
    assert engine.facts.is_llama


def test_a_reply_streams_and_the_next_turn_reads_only_what_is_new(engine: RemoteEngine) -> None:
    talk = [Message(Role.SYSTEM, "You are kind. " * 20), Message(Role.USER, "Name a colour.")]
    options = GenerateOptions(max_tokens=12, temperature=0.0, seed=1)
    events = list(engine.chat(talk, options, CancelToken()))
    first = events[-1]
    assert isinstance(first, Done)
    assert first.text == "".join(event.text for event in events if isinstance(event, Delta))
    assert first.text
    assert first.prompt_tokens == engine.count_prompt(talk)
    assert any(isinstance(event, PromptRead) for event in events)
    more = [*talk, Message(Role.ASSISTANT, first.text), Message(Role.USER, "Another one.")]
    second = list(engine.chat(more, options, CancelToken()))[-1]
    assert isinstance(second, Done)
    assert second.reused_tokens >= first.prompt_tokens - 5
    assert second.stop in (StopReason.LENGTH, StopReason.END)


def test_the_same_seed_says_the_same(engine: RemoteEngine) -> None:
    ask = [Message(Role.USER, "Tell me a story.")]
    options = GenerateOptions(max_tokens=12, temperature=0.9, seed=5)
    texts = {list(engine.chat(ask, options, CancelToken()))[-1].text for _ in range(2)}  # type: ignore[union-attr]
    assert len(texts) == 1


def test_counts_are_the_models_own(engine: RemoteEngine) -> None:
    together, apart = engine.count(TEXTS), [engine.count([text])[0] for text in TEXTS]
    assert together == apart
    assert together[-1] == 0
    assert all(count > 0 for count in together[:-1])


def test_the_estimate_is_not_far_below_what_the_model_counts(engine: RemoteEngine) -> None:
    for text, count in zip(TEXTS, engine.count(TEXTS), strict=True):
        assert estimate_tokens(text) >= 0.8 * count, text


def test_a_stop_ends_the_reply_on_both_sides(engine: RemoteEngine) -> None:
    cancel = CancelToken()
    text = ""
    for event in engine.chat([Message(Role.USER, "Count to a thousand.")], GenerateOptions(max_tokens=900), cancel):
        if isinstance(event, Delta):
            text += event.text
            cancel.cancel()
    assert isinstance(event, Done)
    assert (event.stop, event.text) == (StopReason.STOPPED, text)
    # the only place of the server is free again
    again = list(engine.chat([Message(Role.USER, "Hi.")], GenerateOptions(max_tokens=2), CancelToken()))[-1]
    assert isinstance(again, Done)


def test_a_stop_while_it_reads_the_prompt(engine: RemoteEngine) -> None:
    cancel = CancelToken()
    long = "The quick brown fox jumps over the lazy dog. " * 70
    events = []
    for event in engine.chat([Message(Role.USER, long)], GenerateOptions(max_tokens=5), cancel):
        events.append(event)
        threading.Thread(target=cancel.cancel).start()
    assert isinstance(events[-1], Done)
    assert events[-1].stop in (StopReason.STOPPED, StopReason.LENGTH)


def test_a_prompt_that_is_too_long_is_said(engine: RemoteEngine) -> None:
    long = "The quick brown fox jumps over the lazy dog. " * 400
    with pytest.raises(AssistantError) as caught:
        list(engine.chat([Message(Role.USER, long)], GenerateOptions(max_tokens=5), CancelToken()))
    assert caught.value.code == "engine.window"


def test_a_conversation_overflows_and_is_summarized_over_it(url: str, tmp_path: Path) -> None:
    services = compose(Places(tmp_path / "ws", tmp_path / "config", tmp_path / "state"), {})
    try:
        services.settings.update("model", max_tokens=8, temperature=0.2)
        services.remote.set_server(url, window=640)
        services.remote.turn_on()
        chat = services.new_chat()
        services.turns.send_now(chat, "My sister Ines moved to Graz on 3 May and works as a luthier.", CancelToken())
        for n in range(9):
            said = f"Thought {n}: the garden, the rain and the apples. " + "We walked along the river. " * 20
            if services.turns.send_now(chat, said, CancelToken()).left:
                break
        assert services.prompts.was_cut(chat)
        batches = services.distilling.now(chat, CancelToken())
        assert sum(batch.covered for batch in batches) > 0
        assert any("Graz" in entry.text for entry in services.workspace.memory.document().entries)
        receipt = services.receipt(chat, 1)
        assert receipt is not None
        assert receipt.host == parse_address(url).host
    finally:
        services.close()
