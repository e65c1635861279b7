"""What is to be forgotten and what became of it, as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from assistant.workspace.entries import parse_entry

Kind = Literal["memory", "turn", "log", "title", "line"]

Thing = str | tuple[str, int, str]
"""What a person points at: a unit's or a turn's id, or (file, line, text) of a memory file."""


@dataclass(frozen=True, slots=True)
class Target:
    """One thing that goes.

    kind: "memory" a unit of a memory file, "turn" of a chat, "log" a line of a day log, "title" of a chat, "line"
    a heading or another line that is no unit. id: the unit's, else ""; line: from 1; items: which of an entry's items
    go, from 0, () for all; chat, number: of a turn or a title.
    """

    kind: Kind
    id: str
    file: str
    line: int
    text: str
    items: tuple[int, ...] = ()
    chat: str = ""
    number: int = 0

    @property
    def gone(self) -> tuple[str, ...]:
        """The texts of the items that go, where others of the entry stay; else ``text`` alone."""
        entry = parse_entry(self.text) if self.items else None
        return tuple(entry.items[n].text for n in self.items) if entry else (self.text,)


@dataclass(frozen=True, slots=True)
class ForgetPlan:
    """What goes, before it goes.

    texts: taken out wherever they stand; same: forms (see forget_query.same_form) of whole lines and items that go;
    counts: how much each place holds of it, where that was asked; also: memory that was made of the turns that go, and
    stays unless it is forgotten too.
    """

    what: str
    targets: tuple[Target, ...]
    texts: tuple[str, ...]
    same: tuple[str, ...]
    also: tuple[Target, ...] = ()
    counts: tuple[tuple[str, int], ...] = ()

    @property
    def turns(self) -> tuple[Target, ...]:
        return tuple(target for target in self.targets if target.kind == "turn")

    @property
    def units(self) -> frozenset[str]:
        """Ids of all units that go."""
        return frozenset(target.id for target in self.targets if target.id and not target.items)

    def of_file(self, file: str) -> tuple[Target, ...]:
        return tuple(target for target in self.targets if target.file == file)


@dataclass(frozen=True, slots=True)
class Searched:
    """One place of the proof. remaining: files or records that still hold it; hint: what to do then, or ""."""

    place: str
    remaining: int
    hint: str = ""


@dataclass(frozen=True, slots=True)
class ForgetReport:
    """What was removed, and the search that proves it."""

    removed: tuple[Target, ...]
    searched: tuple[Searched, ...]

    @property
    def clean(self) -> bool:
        return not any(place.remaining for place in self.searched)


def plan_to_json(plan: ForgetPlan) -> dict[str, Any]:
    return asdict(plan)


def plan_from_json(value: Mapping[str, Any]) -> ForgetPlan:
    """Raises KeyError or TypeError for what is no plan."""
    targets = tuple(_target(each) for each in value["targets"])
    return ForgetPlan(str(value["what"]), targets, _texts(value["texts"]), _texts(value["same"]))


def _target(value: Mapping[str, Any]) -> Target:
    return Target(**{**value, "items": tuple(value["items"])})


def _texts(values: Sequence[Any]) -> tuple[str, ...]:
    return tuple(str(value) for value in values)
