"""Which facts MEMORY.md holds already, so that a new one is recognised as the same or as a correction."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from assistant.workspace.contradiction import keys, normalise, plain_form
from assistant.workspace.entries import Entry, Item, MemoryText

_BUCKET = 2  # characters of the plain form that two contradicting facts share


@dataclass(frozen=True, slots=True)
class Place:
    """An item in the file. line: from 1; index: among the line's items."""

    line: int
    index: int
    raw: str
    item: Item


class ItemIndex:
    """Of one version of the file; grows with it. Items are taken apart when a fact that begins alike comes."""

    def __init__(self, memory: MemoryText) -> None:
        self._same: dict[str, list[Place]] = {}
        self._waiting: dict[str, list[tuple[str, Place]]] = {}
        self._keys: dict[str, list[tuple[str, Place]]] = {}
        for entry in memory.entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        for index, item in enumerate(entry.items):
            if item.struck:
                continue
            place = Place(entry.line, index, entry.raw, item)
            self._same.setdefault(normalise(item.text), []).append(place)
            plain = plain_form(item.text)
            self._waiting.setdefault(plain[:_BUCKET], []).append((plain, place))

    def same(self, item: Item, today: date) -> Place | None:
        """A live item of the same words."""
        return next((place for place in self._same.get(normalise(item.text), ()) if place.item.live(today)), None)

    def contradicted(self, item: Item, today: date) -> list[Place]:
        """The live items that ``item`` corrects, in file order."""
        plain = plain_form(item.text)
        self._take_apart(plain[:_BUCKET])
        found = [
            place
            for key, value in keys(plain)
            for other, place in self._keys.get(key, ())
            if other != value and place.item.live(today)
        ]
        return sorted(set(found), key=lambda place: (place.line, place.index))

    def _take_apart(self, bucket: str) -> None:
        for plain, place in self._waiting.pop(bucket, ()):
            for key, value in keys(plain):
                self._keys.setdefault(key, []).append((value, place))
