"""Two things in memory that cannot both hold: "you said X on 3 May, Y on 9 September".

By rule they are found by one look into a table of subjects, so that the time grows with the entries and no faster. By
meaning candidates come from recall's vectors; here it is decided whether their figures or names disagree.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Literal

from assistant.workspace.claims import Claim, names_itself, subject_keys
from assistant.workspace.contradiction import normalise
from assistant.workspace.figures import same_value

_MEASURED = 4  # so many values of one subject are measurements: of those only the latest two are worth a question
How = Literal["rule", "meaning", "same"]


@dataclass(frozen=True, slots=True)
class MemoryConflict:
    """Two claims that disagree. subject: the words they share; how: by which way they were found.

    How "same": they do not disagree but say the same in other words.

    older, newer: by their days; a fact without one counts as older than a dated claim.
    """

    id: str
    subject: str
    how: How
    older: Claim
    newer: Claim


def conflict_of(one: Claim, other: Claim, how: How) -> MemoryConflict:
    """The two as a conflict; its id stays the same as long as both texts do, in whatever file they stand."""
    older, newer = sorted((one, other), key=_age)
    return MemoryConflict(pair_id(one.text, other.text), subject_of(older.text, newer.text), how, older, newer)


def pair_id(one: str, other: str) -> str:
    """Of two texts in any order."""
    both = "\0".join(sorted((normalise(one), normalise(other))))
    return hashlib.sha256(both.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def find_by_rule(claims: Iterable[Claim]) -> list[MemoryConflict]:
    """The pairs that share a subject but not its value, newest first; each once."""
    table: dict[str, list[tuple[Claim, str]]] = {}
    for claim in claims:
        for subject, value in _keys(claim.text):
            table.setdefault(subject, []).append((claim, value))
    found: dict[str, MemoryConflict] = {}
    for subject, said in table.items():
        if len(said) > 1:
            for group in _under_one_heading(subject, said):
                for one, other in _pairs(group):
                    conflict = conflict_of(one, other, "rule")
                    found.setdefault(conflict.id, conflict)
    return newest_first(found.values())


def _under_one_heading(subject: str, said: Sequence[tuple[Claim, str]]) -> Iterable[Sequence[tuple[Claim, str]]]:
    """A subject that does not name itself is another one in each file and under each heading."""
    if names_itself(subject):
        return [said]
    groups: dict[tuple[str, ...], list[tuple[Claim, str]]] = {}
    for claim, value in said:
        scope = (claim.file, *claim.headings) if claim.headings else ()
        groups.setdefault(scope, []).append((claim, value))
    return groups.values()


def newest_first(conflicts: Iterable[MemoryConflict]) -> list[MemoryConflict]:
    return sorted(conflicts, key=lambda conflict: (_age(conflict.newer), _age(conflict.older)), reverse=True)


def subject_of(older: str, newer: str) -> str:
    """The words that both begin with, or else those they share, in the newer one's order."""
    theirs = {normalise(word) for word in older.split()}
    words = [word for word in newer.split() if normalise(word) in theirs]
    if words:
        return " ".join(words).strip(" ,;:，。")
    shared = [c for c in newer if c in set(older) and not c.isspace()]
    return "".join(shared)[:20]


def _pairs(said: Sequence[tuple[Claim, str]]) -> Iterator[tuple[Claim, Claim]]:
    """The newest claim with the ones before it that say something else, the latest of each value."""
    values = {value for _, value in said}
    if len(values) < 2:
        return
    ordered = sorted(said, key=lambda each: _age(each[0]), reverse=True)
    newest, value = ordered[0]
    seen = {value}
    for claim, other in ordered[1:]:
        if other in seen or same_value(other, value) or normalise(claim.text) == normalise(newest.text):
            continue
        seen.add(other)
        yield newest, claim
        if len(values) >= _MEASURED:
            return


def _age(claim: Claim) -> tuple[date, str, int]:
    return claim.day or date.min, claim.file, claim.line


@lru_cache(maxsize=50_000)
def _keys(text: str) -> tuple[tuple[str, str], ...]:
    return subject_keys(text)
