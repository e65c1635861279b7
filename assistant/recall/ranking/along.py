"""What comes along with the best hits where there is room: what they link to, and what stands beside them.

One step from a hit and no further, so links in a circle end; what is out of date never comes along.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant.core.values import Hit
from assistant.recall.index.link_names import linked_files

if TYPE_CHECKING:
    import numpy as np

    from assistant.recall.meaning.snapshot import Snapshot

LINKED, NEIGHBOUR = "linked", "neighbour"
WAYS = (LINKED, NEIGHBOUR)
"""In ``why``: it came along with a hit of that score."""
_LEADERS = 3
"""Only the best hits bring others along."""
_MOST_OF_A_NOTE = 200
_SHORTEST_STEP = 1e-3


@dataclass(frozen=True)
class Around:
    """usable: a bool a unit, whether it may come along; nearest: of several places in the snapshot the best one."""

    connection: sqlite3.Connection
    snapshot: Snapshot
    usable: np.ndarray
    nearest: Callable[[np.ndarray], int]


def came_along(hit: Hit) -> str:
    """How, where it did not match by itself; else ""."""
    return next((way for way in WAYS if way in hit.why), "")


def companions(
    around: Around, leaders: list[tuple[int, float]], room: int
) -> list[tuple[int, float, dict[str, float]]]:
    """(place in the snapshot, score, why) of at most ``room`` units.

    leaders: (place, score) of all hits, best first. The scores are below the lowest of these.
    """
    taken = {place for place, _ in leaders}
    least = min((score for _, score in leaders), default=0.0)
    found: list[tuple[int, float, dict[str, float]]] = []
    for leader, score in leaders[:_LEADERS]:
        for place, way in _of_one(around, leader, taken):
            if len(found) >= room:
                return found
            if place in taken or not around.usable[place]:
                continue
            taken.add(place)
            found.append((place, least - _SHORTEST_STEP * (len(found) + 1), {way: round(score, 4)}))
    return found


def _of_one(around: Around, leader: int, taken: set[int]) -> Iterator[tuple[int, str]]:
    sql = "SELECT file, kind, text, chat, number, follows FROM units WHERE id = ?"
    row = int(around.snapshot.ids[leader])
    if (unit := around.connection.execute(sql, [row]).fetchone()) is None:
        return
    file, kind, text, chat, number, follows = unit
    for linked in linked_files(around.connection, text):
        if linked != file and (place := _best_of(around, linked, taken)) is not None:
            yield place, LINKED
    if chat:
        beside = _on_branch(around.connection, chat, number, follows)
    elif kind == "note":
        beside = _beside(around.connection, file, row)
    else:
        return
    yield from ((int(place), NEIGHBOUR) for each in beside for place in around.snapshot.positions([each]))


def _rows(connection: sqlite3.Connection, sql: str, *values: object) -> list[int]:
    return [row for (row,) in connection.execute(sql, values)]


def _on_branch(connection: sqlite3.Connection, chat: str, number: int, follows: int) -> list[int]:
    """The newest turn that follows one and the one that it follows; turns of other branches may stand between."""
    after = "SELECT id FROM units WHERE chat = ? AND follows = ? AND follows > 0 ORDER BY number DESC LIMIT 1"
    before = "SELECT id FROM units WHERE uid = ?"
    return [*_rows(connection, after, chat, number), *_rows(connection, before, f"{chat}#{follows}")]


def _beside(connection: sqlite3.Connection, file: int, row: int) -> list[int]:
    """The units after and before one in its note; none where it has just gone from there."""
    own = "(SELECT line FROM places WHERE file = ? AND unit = ?)"
    after = f"SELECT unit FROM places WHERE file = ? AND line > {own} ORDER BY line LIMIT 1"
    before = f"SELECT unit FROM places WHERE file = ? AND line < {own} ORDER BY line DESC LIMIT 1"
    return [*_rows(connection, after, file, file, row), *_rows(connection, before, file, file, row)]


def _best_of(around: Around, file: int, taken: set[int]) -> int | None:
    """The place of the unit of a note that is nearest to the question; None where one is a hit already."""
    sql = "SELECT unit FROM places WHERE file = ? ORDER BY line LIMIT ?"
    rows = [row for (row,) in around.connection.execute(sql, [file, _MOST_OF_A_NOTE])]
    places = [int(place) for row in rows for place in around.snapshot.positions([row])]
    if taken.intersection(places):
        return None
    usable = [place for place in places if around.usable[place]]
    return around.nearest(_array(usable)) if usable else None


def _array(places: list[int]) -> np.ndarray:
    import numpy as np

    return np.array(places)
