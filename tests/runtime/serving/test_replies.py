"""Replies over HTTP: whole and streamed, in turn, stopped by leaving, with memory and without."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.values import ChatEvent, Delta, Done, GenerateOptions, Message, PromptRead, Role, StopReason
from tests.fakes import FakeEngine, Reply
from tests.runtime.conftest import Stage

from .conftest import PATIENCE, TOKEN, MakeServer, Server, connected, spoken

CHAT = "/v1/chat/completions"


class Held(FakeEngine):
    """Says one word, then nothing until it is stopped."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Event()
        self.stopped = threading.Event()

    def chat(self, messages: Sequence[Message], options: GenerateOptions, cancel: CancelToken) -> Iterator[ChatEvent]:
        self.asked.append(list(messages))
        self.options.append(options)
        yield PromptRead(1, 2, 0)
        if self.stopped.is_set():
            yield Done(StopReason.END, "After all.", 2, 2, 0, 1.0, 1.0)
            return
        yield Delta("Well")
        self.begun.set()
        assert cancel.wait(PATIENCE)
        self.stopped.set()
        yield Done(StopReason.STOPPED, "Well", 1, 2, 0, 1.0, 1.0)


# --- forms ------------------------------------------------------------------------------------------------------------


def test_a_reply_at_once(server: Server) -> None:
    server.stage.engine._script = lambda _: "Hello.\nHow are you?"
    heard = server.chat("Hi", model="keepsake", temperature=0, max_tokens=9, seed=3, stop=["x"], user="me")
    assert heard.status == 200
    said = heard.json
    (choice,) = said["choices"]
    assert (said["object"], said["model"], choice["index"]) == ("chat.completion", "fake", 0)
    assert choice["message"]["role"] == "assistant"
    assert (choice["message"]["content"], choice["finish_reason"]) == ("Hello.\nHow are you?", "stop")
    usage = said["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert usage["prompt_tokens_details"] == {"cached_tokens": 0}
    assert said["keepsake"]["ignored"] == ["user"]
    (options,) = server.stage.engine.options
    assert (options.temperature, options.max_tokens, options.seed, options.stop) == (0.0, 9, 3, ("x",))


def test_a_reply_as_it_comes(server: Server) -> None:
    server.stage.engine._script = lambda _: Reply("你好 🐘\nHow are you?", thought="They greet me.")
    heard = server.chat("Hi", stream=True, stream_options={"include_usage": True})
    assert heard.headers["Content-Type"].startswith("text/event-stream")
    first, *_, last, counts = heard.events
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert heard.text == "你好 🐘\nHow are you?"
    thoughts = [c["delta"].get("reasoning_content", "") for event in heard.events for c in event["choices"]]
    assert "".join(thoughts) == "They greet me."
    assert last["choices"][0]["finish_reason"] == "stop"
    assert last["keepsake"].keys() == {"memory", "host", "ignored", "receipt", "mode", "turns_left_out"}
    assert (counts["choices"], counts["usage"]["completion_tokens"] > 0) == ([], True)
    assert len({(event["id"], event["model"], event["object"]) for event in heard.events}) == 1


def test_a_stream_for_an_old_client_ends_with_the_connection(server: Server) -> None:
    data = b'{"stream": true, "messages": [{"role": "user", "content": "Hi"}]}'
    head = f"POST {CHAT} HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: {len(data)}"
    with connected(server) as raw:
        heard = spoken(raw, head.encode() + b"\r\n\r\n" + data)
    assert "Transfer-Encoding" not in heard.headers
    assert heard.text == "Fine."


def test_models_are_named_and_others_are_not_there(server: Server) -> None:
    listed = server.send("GET", "/v1/models").json
    assert [(model["id"], model["object"]) for model in listed["data"]] == [("fake", "model")]
    assert server.chat("Hi", model="fake").status == 200
    heard = server.chat("Hi", model="gpt-9")
    assert (heard.status, heard.json["error"]["code"]) == (404, "model_not_found")
    assert server.send("POST", "/v1/embeddings", {"input": "x"}).status == 404


@pytest.mark.parametrize("stream", [False, True])
def test_what_the_model_cannot_do_is_an_error_of_its_own(server: Server, stream: bool) -> None:
    server.stage.engine._script = lambda _: AssistantError("engine.died", "The engine ended.", "Try again.")
    heard = server.chat("Hi", stream=stream)
    if stream:
        assert heard.events[-1]["error"]["code"] == "engine.died"
    else:
        assert (heard.status, heard.json["error"]["message"]) == (503, "The engine ended.")
    server.stage.engine._script = lambda _: "Again."
    assert server.chat("Hi").json["choices"][0]["message"]["content"] == "Again."


# --- in turn ----------------------------------------------------------------------------------------------------------


def test_one_at_a_time_and_all_are_answered(server: Server) -> None:
    running: list[str] = []
    most: list[int] = []
    server.stage.engine._script = lambda messages: f"You said {messages[-1].text}"

    def before() -> None:
        running.append("x")
        most.append(len(running))
        running.pop()

    server.stage.engine.before_reply = before
    with ThreadPoolExecutor(8) as pool:
        heard = list(pool.map(lambda n: server.chat(f"number {n}", stream=n % 2 == 0), range(8)))
    said = [each.text if n % 2 == 0 else each.json["choices"][0]["message"]["content"] for n, each in enumerate(heard)]
    assert [f"number {n}" in text for n, text in enumerate(said)] == [True] * 8
    assert most == [1] * 8


@pytest.mark.parametrize("stream", [b"true", b"false"])
def test_a_client_that_leaves_stops_its_reply(server: Server, stream: bytes) -> None:
    engine = Held()
    server.stage.use(engine)
    with connected(server) as raw:
        raw.sendall(request_for(b"wait", stream))
        assert engine.begun.wait(PATIENCE)
    assert engine.stopped.wait(PATIENCE)
    assert server.chat("And now?").json["choices"][0]["message"]["content"] == "After all."


def test_a_client_that_leaves_the_queue_is_never_answered(server: Server) -> None:
    engine = Held()
    server.stage.use(engine)
    with connected(server) as first:
        first.sendall(request_for(b"first"))
        assert engine.begun.wait(PATIENCE)
        with connected(server) as second:
            second.sendall(request_for(b"second"))
            server.wait_for_connections(2)
        server.wait_for_connections(1)
    assert engine.stopped.wait(PATIENCE)
    server.chat("third")
    assert [messages[-1].text for messages in engine.asked] == ["first", "third"]


def test_told_to_end_it_says_what_there_is(server: Server) -> None:
    engine = Held()
    server.stage.use(engine)
    with ThreadPoolExecutor(2) as pool:
        running = pool.submit(server.chat, "go on", stream=True)
        assert engine.begun.wait(PATIENCE)
        waiting = pool.submit(server.chat, "me too")
        server.wait_for_connections(2)
        server.close()
        heard = running.result(PATIENCE)
        assert (heard.text, heard.events[-1]["choices"][0]["finish_reason"]) == ("Well", "stop")
        with contextlib.suppress(OSError):  # its request was not read yet
            assert waiting.result(PATIENCE).json["error"]["code"] == "closing"
    with pytest.raises(ConnectionRefusedError):
        server.send("GET", "/health")


def test_an_idle_connection_does_not_hold_up_the_end(server: Server) -> None:
    with connected(server):
        server.wait_for_connections(1)
        server.close()
    server.wait_for_connections(0)


def request_for(text: bytes, stream: bytes = b"false") -> bytes:
    data = b'{"stream": %s, "messages": [{"role": "user", "content": "%s"}]}' % (stream, text)
    head = f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: {len(data)}"
    return head.encode() + b"\r\n\r\n" + data


# --- memory -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def known(stage: Stage) -> Stage:
    stage.services.remember("my cat is called Quince")
    stage.services.recall.sync(CancelToken(), vectors=False)
    return stage


def files(heard: Any) -> set[str]:
    return {line["file"] for line in heard.json["keepsake"]["receipt"]}


def test_a_fact_is_in_the_prompt_and_in_the_receipt(known: Stage, server: Server) -> None:
    heard = server.chat("what is my cat called?", system="You are the editor of a file.")
    assert "Quince" in server.asked()
    assert any("Quince" in line["text"] for line in heard.json["keepsake"]["receipt"])
    assert files(heard) == {"MEMORY.md"}
    assert heard.json["keepsake"]["memory"] is True
    system = server.stage.engine.asked[-1][0]
    assert system.role is Role.SYSTEM
    assert system.text.endswith("\n\nYou are the editor of a file.")


@pytest.mark.parametrize("way", ["server", "header", "body"])
def test_without_memory_the_model_gets_what_the_client_said(known: Stage, make_server: MakeServer, way: str) -> None:
    server = make_server(memory=way != "server")
    body = {
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "my cat?"}],
        **({"keepsake": {"memory": False}} if way == "body" else {}),
    }
    heard = server.send("POST", CHAT, body, **({"X_Keepsake_Memory": "off"} if way == "header" else {}))
    assert server.stage.engine.asked[-1] == [Message(Role.SYSTEM, "Be brief."), Message(Role.USER, "my cat?")]
    expected = {"memory": False, "host": "", "ignored": [], "receipt": [], "mode": "off", "turns_left_out": 0}
    assert heard.json["keepsake"] == expected


