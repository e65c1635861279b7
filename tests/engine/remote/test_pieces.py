"""Events of many servers as values, and rubbish of every type."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.values import Delta, Done, GenerateOptions, StopReason, ToolCall, ToolSpec
from assistant.engine.remote.pieces import BadPieceError, CallPiece, Usage, error_words, read_piece
from assistant.engine.remote.reply import RemoteReply

_NAMES = st.sampled_from(
    [
        "choices",
        "delta",
        "message",
        "content",
        "thinking",
        "tool_calls",
        "function",
        "usage",
        "timings",
        "error",
        "index",
        "type",
        "text",
    ]
)
_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=5) | st.just("thinking"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=4),
    max_leaves=15,
)


def chunk(**delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


def end(reason: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def reply_of(values: Sequence[Any], options: GenerateOptions | None = None) -> tuple[list[Delta], Done]:
    ticks = iter(range(10_000))
    reply = RemoteReply(options or GenerateOptions(), 7, lambda: float(next(ticks)))
    events = [event for value in values for event in reply.take(read_piece(value))]
    events += reply.finish()
    return [event for event in events if isinstance(event, Delta)], reply.done()


@given(_ANY)
def test_whatever_comes_is_a_piece_or_one_error(value: Any) -> None:
    try:
        piece = read_piece(value)
    except BadPieceError:
        return
    reply = RemoteReply(GenerateOptions(), 0, lambda: 0.0)
    list(reply.take(piece))
    list(reply.finish())
    assert reply.done().tokens >= 0


@given(_ANY)
def test_an_error_of_any_form_gives_words(value: Any) -> None:
    assert isinstance(error_words(value), str)


@given(_ANY)
def test_any_content_is_a_piece_or_one_error(value: Any) -> None:
    with contextlib.suppress(BadPieceError):
        read_piece(chunk(content=[{"type": "thinking", "thinking": value}, {"text": value}]))


@pytest.mark.parametrize(
    ("error", "words"), [({"code": 500}, "500"), ({"message": " "}, "?"), (True, "?"), ("no", "no")]
)
def test_a_server_that_gives_up_is_heard_whatever_it_says(error: Any, words: str) -> None:
    assert read_piece({"error": error}).error == words


@pytest.mark.parametrize("value", [None, 3, "x", [], {"choices": 3}, {"choices": ["x"]}, chunk(content=5)])
def test_what_is_of_no_known_form_is_refused(value: Any) -> None:
    with pytest.raises(BadPieceError):
        read_piece(value)


def test_text_thoughts_and_costs() -> None:
    usage = {"prompt_tokens": 30, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 20}}
    deltas, done = reply_of(
        [
            chunk(role="assistant", content=None),
            chunk(reasoning_content="Let me "),
            chunk(reasoning="see."),
            chunk(content="Good "),
            chunk(content="morning"),
            end("stop"),
            {"choices": [], "usage": usage, "timings": {"predicted_per_second": 12.5}},
        ]
    )
    assert "".join(d.text for d in deltas if not d.thought) == done.text == "Good morning"
    assert done.thought == "Let me see."
    assert done.thought_s > 0
    assert (done.prompt_tokens, done.reused_tokens, done.tokens, done.tokens_per_s) == (30, 20, 4, 12.5)
    assert done.stop is StopReason.END


def test_a_think_block_in_the_text_is_a_thought() -> None:
    deltas, done = reply_of([chunk(content=part) for part in ("<thi", "nk>hm</th", "ink>\n\nYes", ".")] + [end("stop")])
    assert (done.text, done.thought) == ("Yes.", "hm")
    assert deltas[0].thought


def test_an_emoji_that_is_cut_in_two_escapes_shows_whole() -> None:
    _, done = reply_of([chunk(content="a\ud83d"), chunk(content="\udc4d b"), chunk(content="\ud83d"), end("stop")])
    assert done.text.startswith("a👍 b")
    done.text.encode()


def test_calls_come_together_from_their_pieces() -> None:
    tool = ToolSpec("memory_search", "looks", {"type": "object"})
    calls = [
        {"index": 0, "id": "x", "function": {"name": "memory_search", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"query": "t'}},
        {"index": 0, "function": {"arguments": 'ea"}'}},
        {"index": 1, "function": {"name": "memory_search", "arguments": '{"query": "rain"}'}},
        {"index": 2, "function": {"name": "memory_search", "arguments": "{broken"}},
    ]
    _, done = reply_of(
        [chunk(tool_calls=[call]) for call in calls] + [end("tool_calls")], GenerateOptions(tools=(tool,))
    )
    assert done.stop is StopReason.CALLS
    assert done.calls == tuple(ToolCall("memory_search", {"query": what}) for what in ("tea", "rain"))


def test_calls_that_the_server_left_in_the_text_are_read() -> None:
    tool = ToolSpec("memory_search", "looks", {"type": "object"})
    text = '<tool_call>\n{"name": "memory_search", "arguments": {"query": "tea"}}\n</tool_call>'
    _, done = reply_of([chunk(content=text), end("stop")], GenerateOptions(tools=(tool,)))
    assert (done.stop, done.text, done.calls) == (
        StopReason.CALLS,
        "",
        (ToolCall("memory_search", {"query": "tea"}),),
    )


def test_arguments_may_be_an_object() -> None:
    value = chunk(tool_calls=[{"function": {"name": "f", "arguments": {"a": 1}}}])
    assert read_piece(value).calls == (CallPiece(0, "f", '{"a": 1}'),)


@pytest.mark.parametrize(
    ("options", "values", "stop"),
    [
        (GenerateOptions(max_tokens=2), [chunk(content="a"), chunk(content="b"), end("length")], StopReason.LENGTH),
        (GenerateOptions(max_tokens=0), [chunk(content="a"), end("length")], StopReason.WINDOW),
        (GenerateOptions(max_tokens=99), [chunk(content="a"), end("length")], StopReason.WINDOW),
        (GenerateOptions(stop=("STOP",)), [chunk(content="a ST"), chunk(content="OP b")], StopReason.END),
    ],
)
def test_why_it_ended(options: GenerateOptions, values: list[Any], stop: StopReason) -> None:
    _, done = reply_of(values, options)
    assert done.stop is stop
    assert "STOP" not in done.text


def test_a_server_that_does_not_end_is_ended() -> None:
    reply = RemoteReply(GenerateOptions(max_tokens=5), 0, lambda: 0.0)
    for _ in range(6):
        list(reply.take(read_piece(chunk(content="a"))))
    assert reply.enough


def test_costs_of_a_llama_server_without_usage() -> None:
    timings = {"cache_n": 10, "prompt_n": 5, "predicted_n": 3, "predicted_per_second": 20.0}
    assert read_piece({"choices": [], "timings": timings}).usage == Usage(15, 10, 3, 20.0)
