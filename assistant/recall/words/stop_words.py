"""Words that carry no content, read from ``stop_words.txt``: a query does without them, the index keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True, slots=True)
class StopWords:
    """All in folded form."""

    english: frozenset[str]
    chinese_phrases: tuple[str, ...]
    chinese_characters: frozenset[str]


@cache
def stop_words() -> StopWords:
    """The lists that come with the program."""
    sections: dict[str, list[str]] = {}
    words: list[str] = []
    for line in resources.files(__package__).joinpath("stop_words.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            words = sections.setdefault(line.strip("[]"), [])
        elif not line.startswith("#"):
            words += line.split()
    english, phrases, characters = (sections[n] for n in ("english", "chinese phrases", "chinese characters"))
    return StopWords(frozenset(english), tuple(phrases), frozenset(characters))
