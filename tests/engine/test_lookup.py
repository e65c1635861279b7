"""Guessing ahead: the text is the same, what was wrong leaves the cache, and guessing stops where it does not pay."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.engine.lookup import Costs, Guesses, Steps

TOKENS = st.lists(st.integers(0, 3), max_size=60)


class Echo:
    """Says its script, whatever it is; each computation takes a second and ``extra`` for each further token."""

    def __init__(self, prompt: Sequence[int], script: Sequence[int], window: int = 1000, extra: float = 0.2) -> None:
        self.window = window
        self.draft = 16
        self.costs = Costs()
        self.prompt = list(prompt)
        self.cached = list(prompt)
        self.script = script
        self.extra = extra
        self.calls: list[int] = []
        self.now = 0.0
        self._marks = 1

    def append(self, tokens: Sequence[int], *, every: bool = False) -> None:
        assert len(self.cached) + len(tokens) <= self.window
        self.cached += tokens
        self.calls.append(len(tokens))
        self.now += 1 + self.extra * (len(tokens) - 1)
        self._marks = len(tokens) if every else 1

    def keep_first(self, count: int) -> int:
        assert len(self.prompt) <= count <= len(self.cached)
        del self.cached[count:]

    def pick(self, at: int = -1) -> int:
        """The script's token after all that is in the cache up to the mark, as a model's logits would say."""
        place = at if at >= 0 else self._marks - 1
        assert place < self._marks
        seen = len(self.cached) - (self._marks - 1 - place) - len(self.prompt)
        return self.script[seen]

    def hold_to(self, grammar: str, root: str, said: str) -> None: ...

    def clock(self) -> float:
        return self.now


def say(model: Echo, most: int, count: int) -> list[int]:
    model.draft = most
    steps = Steps(model, model, model.prompt, model.clock)
    said = []
    for _ in range(count):
        said.append(steps.pick())
        steps.append(said[-1])
    steps.close()
    return said


@given(TOKENS, TOKENS, st.sampled_from([0, 2, 4, 16]), st.floats(0, 2))
def test_what_is_said_and_kept_is_the_same(prompt: list[int], script: list[int], most: int, extra: float) -> None:
    model = Echo(prompt, script, extra=extra)
    assert say(model, most, len(script)) == script
    assert model.cached == [*prompt, *script]


def test_a_quotation_takes_few_computations() -> None:
    words = list(range(200))
    model = Echo(words, words[20:180])
    assert say(model, 16, 160) == words[20:180]
    assert len(model.calls) < 30


def test_text_that_never_repeats_is_computed_as_ever() -> None:
    model = Echo(range(100), range(100, 200))
    say(model, 16, 100)
    assert model.calls == [1] * 100


def test_guesses_that_are_always_wrong_are_never_computed() -> None:
    script = [token for n in range(100) for token in (1, 2, 3, 1000 + n)]
    model = Echo([1, 2, 3, 999], script, extra=0.5)
    say(model, 16, len(script))
    assert model.calls == [1] * len(script)


def test_guesses_are_left_when_the_quotation_ends() -> None:
    words = list(range(200))
    model = Echo(words, [*words[20:80], *range(300, 400)])
    say(model, 16, 160)
    assert max(model.calls) > 8 and model.calls[-98:] == [1] * 98


@pytest.mark.parametrize("extra", [1.0, 1.5, 3.0])
def test_where_a_batch_costs_more_than_its_tokens_little_is_lost(extra: float) -> None:
    words = list(range(200))
    model = Echo(words, words[20:180], extra=extra)
    say(model, 16, 160)
    assert model.now < 1.05 * 160


def test_guesses_end_at_the_window() -> None:
    words = list(range(50))
    model = Echo(words, words[20:50], window=75)
    assert say(model, 16, 25) == words[20:45]


def test_the_newest_place_is_looked_at() -> None:
    guesses = Guesses([1, 2, 3, 7, 8, 1, 2, 3, 9, 9, 1, 2], 2, Costs())
    guesses.push(3)
    assert guesses.next() == []  # not seen to be right yet
    for token in (9, 9, 1, 2, 3):
        guesses.push(token)
    assert guesses.next() == [9, 9]
