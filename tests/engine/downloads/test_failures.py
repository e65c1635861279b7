"""What servers say in headers is read whatever it is."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.errors import AssistantError
from assistant.engine.downloads.failures import retry_after
from assistant.engine.downloads.web import check_host, host_of


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0", 0), ("120", 120), (" 7 ", 7), ("-1", 0), ("soon", 0), ("", 0), ("Wed, 21 Oct 2015 07:28:00 GMT", 0)],
)
def test_how_long_a_server_wants_to_be_left_alone(text: str, seconds: float) -> None:
    assert retry_after(text) == seconds


def test_a_date_is_counted_from_now() -> None:
    assert retry_after("Fri, 31 Dec 2999 23:59:59 GMT") > 10**9


@given(st.text(max_size=60))
def test_any_text_is_a_time_or_none(text: str) -> None:
    assert 0 <= retry_after(text) < math.inf


@given(st.text(max_size=40))
def test_any_text_is_a_host_or_an_error_in_words(text: str) -> None:
    for address in (text, f"https://{text}"):
        try:
            assert host_of(check_host(address))
        except AssistantError as error:
            assert error.code == "download.host"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("https://huggingface.co/", "https://huggingface.co"), (" http://nas:8000/hf/ ", "http://nas:8000/hf")],
)
def test_an_address_is_taken_as_it_is_meant(typed: str, meant: str) -> None:
    assert check_host(typed) == meant
