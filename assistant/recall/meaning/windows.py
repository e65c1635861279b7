"""Windows: a passage cut so that each piece fits the embedding model, as the model's own tokenizer counts.

A window is the prefix, the passage's head, and a stretch of its body, byte for byte as it stands there. Windows
overlap, so that what one cuts in two is whole in the next.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from assistant.core.values import Passage
from assistant.recall.meaning.graphemes import cluster_border
from assistant.recall.meaning.pieces import CONTEXT, MESSAGE, pieces_of

PASSAGE_RULES = 2
"""Raised when the same passage would be cut otherwise, since its vectors are others then."""
MOST_WINDOWS = 32
"""Of one text, some 50 000 characters one after another; a longer text has as many, spread evenly over it."""
PART = "\x1e"
"""Parts a body into what is said apart, as the items of an entry are."""
PART_SHOWN = "; "
_OVERLAP = 6
"""A window begins anew with the last sixth of the one before it."""
_HEAD_SHARE = 3
"""Prefix and head take a third of a window at most."""
_CHARACTERS_A_TOKEN = 8
"""More than prose has (4 to 5; Chinese 1.5). A word that the tokenizer gives up on is one token, however long it is."""
_SENTENCE_END = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s)|[。！？；]+[”’」』）]*|\n")
_BLANKS = re.compile(r"\s*")
_WORD_END = re.compile(r"\s|[，、：]")

TokenEnds = Callable[[str], list[int]]
"""Where each token of a text ends, in characters; special tokens are not among them."""


@dataclass(frozen=True, slots=True)
class Windows:
    """Cuts passages for one model. room: its limit in tokens less the special ones."""

    token_ends: TokenEnds
    prefix: str
    room: int

    def cut(self, passage: Passage) -> list[str]:
        """One text or more, none longer than the model's limit; for a passage without a body the head alone.

        Several parts of a body have windows of their own, after those of the whole; not if they are too many.
        """
        lead = self._lead(plain(passage.head[: self.room * _CHARACTERS_A_TOKEN]))
        body = plain(passage.body).replace(MESSAGE, "\n").replace(CONTEXT, "\n").strip()
        parts = [part.strip() for part in body.split(PART) if part.strip()]
        whole = PART_SHOWN.join(parts)
        windows = self._cut(lead, whole)
        if len(parts) > 1:
            apart = [window for part in parts for window in self._cut(lead, part)]
            windows += apart if len(windows) + len(apart) <= MOST_WINDOWS else []
        return windows or [lead]

    def pieces(self, passage: Passage) -> list[str]:
        """What the body says, sentence by sentence, without the head; see ``pieces``."""
        return [self.first(piece.replace(PART, PART_SHOWN)) for piece in pieces_of(plain(passage.body), PART)]

    def _cut(self, lead: str, text: str) -> list[str]:
        stretches = [text[start:end].strip() for start, end in self.spans(lead, text)]
        return [lead + stretch for stretch in stretches if stretch]

    def first(self, text: str) -> str:
        """The beginning of a text without a head, as much as fits."""
        body = plain(text).strip()
        return self.prefix + body[: self._fit(self.prefix, body, 0)]

    def _lead(self, head: str) -> str:
        most = max(self.room // _HEAD_SHARE, 1)
        ends = self.token_ends(self.prefix + head)
        if len(ends) <= most:
            return self.prefix + head
        at = max(ends[most - 1] - len(self.prefix), 0)
        return f"{self.prefix}{head[: cluster_border(head, at)]} "

    def spans(self, lead: str, body: str) -> list[tuple[int, int]]:
        """Where the windows begin and end in the body, in order."""
        spans: list[tuple[int, int]] = []
        start = 0
        while start < len(body):
            if len(spans) == MOST_WINDOWS:
                return self._spread(lead, body, spans[-1][1] // MOST_WINDOWS)
            end = self._fit(lead, body, start)
            spans.append((start, end))
            start = len(body) if end == len(body) else _after_blanks(body, self._again(body, start, end))
        return spans

    def _spread(self, lead: str, body: str, width: int) -> list[tuple[int, int]]:
        """As many windows as are allowed, at equal distances. width: about so many characters fit."""
        last = len(body) - width
        starts = [border(body, last * n // (MOST_WINDOWS - 1), width // _OVERLAP) for n in range(MOST_WINDOWS)]
        return [(start, self._fit(lead, body, start)) for start in (_after_blanks(body, start) for start in starts)]

    def _fit(self, lead: str, body: str, start: int) -> int:
        """The end of the longest stretch from ``start`` that fits, at a border where one is near."""
        most = self.room * _CHARACTERS_A_TOKEN
        end = len(body) if len(body) - start <= most else border(body, start + most, most // 4)
        while end - start > 1:
            ends = self.token_ends(lead + body[start:end].rstrip())
            if len(ends) <= self.room:
                break
            fits = min(ends[self.room - 1] - len(lead), end - start - 1)
            end = max(border(body, start + fits, fits // 4), start + 1)
        return end

    def _again(self, body: str, start: int, end: int) -> int:
        """Where the next window begins."""
        overlap = (end - start) // _OVERLAP
        return max(border(body, end - overlap, overlap), start + 1)


def _after_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return found.end() if found else at


def border(text: str, at: int, reach: int) -> int:
    """The last end of a sentence up to ``at``, at most ``reach`` before it; else of a word, else of a character."""
    for pattern in (_SENTENCE_END, _WORD_END):
        ends = [found.end() for found in pattern.finditer(text, max(at - reach, 0), min(at + 1, len(text)))]
        for end in reversed(ends):
            if end <= at and cluster_border(text, end) == end:
                return end
    return cluster_border(text, at)


def plain(text: str) -> str:
    """As long as the text, without what no tokenizer takes: NULs and lone surrogates."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def token_ends(tokenizer: Any) -> TokenEnds:
    """Of a ``tokenizers.Tokenizer`` that neither pads nor cuts."""

    def ends(text: str) -> list[int]:
        return [end for _, end in tokenizer.encode(text, add_special_tokens=False).offsets]

    return ends
