"""What a person types as the address of a server."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.errors import AssistantError
from assistant.engine.downloads.web import WebClient
from assistant.engine.remote.address import parse_address


@pytest.mark.parametrize(
    ("typed", "base", "host", "here"),
    [
        ("localhost:8080", "http://localhost:8080/v1", "localhost:8080", True),
        ("http://127.0.0.1:11434/", "http://127.0.0.1:11434/v1", "127.0.0.1:11434", True),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1", "[::1]:8080", True),
        (" https://AI.example.org ", "https://ai.example.org/v1", "ai.example.org", False),
        ("ai.example.org", "https://ai.example.org/v1", "ai.example.org", False),
        ("https://ai.example.org:443/api/v1/", "https://ai.example.org/api/v1", "ai.example.org", False),
        ("https://a.b/v1/chat/completions", "https://a.b/v1", "a.b", False),
        ("http://192.168.1.5:8000", "http://192.168.1.5:8000/v1", "192.168.1.5:8000", False),
    ],
)
def test_what_is_meant(typed: str, base: str, host: str, here: bool) -> None:
    found = parse_address(typed)
    assert (found.base, found.host, found.here) == (base, host, here)


@pytest.mark.parametrize(
    "typed",
    ["", "  ", "ftp://a.b", "http://", "http://a b", "http://a:99999", "https://", "http://a\\b"],
)
def test_what_is_no_address(typed: str) -> None:
    with pytest.raises(AssistantError) as caught:
        parse_address(typed)
    assert caught.value.code == "remote.address"


@pytest.mark.parametrize("typed", ["https://me:secret@a.b", "https://a.b/v1?key=secret", "https://a.b/#secret"])
def test_a_secret_in_the_address_is_not_taken_and_not_repeated(typed: str) -> None:
    with pytest.raises(AssistantError) as caught:
        parse_address(typed)
    assert "secret" not in str(caught.value)


def test_who_can_read_along() -> None:
    assert parse_address("http://192.168.1.5").open_to_others
    assert not parse_address("https://192.168.1.5").open_to_others
    assert not parse_address("http://127.0.0.1:1").open_to_others


@pytest.mark.parametrize("host", ["127.0.0.1.example.org", "localhost.example.org", "example.org", "10.0.0.1"])
def test_no_other_machine_passes_for_this_one(host: str) -> None:
    assert not parse_address(f"http://{host}").here


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_one_error(text: str) -> None:
    try:
        assert parse_address(text).host
    except AssistantError as error:
        assert error.code == "remote.address"


@pytest.mark.parametrize(
    "url", ["http://127.0.0.2:8080", "http://ai.localhost:8080", "http://[::1]:1", "http://0.0.0.0:1"]
)
def test_what_is_said_to_be_here_goes_through_no_proxy(url: str) -> None:
    client = WebClient("http://proxy.example.org:3128")
    assert parse_address(url).here
    assert client.pool(urlsplit(url)).proxy is None
    assert client.pool(urlsplit("http://ai.example.org")).proxy.host == "proxy.example.org"
