"""The person's server in the whole of the services: off by default, agreed to once, never for private chats unasked."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.events import Event, ModelFailed, ModelReady, Notice
from assistant.core.values import GenerateOptions
from assistant.runtime.composition import Places, compose
from assistant.runtime.prompts import TurnPlan
from assistant.runtime.remote import RemoteService
from assistant.runtime.services import Services
from tests.engine.downloads.hub import MODEL
from tests.fakes import Keyring
from tests.runtime.scripted_server import CHAT, MODELS, ScriptedServer, Talk, says, scripted_server

OPEN = "http://192.0.2.7:8080"
"""An address of no machine (RFC 5737); nothing may be sent there in these tests."""


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as made:
        yield made


@pytest.fixture
def keyring() -> Keyring:
    return Keyring()


@pytest.fixture
def services(tmp_path: Path, keyring: Keyring) -> Iterator[Services]:
    made = compose(Places(tmp_path / "ws", tmp_path / "config", tmp_path / "state"), {})
    made.remote._secrets = lambda: keyring
    yield made
    made.close()


def use(services: Services, server: ScriptedServer) -> None:
    services.remote.set_server(server.url)
    services.remote.turn_on()


def ask(services: Services, text: str, chat: str = "") -> str:
    chat = chat or services.new_chat()
    services.turns.send_now(chat, text, CancelToken())
    return chat


def told(server: ScriptedServer) -> str:
    """All that the server was ever sent."""
    return "\n".join(str(asked.body) for asked in server.asked)


def test_nothing_is_asked_unless_it_is_switched_on(services: Services, server: ScriptedServer) -> None:
    services.remote.set_server(server.url)
    with pytest.raises(AssistantError) as caught:
        ask(services, "hello")
    assert caught.value.code == "model.none"
    assert server.asked == []


@pytest.mark.parametrize("agreed", ["", "http://127.0.0.1:9", "http://127.0.0.1.example.org"])
def test_an_address_nobody_agreed_to_gets_nothing(services: Services, server: ScriptedServer, agreed: str) -> None:
    """As by a line in the settings file, or another address than the one that was agreed to."""
    services.settings.update("remote", url=server.url, agreed=agreed)
    services.settings.update("model", engine="remote")
    with pytest.raises(AssistantError) as caught:
        ask(services, "hello")
    assert caught.value.code == "remote.unasked"
    assert server.asked == []


def test_a_turn_is_answered_by_the_server_and_its_receipt_says_so(services: Services, server: ScriptedServer) -> None:
    services.remember("The boiler is in the cellar")
    use(services, server)
    chat = ask(services, "Where is the boiler?")
    turn = services.read_chat(chat).turns[0]
    assert turn.reply == "Hello there."
    assert "The boiler is in the cellar" in told(server)
    receipt = services.receipt(chat, 1)
    assert receipt is not None
    assert (receipt.model, receipt.host) == ("tiny", f"127.0.0.1:{server.port}")
    assert any("boiler" in line.text for line in receipt.lines)
    again = services.receipts.__class__(services.receipts.folder).get(chat, 1)
    assert again is not None
    assert again.host == receipt.host


def test_the_servers_model_uses_tools(services: Services, server: ScriptedServer) -> None:
    services.remember("The boiler is in the cellar")
    use(services, server)
    call = {"index": 0, "id": "x", "function": {"name": "memory_search", "arguments": '{"query": "boiler"}'}}
    server.chats(says({"tool_calls": [call]}, reason="tool_calls"), says("It is in the cellar."))
    chat = ask(services, "How do I heat the house?")
    assert services.read_chat(chat).turns[0].reply == "It is in the cellar."
    first, second = server.chat_bodies
    assert "memory_search" in [tool["function"]["name"] for tool in first["tools"]]
    asked, answered = second["messages"][-2:]
    assert asked["tool_calls"][0]["id"] == answered["tool_call_id"]
    assert "The boiler is in the cellar" in answered["content"]
    receipt = services.receipt(chat, 1)
    assert receipt is not None
    assert [made.name for made in receipt.calls] == ["memory_search"]


def test_a_tool_does_not_tell_the_server_what_was_said_in_private(services: Services, server: ScriptedServer) -> None:
    private = services.new_chat(private=True)
    start = services.workspace.chats.begin_turn(private, "My password hint is the colour of Oma's bicycle", None)
    services.workspace.chats.end_turn(private, start.n, "Noted.")
    services.settings.update("memory", private_recall="on")
    services.recall.sync(CancelToken(), lambda *_: None, vectors=False)
    use(services, server)
    call = {"index": 0, "id": "x", "function": {"name": "chats_search", "arguments": '{"query": "Oma bicycle"}'}}
    server.chats(says({"tool_calls": [call]}, reason="tool_calls"), says("I do not know."))
    ask(services, "What do you know of bicycles?")
    assert len(server.chat_bodies) == 2
    assert "password hint" not in told(server)


def test_off_again_nothing_is_asked(services: Services, server: ScriptedServer) -> None:
    use(services, server)
    ask(services, "hello")
    services.remote.turn_off()
    before = len(server.asked)
    with pytest.raises(AssistantError) as caught:
        ask(services, "hello again")
    assert caught.value.code == "model.none"
    assert len(server.asked) == before


def test_a_reply_that_is_cut_off_is_kept_and_the_chat_goes_on(services: Services, server: ScriptedServer) -> None:
    use(services, server)
    server.chats(lambda talk: talk.stream("One ", "two"), says("Fine."))
    chat = services.new_chat()
    with pytest.raises(AssistantError) as caught:
        ask(services, "Count.", chat)
    assert caught.value.code == "remote.cut"
    ask(services, "Go on.", chat)
    cut, after = services.read_chat(chat).turns
    assert (cut.reply, cut.mark) == ("One two", "interrupted")
    assert after.reply == "Fine."


def test_the_window_starts_without_what_speaks_the_network() -> None:
    code = "import sys, assistant.app; print([m for m in ('ssl', 'http.client', 'urllib3') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- private chats ----------------------------------------------------------------------------------------------------


def test_a_private_chat_stays_here(services: Services, server: ScriptedServer) -> None:
    use(services, server)
    ask(services, "hello")
    private = services.new_chat(private=True)
    with pytest.raises(AssistantError) as caught:
        ask(services, "my secret plan", private)
    assert caught.value.code == "model.none"
    assert services.read_chat(private).turns[0].user == "my secret plan"
    services.preview(private, "more of my secret plan")
    assert "secret plan" not in told(server)
    ask(services, "hello once more")
    assert server.asked[-1].path == CHAT


def test_a_private_chat_goes_out_when_the_person_says_so(services: Services, server: ScriptedServer) -> None:
    use(services, server)
    services.remote.allow_private(True)
    ask(services, "my secret plan", services.new_chat(private=True))
    assert "my secret plan" in told(server)


@pytest.mark.parametrize(("allowed", "mark"), [(False, "stopped"), (True, "")])
def test_a_chat_that_becomes_private_while_a_server_replies_goes_no_further(
    services: Services, server: ScriptedServer, allowed: bool, mark: str
) -> None:
    go_on = threading.Event()

    def answer(talk: Talk) -> None:
        talk.stream("One ")
        if allowed:
            assert go_on.wait(30)
            talk.end()
        else:
            talk.hold()

    server.chats(answer)
    use(services, server)
    services.remote.allow_private(allowed)
    chat = services.new_chat()
    services.send(chat, "hello")
    assert server.arrived.wait(30)
    services.set_private(chat, True)
    go_on.set()
    services.lanes.chat.submit(lambda: None).result(30)
    assert services.read_chat(chat).turns[0].mark == mark


def test_what_was_said_in_private_is_not_told_to_the_server(services: Services, server: ScriptedServer) -> None:
    """Also where other chats may be told of it, as long as they stay on this machine."""
    private = services.new_chat(private=True)
    start = services.workspace.chats.begin_turn(private, "My password hint is the colour of Oma's bicycle", None)
    services.workspace.chats.end_turn(private, start.n, "Noted.")
    services.settings.update("memory", private_recall="on")
    services.recall.sync(CancelToken(), lambda *_: None, vectors=False)
    use(services, server)
    ask(services, "What colour was Oma's bicycle?")
    assert "password hint" not in told(server)
    services.remote.allow_private(True)
    ask(services, "What colour was Oma's bicycle again?")
    assert "password hint" in told(server)


def test_what_the_model_thinks_of_two_lines_of_memory_is_not_asked_of_a_server(
    services: Services, server: ScriptedServer
) -> None:
    """Who agreed to a server was promised that the rest of memory stays here."""
    lines = "2026-05-03|you|lives in Lisbon\n2026-09-14|you|I live in Graz now\n"
    (services.workspace.root / "MEMORY.md").write_text(lines, encoding="utf-8")
    use(services, server)
    services.remote.allow_private(True)
    services.model_service.ensure()
    (conflict,) = services.review.conflicts()
    with pytest.raises(AssistantError) as caught:
        services.review.opinion(conflict.id, CancelToken())
    assert caught.value.code == "model.none"
    assert server.chat_bodies == []


# --- summaries --------------------------------------------------------------------------------------------------------


def test_older_messages_are_summarized_by_the_server(services: Services, server: ScriptedServer) -> None:
    use(services, server)
    services.settings.update("remote", window=700)
    services.settings.update("model", max_tokens=64)
    server.chats(says("Fine. " * 40))
    chat = ask(services, "My sister Ines moved to Graz on 3 May. " * 4)
    for n in range(6):
        ask(services, f"Thought {n} about the garden, the rain and the apples, for a while longer. " * 3, chat)
    server.chats(says("- sister Ines moved to Graz on 3 May"))
    batches = services.distilling.now(chat, CancelToken())
    assert [batch.turns[0] for batch in batches][:1] == [1]
    assert not batches[0].fallback
    assert any("Ines moved to Graz" in entry.text for entry in services.workspace.memory.document().entries)


# --- the key ----------------------------------------------------------------------------------------------------------


def test_the_key_is_in_the_keyring_and_goes_to_its_own_address_only(
    services: Services, server: ScriptedServer, keyring: Keyring, tmp_path: Path
) -> None:
    use(services, server)
    services.remote.set_key("sk-secret-1")
    ask(services, "hello")
    assert server.asked[-1].headers["authorization"] == "Bearer sk-secret-1"
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or b"sk-secret-1" not in path.read_bytes()
    with scripted_server() as other:
        use(services, other)
        ask(services, "hello")
        assert all("authorization" not in asked.headers for asked in other.asked)
    assert list(keyring.held.values()) == ["sk-secret-1"]


def test_no_key_is_left_in_the_keyring_that_nothing_leads_to(services: Services, keyring: Keyring) -> None:
    for url in ("http://127.0.0.1:9", "https://ai.example.org"):
        services.remote.set_server(url)
        services.remote.set_key(f"sk-of-{url}")
    assert keyring.held == {"server https://ai.example.org": "sk-of-https://ai.example.org"}
    services.remote.set_server("http://127.0.0.1:9")
    services.remote.set_key("")
    assert keyring.held == {}


def test_a_key_is_not_sent_in_the_clear_without_a_warning(services: Services, keyring: Keyring) -> None:
    services.remote.set_server(OPEN)
    for attempt in (
        lambda: services.remote.set_key("sk-secret-1"),
        lambda: services.remote.test(CancelToken(), OPEN, key="sk-secret-1"),
    ):
        with pytest.raises(AssistantError) as caught:
            attempt()
        assert caught.value.code == "remote.open_key"
    assert keyring.held == {}


def test_a_keyring_that_is_locked_is_not_asked_for_a_server_without_a_key(
    services: Services, server: ScriptedServer
) -> None:
    def locked() -> Keyring:
        raise AssistantError("keyring.locked", "The system's keyring is locked.")

    services.remote._secrets = locked
    use(services, server)
    ask(services, "hello")


# --- the test of a connection -----------------------------------------------------------------------------------------


def test_a_test_says_what_there_is_and_tells_nothing(services: Services, server: ScriptedServer) -> None:
    services.remember("The boiler is in the cellar")
    found = services.remote.test(CancelToken(), server.url, "big")
    assert (found.model, found.models, found.said) == ("big", ("tiny", "big"), "Hello there.")
    assert "boiler" not in told(server)
    assert not services.remote.state().on


def test_the_window_is_told_which_model_answers(services: Services, server: ScriptedServer) -> None:
    events: list[Event] = []
    services.subscribe(events.append)
    services.remote.set_server(server.url)
    services.use_server(True)
    services.lanes.chat.submit(lambda: None).result(30)
    ready = [event.info for event in events if isinstance(event, ModelReady)]
    assert [info.host for info in ready] == [f"127.0.0.1:{server.port}"]


def test_a_private_chat_does_not_hide_that_a_server_answers_the_others(
    services: Services, server: ScriptedServer
) -> None:
    events: list[Event] = []
    services.subscribe(events.append)
    use(services, server)
    ask(services, "hello")
    with pytest.raises(AssistantError):
        ask(services, "my secret plan", services.new_chat(private=True))
    told_last = [event for event in events if isinstance(event, ModelReady | ModelFailed)][-1]
    assert isinstance(told_last, ModelReady)
    assert told_last.info.host == f"127.0.0.1:{server.port}"


@pytest.mark.parametrize("work", [lambda s: s.budget(), lambda s: s.window_use("")])
def test_what_is_only_looked_at_is_not_sent(
    services: Services, server: ScriptedServer, work: Callable[[Services], object]
) -> None:
    """Counting is the server's business only on this machine, and there only a llama-server's."""
    services.remember("The boiler is in the cellar")
    use(services, server)
    services.model_service.ensure()
    work(services)
    assert "boiler" not in told(server)


def test_options_of_a_command_reach_the_server(services: Services, server: ScriptedServer) -> None:
    use(services, server)
    plan = TurnPlan(model="big", options=GenerateOptions(max_tokens=9, seed=3))
    services.turns.send_now(services.new_chat(), "hello", CancelToken(), plan)
    body = server.chat_bodies[-1]
    assert (body["model"], body["max_tokens"], body["seed"]) == ("big", 9, 3)


def test_a_test_goes_the_way_that_replies_go(services: Services) -> None:
    """Through the proxy of the settings; the server itself is nowhere."""
    with scripted_server() as proxy:
        services.settings.update("downloads", proxy=proxy.url)
        for path in (MODELS, CHAT):
            proxy.on(f"{OPEN}{path}", *proxy.answers[path])
        assert services.remote.test(CancelToken(), OPEN).said == "Hello there."
        assert [asked.path for asked in proxy.asked if asked.path.endswith(CHAT)] == [f"{OPEN}{CHAT}"]


def test_closing_does_not_wait_for_a_test(services: Services, server: ScriptedServer) -> None:
    server.chats(lambda talk: talk.hold())
    waiting = services.lanes.keeping.submit(services.remote.test, CancelToken(), server.url)
    assert server.arrived.wait(30)
    services.close()
    assert waiting.result().said == ""  # it ended as a reply that is stopped
    assert server.left.wait(30)


@pytest.mark.parametrize(
    "act",
    [lambda r: r.turn_on(), lambda r: r.set_key("sk-1"), lambda r: r.test(CancelToken())],
    ids=["on", "key", "test"],
)
def test_without_a_server_it_is_said(services: Services, act: Callable[[RemoteService], object]) -> None:
    with pytest.raises(AssistantError) as caught:
        act(services.remote)
    assert str(caught.value).startswith("No server is set.")


def test_a_model_that_is_deleted_while_a_server_is_asked_gives_its_memory_back(
    services: Services, server: ScriptedServer
) -> None:
    path = services.paths.models / "one.gguf"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(MODEL)
    use(services, server)
    there = services.model_service.ensure()
    services.engine._info = replace(there, host="", path=path)  # as if it was loaded before
    services.remove_model("one")
    assert not path.exists()
    assert services.engine.info is None
    assert services.model_service.ensure() == there


def test_a_server_that_cannot_be_switched_off_is_told(
    services: Services, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(services, server)
    events: list[Event] = []
    services.subscribe(events.append)

    def full(*_: object, **__: object) -> None:
        raise AssistantError("settings.write", "The settings could not be saved: No space left on device.")

    monkeypatch.setattr(services.settings, "update", full)
    services.load_model("one")
    services.lanes.files.submit(lambda: None).result(30)
    assert [event.text for event in events if isinstance(event, Notice)] == [
        "The settings could not be saved: No space left on device."
    ]
