"""What clients send: whatever it is, it is understood or refused in words."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.values import GenerateOptions, Message, Role
from assistant.runtime.serving.requests import ApiError, ChatRequest, EmbeddingRequest, read_chat, read_embeddings

HELLO = {"role": "user", "content": "hello"}

plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
anything = st.recursive(plain, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner))
content = anything | st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": st.text() | plain}), max_size=3)
message = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "developer", "user", "assistant", "tool", ""]) | plain, "content": content},
    optional={"tool_calls": anything, "name": anything},
)
FIELDS = (
    "model stream stream_options temperature top_p max_tokens max_completion_tokens seed stop n keepsake user tools "
    "tool_choice response_format logprobs presence_penalty"
).split()
body = st.fixed_dictionaries(
    {"messages": st.lists(message, max_size=4) | anything},
    optional=dict.fromkeys(FIELDS, anything),
)


@given(anything | body)
def test_a_request_is_understood_or_refused_and_nothing_else(value: Any) -> None:
    try:
        request = read_chat(value)
    except ApiError as error:
        assert 400 <= error.status < 500
        told = json.loads(json.dumps(error.as_json()))["error"]
        assert told["message"]
        assert set(told) == {"message", "type", "param", "code"}
        return
    assert isinstance(request, ChatRequest)
    GenerateOptions(**request.sampling)
    said = [message for message in request.messages if message.role is not Role.SYSTEM]
    assert said[-1].role is Role.USER
    json.dumps(request.ignored).encode()


@given(anything | st.fixed_dictionaries({"input": st.lists(st.text(), max_size=3) | anything}))
def test_texts_for_vectors_are_understood_or_refused(value: Any) -> None:
    try:
        request = read_embeddings(value)
    except ApiError as error:
        assert error.status == 400
        return
    assert isinstance(request, EmbeddingRequest)
    assert all(isinstance(text, str) for text in request.texts)


def test_a_whole_request_is_taken_as_it_is() -> None:
    request = read_chat(
        {
            "model": "x",
            "messages": [
                {"role": "developer", "content": "Be brief."},
                {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
                {"role": "assistant", "content": None},
                HELLO,
            ],
            "temperature": 0,
            "top_p": 0.5,
            "max_tokens": 5,
            "max_completion_tokens": 7,
            "seed": -3,
            "stop": "END",
            "stream": True,
            "stream_options": {"include_usage": True},
            "keepsake": {"memory": False, "mood": 1},
            "user": "me",
            "presence_penalty": None,
        }
    )
    assert request.messages == (
        Message(Role.SYSTEM, "Be brief."),
        Message(Role.USER, "one\ntwo"),
        Message(Role.ASSISTANT, ""),
        Message(Role.USER, "hello"),
    )
    expected = {"temperature": 0.0, "top_p": 0.5, "max_tokens": 7, "seed": -3, "stop": ("END",)}
    assert request.sampling == expected
    assert (request.stream, request.usage, request.memory) == (True, True, False)
    assert request.ignored == ("keepsake.mood", "user")


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"n": 2}, "n"),
        ({"n": True}, "n"),
        ({"temperature": 3}, "temperature"),
        ({"temperature": True}, "temperature"),
        ({"top_p": -0.1}, "top_p"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": 1.5}, "max_tokens"),
        ({"seed": 2**63}, "seed"),
        ({"stop": [1]}, "stop"),
        ({"stop": ["x"] * 17}, "stop"),
        ({"stream": "yes"}, "stream"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"logprobs": True}, "logprobs"),
        ({"keepsake": True}, "keepsake"),
        ({"keepsake": {"memory": "no"}}, "keepsake.memory"),
        ({"messages": []}, "messages"),
        ({"messages": [HELLO] * 4_001}, "messages"),
        ({"messages": [HELLO, {"role": "assistant", "content": "x"}]}, "messages"),
        ({"messages": [{"role": "system", "content": "x"}]}, "messages"),
        ({"messages": [{"role": "tool", "content": "x"}, HELLO]}, "messages[0].role"),
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages[0].content[0]"),
        ({"messages": [{"role": "assistant", "content": "", "tool_calls": [1]}, HELLO]}, "messages[0]"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(change: dict[str, Any], param: str) -> None:
    with pytest.raises(ApiError) as refused:
        read_chat({"messages": [HELLO], **change})
    assert (refused.value.status, refused.value.param) == (400, param)


def test_characters_that_are_none_do_not_reach_the_model() -> None:
    request = read_chat({"messages": [{"role": "user", "content": "a\ud800b\0"}]})
    assert request.messages[0].text == "a\ufffdb\ufffd"