def test_a_talk_that_goes_on_only_grows(known: Stage, server: Server) -> None:
    """What was recalled for a turn stays with it, so the model need not read it again."""
    server.stage.engine._script = lambda _: "Yes."
    said = ["hello there", "Yes.", "what is my cat called?", "Yes.", "and the dog?"]
    for count in (1, 3, 5):
        assert server.chat(*said[:count], system="Be brief.").status == 200
    first, second, third = server.stage.engine.asked
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert [message.role for message in third] == [Role.SYSTEM, *[Role.USER, Role.ASSISTANT] * 2, Role.USER]


def test_another_branch_and_another_system_message_are_other_talks(known: Stage, server: Server) -> None:
    server.chat("hello", "Yes.", "what is my cat called?")
    server.chat("hello", "No.", "what is my cat called?")
    server.chat("hello", "Yes.", "what is my cat called?", system="Be brief.")
    assert [asked[2].text for asked in server.stage.engine.asked] == ["Yes.", "No.", "Yes."]
    assert {asked[-1].text.endswith("what is my cat called?") for asked in server.stage.engine.asked} == {True}


def test_what_was_forgotten_meanwhile_is_not_told_again(known: Stage, server: Server) -> None:
    server.stage.services.remember("the boiler is in the cellar")
    server.chat("what is my cat called?")
    assert "Quince" in server.asked()
    memory = known.services.workspace.root / "MEMORY.md"
    memory.write_text("".join(line for line in memory.read_text().splitlines(True) if "Quince" not in line))
    heard = server.chat("what is my cat called?", "Fine.", "are you sure?")
    assert "Quince" not in server.asked()
    assert "Quince" not in heard.body.decode()
    assert "boiler" in server.asked()


