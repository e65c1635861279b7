"""Writes small GGUF files for tests."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any


def gguf_bytes(facts: Mapping[str, Any], tensors: Mapping[str, tuple[int, ...]] | None = None) -> bytes:
    """A GGUF version 3 file with float32 tensors of the given shapes, all zero."""
    tensors = tensors or {}
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(facts))
    head += b"".join(_string(key) + _typed(value) for key, value in facts.items())
    data = b""
    for name, shape in tensors.items():
        head += _string(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", size) for size in shape)
        head += struct.pack("<IQ", 0, len(data))
        data += bytes(_padded(4 * _product(shape)))
    return head + bytes(_padded(len(head)) - len(head)) + data if tensors else head


def chat_facts(**more: Any) -> dict[str, Any]:
    """The header of something that looks like a chat model."""
    return {
        "general.architecture": "llama",
        "general.name": "Tiny",
        "general.license": "mit",
        "general.file_type": 15,
        "llama.context_length": 2048,
        "llama.embedding_length": 64,
        "llama.block_count": 2,
        "llama.attention.head_count": 4,
        "llama.attention.head_count_kv": 2,
        "tokenizer.ggml.tokens": [f"t{n}" for n in range(600)],
        "tokenizer.ggml.scores": [0.5] * 600,
        "tokenizer.chat_template": "{{ messages }}",
        **more,
    }


def _product(shape: tuple[int, ...]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total


def _padded(size: int) -> int:
    return -(-size // 32) * 32


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _typed(value: Any) -> bytes:
    if isinstance(value, list):
        kind = _typed(value[0])[:4]
        return struct.pack("<I", 9) + kind + struct.pack("<Q", len(value)) + b"".join(_typed(one)[4:] for one in value)
    match value:
        case bool():
            return struct.pack("<I?", 7, value)
        case int():
            return struct.pack("<II", 4, value)
        case float():
            return struct.pack("<If", 6, value)
        case str():
            return struct.pack("<I", 8) + _string(value)
    raise TypeError(value)
