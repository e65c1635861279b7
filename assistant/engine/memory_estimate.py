"""How much memory a model takes with a given context window, from the numbers of its header alone.

What is estimated is the resident size (RSS) of the worker once its window is full: the mapped pages of the file count,
for each token reads all of them. llama.cpp reserves more address space than that (room for the logits of a whole step,
which is never touched, because only the last token of a step is asked for). States of other conversations that are set
aside (engine.prompt_cache) come on top and are no need: they take a part of what is free then. Checked by
tools/measure_memory.py; see docs/decisions/0038.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from assistant.engine.gguf_facts import GgufInfo

_BASE = 48_000_000
"""Python and the libraries of the worker, their own memory and the pages of their files (measured)."""
_PER_WORD = 300
"""Bytes a word of the vocabulary takes in llama.cpp's tables and in ours (measured: 49 152 and 151 936 words)."""
_KV_BYTES = {"f16": 2.0, "q8_0": 34 / 32, "q4_0": 18 / 32}
"""Bytes a number of the cache takes; a block is 32 numbers and a 16-bit scale (ggml-common.h)."""
_CELLS = 256
"""llama.cpp rounds the window up to a multiple of it (llama-context.cpp, n_ctx)."""
_ROWS, _SAMPLING = 6, 24
"""Rows of a layer's width that live at once beside the feed-forward ones; bytes a word while a token is picked."""
_WINDOW_STEP = 1024
_TIGHT = 0.85
"""From this share of the free memory on nothing much else may be opened."""


@dataclass(frozen=True, slots=True)
class ModelShape:
    """The numbers of a model that its memory follows from; see GgufInfo."""

    vocabulary: int
    embedding: int
    heads: int
    feed_forward: int
    cache_keys: int
    cache_values: int


@dataclass(frozen=True, slots=True)
class RunPlan:
    """How it is to be run. window, step: tokens; the rest as core.values.EngineSettings."""

    window: int
    step: int = 256
    flash_attention: bool = False
    kv_type: str = "f16"
    mmap: bool = True


@dataclass(frozen=True, slots=True)
class MemoryEstimate:
    """Bytes. weights: of the file; repacked: copies of some of them in another order; cache: of the window's tokens;
    work: buffers while it computes; base: the worker itself.
    """

    window: int
    weights: int
    repacked: int
    cache: int
    work: int
    base: int
    mapped: bool = True

    @property
    def resident(self) -> int:
        """What the system shows for the worker when the window is full."""
        return self.needed + (self.repacked if self.mapped else 0)

    @property
    def needed(self) -> int:
        """Without the mapped pages that were copied: nobody reads them again, and the system takes them back."""
        return self.weights + self.cache + self.work + self.base


class Fit(StrEnum):
    """Whether a model can be used with what memory there is."""

    FITS = "fits"
    TIGHT = "tight"  # it runs, as long as nothing else wants much
    TOO_BIG = "too_big"
    UNKNOWN = "unknown"  # nobody says how much memory there is


def shape_of(info: GgufInfo) -> ModelShape:
    """The shape that a header says."""
    heads, keys, values = info.heads, info.cache_keys, info.cache_values
    return ModelShape(info.vocabulary, info.embedding, heads, info.feed_forward, keys, values)


def estimate(shape: ModelShape, weights: int, repacked: int, plan: RunPlan, used: int = 0) -> MemoryEstimate:
    """The memory of a model whose file has ``weights`` bytes, ``repacked`` of which are copied when it is loaded.

    used: tokens in the window by now, 0 for all of it; the cache is there from the start, the work grows.
    """
    cells, busy = _padded(plan.window), _padded(used or plan.window)
    cache = cells * (shape.cache_keys + shape.cache_values) * _KV_BYTES.get(plan.kv_type, 2.0)
    return MemoryEstimate(
        window=plan.window,
        weights=weights,
        repacked=repacked,
        cache=round(cache),
        work=_work(shape, plan, busy),
        base=_BASE + _PER_WORD * shape.vocabulary,
        mapped=plan.mmap,
    )


def _padded(tokens: int) -> int:
    return -(-tokens // _CELLS) * _CELLS


def _work(shape: ModelShape, plan: RunPlan, cells: int) -> int:
    """The rows of one step through a layer; without flash attention a table of all heads, tokens and cells besides.

    The mask of the cells is in 32 bits, and for flash attention once more in 16.
    """
    table = cells * (2 if plan.flash_attention else 4 * shape.heads)
    row = 4 * (2 * shape.feed_forward + _ROWS * shape.embedding)
    return plan.step * (row + 4 * cells + table) + _SAMPLING * shape.vocabulary


def judge(found: MemoryEstimate, available: int | None) -> Fit:
    """available: bytes that are free now, None where it is not known."""
    if available is None:
        return Fit.UNKNOWN
    if found.needed > available:
        return Fit.TOO_BIG
    return Fit.TIGHT if found.needed > _TIGHT * available else Fit.FITS


def largest_window(needed: Callable[[RunPlan], int], plan: RunPlan, most: int, available: int) -> int:
    """The largest window of whole steps of 1 024 tokens, up to ``most``, whose model fits; 0 for none."""
    low, high = 0, max(1, most // _WINDOW_STEP)
    while low < high:
        middle = (low + high + 1) // 2
        if needed(replace(plan, window=middle * _WINDOW_STEP)) <= available:
            low = middle
        else:
            high = middle - 1
    return low * _WINDOW_STEP
