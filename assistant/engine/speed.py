"""How fast a loaded model reads and decodes with given threads: run in the worker, for tuning."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from assistant.engine.lookup import SIZES

_TEXT = (
    "The river runs past the old mill, and the children count the boats that come down from the hills. Anna keeps a "
    "list of them in a blue book: 14 in March, 9 in April. Her sister says that nobody will ever read it. "
)
_WARM_SECONDS = 0.45
"""Threads that give way see after two looks (threads.py) whether others work."""
_FIRST, _DECODED_AT_LEAST = 16, 2
_NEAR, _FAR = 48, 540
"""Tokens of context: before and after 512, from where llama.cpp parts a single token's attention between threads."""


@dataclass(frozen=True, slots=True)
class Speed:
    """Tokens a second."""

    read: float
    decode: float


class Model(Protocol):
    """What measuring needs of a model: llama.LlamaModel."""

    window: int
    step: int
    cached: list[int]
    keeps_part: bool

    def tokenise(self, text: str, special: bool) -> list[int]: ...
    def append(self, tokens: Sequence[int], *, every: bool = False) -> None: ...
    def keep_first(self, count: int) -> int: ...
    def use_threads(self, decode: int, read: int, give_way: bool) -> None: ...
    def logits(self, at: int = -1) -> bytes: ...


def measure_speed(
    model: Model,
    read: int,
    decode: int,
    chunk: int,
    seconds: float,
    warm: bool,
    clock: Callable[[], float] = time.perf_counter,
) -> Speed:
    """Read so many tokens from an empty cache and decode so many more, each for so many seconds at most.

    chunk: tokens read at once. warm: first read for a moment that is not counted. Raises Cancelled.
    """
    tokens = _tokens(model, min(model.window, read + decode + 1))
    until = clock() + (_WARM_SECONDS if warm else 0.0)
    model.keep_first(0)
    began = clock()
    model.append(tokens[:_FIRST])
    if clock() - began > seconds / 4:
        chunk = _FIRST  # so slow that the time would be long over before a larger one ends
    while clock() < until:
        model.append(tokens[_FIRST : 2 * _FIRST])
        model.keep_first(_FIRST)
    model.keep_first(0)
    began = clock()
    while len(model.cached) < read and clock() - began < seconds:
        model.append(tokens[len(model.cached) : min(read, len(model.cached) + chunk)])
    read_rate = len(model.cached) / (clock() - began)
    model.append(tokens[:1])  # threads that were just woken are not counted
    began, done = clock(), 0
    while done < decode and (done < _DECODED_AT_LEAST or clock() - began < seconds):
        model.append(tokens[done : done + 1])
        done += 1
    return Speed(read_rate, done / (clock() - began))


def exact_draft(model: Model, decode: int, read: int, give_way: bool) -> int:
    """How many tokens may be guessed ahead (lookup.SIZES) so that logits are those of single tokens, bit by bit.

    0: none. llama.cpp's kernels do not depend on the numbers they compute with, so one text tells for all.
    """
    longest = max(SIZES) + 1
    tokens = _tokens(model, _FAR + longest)
    allowed = max(SIZES) if model.keeps_part else 0
    for context in (_NEAR, _FAR):
        if context + longest > model.window:
            break
        model.use_threads(decode, read, False)
        _fill(model, tokens[:context])
        after = tokens[context : context + longest]
        single = [_logits_of(model, (token,))[0] for token in after]
        if give_way and decode > 1 and not _same_with_one_thread(model, after, single, read):
            return 0
        allowed = min(allowed, _largest_exact(model, context, after, single))
    return allowed


def _largest_exact(model: Model, context: int, after: Sequence[int], single: Sequence[bytes]) -> int:
    largest = 0
    for size in SIZES:
        model.keep_first(context)
        if _logits_of(model, after[: size + 1]) != list(single[: size + 1]):
            break
        largest = size
    return largest


def _same_with_one_thread(model: Model, after: Sequence[int], single: Sequence[bytes], read: int) -> bool:
    context = len(model.cached) - len(after)
    model.keep_first(context)
    model.use_threads(1, read, False)
    return all(_logits_of(model, (token,))[0] == wanted for token, wanted in zip(after[:3], single, strict=False))


def _logits_of(model: Model, tokens: Sequence[int]) -> list[bytes]:
    model.append(tokens, every=True)
    return [model.logits(at) for at in range(len(tokens))]


def _fill(model: Model, tokens: Sequence[int]) -> None:
    model.keep_first(0)
    while (start := len(model.cached)) < len(tokens):
        model.append(tokens[start : start + model.step])


def _tokens(model: Model, count: int) -> list[int]:
    once = model.tokenise(_TEXT, False)
    return (once * (count // len(once) + 1))[:count]
