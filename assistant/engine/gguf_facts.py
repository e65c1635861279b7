"""What the header of a model file says about the model: names, sizes, and the numbers its memory follows from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

_QUANTISATIONS = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S",
    12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS",
    20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M",
    28: "IQ2_S", 29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4_MOE",
}  # fmt: skip
"""``general.file_type`` -> the name people know it by, from llama.h (enum llama_ftype)."""
_MOST = 1 << 40
"""No number of a sound header is above it; a hostile one must not make sums of a thousand digits."""


@dataclass(frozen=True, slots=True)
class Tensors:
    """The list of tensors, summed up. end: the last byte of their data; parameters: weights in all;
    repacked_bytes: of those that llama.cpp copies into another order when it loads them.
    """

    end: int = 0
    parameters: int = 0
    repacked_bytes: int = 0


@dataclass(frozen=True, slots=True)
class GgufInfo:
    """What the header says; 0, "" or () where it says nothing.

    window_trained: tokens. parameters: weights of this file. languages: codes as the header has them. cache_keys,
    cache_values: numbers that the cache holds for each token, over all layers. heads, feed_forward: the largest of a
    layer. encoder: it turns text into vectors and cannot chat. Sizes in bytes.
    """

    architecture: str
    name: str
    quantisation: str
    licence: str
    window_trained: int
    vocabulary: int
    embedding: int
    template: str
    size_bytes: int
    parts: int = 1
    part: int = 0
    parameters: int = 0
    languages: tuple[str, ...] = ()
    heads: int = 0
    feed_forward: int = 0
    cache_keys: int = 0
    cache_values: int = 0
    repacked_bytes: int = 0
    encoder: bool = False


def describe(facts: Mapping[str, Any], tensors: Tensors, size: int) -> GgufInfo:
    """The facts of a header. What is missing or of a wrong type counts as not said."""
    architecture = _text(facts, "general.architecture")

    def fact(key: str) -> Any:
        return facts.get(f"{architecture}.{key}")

    keys, values = _cache_numbers(fact)
    return GgufInfo(
        architecture=architecture,
        name=_text(facts, "general.name"),
        quantisation=_QUANTISATIONS.get(_number(facts.get("general.file_type", -1)), ""),
        licence=_text(facts, "general.license"),
        window_trained=_number(fact("context_length")),
        vocabulary=_length(facts.get("tokenizer.ggml.tokens")),
        embedding=_number(fact("embedding_length")),
        template=_text(facts, "tokenizer.chat_template"),
        size_bytes=size,
        parts=max(1, _number(facts.get("split.count"))),
        part=_number(facts.get("split.no")),
        parameters=tensors.parameters,
        languages=_texts(facts.get("general.languages")),
        heads=_number(fact("attention.head_count")),
        feed_forward=_number(fact("feed_forward_length")),
        cache_keys=keys,
        cache_values=values,
        repacked_bytes=tensors.repacked_bytes,
        encoder=fact("pooling_type") is not None or fact("attention.causal") is False,
    )


def _cache_numbers(fact: Callable[[str], Any]) -> tuple[int, int]:
    """Numbers of keys and of values a token, over all layers: key and value heads times their length.

    A list says it layer by layer; layers without such heads (recurrent ones) keep nothing a token.
    """
    layers, heads = _number(fact("block_count")), _number(fact("attention.head_count"))
    said = fact("attention.head_count_kv")
    if isinstance(said, list):
        heads_kv = sum(_number(one) for one in said[:layers])
    else:
        heads_kv = layers * (_number(said) or heads)
    length = _number(fact("embedding_length")) // heads if heads else 0
    key, value = (_number(fact(f"attention.{kind}_length")) or length for kind in ("key", "value"))
    return heads_kv * key, heads_kv * value


def _text(facts: Mapping[str, Any], key: str) -> str:
    value = facts.get(key, "")
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _number(value: Any) -> int:
    """A whole number from 0; of a list (one number a layer) the largest; 0 for anything else."""
    if isinstance(value, list):
        return max((_number(item) for item in value), default=0)
    return int(value) if isinstance(value, int | float) and 0 <= value <= _MOST else 0


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list) else _number(value)
