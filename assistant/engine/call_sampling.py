"""Sampling that a grammar holds: once a model has begun to call a tool, it can only end the call rightly."""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Iterable, Sequence
from typing import Any

_log = logging.getLogger(__name__)


def held_chain(
    library: Any, vocabulary: Any, grammar: str, root: str, said: Sequence[int], parts: Iterable[Any]
) -> Any | None:
    """A sampler chain: the grammar first, then ``parts``. said: tokens that stand already, from the root on.

    None where the grammar cannot be read or what was said is not in it; the reply goes on as it would without.
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
    chain = library.llama_sampler_chain_init(library.llama_sampler_chain_default_params())
    for part in (held, *parts):
        library.llama_sampler_chain_add(chain, part)
    return chain


def _allows(library: Any, held: Any, token: int) -> bool:
    """Accepting a token that does not fit would end the process, so it is asked first."""
    one = (library.llama_token_data * 1)(library.llama_token_data(token, 1.0, 0.0))
    candidates = library.llama_token_data_array(one, 1, -1, False)
    library.llama_sampler_apply(held, ctypes.byref(candidates))
    return bool(one[0].logit != float("-inf"))
