"""Pieces: what a text says, sentence by sentence.

The vector of a whole text is a mean of all that it says, and a question mostly asks for one thing in it. So each
message of a turn, each sentence, and of a text of one sentence each clause has a vector of its own, which counts for a
little less than the whole's (ranking.fusion.Weights.piece). Measured on three labelled sets, recall@5 and MRR@10 are
0.898 / 0.784, 0.918 / 0.805 and 0.771 / 0.625 without them, 0.907 / 0.787, 0.924 / 0.798 and 0.790 / 0.687 with them
(docs/decisions/0034-pieces.md).
"""

from __future__ import annotations

import re

MESSAGE = "\x1f"
"""Parts a body into the messages of a turn."""
CONTEXT = "\x1d"
"""What follows it in a body only led to what is said there: it is no piece."""
MOST = 32
"""Of one text; in a longer one neighbours stand together."""
_LEAST_BYTES = 18
"""Of UTF-8: six Chinese characters, or three English words. Less says nothing by itself."""
_SENTENCES = re.compile(r"(?<=[。！？；!?;])\s*|(?<=\.)\s+|\n")
_CLAUSES = re.compile(r"[。！？；，、：,;!?]\s*|\.\s+|\n")


def pieces_of(body: str, part: str) -> list[str]:
    """The pieces of a passage's body. part: what parts it into items, which have windows of their own."""
    said = body.partition(CONTEXT)[0]
    messages = [message.strip() for message in said.split(MESSAGE) if message.strip()]
    pieces = messages if len(messages) > 1 else []
    for message in messages:
        for item in message.split(part):
            pieces = [*pieces, *_apart(item)]
    fit = [piece for piece in dict.fromkeys(pieces) if len(piece.encode("utf-8", "replace")) >= _LEAST_BYTES]
    return [piece for piece in fit if piece != said.strip()]


def _apart(text: str) -> list[str]:
    """Its sentences; of one sentence its clauses; nothing where there is one of these, too."""
    for border in (_SENTENCES, _CLAUSES):
        found = [piece.strip() for piece in border.split(text) if piece.strip()]
        if len(found) > 1:
            return _together(found)
    return []


def _together(pieces: list[str]) -> list[str]:
    size = -(-len(pieces) // MOST)
    return [" ".join(pieces[start : start + size]) for start in range(0, len(pieces), size)]
