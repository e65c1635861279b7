"""A unit: one piece of the workspace that can be found."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from assistant.core.values import Passage

UNIT_RULES = 3
"""Raised when the same file would make other units, or their words be indexed otherwise: all files are read again then.

Vectors of texts that stay the same are kept."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One piece that can be found.

    text: what a hit shows; words: what its keywords come from; context: its surroundings, for keywords of less weight;
    passage: what is embedded; until: last day it holds (None: for good); struck: taken back or replaced;
    chat, number: where a turn stands; follows: the number of the turn before it on its branch (0: none).
    """

    uid: str
    file: str
    line: int
    kind: str  # "fact", "entry", "note", "archive", "turn"
    day: date | None
    title: str
    text: str
    words: str
    context: str
    passage: Passage
    until: date | None = None
    struck: bool = False
    chat: str = ""
    number: int = 0
    follows: int = 0
