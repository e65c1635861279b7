"""Small codes of vectors, kept in memory: one bit a dimension to sift all of them, four bits to weigh what is left.

With 384 dimensions 48 and 192 bytes a vector, against 1 536 of float32. How many to let through each sieve is measured
in docs/decisions/0025-search-at-scale.md; what comes out of both is then compared by the vectors themselves.
"""

from __future__ import annotations

import numpy as np

_BLOCK = 65_536
_COLUMNS = 32_768
"""At once: 256 KB of bits and the counts fit the processor's cache."""
_ROWS = 1_024
"""At once, for the same reason. Not by BLAS: its threads spin, and wait for each other on a busy machine."""
_STEP = 0.4
_LEVELS = 16
"""Steps of 0.4 times the root mean square of a dimension, so from -3 to 3 of it."""


class Codes:
    """Codes of vectors by their number, from 0. Only ever added to; whoever took a count may go on reading so many."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._blocks: list[_Block] = []
        self._last: tuple[bytes, np.ndarray] = (b"", np.zeros(0, np.uint16))
        self.count = 0

    def add(self, vectors: np.ndarray) -> None:
        """vectors: (rows, dimensions), less their centre."""
        start = 0
        while start < len(vectors):
            if self.count == _BLOCK * len(self._blocks):
                self._blocks.append(_Block(self._dimensions))
            at = self.count % _BLOCK
            some = vectors[start : start + _BLOCK - at]
            self._blocks[-1].put(at, some)
            start += len(some)
            self.count += len(some)

    def cut(self, count: int) -> None:
        """Keep so many, where adding more came to nothing."""
        self.count = count
        self._last = (b"", np.zeros(0, np.uint16))
        del self._blocks[-(-count // _BLOCK) :]

    def apart(self, query: np.ndarray, count: int) -> np.ndarray:
        """uint16 for each of the first ``count``: in how many dimensions it has another sign than the query.

        Not to be written into: a search asks for it several times.
        """
        key, result = self._last
        if key == query.tobytes() and len(result) == count:
            return result
        result = np.zeros(count, np.uint16)
        bits = _bits(query[None, :])[:, 0]
        for number, start in enumerate(range(0, count, _BLOCK)):
            self._blocks[number].differ(bits, result[start : start + _BLOCK])
        self._last = (query.tobytes(), result)
        return result

    def likeness(self, query: np.ndarray, at: np.ndarray) -> np.ndarray:
        """float32 for each of ``at`` (ascending): grows with its cosine with the query, as far as four bits can say."""
        edges = np.searchsorted(at, np.arange(len(self._blocks) + 1) * _BLOCK)
        parts = [
            block.weigh(query, at[first:last] - number * _BLOCK)
            for number, (block, first, last) in enumerate(zip(self._blocks, edges[:-1], edges[1:], strict=True))
            if last > first
        ]
        return np.concatenate(parts) if parts else np.zeros(0, np.float32)


class _Block:
    """bits: (words, room), so that a word of all stands together; levels: (room, dimensions / 2), two a byte."""

    def __init__(self, dimensions: int) -> None:
        self._bits = np.zeros((-(-dimensions // 64), _BLOCK), np.uint64)
        self._levels = np.zeros((_BLOCK, -(-dimensions // 2)), np.uint8)

    def put(self, at: int, vectors: np.ndarray) -> None:
        self._bits[:, at : at + len(vectors)] = _bits(vectors)
        scale = np.sqrt(vectors.shape[1]) / _STEP / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        levels = np.clip(vectors * scale.astype(np.float32) + _LEVELS / 2, 0, _LEVELS - 1).astype(np.uint8)
        if vectors.shape[1] % 2:
            levels = np.pad(levels, ((0, 0), (0, 1)))
        self._levels[at : at + len(vectors)] = levels[:, ::2] << 4 | levels[:, 1::2]

    def differ(self, bits: np.ndarray, result: np.ndarray) -> None:
        """Add to ``result`` how many bits of each of the first columns differ."""
        for start in range(0, len(result), _COLUMNS):
            part = result[start : start + _COLUMNS]
            for own, other in zip(self._bits, bits, strict=True):
                part += np.bitwise_count(own[start : start + len(part)] ^ other)

    def weigh(self, query: np.ndarray, at: np.ndarray) -> np.ndarray:
        """The constant part of every product is left out: it is the same for all."""
        result = np.empty(len(at), np.float32)
        odd = np.pad(query, (0, len(query) % 2))[1::2]
        for start in range(0, len(at), _ROWS):
            levels = self._levels[at[start : start + _ROWS]]
            high = np.einsum("ij,j->i", (levels >> 4).astype(np.float32), query[::2])
            result[start : start + _ROWS] = high + np.einsum("ij,j->i", (levels & 15).astype(np.float32), odd)
        return result


def _bits(vectors: np.ndarray) -> np.ndarray:
    """uint64 of shape (words, vectors)."""
    packed = np.packbits(vectors > 0, axis=1)
    padded = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
    return np.ascontiguousarray(padded.view(np.uint64).T)


def edge(values: np.ndarray, most: int) -> int:
    """The small integer up to which there are at least ``most`` of the values; of equal ones all."""
    return int(np.searchsorted(np.cumsum(np.bincount(values)), most))
