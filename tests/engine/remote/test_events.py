"""Server-sent events, cut anywhere, and what is no event at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.errors import AssistantError
from assistant.engine.remote.events import EventReader

_ENDS = st.sampled_from(["\n", "\r\n", "\r"])
_JSON = st.dictionaries(st.text(max_size=5), st.text() | st.integers() | st.none(), min_size=1, max_size=3)


def read(data: bytes, size: int = 0) -> list[Any]:
    reader = EventReader("host")
    step = size or len(data) or 1
    found = [value for at in range(0, len(data), step) for value in reader.push(data[at : at + step])]
    return [*found, *reader.finish()]


@given(st.lists(_JSON, max_size=5), _ENDS, st.integers(1, 40), st.booleans())
def test_events_come_out_however_they_are_cut(values: list[Any], end: str, size: int, escaped: bool) -> None:
    lines = [f"data: {json.dumps(value, ensure_ascii=escaped)}{end}{end}" for value in values]
    data = "".join([f": hello{end}", *lines, f"data: [DONE]{end}{end}"]).encode("utf-8", "replace")
    whole = [json.loads(json.dumps(value).encode("utf-8", "replace")) for value in values]
    if escaped:
        assert read(data, size) == whole
    else:
        assert len(read(data, size)) == len(whole)


@given(st.binary(max_size=300), st.integers(1, 50))
def test_rubbish_is_left_out_or_one_error(data: bytes, size: int) -> None:
    try:
        read(data, size)
    except AssistantError as error:
        assert error.code == "remote.answer"


def test_nothing_is_read_after_the_end() -> None:
    reader = EventReader("host")
    assert list(reader.push(b'data: {"a": 1}\n\ndata: [DONE]\n\ndata: {"b": 2}\n\n')) == [{"a": 1}]
    assert reader.over


def test_json_over_several_data_lines_and_events_without_an_empty_line() -> None:
    assert read(b'data: {"a":\ndata: 1}\n\n') == [{"a": 1}]
    assert read(b'data: {"a": 1}\ndata: {"b": 2}\n') == [{"a": 1}, {"b": 2}]
    assert read(b'event: x\nid: 7\nretry: 5\ndata:{"a": 1}\n\n') == [{"a": 1}]


def test_the_last_event_needs_no_end_of_line() -> None:
    assert read(b'data: {"a": 1}') == [{"a": 1}]


def test_a_server_that_does_not_stream_is_read_too() -> None:
    assert read(b'\n{"choices": [\n]}', 4) == [{"choices": []}]


@pytest.mark.parametrize(
    "data",
    [
        b'data: {"a": \n\n',
        b"data: hello\n\n",
        b'data: {"a"\ndata: {"b": 2}\n\n',
        b"data: " + b"[" * 100_000 + b"\n\n",
        b'{"choices": [',
    ],
)
def test_broken_json_is_said(data: bytes) -> None:
    with pytest.raises(AssistantError) as caught:
        read(data, 1000)
    assert caught.value.code == "remote.answer"


def test_an_event_of_lines_without_end_is_given_up() -> None:
    with pytest.raises(AssistantError):
        read(b"data: {\n" + b"data:\n" * 500_000)


@pytest.mark.parametrize("start", [b"data: ", b"{", b"x"])
def test_a_line_without_an_end_is_given_up(start: bytes) -> None:
    reader = EventReader("host")
    with pytest.raises(AssistantError):
        for _ in range(100):
            list(reader.push(start + b"x" * 100_000))
