"""Sign codes: a vector as one bit a dimension. The fewer bits differ, the nearer two vectors are, as a rule.

48 bytes for 384 dimensions, a thirtieth of float32, and a million are compared in some 20 ms; what they find near is
then measured by the vectors themselves.
"""

from __future__ import annotations

import numpy as np

_COLUMNS = 32_768
"""At once: 256 KB of codes and the counts fit the processor's cache."""


def words_of(dimensions: int) -> int:
    """64-bit words a code."""
    return -(-dimensions // 64)


def sign_codes(vectors: np.ndarray) -> np.ndarray:
    """uint64 of shape (words, vectors), from rows less their centre."""
    rows, dimensions = vectors.shape
    bits = np.zeros((rows, 8 * words_of(dimensions)), np.uint8)
    packed = np.packbits(vectors > 0, axis=1)
    bits[:, : packed.shape[1]] = packed
    return np.ascontiguousarray(bits.view(np.uint64).T)


def differing_bits(codes: np.ndarray, code: np.ndarray) -> np.ndarray:
    """uint16 for each column of ``codes``: how many bits differ from ``code`` (words, 1)."""
    count = codes.shape[1]
    result = np.zeros(count, np.uint16)
    for start in range(0, count, _COLUMNS):
        part = slice(start, start + _COLUMNS)
        for own, other in zip(codes, code[:, 0], strict=True):
            result[part] += np.bitwise_count(own[part] ^ other)
    return result


def smallest(values: np.ndarray, most: int) -> np.ndarray:
    """Where the ``most`` smallest of small integers are, in order of place; of equal ones at the edge all."""
    if len(values) <= most:
        return np.arange(len(values))
    return np.flatnonzero(values <= np.partition(values, most - 1)[most - 1])
