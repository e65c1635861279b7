"""Sampling that a grammar holds: once a model has begun to call a tool, it can only end the call rightly.

Asking the grammar about a whole vocabulary takes 100 ms and more a token, so the model is asked first: what it picks
is nearly always allowed. Only where it is not, the grammar is asked about the likeliest tokens, and about more of them
until one is allowed.
"""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Iterable, Sequence
from typing import Any

_log = logging.getLogger(__name__)
_LIKELIEST = (64, 1024, 16_384)


class HeldPicker:
    """Picks tokens as ``parts`` of a sampler say, among those that the grammar allows. Close it.

    parts: what stands in a chain of llama.cpp's, without penalties.
    """

    def __init__(self, library: Any, vocabulary: Any, context: Any, grammar: Any, parts: Iterable[Any]) -> None:
        self._library = library
        self._context = context
        self._grammar = grammar
        self._size = int(library.llama_vocab_n_tokens(vocabulary))
        self._chain = library.llama_sampler_chain_init(library.llama_sampler_chain_default_params())
        for part in parts:
            library.llama_sampler_chain_add(self._chain, part)

    def pick(self, at: int = -1) -> int:
        """The next token, by what was computed last, or at this place of it."""
        token = int(self._library.llama_sampler_sample(self._chain, self._context, at))
        if not _allows(self._library, self._grammar, token):
            token = self._allowed(at)
        self._library.llama_sampler_accept(self._grammar, token)
        return token

    def close(self) -> None:
        self._library.llama_sampler_free(self._chain)
        self._library.llama_sampler_free(self._grammar)

    def _allowed(self, at: int) -> int:
        """As ``pick``, after the grammar has struck out what it does not allow."""
        import numpy as np

        logits = np.ctypeslib.as_array(self._library.llama_get_logits_ith(self._context, at), (self._size,))
        for count in (*(count for count in _LIKELIEST if count < self._size), self._size):
            likeliest = np.argpartition(logits, self._size - count)[self._size - count :]
            table = np.zeros(count, [("id", np.int32), ("logit", np.float32), ("p", np.float32)])
            table["id"], table["logit"] = likeliest, logits[likeliest]
            self._library.llama_sampler_apply(self._grammar, ctypes.byref(self._candidates(table)))
            left = table[table["logit"] > -np.inf]
            if len(left):
                candidates = self._candidates(left)
                self._library.llama_sampler_apply(self._chain, ctypes.byref(candidates))
                return int(candidates.data[candidates.selected].id)
        raise ValueError("the grammar allows no token")

    def _candidates(self, table: Any) -> Any:
        data = table.ctypes.data_as(ctypes.POINTER(self._library.llama_token_data))
        return self._library.llama_token_data_array(data, len(table), -1, False)


def read_grammar(library: Any, vocabulary: Any, grammar: str, root: str, said: Sequence[int]) -> Any | None:
    """The grammar behind ``said``, the tokens that stand already from the root on.

    None where it cannot be read or what was said is not in it; the reply goes on as it would without.
    """
    held = library.llama_sampler_init_grammar(vocabulary, grammar.encode(), root.encode())
    if not held:
        _log.warning("the grammar of the tools cannot be used")
        return None
    for token in said:
        if not _allows(library, held, token):
            _log.info("a call began in a form that the grammar does not know")
            library.llama_sampler_free(held)
            return None
        library.llama_sampler_accept(held, token)
    return held


def _allows(library: Any, grammar: Any, token: int) -> bool:
    """Accepting a token that does not fit would end the process, so it is asked first."""
    one = (library.llama_token_data * 1)(library.llama_token_data(token, 1.0, 0.0))
    candidates = library.llama_token_data_array(one, 1, -1, False)
    library.llama_sampler_apply(grammar, ctypes.byref(candidates))
    return bool(one[0].logit != float("-inf"))
