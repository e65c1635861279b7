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
_HOPE = 0.7
"""The share of guesses that are expected to be right until some were made."""
_COST = 0.6
"""What one more token in a batch costs, in single tokens, until it was measured."""
_LEARN, _RETURN = 0.25, 0.01


class Source(Protocol):
    """What picks tokens: llama.Sampler."""

    def pick(self, at: int = -1) -> int: ...
    def hold_to(self, grammar: str, root: str, said: str) -> None: ...


class Model(Protocol):
    """What guessing ahead needs of a model: llama.LlamaModel, or a scripted one in tests."""

    window: int
    cached: list[int]

    def append(self, tokens: Sequence[int], *, every: bool = False) -> None: ...
    def keep_first(self, count: int) -> int: ...


class Guesses:
    """What followed the newest tokens when they were last there, and whether guessing pays.

    tokens: those of the prompt. most: at most so many are guessed at once.
    """

    def __init__(self, tokens: Sequence[int], most: int) -> None:
        self._sizes = [size for size in SIZES if size <= most]
        self._tokens: list[int] = []
        self._ends: dict[tuple[int, ...], int] = {}
        self._right, self._cost = _HOPE, _COST
        for token in tokens:
            self.push(token)

    def push(self, token: int) -> None:
        """The text goes on with this token."""
        if len(self._tokens) >= _GRAM:
            self._ends[tuple(self._tokens[-_GRAM:])] = len(self._tokens)
        self._tokens.append(token)

    def next(self) -> list[int]:
        """The guess; empty where there is none, or where it would cost more than it brings."""
        start = self._ends.get(tuple(self._tokens[-_GRAM:]))
        if start is None:
            return []
        size = max(self._sizes, key=self._gain, default=0)
        if size and self._gain(size) > 0:
            return self._tokens[start : start + size]
        self._right += _RETURN * (_HOPE - self._right)
        return []

    def learn(self, guessed: int, right: int, cost: float) -> None:
        """How many tokens of a guess were right before its first mistake, and what each cost in single tokens."""
        looked_at = min(right + 1, guessed)
        self._right += _LEARN * (right / looked_at - self._right)
        self._cost += _LEARN * (cost - self._cost)

    def _gain(self, size: int) -> float:
        """Tokens that a guess of this size is expected to save: it is right up to its first mistake."""
        right = min(self._right, 0.99)
        return right * (1 - right**size) / (1 - right) - self._cost * size


class Steps:
    """Picks and computes one token after another; those that were guessed right are computed already.

    prompt: what is in the cache now. Close it: guesses that were not needed leave the cache.
    """

    def __init__(
        self,
        model: Model,
        source: Source,
        prompt: Sequence[int],
        most: int,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._model, self._source, self._clock = model, source, clock
        self._prompt, self._most = prompt, most
        self._guesses: Guesses | None = None
        self._guess: list[int] = []
        self._right = 0
        self._single = 0.0
        self._batch = 0.0
        self._at = -1

    def pick(self) -> int:
        return self._source.pick(self._at)

    def hold_to(self, grammar: str, root: str, said: str) -> None:
        """As the source's."""
        self._source.hold_to(grammar, root, said)

    def append(self, token: int) -> None:
        """The reply goes on with this token; what follows can be picked then. Raises as the model's append."""
        if not self._most:
            self._model.append((token,))
            return
        self._guesses = self._guesses or Guesses(self._prompt, self._most)
        self._guesses.push(token)
        if self._right < len(self._guess) and self._guess[self._right] == token:
            self._right += 1
            self._at += 1
            return
        self.close()
        self._compute(token, self._guesses.next())

    def close(self) -> None:
        """Take the guesses that were wrong, or came too late, out of the cache, and learn from them."""
        guess, right, self._guess, self._right, self._at = self._guess, self._right, [], 0, -1
        if not guess or self._guesses is None:
            return
        self._model.keep_first(len(self._model.cached) - len(guess) + right)
        if self._single:
            self._guesses.learn(len(guess), right, max(0.0, self._batch / self._single - 1) / len(guess))

    def _compute(self, token: int, guess: list[int]) -> None:
        del guess[max(0, self._model.window - len(self._model.cached) - 1) :]
        began = self._clock()
        self._model.append((token, *guess), every=bool(guess))
        spent = self._clock() - began
        if guess:
            self._guess, self._batch, self._at = guess, spent, 0
        else:
            self._single += (spent - self._single) * (_LEARN if self._single else 1.0)
