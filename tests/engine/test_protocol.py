"""Values survive the way to the worker and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.values import (
    ChatEvent,
    Delta,
    Done,
    EngineSettings,
    GenerateOptions,
    Message,
    ModelInfo,
    PromptRead,
    Role,
    StopReason,
    ToolCall,
    ToolSpec,
)
from assistant.engine import protocol


def sent(value: Any) -> Any:
    return json.loads(json.dumps(value))


EVENTS = st.one_of(
    st.builds(PromptRead, st.integers(), st.integers(), st.integers()),
    st.builds(Delta, st.text()),
    st.builds(
        Done,
        st.sampled_from(StopReason),
        st.text(),
        st.integers(),
        st.integers(),
        st.integers(),
        st.just(1.5),
        st.just(2.0),
    ),
)


@given(EVENTS)
def test_events(event: ChatEvent) -> None:
    name, data = protocol.event_to_json(event)
    assert protocol.event_from_json(name, sent(data)) == event


@given(st.builds(GenerateOptions, stop=st.lists(st.text()).map(tuple), seed=st.none() | st.integers()))
def test_options(options: GenerateOptions) -> None:
    assert protocol.options_from_json(sent(protocol.options_to_json(options))) == options


@given(st.builds(EngineSettings))
def test_settings(settings: EngineSettings) -> None:
    assert protocol.settings_from_json(sent(protocol.settings_to_json(settings))) == settings


@given(st.lists(st.builds(Message)))
def test_messages(messages: list[Message]) -> None:
    assert protocol.messages_from_json(sent(protocol.messages_to_json(messages))) == messages


def test_model_info() -> None:
    info = ModelInfo("m", Path("/a b/張.gguf"), "llama", "Q4_0", 5, 4096, 8192, "own", "mit")
    assert protocol.info_from_json(sent(protocol.info_to_json(info))) == info


def test_an_event_that_is_not_known_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown"):
        protocol.event_from_json("news", {})


def test_tools_and_their_calls_come_through() -> None:
    spec = ToolSpec("memory_search", "Search", {"type": "object", "properties": {"query": {"type": "string"}}})
    options = GenerateOptions(tools=(spec,), conversation="20261130_120000")
    assert protocol.options_from_json(sent(protocol.options_to_json(options))) == options
    call = ToolCall("memory_search", {"query": "鱼 \ud800"})
    said = [Message(Role.ASSISTANT, "", (call,)), Message(Role.TOOL, "{}")]
    assert protocol.messages_from_json(sent(protocol.messages_to_json(said))) == said
    done = Done(StopReason.CALLS, "", 3, 9, 0, 1.0, 2.0, "hm", (call,))
    assert protocol.event_from_json("result", sent(protocol.event_to_json(done)[1])) == done