def test_no_private_chat_is_told_whatever_the_setting(stage: Stage, make_server: MakeServer) -> None:
    for private, word in ((True, "zephyrine"), (False, "quixotic")):
        chat = stage.services.new_chat(private=private)
        stage.services.send(chat, f"The {word} lamp stands in the hall, next to the stairs.")
        stage.wait_for_end(len(stage.ends()) + 1)
    stage.services.settings.update("memory", private_recall="on")
    stage.services.recall.sync(CancelToken(), vectors=False)
    server = make_server()
    heard = server.chat("where is the zephyrine quixotic lamp in the hall?")
    assert "quixotic lamp stands" in server.asked()
    assert "zephyrine lamp" not in server.asked()
    assert not any(line["private"] for line in heard.json["keepsake"]["receipt"])


@pytest.mark.parametrize("how", ["deleted", "private"])
def test_a_chat_that_may_not_be_told_of_any_more_is_not(stage: Stage, server: Server, how: str) -> None:
    chat = stage.services.new_chat()
    stage.services.send(chat, "Shall I paint the pergola green?")
    stage.wait_for_end()
    stage.settle()
    server.chat("good morning")
    assert "pergola" in server.asked()
    if how == "deleted":
        stage.services.delete_chat(chat)
    else:
        stage.services.set_private(chat, True)
    heard = server.chat("good morning", "Fine.", "and how are you?")
    assert "pergola" not in server.asked()
    assert "pergola" not in heard.body.decode()


def test_of_many_talks_the_newest_are_remembered(known: Stage, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assistant.runtime.serving.conversations._MOST", 2)
    for number in range(4):
        server.chat(f"talk {number}", "Fine.", "what is my cat called?")
    conversations = server.serving._conversations
    assert len(conversations._known) == len(conversations._receipts._lines) == 2


def test_nothing_that_clients_say_is_written(stage: Stage, server: Server) -> None:
    for stream in (False, True):
        server.chat("remember that quixotonal soup is best", stream=stream)
    server.close()
    stage.services.close()
    found = [path for path in stage.folder.rglob("*") if path.is_file() and b"quixotonal" in path.read_bytes()]
    assert found == []


class TestWindow:
    @pytest.fixture
    def small(self, stage: Stage, server: Server) -> Server:
        stage.use(FakeEngine(window=500))
        return server

    def test_the_oldest_turns_leave_and_it_is_said(self, small: Server) -> None:
        said = ["hello"]
        for number in range(12):
            heard = small.chat(*said, max_tokens=50)
            assert heard.status == 200
            said += ["Fine.", f"Number {number}: " + "word " * 40]
        assert heard.json["keepsake"]["turns_left_out"] > 0
        assert "Number 10:" in small.asked()
        assert "hello" not in [message.text for message in small.stage.engine.asked[-1]]

    def test_a_message_that_does_not_fit_is_refused(self, small: Server) -> None:
        heard = small.chat("word " * 600)
        assert (heard.status, heard.json["error"]["code"]) == (400, "context_length_exceeded")
        assert "saved" not in heard.json["error"]["message"]

    def test_so_is_a_client_that_takes_all_the_room_for_itself(self, small: Server) -> None:
        heard = small.chat("hello", system="word " * 600)
        assert (heard.status, heard.json["error"]["code"]) == (400, "context_length_exceeded")
