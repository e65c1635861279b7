"""``keepsake models remote`` and what other commands say of a server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.conftest import Keepsake
from tests.runtime.scripted_server import ScriptedServer, scripted_server


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as made:
        yield made


def test_naming_a_server_says_what_goes_there_and_needs_a_yes(keepsake: Keepsake, server: ScriptedServer) -> None:
    refused = keepsake("models", "remote", server.url)
    assert refused.code == 1
    assert "what you write" in refused.err
    assert "--yes" in refused.err
    assert server.asked == []
    assert keepsake("models", "remote", "on", "--yes", "--json").json["on"]
    assert keepsake("models", "remote", "--json").json["agreed"]


def test_who_does_not_want_another_server_keeps_the_one_that_is_used(
    keepsake: Keepsake, server: ScriptedServer
) -> None:
    keepsake("models", "remote", server.url, "--model", "big", "--window", "2048", "--yes")
    used = keepsake("models", "remote", "--json").json
    assert keepsake("models", "remote", "http://192.0.2.7:8080").code == 1
    assert keepsake("models", "remote", "--json").json == used
    assert keepsake("ask", "Hello", "--json").lines[-1]["text"] == "Hello there."


def test_ask_uses_it_and_says_so(keepsake: Keepsake, server: ScriptedServer) -> None:
    keepsake("models", "remote", server.url, "--model", "big", "--yes")
    lines = keepsake("ask", "Hello", "--json").lines
    assert lines[-1]["text"] == "Hello there."
    assert lines[-1]["host"] == f"127.0.0.1:{server.port}"
    assert "".join(line["text"] for line in lines if line["type"] == "delta") == "Hello there."
    receipt = keepsake("receipt", lines[-1]["chat"], "1", "--json").json
    assert (receipt["model"], receipt["host"]) == ("big", f"127.0.0.1:{server.port}")
    assert "127.0.0.1" in keepsake("receipt", lines[-1]["chat"], "1").out


def test_the_prompt_says_where_it_would_go_and_goes_nowhere(keepsake: Keepsake, server: ScriptedServer) -> None:
    keepsake("models", "remote", server.url, "--yes")
    assert keepsake("prompt", "Hello", "--json").json["host"] == f"127.0.0.1:{server.port}"
    assert server.chat_bodies == []


def test_off_is_off(keepsake: Keepsake, server: ScriptedServer) -> None:
    keepsake("models", "remote", server.url, "--yes")
    assert not keepsake("models", "remote", "off", "--json").json["on"]
    assert keepsake("ask", "Hello").code == 1
    assert server.chat_bodies == []


def test_a_test_says_what_there_is(keepsake: Keepsake, server: ScriptedServer) -> None:
    assert keepsake("models", "remote", "test").code == 1
    keepsake("models", "remote", server.url, "--yes")
    found = keepsake("models", "remote", "test", "--json").json
    assert {"host", "model", "models", "window", "tools", "counts", "said", "took_ms"} <= found.keys()
    assert found["models"] == ["tiny", "big"]


@pytest.mark.parametrize("url", ["ftp://x", "https://me:pw@host", "http://a b"])
def test_a_wrong_address_is_one_error(keepsake: Keepsake, url: str) -> None:
    wrong = keepsake("models", "remote", url, "--json")
    assert wrong.code == 1
    assert wrong.json["error"]["code"] == "remote.address"


def test_a_key_in_the_clear_needs_a_word(keepsake: Keepsake) -> None:
    keepsake("models", "remote", "http://192.0.2.7:8080")
    refused = keepsake("models", "remote", "key", "--json", stdin="sk-secret-1\n")
    assert refused.code == 1
    assert refused.json["error"]["code"] == "remote.open_key"


def test_the_doctor_asks_the_server(keepsake: Keepsake, server: ScriptedServer) -> None:
    keepsake("models", "remote", server.url, "--yes")
    checks = {check["name"]: check for check in keepsake("doctor", "--json").json["checks"]}
    assert checks["engine"]["ok"], checks["engine"]
    assert "tiny" in checks["engine"]["detail"]
