"""Reads the header of a GGUF file with the standard library only, so that a list of models needs no llama.cpp.

Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (little endian, versions 2 and 3). Every length and
count is checked before it is believed: a cut or hostile file is an error in words, soon and in little memory. The file
is read, not mapped: a mapping kills the process when another program cuts the file meanwhile.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, BinaryIO

from assistant.core.errors import AssistantError
from assistant.engine.gguf_facts import GgufInfo, Tensors, describe

__all__ = ["GgufInfo", "is_gguf", "read_gguf_info", "unreadable"]

_MAGIC = b"GGUF"
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_KEPT_ITEMS = 512
"""Longer arrays (the vocabulary) are counted, not kept."""
_READ_AHEAD = 1 << 20
_MOST_HEADER = 256 << 20
"""Headers have 1 to 20 MB: the vocabulary and its merges."""
_MOST_PAIRS, _MOST_TENSORS, _MOST_ITEMS = 1 << 16, 1 << 16, 1 << 22
"""Known files have some 50 pairs, up to 2 000 tensors and vocabularies of 300 000."""
_TYPES = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 36),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292),
    16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82),
    23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2),
    34: (256, 54), 35: (256, 66), 39: (32, 17),
}  # fmt: skip
"""ggml type -> (weights a block, bytes a block), from ggml.h; a test compares them with the library's own."""
_REPACKED = frozenset({2, 12, 20, 39})
"""Q4_0, Q4_K, IQ4_NL, MXFP4: what ggml's CPU_REPACK buffer takes on x86-64, where the rows come in eights; measured,
see docs/decisions/0038."""
_POINTER = "a pointer to one that Git has not fetched"
_FOREIGN = {
    b"<!": "a web page", b"<html": "a web page", b"<HTML": "a web page",
    b"version https://git-lfs": _POINTER,
    b"tjgg": "one of the old GGML format", b"lmgg": "one of the old GGML format", b"fmgg": "one of the old GGML format",
    b"PK\x03\x04": "a zip or PyTorch file", b"\x80\x02": "a PyTorch file", b"\x1f\x8b": "a compressed file",
    b"7z\xbc\xaf": "a compressed file", b"Rar!": "a compressed file", b"FUGG": "one for big-endian machines",
}  # fmt: skip
"""How files begin that people take for models. The old formats have their magic as a little-endian number."""
_LOOKED_UP = "token_embd.weight"
"""The one table that is not multiplied with, and stays as it is."""


def read_gguf_info(path: Path) -> GgufInfo:
    """The facts of a model file, after checking that all of it is there.

    Raises AssistantError: model.missing, model.unreadable, model.empty, model.not_gguf, model.cut, model.unsupported.
    """
    size = _size_of(path)
    if size == 0:
        raise AssistantError("model.empty", f"{path.name} is empty.", "Download or copy the file again.")
    try:
        with path.open("rb") as file:
            return _read(_Reader(file, path.name, size), path.name)
    except OSError as error:
        raise unreadable(path, error) from error


