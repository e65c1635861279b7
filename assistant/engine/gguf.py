"""Reads the header of a GGUF file with the standard library only, so that a list of models needs no llama.cpp.

Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (little endian, versions 2 and 3). Every length is
checked against the file before it is believed: a cut or hostile file is an error in words, never a crash.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assistant.core.errors import AssistantError

_MAGIC = b"GGUF"
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_KEPT_ITEMS = 512
"""Longer arrays (the vocabulary) are counted, not kept."""
_TYPES = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 36),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292),
    16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82),
    23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2),
    34: (256, 54), 35: (256, 66), 39: (32, 17),
}  # fmt: skip
"""ggml type -> (weights a block, bytes a block), from ggml.h; a test compares them with the library's own."""
_QUANTISATIONS = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S",
    12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS",
    20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M",
    28: "IQ2_S", 29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4_MOE",
}  # fmt: skip
"""``general.file_type`` -> the name people know it by, from llama.h (enum llama_ftype)."""


@dataclass(frozen=True, slots=True)
class GgufInfo:
    """What the header says. window_trained: tokens; kv_bytes_per_token: of the cache at 16 bits; sizes in bytes."""

    architecture: str
    name: str
    quantisation: str
    licence: str
    window_trained: int
    vocabulary: int
    embedding: int
    template: str
    kv_bytes_per_token: int
    size_bytes: int
    parts: int = 1
    part: int = 0


def read_gguf_info(path: Path) -> GgufInfo:
    """The facts of a model file, after checking that all of it is there.

    Raises AssistantError: model.missing, model.unreadable, model.empty, model.not_gguf, model.cut, model.unsupported.
    """
    size = _size_of(path)
    if size == 0:
        raise AssistantError("model.empty", f"{path.name} is empty.", "Download or copy the file again.")
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _read(_Reader(data, path.name), path.name, size)
    except OSError as error:
        raise _unreadable(path, error) from error


def _size_of(path: Path) -> int:
    try:
        if path.is_dir():
            raise AssistantError("model.not_gguf", f"{path.name} is a folder.", "Choose a file that ends in .gguf.")
        return path.stat().st_size
    except FileNotFoundError as error:
        raise AssistantError(
            "model.missing", f"The model file {path} is not there.", "Choose another model, or put the file back."
        ) from error
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> AssistantError:
    return AssistantError(
        "model.unreadable", f"{path.name} cannot be read: {error}.", "Check its permissions and the disk."
    )


class _Reader:
    """A place in the file, and how to read on from it."""

    def __init__(self, data: mmap.mmap, name: str) -> None:
        self._data = data
        self._name = name
        self.at = 0

    def cut(self) -> AssistantError:
        return AssistantError(
            "model.cut", f"{self._name} is cut off or damaged.", "Download or copy it again, to the end."
        )

    def skip(self, count: int) -> int:
        start, self.at = self.at, self.at + count
        if self.at > len(self._data):
            raise self.cut()
        return start

    def scalar(self, code: str) -> Any:
        return struct.unpack_from("<" + code, self._data, self.skip(struct.calcsize("<" + code)))[0]

    def string(self) -> str:
        size = self.scalar("Q")
        start = self.skip(size)
        return self._data[start : start + size].decode("utf-8", "replace")

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.string()
        if kind == _ARRAY:
            return self.array()
        if kind not in _SCALARS:
            raise self.cut()
        return self.scalar(_SCALARS[kind])

    def array(self) -> Any:
        """The items of a short array, the number of items of a long one."""
        kind, count = self.scalar("I"), self.scalar("Q")
        if count <= _KEPT_ITEMS and kind != _ARRAY:
            return [self.value(kind) for _ in range(count)]
        if kind in _SCALARS:
            self.skip(count * struct.calcsize(_SCALARS[kind]))
        elif kind == _STRING:
            self._skip_strings(count)
        else:
            raise self.cut()
        return count

    def _skip_strings(self, count: int) -> None:
        """As ``string`` and nothing kept: a vocabulary has some 300 000 of them."""
        data, at, end, unpack = self._data, self.at, len(self._data) - 8, struct.Struct("<Q").unpack_from
        for _ in range(count):
            if at > end:
                raise self.cut()
            at += 8 + unpack(data, at)[0]
        self.at = at
        self.skip(0)


def _read(reader: _Reader, name: str, size: int) -> GgufInfo:
    if size < 4 or reader._data[:4] != _MAGIC:
        raise AssistantError(
            "model.not_gguf", f"{name} is no GGUF model file.", "Choose a model in the GGUF format (*.gguf)."
        )
    reader.skip(4)
    version = reader.scalar("I")
    if version not in (2, 3):
        raise AssistantError(
            "model.unsupported", f"{name} has a GGUF version that is not known ({version}).", "Look for a newer file."
        )
    tensors, pairs = reader.scalar("Q"), reader.scalar("Q")
    facts: dict[str, Any] = {}
    for _ in range(pairs):
        key = reader.string()
        facts[key] = reader.value(reader.scalar("I"))
    end = _tensors_end(reader, tensors)
    alignment = facts.get("general.alignment", 32)
    if not isinstance(alignment, int) or alignment <= 0:
        raise reader.cut()
    if tensors and -(-reader.at // alignment) * alignment + end > size:
        raise reader.cut()
    return _info(facts, size)


def _tensors_end(reader: _Reader, count: int) -> int:
    """The last byte that a tensor needs, counted from the start of the data."""
    end = 0
    for _ in range(count):
        reader.string()
        dimensions = reader.scalar("I")
        if dimensions > 4:
            raise reader.cut()
        weights = 1
        for _ in range(dimensions):
            weights *= reader.scalar("Q")
        kind, offset = reader.scalar("I"), reader.scalar("Q")
        per_block, block_bytes = _TYPES.get(kind, (1, 0))
        end = max(end, offset + weights // per_block * block_bytes)
    return end


def _info(facts: Mapping[str, Any], size: int) -> GgufInfo:
    architecture = _text(facts, "general.architecture")

    def number(key: str) -> int:
        return _number(facts.get(f"{architecture}.{key}"))

    return GgufInfo(
        architecture=architecture,
        name=_text(facts, "general.name"),
        quantisation=_QUANTISATIONS.get(_number(facts.get("general.file_type", -1)), ""),
        licence=_text(facts, "general.license"),
        window_trained=number("context_length"),
        vocabulary=_length(facts.get("tokenizer.ggml.tokens")),
        embedding=number("embedding_length"),
        template=_text(facts, "tokenizer.chat_template"),
        kv_bytes_per_token=_kv_bytes_per_token(number),
        size_bytes=size,
        parts=max(1, _number(facts.get("split.count"))),
        part=_number(facts.get("split.no")),
    )


def _kv_bytes_per_token(number: Any) -> int:
    """Keys and values of all layers at two bytes a number; an estimate from above where layers differ."""
    heads = number("attention.head_count")
    heads_kv = number("attention.head_count_kv") or heads
    head = number("embedding_length") // heads if heads else 0
    key, value = number("attention.key_length") or head, number("attention.value_length") or head
    return int(number("block_count") * heads_kv * (key + value) * 2)


def _text(facts: Mapping[str, Any], key: str) -> str:
    value = facts.get(key, "")
    return value if isinstance(value, str) else ""


def _number(value: Any) -> int:
    """A whole number; of a list (one number a layer) the largest; 0 for anything else."""
    if isinstance(value, list):
        return max((_number(item) for item in value), default=0)
    return int(value) if isinstance(value, (int, float)) else 0


def _length(value: Any) -> int:
    return len(value) if isinstance(value, list) else _number(value)
