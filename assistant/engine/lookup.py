"""Guessing ahead: what followed the same words before, in the prompt or in the reply, is computed in one go.

A reply that quotes, sums up or goes on with a list repeats long runs of what the model has just read. Tokens that are
guessed so are computed together with the token in hand, which costs far less than one after another, and are kept as
long as the sampler picks just them. The sampler sees the same logits in the same order as without, so the text is the
same; where a batch's logits differ from a single token's in their last bits, ``EngineSettings.draft`` must be 0 (tuning
measures it). The idea: prompt lookup decoding, Saxena 2023.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

SIZES = (2, 4, 8, 16)
"""Tokens that are guessed at once."""
_GRAM = 3
"""So many tokens must be the same for what followed them to be a guess. With two, ordinary text guesses too often."""
_HOPE = 0.35
"""The share of guesses held for right before any was seen: too little to compute one, two right ones are enough."""
_COST = 0.4
"""What one more token in a batch costs, in single tokens, until it was measured."""
_CHEAPER = 0.75
"""What a token costs in a longer batch, over one in a shorter, until it was measured."""
_FIRST, _LEARN, _FADE = 0.8, 0.2, 0.001


class Costs:
    """What it costs to compute tokens together, as far as it was seen. Kept with the model, over its replies."""

    def __init__(self) -> None:
        self._single = 0.0
        self._more: dict[int, float] = {}

    def single(self, seconds: float) -> None:
        """One token took so long."""
        self._single += (seconds - self._single) * (_LEARN if self._single else 1.0)

    def batch(self, guessed: int, seconds: float) -> None:
        """One token and so many guesses took so long."""
        if self._single:
            weight = _LEARN if guessed in self._more else _FIRST
            self._more[guessed] = self.of(guessed) + (max(0.0, seconds / self._single - 1) - self.of(guessed)) * weight

    def fade(self) -> None:
        """What was seen counts less: a machine that was busy then may be quiet now."""
        for guessed, cost in self._more.items():
            self._more[guessed] = cost + (_COST * guessed - cost) * _FADE

    def of(self, guessed: int) -> float:
        """What so many guesses cost, in single tokens."""
        if guessed in self._more:
            return self._more[guessed]
        shorter = max((seen for seen in self._more if seen < guessed), default=0)
        return guessed * (_CHEAPER * self._more[shorter] / shorter if shorter else _COST)


class Source(Protocol):
    """What picks tokens: llama.Sampler."""

    def pick(self, at: int = -1) -> int: ...
    def hold_to(self, grammar: str, root: str, said: str) -> None: ...


class Model(Protocol):
    """What guessing ahead needs of a model: llama.LlamaModel, or a scripted one in tests."""

    window: int
    draft: int
    costs: Costs
    cached: list[int]

    def append(self, tokens: Sequence[int], *, every: bool = False) -> None: ...
    def keep_first(self, count: int) -> int: ...


class Guesses:
    """What followed the newest tokens when they were last there, and whether guessing pays.

    tokens: those of the prompt. most: at most so many are guessed at once. Whether guesses are right is seen from all
    tokens, also where none was computed, so finding out costs nothing.
    """

    def __init__(self, tokens: Sequence[int], most: int, costs: Costs) -> None:
        self._sizes = [size for size in SIZES if size <= most]
        self._costs = costs
        self._right = _HOPE
        self._tokens: list[int] = []
        self._ends: dict[tuple[int, ...], int] = {}
        for token in tokens:
            self._add(token)

    def push(self, token: int) -> None:
        """The text goes on with this token."""
        if (start := self._start()) is not None:
            self._right += _LEARN * ((self._tokens[start] == token) - self._right)
        self._add(token)

    def next(self) -> list[int]:
        """The guess; empty where there is none, or where it would cost more than it brings."""
        start = self._start()
        if start is None:
            return []
        size = max(self._sizes, key=self._gain, default=0)
        if self._gain(size) > 0:
            return self._tokens[start : start + size]
        self._costs.fade()
        return []

    def _start(self) -> int | None:
        return self._ends.get(tuple(self._tokens[-_GRAM:]))

    def _add(self, token: int) -> None:
        if len(self._tokens) >= _GRAM:
            self._ends[tuple(self._tokens[-_GRAM:])] = len(self._tokens)
        self._tokens.append(token)

    def _gain(self, size: int) -> float:
        """Tokens that a guess of this size is expected to save: it is right up to its first mistake."""
        right = min(self._right, 0.99)
        return right * (1 - right**size) / (1 - right) - self._costs.of(size)


class Steps:
    """Picks and computes one token after another; those that were guessed right are computed already.

    prompt: what is in the cache now. Close it: guesses that were not needed leave the cache.
    """

    def __init__(
        self,
        model: Model,
        source: Source,
        prompt: Sequence[int],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._model, self._source, self._prompt, self._clock = model, source, prompt, clock
        self._guesses: Guesses | None = None
        self._guess: list[int] = []
        self._right = 0
        self._at = -1

    def pick(self) -> int:
        return self._source.pick(self._at)

    def hold_to(self, grammar: str, root: str, said: str) -> None:
        """As the source's."""
        self._source.hold_to(grammar, root, said)

    def append(self, token: int) -> None:
        """The reply goes on with this token; what follows can be picked then. Raises as the model's append."""
        model = self._model
        if not model.draft:
            model.append((token,))
            return
        self._guesses = self._guesses or Guesses(self._prompt, model.draft, model.costs)
        self._guesses.push(token)
        if self._right < len(self._guess) and self._guess[self._right] == token:
            self._right += 1
            self._at += 1
            return
        self.close()
        self._compute(token, self._guesses.next())

    def close(self) -> None:
        """Take the guesses that were wrong, or came too late, out of the cache."""
        wrong = len(self._guess) - self._right
        self._guess, self._right, self._at = [], 0, -1
        if wrong:
            self._model.keep_first(len(self._model.cached) - wrong)

    def _compute(self, token: int, guess: list[int]) -> None:
        del guess[max(0, self._model.window - len(self._model.cached) - 1) :]
        began = self._clock()
        self._model.append((token, *guess), every=bool(guess))
        spent = self._clock() - began
        if guess:
            self._guess, self._at = guess, 0
            self._model.costs.batch(len(guess), spent)
        else:
            self._model.costs.single(spent)
