"""The one adapter of llama-cpp-python (0.3.36): a model, its tokens, its cache, and how they are stopped.

It uses the low-level bindings. The high-level class tells no progress, cannot be stopped while it reads a prompt, and
refuses a model whose chat template does not parse.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from assistant.core.errors import AssistantError, Cancelled
from assistant.core.values import GenerateOptions
from assistant.engine.call_sampling import HeldPicker, read_grammar
from assistant.engine.library import Library, LoadPlan, load_error, path_bytes
from assistant.engine.lookup import Costs
from assistant.engine.other_work import OtherWork
from assistant.engine.threads import ThreadPlan, ThreadWatch, step_end
from assistant.engine.vocabulary import Vocabulary

_PENALTY_LAST = 64
"""Tokens that the repeat penalty looks back on: llama.cpp's own default."""
_ABORTED = 2
_NO_ROOM = 1
_RANDOM_SEED = 0xFFFFFFFF
"""LLAMA_DEFAULT_SEED: the sampler takes a new seed by itself."""
_FLASH_ATTENTION = {"auto": -1, "off": 0, "on": 1}
"""llama_flash_attn_type of llama.h."""
_KV_TYPES = {"f16": 1, "q4_0": 2, "q8_0": 8}
"""ggml_type of ggml.h."""


class Sampler:
    """Picks tokens by what the model last computed, and remembers them for the repeat penalty."""

    def __init__(
        self, library: Any, chain: Any, context: Any, hold: Callable[[str, str, str], HeldPicker | None]
    ) -> None:
        self._library = library
        self._sample = library.llama_sampler_sample
        self._chain = chain
        self._context = context
        self._hold = hold
        self._held: HeldPicker | None = None

    def pick(self, at: int = -1) -> int:
        """The next token by what was computed last. at: for that token of an ``append`` with ``every``."""
        if self._held:
            return self._held.pick(at)
        return int(self._sample(self._chain, self._context, at))

    def hold_to(self, grammar: str, root: str, said: str) -> None:
        """From here on only what the grammar allows is picked, where ``said`` began it rightly."""
        self._held = self._hold(grammar, root, said)

    def close(self) -> None:
        self._library.llama_sampler_free(self._chain)
        if self._held:
            self._held.close()


