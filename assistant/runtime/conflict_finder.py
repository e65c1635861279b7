"""Conflicts by rule and by meaning, together."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence

from assistant.core.errors import AssistantError
from assistant.recall.search import Recall
from assistant.workspace.claims import Claim
from assistant.workspace.conflict_book import ConflictBook
from assistant.workspace.conflicts import MemoryConflict, conflict_of, find_by_rule, newest_first
from assistant.workspace.disagreement import NEAREST_OF_ALL, disagree, say_the_same, shared_words

_MOST_PAIRS = 5_000  # near pairs that are looked at, the nearest ones
_log = logging.getLogger(__name__)


class ConflictFinder:
    """Reads the files for the rules, and the index as it stands for the meaning."""

    def __init__(self, book: ConflictBook, recall: Recall) -> None:
        self._book = book
        self._recall = recall

    def find(self) -> list[MemoryConflict]:
        """All undecided pairs, newest first, each once. Without an index: by rule alone."""
        claims = self._book.claims()
        ruled = find_by_rule(claims)
        known = {conflict.id for conflict in ruled}
        meant = [conflict for conflict in self._by_meaning(claims) if conflict.id not in known]
        apart = _latest(each for each in meant if each.how == "meaning")
        same = _latest(each for each in meant if each.how == "same")
        return newest_first(self._book.undecided([*ruled, *apart, *same]))

    def _by_meaning(self, claims: Sequence[Claim]) -> Iterator[MemoryConflict]:
        units: dict[str, list[Claim]] = {}
        for claim in claims:
            units.setdefault(claim.unit, []).append(claim)
        try:
            pairs = self._recall.near_pairs(NEAREST_OF_ALL, _MOST_PAIRS)
        except AssistantError as error:
            _log.info("no conflicts by meaning: %s", error)
            return
        for pair in pairs:
            for one, other in _couples(units.get(pair.one, ()), units.get(pair.other, ())):
                if disagree(one.text, other.text, pair.nearness):
                    yield conflict_of(one, other, "meaning")
                elif say_the_same(one.text, other.text, pair.nearness):
                    yield conflict_of(one, other, "same")


def _couples(ones: Sequence[Claim], others: Sequence[Claim]) -> list[tuple[Claim, Claim]]:
    """What to hold against what: an entry of several things is near as a whole, so words say which thing is meant."""
    couples = [(one, other) for one in ones for other in others]
    if len(couples) <= 1:
        return couples
    scored = [(shared_words(one.text, other.text), one, other) for one, other in couples]
    alike = sorted((each for each in scored if each[0]), key=lambda each: -each[0])
    taken: set[Claim] = set()
    chosen = []
    for _, one, other in alike:
        if one not in taken and other not in taken:
            taken |= {one, other}
            chosen.append((one, other))
    return chosen


def _latest(conflicts: Iterable[MemoryConflict]) -> list[MemoryConflict]:
    """Of a series of like claims, measurements mostly, only the latest with the one before it."""
    kept: list[MemoryConflict] = []
    settled: set[Claim] = set()
    for conflict in newest_first(conflicts):
        if conflict.older not in settled and conflict.newer not in settled:
            kept.append(conflict)
            settled |= {conflict.older, conflict.newer}
    return kept
