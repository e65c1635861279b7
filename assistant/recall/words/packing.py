"""A text as the keyword index keeps it: its words as hashes, in order."""

from __future__ import annotations

from functools import lru_cache

from assistant.recall.words.postings import HASH, word_hash
from assistant.recall.words.text import fold_width
from assistant.recall.words.tokens import phone_numbers, pieces, words_of_piece

_SHORT = 24
"""Characters of a piece of text that is worth remembering, as a word that comes again."""


def packed(text: str) -> bytes:
    """The hashes of a text's words in order, then, after a gap, of what else it can be found by."""
    folded = fold_width(text)
    both = [_known_piece(piece) if len(piece) <= _SHORT else _packed_piece(piece) for piece in pieces(folded)]
    words = b"".join([own for own, _ in both])
    others = b"".join([beside for _, beside in both]) + b"".join(map(word_hash, phone_numbers(folded)))
    return words + b"\0" * HASH + others if others else words


def _packed_piece(piece: str) -> tuple[bytes, bytes]:
    words, others = words_of_piece(piece)
    return b"".join(map(word_hash, words)), b"".join(map(word_hash, others))


_known_piece = lru_cache(maxsize=1 << 14)(_packed_piece)
