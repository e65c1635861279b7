"""A server as engine: what it is asked, what comes of its answers, and all that can go wrong on the way."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.values import (
    ChatEvent,
    Delta,
    Done,
    GenerateOptions,
    Message,
    PromptRead,
    Role,
    StopReason,
    ToolCall,
    ToolSpec,
)
from assistant.engine.remote.address import parse_address
from assistant.runtime.remote_engine import RemoteEngine, ServerChoice
from assistant.runtime.remote_http import Exchange, Patience, ServerClient
from tests.runtime.scripted_server import CHAT, MODELS, Answer, ScriptedServer, Talk, refuses, says, scripted_server

ASK = [Message(Role.SYSTEM, "Be kind."), Message(Role.USER, "Hello 你好")]
SEARCH = ToolSpec("memory_search", "looks into memory", {"type": "object", "properties": {"query": {"type": "string"}}})
_PATIENCE_SECONDS = 30.0


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as made:
        yield made


def connected(server: ScriptedServer, key: str = "", patience: Patience | None = None, **choice: Any) -> RemoteEngine:
    engine = RemoteEngine(lambda _: key, patience)
    engine.connect(ServerChoice(parse_address(server.url), **choice), 4096, CancelToken())
    return engine


def run(
    engine: RemoteEngine, options: GenerateOptions | None = None, cancel: CancelToken | None = None
) -> list[ChatEvent]:
    return list(engine.chat(ASK, options or GenerateOptions(), cancel or CancelToken()))


def said(engine: RemoteEngine, options: GenerateOptions | None = None) -> Done:
    done = run(engine, options)[-1]
    assert isinstance(done, Done)
    return done


def failed(engine: RemoteEngine) -> tuple[AssistantError, str]:
    """The error of a reply, and the text that came before it."""
    text = ""
    with pytest.raises(AssistantError) as caught:
        for event in engine.chat(ASK, GenerateOptions(), CancelToken()):
            text += event.text if isinstance(event, Delta) else ""
    return caught.value, text


# --- asking -----------------------------------------------------------------------------------------------------------


def test_a_reply_streams_and_says_what_it_cost(server: ScriptedServer) -> None:
    usage = {"prompt_tokens": 21, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 20}}
    server.chats(says("Good ", "morning ", "你好", usage=usage))
    events = run(connected(server))
    assert "".join(e.text for e in events if isinstance(e, Delta)) == "Good morning 你好"
    done = events[-1]
    assert isinstance(done, Done)
    assert (done.text, done.stop) == ("Good morning 你好", StopReason.END)
    assert (done.prompt_tokens, done.reused_tokens, done.tokens) == (21, 20, 3)


def test_the_server_gets_the_prompt_and_the_settings(server: ScriptedServer) -> None:
    options = GenerateOptions(max_tokens=50, temperature=0.3, top_p=0.8, seed=7, stop=("END",))
    said(connected(server, key="sk-1"), options)
    body = server.chat_bodies[0]
    assert body["model"] == "tiny"
    assert body["messages"] == [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hello 你好"}]
    wanted = {"max_tokens": 50, "temperature": 0.3, "top_p": 0.8, "seed": 7, "stop": ["END"], "stream": True}
    assert wanted.items() <= body.items()
    assert not {"top_k", "min_p", "repeat_penalty", "tools"} & body.keys()
    assert server.asked[-1].headers["authorization"] == "Bearer sk-1"


def test_until_the_window_is_full_is_the_servers_own_limit(server: ScriptedServer) -> None:
    said(connected(server), GenerateOptions(max_tokens=0))
    assert not {"max_tokens", "max_completion_tokens", "seed", "stop"} & server.chat_bodies[0].keys()


def test_tools_go_out_and_calls_come_back(server: ScriptedServer) -> None:
    call = {"index": 0, "id": "a", "function": {"name": "memory_search", "arguments": '{"query": "tea"}'}}
    server.chats(says({"tool_calls": [call]}, reason="tool_calls"))
    engine = connected(server)
    done = said(engine, GenerateOptions(tools=(SEARCH,)))
    assert done.calls == (ToolCall("memory_search", {"query": "tea"}),)
    talk = [*ASK, Message(Role.ASSISTANT, "", done.calls), Message(Role.TOOL, "oolong")]
    list(engine.chat(talk, GenerateOptions(tools=(SEARCH,)), CancelToken()))
    asked, answered = server.chat_bodies[1]["messages"][2:]
    assert asked["tool_calls"][0]["function"] == {"name": "memory_search", "arguments": '{"query": "tea"}'}
    assert answered == {"role": "tool", "content": "oolong", "tool_call_id": asked["tool_calls"][0]["id"]}
    assert server.chat_bodies[1]["tools"][0]["function"]["name"] == "memory_search"


def test_its_first_model_and_window_are_taken_unless_others_are_set(server: ScriptedServer) -> None:
    info = connected(server).info
    assert info is not None
    assert (info.name, info.window, info.host, info.here) == ("tiny", 2048, f"127.0.0.1:{server.port}", True)
    set_by_hand = connected(server, model="big", window=1000).info
    assert set_by_hand is not None
    assert (set_by_hand.name, set_by_hand.window) == ("big", 1000)
    assert connected(server, model="big").info.window == 4096  # type: ignore[union-attr]
    assert connected(server, window=9_000).info.window == 2048  # type: ignore[union-attr]


def test_the_prompt_is_seen_to_be_read(server: ScriptedServer) -> None:
    def answer(talk: Talk) -> None:
        talk.stream()
        talk.event({"choices": [], "prompt_progress": {"total": 100, "cache": 40, "processed": 60}})
        talk.event({"choices": [{"delta": {"content": "Yes."}}]})
        talk.end()

    server.chats(answer)
    assert run(connected(server))[0] == PromptRead(60, 100, 40)


# --- what a server refuses --------------------------------------------------------------------------------------------


def test_what_a_server_refuses_is_left_out_from_then_on(server: ScriptedServer) -> None:
    server.chats(refuses(400, "Unsupported parameter: 'top_p' is not supported with this model."), says("Yes."))
    engine = connected(server)
    assert said(engine).text == "Yes."
    assert said(engine).text == "Yes."
    first, second, third = server.chat_bodies
    assert "top_p" in first
    assert "top_p" not in second
    assert "temperature" in second
    assert third == second


def test_a_newer_name_for_max_tokens_is_found(server: ScriptedServer) -> None:
    server.chats(refuses(400, "'max_tokens' is not supported. Use 'max_completion_tokens' instead."), says("Yes."))
    said(connected(server), GenerateOptions(max_tokens=9))
    assert server.chat_bodies[1]["max_completion_tokens"] == 9
    assert "max_tokens" not in server.chat_bodies[1]


def test_a_model_without_tools_answers_without_them(server: ScriptedServer) -> None:
    server.chats(refuses(400, "registry/tiny does not support tools"), says("Yes."))
    engine = connected(server)
    assert engine.info is not None
    assert engine.info.tools
    assert said(engine, GenerateOptions(tools=(SEARCH,))).text == "Yes."
    assert "tools" not in server.chat_bodies[1]
    assert not engine.info.tools


def test_messages_that_a_template_refuses_are_folded(server: ScriptedServer) -> None:
    server.chats(refuses(500, "Jinja Exception: System role not supported"), says("Yes."))
    assert said(connected(server)).text == "Yes."
    assert [m["role"] for m in server.chat_bodies[1]["messages"]] == ["user"]
    assert "Be kind." in server.chat_bodies[1]["messages"][0]["content"]


def test_a_server_that_refuses_everything_is_not_asked_for_ever(server: ScriptedServer) -> None:
    server.chats(refuses(400, "no"))
    error, _ = failed(connected(server))
    assert error.code == "remote.wrong"
    assert "no" in error.message
    assert len(server.chat_bodies) <= 3


def test_a_refusal_of_what_is_said_costs_what_is_said_later_nothing(server: ScriptedServer) -> None:
    """A filter of contents refuses in any form; tools and settings are for the next message all the same."""
    flagged = refuses(400, "Your message was flagged by our policy.")
    server.chats(flagged, flagged, flagged, says("Yes."))
    engine, options = connected(server), GenerateOptions(tools=(SEARCH,), max_tokens=9)
    with pytest.raises(AssistantError):
        run(engine, options)
    tried = len(server.chat_bodies)
    server.chats(says("Yes."))
    assert said(engine, options).text == "Yes."
    assert server.chat_bodies[tried] == server.chat_bodies[0]
    assert engine.info is not None
    assert engine.info.tools


# --- stop -------------------------------------------------------------------------------------------------------------


def test_a_stop_before_the_first_byte_ends_the_request(server: ScriptedServer) -> None:
    server.chats(Talk.hold)
    engine, cancel = connected(server), CancelToken()
    stopper = threading.Thread(target=lambda: (server.arrived.wait(_PATIENCE_SECONDS), cancel.cancel()))
    stopper.start()
    done = run(engine, cancel=cancel)[-1]
    stopper.join()
    assert isinstance(done, Done)
    assert (done.stop, done.text) == (StopReason.STOPPED, "")
    assert server.left.wait(_PATIENCE_SECONDS)


def test_a_stop_in_the_midst_keeps_the_text(server: ScriptedServer) -> None:
    def answer(talk: Talk) -> None:
        talk.stream("One ", "two ")
        talk.hold()

    server.chats(answer)
    cancel = CancelToken()
    events: list[ChatEvent] = []
    for event in connected(server).chat(ASK, GenerateOptions(), cancel):
        events.append(event)
        if isinstance(event, Delta) and "two" in "".join(e.text for e in events if isinstance(e, Delta)):
            cancel.cancel()
    done = events[-1]
    assert isinstance(done, Done)
    assert (done.stop, done.text) == (StopReason.STOPPED, "One two ")
    assert server.left.wait(_PATIENCE_SECONDS)


def test_a_stop_while_a_name_is_looked_up(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, cancel = connected(server), CancelToken()
    looking, go_on = threading.Event(), threading.Event()

    def look_up(*_: object, **__: object) -> Any:
        looking.set()
        go_on.wait(_PATIENCE_SECONDS)
        raise socket.gaierror("never")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    stopper = threading.Thread(target=lambda: (looking.wait(_PATIENCE_SECONDS), cancel.cancel()))
    stopper.start()
    done = run(engine, cancel=cancel)[-1]
    go_on.set()
    stopper.join()
    assert isinstance(done, Done)
    assert done.stop is StopReason.STOPPED


def test_stopped_before_it_began_asks_nothing(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, cancel = connected(server), CancelToken()
    begun: list[Exchange] = []
    monkeypatch.setattr(Exchange, "_run", begun.append)
    cancel.cancel()
    done = run(engine, cancel=cancel)[-1]
    assert isinstance(done, Done)
    assert done.stop is StopReason.STOPPED
    assert begun == []


def test_a_stop_string_ends_the_request(server: ScriptedServer) -> None:
    def answer(talk: Talk) -> None:
        talk.stream("One. EN", "D two")
        talk.hold()

    server.chats(answer)
    assert said(connected(server), GenerateOptions(stop=("END",))).text == "One. "
    assert server.left.wait(_PATIENCE_SECONDS)


# --- what goes wrong --------------------------------------------------------------------------------------------------


def page(talk: Talk) -> None:
    talk.head(200, "text/html")
    talk.raw(b"<html><body>Please log in</body></html>")


def broken(talk: Talk) -> None:
    talk.stream("One ")
    talk.raw(b'data: {"choices": [{"del\n\n')


def endless_line(talk: Talk) -> None:
    talk.stream("One ")
    talk.raw(b"data: ")
    for _ in range(200):
        talk.raw(b"x" * 100_000)


def cut_off(talk: Talk) -> None:
    talk.stream("One ", "two")


def half_event(talk: Talk) -> None:
    talk.stream("One ", "two")
    talk.raw(b'data: {"choices"')


def gives_up(talk: Talk) -> None:
    talk.stream("One ")
    talk.event({"error": {"message": "out of memory"}})


def short_body(talk: Talk) -> None:
    talk.head(200, "text/event-stream", {"Content-Length": "5000"})
    talk.event({"choices": [{"index": 0, "delta": {"content": "One "}}]})


def no_http(talk: Talk) -> None:
    talk.raw(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")


def nothing(talk: Talk) -> None:
    pass


def wrong_types(talk: Talk) -> None:
    talk.stream({"content": 5})


def without_words(talk: Talk) -> None:
    talk.stream()
    talk.end()


def gives_up_without_a_word(talk: Talk) -> None:
    talk.stream("One ")
    talk.event({"error": {"code": 500}})
    talk.raw(b"data: [DONE]\n\n")


def no_thoughts(talk: Talk) -> None:
    talk.stream({"content": [{"type": "thinking", "thinking": 5}]})


def too_busy(talk: Talk) -> None:
    talk.json({"error": "slow down"}, 429, {"Retry-After": "17"})


FAULTS: list[tuple[Answer, str, str]] = [
    (page, "remote.answer", ""),
    (broken, "remote.answer", "One "),
    (endless_line, "remote.answer", "One "),
    (wrong_types, "remote.answer", ""),
    (cut_off, "remote.cut", "One two"),
    (half_event, "remote.answer", "One two"),
    (short_body, "remote.cut", "One "),
    (no_http, "remote.cut", ""),
    (nothing, "remote.cut", ""),
    (gives_up, "remote.failed", "One "),
    (gives_up_without_a_word, "remote.failed", "One "),
    (no_thoughts, "remote.answer", ""),
    (without_words, "remote.empty", ""),
    (too_busy, "remote.busy", ""),
    (refuses(401, "no"), "remote.key", ""),
    (refuses(403, "no"), "remote.key", ""),
    (refuses(404, "model not found"), "remote.not_found", ""),
    (refuses(500, "broken"), "remote.failed", ""),
    (refuses(503, "Loading model"), "remote.failed", ""),
    (refuses(418, "teapot"), "remote.wrong", ""),
    (refuses(400, "the request exceeds the available context size"), "engine.window", ""),
    (refuses(400, "This model's maximum context length is 10 tokens"), "engine.window", ""),
]


@pytest.mark.parametrize(("fault", "code", "text"), FAULTS, ids=lambda value: getattr(value, "__name__", None))
def test_each_fault_is_one_error_and_the_next_reply_comes(
    server: ScriptedServer, fault: Answer, code: str, text: str
) -> None:
    server.chats(fault, says("Fine."))
    engine = connected(server)
    error, came = failed(engine)
    assert (error.code, came) == (code, text)
    assert error.message
    assert said(engine).text == "Fine."


def test_a_reply_that_was_said_to_be_whole_needs_no_goodbye(server: ScriptedServer) -> None:
    def answer(talk: Talk) -> None:
        talk.head(200, "text/event-stream", {"Content-Length": "5000"})
        talk.event({"choices": [{"index": 0, "delta": {"content": "All of it."}, "finish_reason": "stop"}]})

    server.chats(answer)
    done = said(connected(server))
    assert (done.text, done.stop) == ("All of it.", StopReason.END)


class Arriving:
    """What arrives of a server, and how long each of it was waited for."""

    def __init__(self, *items: bytes | None) -> None:
        self._items = list(items)
        self.waited: list[float] = []

    def get(self, timeout: float) -> bytes | None:
        self.waited.append(timeout)
        return self._items.pop(0)


def test_a_short_question_waits_for_each_byte_as_long_as_for_the_first(server: ScriptedServer) -> None:
    """Else a server that stops in the midst of a count would hold up a prompt for two minutes."""
    client = ServerClient(parse_address(server.url), patience=Patience(between=120.0))
    exchange = client.open(f"{server.url}/tokenize", {}, CancelToken())
    exchange._arrived = arriving = Arriving(b"{", b"}", None)  # type: ignore[assignment] # a stand-in
    assert exchange.rest(5.0) == b"{}"
    assert arriving.waited == [5.0, 5.0, 5.0]


def test_how_long_to_wait_is_said(server: ScriptedServer) -> None:
    server.chats(too_busy)
    assert "17 seconds" in failed(connected(server))[0].hint


@pytest.mark.parametrize("begin", [True, False], ids=["midst", "start"])
def test_a_server_that_falls_silent(server: ScriptedServer, begin: bool) -> None:
    def answer(talk: Talk) -> None:
        if begin:
            talk.stream("One ")
        talk.hold()

    server.chats(answer)
    engine = connected(server, patience=Patience(first=0.3, between=0.3))
    error, text = failed(engine)
    assert (error.code, text) == ("remote.silent", "One " if begin else "")
    assert server.left.wait(_PATIENCE_SECONDS)


def test_nobody_answers_at_the_address(server: ScriptedServer) -> None:
    engine = connected(server)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    with pytest.raises(AssistantError) as caught:
        engine.connect(ServerChoice(parse_address(url)), 4096, CancelToken())
    assert caught.value.code == "remote.refused"
    assert engine.info is None


def test_a_name_that_nobody_has(monkeypatch: pytest.MonkeyPatch) -> None:
    def look_up(*_: object, **__: object) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setenv("no_proxy", "*")
    with pytest.raises(AssistantError) as caught:
        RemoteEngine().connect(ServerChoice(parse_address("http://nobody.example")), 4096, CancelToken())
    assert caught.value.code == "remote.name"


@pytest.mark.parametrize("path", [MODELS, CHAT])
def test_no_redirect_is_followed(server: ScriptedServer, path: str) -> None:
    with scripted_server() as other:
        there = f"{other.url}{path}"
        engine = connected(server, key="sk-1")
        server.on(path, lambda talk: talk.json({}, 307, {"Location": there}))
        with pytest.raises(AssistantError) as caught:
            if path == MODELS:
                engine.connect(ServerChoice(parse_address(server.url)), 4096, CancelToken())
            run(engine)
        assert caught.value.code == "remote.moved"
        assert there in caught.value.message
        assert other.asked == []


def test_a_key_that_the_server_repeats_is_not_shown(server: ScriptedServer) -> None:
    server.chats(refuses(500, "Incorrect API key provided: sk-secret-1"))
    error, _ = failed(connected(server, key="sk-secret-1"))
    assert "sk-secret-1" not in str(error)


@pytest.mark.parametrize(
    "answer",
    [
        lambda talk: talk.json([]),
        lambda talk: talk.json({"data": "x"}),
        lambda talk: talk.json({"data": [3, {"id": 5}, {}]}),
        lambda talk: talk.json("x"),
        page,
        nothing,
    ],
)
def test_a_list_of_models_that_is_none(server: ScriptedServer, answer: Callable[[Talk], None]) -> None:
    server.on(MODELS, answer)
    with pytest.raises(AssistantError) as caught:
        connected(server)
    assert caught.value.code in ("remote.answer", "remote.no_model", "remote.cut")


def test_a_server_without_a_list_is_used_when_its_model_is_named(server: ScriptedServer) -> None:
    server.on(MODELS, refuses(404, "no"))
    assert said(connected(server, model="mine")).text == "Hello there."
    assert server.chat_bodies[0]["model"] == "mine"


# --- counting ---------------------------------------------------------------------------------------------------------


def test_counts_are_estimated_where_the_server_cannot_count(server: ScriptedServer) -> None:
    engine = connected(server)
    english, chinese = engine.count(["What the quick brown fox told me about you", "我昨天去了上海博物馆"])
    assert 8 <= english <= 20
    assert 10 <= chinese <= 24
    assert engine.count_prompt(ASK) > sum(engine.count([m.text for m in ASK]))
    assert [asked.path for asked in server.asked if "token" in asked.path] == []


def test_a_stop_while_the_prompt_is_counted_is_a_stop_and_no_fault_of_the_server(server: ScriptedServer) -> None:
    server.on("/props", lambda talk: talk.json({"default_generation_settings": {"n_ctx": 2048}}))
    server.on("/tokenize", lambda talk: talk.json({"tokens": [1, 2, -1]}))
    counting, cancel = threading.Event(), CancelToken()

    def count(talk: Talk) -> None:
        counting.set()
        talk.hold()

    server.on("/apply-template", count)
    engine = connected(server)
    stopper = threading.Thread(target=lambda: (counting.wait(_PATIENCE_SECONDS), cancel.cancel()))
    stopper.start()
    done = run(engine, cancel=cancel)[-1]
    stopper.join()
    assert isinstance(done, Done)
    assert (done.stop, server.chat_bodies) == (StopReason.STOPPED, [])
    assert engine.count(["tea"]) == [2]  # it is asked on; one that does not answer would be left alone for a while