def is_gguf(path: Path) -> bool:
    """Whether the file begins as a GGUF file does, whatever its name is; a pipe is none, and would be waited for."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(4) == _MAGIC
    except (OSError, ValueError):
        return False


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
        raise unreadable(path, error) from error


def unreadable(path: Path, error: Exception) -> AssistantError:
    """What to tell of a model file that the system does not let be read."""
    return AssistantError(
        "model.unreadable", f"{path.name} cannot be read: {error}.", "Check its permissions and the disk."
    )


class _Reader:
    """A place in the header, and how to read on from it. ``data``: what of the file was read so far."""

    def __init__(self, file: BinaryIO, name: str, size: int) -> None:
        self._file = file
        self._name = name
        self.size = size
        self.data = bytearray()
        self.at = 0

    def cut(self) -> AssistantError:
        return AssistantError(
            "model.cut", f"{self._name} is cut off or damaged.", "Download or copy it again, to the end."
        )

    def need(self, end: int) -> None:
        """Have the file read up to ``end`` at least. Raises AssistantError where it cannot have a header so long."""
        if end <= len(self.data):
            return
        if end > min(self.size, _MOST_HEADER):
            raise self.cut()
        self.data += self._file.read(max(_READ_AHEAD, end - len(self.data)))
        if end > len(self.data):
            raise self.cut()

    def skip(self, count: int) -> int:
        start, end = self.at, self.at + count
        self.need(end)
        self.at = end
        return start

    def scalar(self, code: str) -> Any:
        return struct.unpack_from("<" + code, self.data, self.skip(struct.calcsize("<" + code)))[0]

    def count(self, most: int) -> int:
        """A number of things that follow. Raises AssistantError where it is beyond all reason."""
        count = int(self.scalar("Q"))
        if count > most:
            raise self.cut()
        return count

    def string(self) -> str:
        size = self.scalar("Q")
        start = self.skip(size)
        return self.data[start : start + size].decode("utf-8", "replace")

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
        kind, count = self.scalar("I"), self.count(_MOST_ITEMS)
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
        at, end, unpack = self.at, len(self.data) - 8, struct.Struct("<Q").unpack_from
        for _ in range(count):
            if at > end:
                self.need(at + 8)
                end = len(self.data) - 8
            at += 8 + unpack(self.data, at)[0]
        self.need(at)
        self.at = at


def _read(reader: _Reader, name: str) -> GgufInfo:
    magic = reader.data[: reader.skip(4) + 4] if reader.size >= 4 else b""
    if magic != _MAGIC:
        raise _foreign(bytes(reader.data[:64]), name)
    version = reader.scalar("I")
    if version not in (2, 3):
        raise AssistantError(
            "model.unsupported", f"{name} has a GGUF version that is not known ({version}).", "Look for a newer file."
        )
    count, pairs = reader.count(_MOST_TENSORS), reader.count(_MOST_PAIRS)
    facts: dict[str, Any] = {}
    for _ in range(pairs):
        key = reader.string()
        facts[key] = reader.value(reader.scalar("I"))
    tensors = _tensors(reader, count)
    alignment = facts.get("general.alignment", 32)
    if not isinstance(alignment, int) or alignment <= 0:
        raise reader.cut()
    if count and -(-reader.at // alignment) * alignment + tensors.end > reader.size:
        raise reader.cut()
    return describe(facts, tensors, reader.size)


def _foreign(head: bytes, name: str) -> AssistantError:
    """What a file that is none begins with, where that is known."""
    kind = next((kind for mark, kind in _FOREIGN.items() if head.lstrip().startswith(mark)), "")
    if not kind and head[8:9] == b"{":  # the length of a header in JSON stands before it
        kind = "a safetensors file"
    if kind == _POINTER:
        return AssistantError(
            "model.not_gguf",
            f"{name} is no GGUF model file but {kind}.",
            "Fetch the file itself: `git lfs pull`, or download it from the web page.",
        )
    if kind:
        return AssistantError(
            "model.not_gguf", f"{name} is no GGUF model file but {kind}.", "Look for the same model as GGUF (*.gguf)."
        )
    return AssistantError(
        "model.not_gguf", f"{name} is no GGUF model file.", "Choose a model in the GGUF format (*.gguf)."
    )


def _tensors(reader: _Reader, count: int) -> Tensors:
    """The tensors summed up; the end of their data is counted from its start."""
    end = parameters = repacked = 0
    for _ in range(count):
        name, dimensions = reader.string(), reader.scalar("I")
        if dimensions > 4:
            raise reader.cut()
        shape = [int(reader.scalar("Q")) for _ in range(dimensions)]
        weights = 1
        for size in shape:
            weights *= size
        kind, offset = reader.scalar("I"), reader.scalar("Q")
        per_block, block_bytes = _TYPES.get(kind, (1, 0))
        size = weights // per_block * block_bytes
        end = max(end, offset + size)
        parameters += weights
        if kind in _REPACKED and dimensions > 1 and shape[1] % 8 == 0 and name != _LOOKED_UP:
            repacked += size
    return Tensors(end, parameters, repacked)