class LlamaModel(Vocabulary):
    """A loaded model with one sequence in its cache. For one thread, but for ``stop`` and ``tokenise``.

    Raises AssistantError model.unsupported, model.failed, model.too_big; Cancelled when ``on_progress`` returned False.
    """

    def __init__(self, library: Library, plan: LoadPlan, on_progress: Callable[[float], bool]) -> None:
        self._library: Any = library.api
        self._messenger = library
        library.messages.clear()
        library.stopping = False
        self._model = self._load(plan, on_progress, library.messages)
        super().__init__(library.api, self._model)
        self._stop_flag = ctypes.create_string_buffer(2)
        self._context = self._open(plan)
        self._memory = self._library.llama_get_memory(self._context)
        self._watch_stop_flag()
        self.step = plan.step
        self._threads = (0, 0)
        self.use_threads(plan.threads, plan.threads_read, plan.give_way)
        self.window = min(plan.window, int(self._library.llama_n_ctx(self._context)))  # the library rounds up
        self.cached: list[int] = []
        self.keeps_part = not (
            self._library.llama_model_is_recurrent(self._model) or self._library.llama_model_is_hybrid(self._model)
        )
        self.costs = Costs()
        self.draft = plan.draft if self.keeps_part else 0  # wrong guesses have to leave the cache again

    # --- computing ------------------------------------------------------------------------------------------------

    def read(self, tokens: Sequence[int], on_progress: Callable[[int, int], None]) -> int:
        """Bring the cache to exactly ``tokens``; how many of them were in it already and were not read again.

        The last token is always read, for what follows it is computed from it. on_progress: (in the cache, reused).
        Raises Cancelled after ``stop``; what was read up to then stays valid.
        """
        reused = self.keep_first(min(common_length(self.cached, tokens), len(tokens) - 1))
        on_progress(reused, reused)
        while (start := len(self.cached)) < len(tokens):
            # Steps end at the same places however much was reused: results differ in the last bits with a step's size.
            self.append(tokens[start : step_end(start, self.step)])
            on_progress(len(self.cached), reused)
        return reused

    def append(self, tokens: Sequence[int], *, every: bool = False) -> None:
        """Compute further tokens, one step at most. Raises Cancelled after ``stop``; the cache is then as it was.

        every: what follows is computed after each of the tokens and not only after the last.
        """
        if self._stop_flag.raw[0]:
            raise Cancelled
        code = self._decode(tokens, every)
        if code == 0:
            self.cached += tokens
            return
        self.keep_first(len(self.cached))
        if code == _ABORTED:
            raise Cancelled
        if code == _NO_ROOM:
            raise AssistantError("engine.window", "The context window is full.", "Start a new chat.")
        raise AssistantError("engine.failed", f"The model could not compute (code {code}).", "Load the model again.")

    def logits(self, at: int = -1) -> bytes:
        """What was computed last, bit by bit. at: as for Sampler.pick."""
        size = 4 * self._library.llama_vocab_n_tokens(self._vocabulary)
        return ctypes.string_at(self._library.llama_get_logits_ith(self._context, at), size)

    def use_threads(self, decode: int, read: int, give_way: bool) -> None:
        """Compute with so many from now on; give_way: as core.values.EngineSettings."""
        plan = ThreadPlan(decode, read, self.step)
        self._watch = ThreadWatch(plan, os.cpu_count() or 1, OtherWork()) if give_way else None
        self._set_threads(decode, read)

    # --- what was read --------------------------------------------------------------------------------------------

    def keep_first(self, count: int) -> int:
        """Keep only the first ``count`` tokens of the cache; how many are kept (recurrent models keep no part)."""
        kept = count if self._library.llama_memory_seq_rm(self._memory, 0, count, -1) else 0
        if not kept:
            self._library.llama_memory_clear(self._memory, True)
        del self.cached[kept:]
        return kept

    def take_state(self) -> memoryview:
        """A copy of what the model has computed of ``cached``, in the library's own bytes. Raises MemoryError."""
        size = int(self._library.llama_state_seq_get_size(self._context, 0))
        state = (ctypes.c_uint8 * size)()
        taken = int(self._library.llama_state_seq_get_data(self._context, state, size, 0))
        return memoryview(state).cast("B")[:taken]

    def put_state(self, state: bytearray | memoryview, tokens: Sequence[int]) -> bool:
        """Go on from a state of these tokens. False where the library refuses it; the cache is empty then."""
        self.keep_first(0)
        array = (ctypes.c_uint8 * len(state)).from_buffer(state)
        if int(self._library.llama_state_seq_set_data(self._context, array, len(state), 0)) != len(state):
            self.keep_first(0)
            return False
        self.cached = list(tokens)
        return True

    # --- replies --------------------------------------------------------------------------------------------------

    @contextmanager
    def sampler(self, options: GenerateOptions) -> Iterator[Sampler]:
        """A sampler for one reply; the chain is llama-cpp-python's, so that equal settings give equal text."""
        library = self._library
        chain = library.llama_sampler_chain_init(library.llama_sampler_chain_default_params())
        for part in self._sampler_parts(options):
            library.llama_sampler_chain_add(chain, part)
        sampler = Sampler(library, chain, self._context, partial(self._hold, options))
        try:
            yield sampler
        finally:
            sampler.close()

    def stop(self) -> None:
        """End what is computed now, from any thread; ``resume`` allows computing again."""
        self._messenger.stopping = True
        self._stop_flag[0] = b"\x01"

    def resume(self) -> None:
        self._stop_flag[0] = b"\x00"
        self._messenger.stopping = False

    def close(self) -> None:
        """Give the memory back; the model must not be used any more."""
        self._library.llama_free(self._context)
        self._library.llama_model_free(self._model)

    # --- inside ---------------------------------------------------------------------------------------------------

    def _load(self, plan: LoadPlan, on_progress: Callable[[float], bool], messages: Sequence[str]) -> Any:
        library = self._library
        cancelled: list[bool] = []

        def progress(fraction: float, _user: Any) -> bool:
            if not on_progress(fraction):
                cancelled.append(True)
            return not cancelled

        callback = library.llama_progress_callback(progress)
        parameters = library.llama_model_default_params()
        parameters.n_gpu_layers = plan.gpu_layers
        parameters.use_mmap, parameters.use_mlock = plan.mmap, plan.mlock
        parameters.progress_callback = callback
        model = library.llama_model_load_from_file(path_bytes(plan.path), parameters)
        if model:
            return model
        if cancelled:
            raise Cancelled
        raise load_error(plan.path, messages)

    def _open(self, plan: LoadPlan) -> Any:
        library = self._library
        parameters = library.llama_context_default_params()
        parameters.n_ctx = plan.window
        parameters.n_batch = parameters.n_ubatch = plan.step
        parameters.n_threads = plan.threads
        parameters.n_threads_batch = plan.threads_read
        parameters.flash_attn_type = _FLASH_ATTENTION[plan.flash_attention]
        parameters.type_k = parameters.type_v = _KV_TYPES[plan.kv_type]
        context = library.llama_init_from_model(self._model, parameters)
        if context:
            return context
        library.llama_model_free(self._model)
        raise AssistantError(
            "model.too_big",
            f"There is not enough memory for a context window of {plan.window} tokens.",
            "Choose a smaller context window or a smaller model.",
        )

    def _set_threads(self, decode: int, read: int) -> None:
        if self._threads != (decode, read):
            self._threads = (decode, read)
            self._library.llama_set_n_threads(self._context, decode, read)

    def _decode(self, tokens: Sequence[int], every: bool) -> int:
        """llama.cpp's answer to a batch; the watch is asked before and told after."""
        if self._watch:
            self._set_threads(*self._watch.threads())
        library = self._library
        array = (library.llama_token * len(tokens))(*tokens)
        batch = library.llama_batch_get_one(array, len(tokens))
        marks = (ctypes.c_int8 * len(tokens))(*(1 for _ in tokens)) if every else None
        if marks:
            batch.logits = marks
        began = time.perf_counter()
        code = int(library.llama_decode(self._context, batch))
        if self._watch:
            self._watch.took(len(tokens), time.perf_counter() - began)
        return code

    def _watch_stop_flag(self) -> None:
        """Let llama.cpp look at the flag before each operation.

        It asks some thousand times a token, which a Python callback would make dear. C's ``strlen`` of two bytes, the
        flag and a NUL, is just the function it wants: 0 while the flag is unset, 1 (true) once it is set.
        """
        library = self._library
        runtime = ctypes.CDLL("msvcrt") if sys.platform == "win32" else ctypes.CDLL(None)
        strlen = ctypes.cast(runtime.strlen, library.ggml_abort_callback)
        library.llama_set_abort_callback(self._context, strlen, ctypes.cast(self._stop_flag, ctypes.c_void_p))

    def _hold(self, options: GenerateOptions, grammar: str, root: str, said: str) -> HeldPicker | None:
        """Without the repeat penalty: JSON repeats itself."""
        held = read_grammar(self._library, self._vocabulary, grammar, root, self.tokenise(said, False))
        if held is None:
            return None
        parts = self._sampler_parts(replace(options, repeat_penalty=1.0))
        return HeldPicker(self._library, self._vocabulary, self._context, held, parts)

    def _sampler_parts(self, options: GenerateOptions) -> Iterator[Any]:
        library = self._library
        yield library.llama_sampler_init_penalties(
            library.llama_vocab_n_tokens(self._vocabulary), _PENALTY_LAST, options.repeat_penalty, 0.0, 0.0
        )
        if options.temperature <= 0:
            yield library.llama_sampler_init_greedy()
            return
        yield library.llama_sampler_init_top_k(options.top_k)
        yield library.llama_sampler_init_top_p(options.top_p, 1)
        yield library.llama_sampler_init_min_p(options.min_p, 1)
        yield library.llama_sampler_init_temp(options.temperature)
        yield library.llama_sampler_init_dist(_RANDOM_SEED if options.seed is None else options.seed & 0xFFFFFFFF)


def common_length(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens both begin with."""
    at = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        at += 1
    return at
