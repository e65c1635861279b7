"""How a reply ends, told with a scripted model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.values import ChatEvent, Delta, Done, GenerateOptions, PromptRead, StopReason, ToolCall
from assistant.engine.generation import generate
from assistant.engine.lookup import Costs
from assistant.engine.reply_parts import ReplyShape
from assistant.engine.tool_formats import HERMES

END = -1


class ScriptedModel:
    """Says the bytes of its script, one a token, and then END; on for ever where endless."""

    def __init__(self, script: bytes, window: int = 100, endless: bool = False) -> None:
        self.window = window
        self.draft = 0
        self.costs = Costs()
        self.cached: list[int] = []
        self._script = script
        self._endless = endless
        self._at = 0
        self.held = ("", "", "")

    def read(self, tokens: Sequence[int], on_progress: Callable[[int, int], None]) -> int:
        on_progress(0, 0)
        self.cached = list(tokens)
        on_progress(len(tokens), 0)
        return 0

    def append(self, tokens: Sequence[int], *, every: bool = False) -> None:
        self.cached += tokens
        assert len(self.cached) <= self.window

    @contextmanager
    def sampler(self, options: GenerateOptions) -> Iterator[ScriptedModel]:
        yield self

    def keep_first(self, count: int) -> int:
        del self.cached[count:]

    def pick(self, at: int = -1) -> int:
        if self._at == len(self._script) and not self._endless:
            return END
        token = self._script[self._at % len(self._script)]
        self._at += 1
        return token

    def hold_to(self, grammar: str, root: str, said: str) -> None:
        self.held = (grammar, root, said)

    def piece(self, token: int) -> bytes:
        return bytes([token])

    def is_end(self, token: int) -> bool:
        return token == END


def run(model: ScriptedModel, prompt: int = 10, **options: object) -> tuple[Done, list[ChatEvent]]:
    events: list[ChatEvent] = []
    given = GenerateOptions(**options)  # type: ignore[arg-type] # each test names fields of it
    done, _ = generate(model, range(prompt), given, CancelToken(), events.append)
    assert done.text == "".join(event.text for event in events if isinstance(event, Delta))
    return done, events


def test_a_reply_ends_where_the_model_says_so() -> None:
    done, events = run(ScriptedModel("Grüße, 中文 👍🏽!".encode()))
    assert (done.stop, done.text, done.prompt_tokens) == (StopReason.END, "Grüße, 中文 👍🏽!", 10)
    assert events[:2] == [PromptRead(0, 10, 0), PromptRead(10, 10, 0)]


def test_an_empty_reply_is_a_reply() -> None:
    done, _ = run(ScriptedModel(b""))
    assert (done.stop, done.text, done.tokens, done.ttft_ms, done.tokens_per_s) == (StopReason.END, "", 0, 0, 0)


def test_a_model_that_never_ends_is_ended() -> None:
    done, _ = run(ScriptedModel(b"la ", endless=True), max_tokens=7)
    assert (done.stop, done.text, done.tokens) == (StopReason.LENGTH, "la la l", 7)


@pytest.mark.parametrize("max_tokens", [0, 1000])
def test_a_full_window_keeps_the_text(max_tokens: int) -> None:
    done, _ = run(ScriptedModel(b"la ", window=20, endless=True), max_tokens=max_tokens)
    assert (done.stop, done.text, done.tokens) == (StopReason.WINDOW, "la la la l", 10)


def test_a_prompt_that_fills_the_window_is_refused_before_it_is_read() -> None:
    model = ScriptedModel(b"x", window=10)
    with pytest.raises(AssistantError) as caught:
        run(model)
    assert caught.value.code == "engine.window"
    assert model.cached == []


def test_a_stop_string_ends_a_reply_and_is_not_shown() -> None:
    done, events = run(ScriptedModel(b"Hello\nUser: me again"), stop=("\nUser:",))
    assert (done.stop, done.text) == (StopReason.END, "Hello")
    assert not any("\n" in event.text for event in events if isinstance(event, Delta))


def test_a_stop_between_tokens_keeps_the_text() -> None:
    cancel = CancelToken()
    shown: list[str] = []

    def show(event: ChatEvent) -> None:
        if isinstance(event, Delta):
            shown.append(event.text)
            cancel.cancel()

    done, tokens = generate(ScriptedModel(b"abc"), [1], GenerateOptions(), cancel, show)
    assert (done.stop, done.text, tokens) == (StopReason.STOPPED, "a", [97])


def test_a_stop_while_the_prompt_is_read_is_a_stopped_reply_without_text() -> None:
    class Stopped(ScriptedModel):
        def read(self, tokens: Sequence[int], on_progress: Callable[[int, int], None]) -> int:
            on_progress(4, 2)
            raise Cancelled

    done, _ = run(Stopped(b"abc"))
    assert (done.stop, done.text, done.reused_tokens) == (StopReason.STOPPED, "", 2)


def test_times_are_those_of_the_clock() -> None:
    now = [0.0]

    def clock() -> float:
        now[0] += 0.1
        return now[0]

    done, _ = generate(ScriptedModel(b"abcd"), [1], GenerateOptions(), CancelToken(), lambda _event: None, clock)
    assert done.ttft_ms == pytest.approx(100)
    assert done.tokens_per_s == pytest.approx(5)  # two looks at the clock a token


def test_tokens_that_were_given_to_a_reply_are_not_counted_as_fast_ones() -> None:
    now = [0.0]

    def clock() -> float:
        now[0] += 0.1
        return now[0]

    model = ScriptedModel(b"abcd")
    done, _ = generate(model, [1], GenerateOptions(), CancelToken(), lambda _: None, clock, opening=list(b"12345"))
    assert (done.text, done.tokens) == ("12345abcd", 9)
    assert done.tokens_per_s == pytest.approx(5)  # two looks at the clock a token


SHAPE = ReplyShape(calls=HERMES, tools=("look",), grammar="the grammar")
CALLING = b'<think>Where?</think>\n\nI look.\n<tool_call>\n{"name": "look", "arguments": {"at": "it"}}\n</tool_call>'


def shaped(model: ScriptedModel, **options: object) -> tuple[Done, list[ChatEvent]]:
    events: list[ChatEvent] = []
    given = GenerateOptions(**options)  # type: ignore[arg-type] # each test names fields of it
    done, _ = generate(model, range(10), given, CancelToken(), events.append, shape=SHAPE)
    return done, events


def test_thoughts_and_calls_come_apart_from_what_is_said() -> None:
    model = ScriptedModel(CALLING, window=1000)
    done, events = shaped(model)
    assert (done.stop, done.text, done.thought) == (StopReason.CALLS, "I look.\n", "Where?")
    assert done.calls == (ToolCall("look", {"at": "it"}),)
    assert [event for event in events if isinstance(event, Delta) and event.thought]
    assert "tool_call" not in "".join(event.text for event in events if isinstance(event, Delta))
    assert model.held == ("the grammar", "marked", "")


def test_a_call_that_something_made_up_follows_ends_the_reply() -> None:
    done, _ = shaped(ScriptedModel(CALLING + b"\n<tool_response>\nmade up", window=1000, endless=True))
    assert (done.stop, done.text, len(done.calls)) == (StopReason.CALLS, "I look.\n", 1)


def test_half_a_call_is_nothing_that_was_said() -> None:
    done, _ = shaped(ScriptedModel(CALLING, window=1000), max_tokens=60)
    assert (done.stop, done.text, done.calls) == (StopReason.LENGTH, "I look.\n", ())


def test_a_call_that_nobody_can_read_is_shown() -> None:
    done, _ = shaped(ScriptedModel(b"<tool_call>look at it</tool_call>", window=1000))
    assert (done.stop, done.text, done.calls) == (StopReason.END, "<tool_call>look at it</tool_call>", ())


def test_a_thought_without_an_end_is_a_thought() -> None:
    done, _ = shaped(ScriptedModel(b"<think>on and on ", window=1000, endless=True), max_tokens=30)
    assert (done.stop, done.text) == (StopReason.LENGTH, "")
    assert done.thought.startswith("on and on")


def test_a_reply_that_has_to_begin_with_a_call_is_held_to_the_grammar_from_its_first_token() -> None:
    shape = ReplyShape(calls=HERMES, tools=("look",), grammar="g")
    model = ScriptedModel(b'{"name": "look", "arguments": {}}</tool_call>')
    opening, seen = list(HERMES.opening.encode()), list[ChatEvent]()
    done, tokens = generate(
        model, range(10), GenerateOptions(), CancelToken(), seen.append, shape=shape, opening=opening
    )
    assert (done.stop, done.text, done.calls) == (StopReason.CALLS, "", (ToolCall("look", {}),))
    assert bytes(tokens).startswith(b"<tool_call>{")
    assert model.held[0] == "g"
    assert done.prompt_tokens == 10
    assert [event for event in seen if isinstance(event, PromptRead)][-1] == PromptRead(10, 10, 0)


def test_a_stop_before_anything_was_picked_has_no_times() -> None:
    cancel = CancelToken()

    def show(event: ChatEvent) -> None:
        if isinstance(event, PromptRead) and event.read == event.total:
            cancel.cancel()

    opening = list(HERMES.opening.encode())
    done, _ = generate(ScriptedModel(b"x"), range(10), GenerateOptions(), cancel, show, shape=SHAPE, opening=opening)
    assert (done.stop, done.text) == (StopReason.STOPPED, "")
    assert (done.ttft_ms, done.tokens_per_s) == (0.0, 0.0)
