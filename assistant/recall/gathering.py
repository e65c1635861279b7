"""Putting vectors as they are read to their units: codes, centres and places for a snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from assistant.recall.codes import sign_codes
from assistant.recall.snapshot import UNIT_ARRAYS, Centres, Snapshot, Windows, ranges
from assistant.recall.vectors import matrix

_SPARE = 16
"""One in so many columns of the codes is left free for what comes, so that they are rarely copied."""


class Keys:
    """Which units have a text of this hash. The first 8 of its 16 bytes tell a million texts apart well enough."""

    def __init__(self, hashes: bytes) -> None:
        keys = np.frombuffer(hashes, np.uint64)[::2]
        self._order = np.argsort(keys, kind="stable").astype(np.int32)
        self._keys = keys[self._order]

    def matched(
        self, hashes: Sequence[bytes], ids: Sequence[int], blobs: Sequence[bytes]
    ) -> tuple[np.ndarray, np.ndarray, Sequence[bytes]]:
        """Places of units with the ids and blobs of their windows; what several units say is there for each."""
        wanted = np.frombuffer(b"".join(hashes), np.uint64)[::2]
        first = np.searchsorted(self._keys, wanted, "left")
        lengths = np.searchsorted(self._keys, wanted, "right") - first
        of = np.repeat(np.arange(len(wanted)), lengths)
        places = self._order[ranges(first, lengths)]
        return places, np.array(ids, np.int64)[of], [blobs[n] for n in of.tolist()]


class Gathering:
    """Windows that come to a snapshot, read in the order of their parts. group: of each unit by place."""

    def __init__(self, group: np.ndarray, middles: Centres) -> None:
        self._group = group
        self._frozen = middles.frozen
        self._middles = replace(middles, sums=middles.sums.copy(), counts=middles.counts.copy())
        self._codes: list[np.ndarray] = []
        self._rows: list[np.ndarray] = []
        self._units: list[np.ndarray] = []

    @property
    def middles(self) -> Centres:
        return self._middles

    def count(self, places: np.ndarray, rows: np.ndarray, blobs: Sequence[bytes]) -> None:
        """For the centres alone."""
        self._counted(*self._fitting(places, rows, blobs))

    def add(self, places: np.ndarray, rows: np.ndarray, blobs: Sequence[bytes]) -> None:
        """places: of the units; rows: ids of the vectors; blobs: as they are stored. Other lengths are left out."""
        places, rows, vectors = self._fitting(places, rows, blobs)
        self._counted(places, rows, vectors)
        self._codes.append(sign_codes(vectors - self._frozen[self._group[places]]))
        self._rows.append(rows)
        self._units.append(places.astype(np.int32))

    def onto(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot with these windows, and with the centres that they make."""
        if not self._units:
            return snapshot
        units = np.concatenate(self._units)
        order = np.argsort(units, kind="stable")
        units = units[order]
        places, first, parts = np.unique(units, return_index=True, return_counts=True)
        windows = _forgotten(snapshot, places)
        arrays: dict[str, Any] = {name: getattr(snapshot, name).copy() for name in ("first", "parts", "has_vector")}
        arrays["first"][places] = windows.count + first
        arrays["parts"][places] = parts
        arrays["has_vector"][places] = True
        windows = _appended(windows, self._codes, np.concatenate(self._rows), units, order)
        return replace(snapshot, windows=windows, middles=self._middles, centres=self._middles.now(), **arrays)

    def _fitting(
        self, places: np.ndarray, rows: np.ndarray, blobs: Sequence[bytes]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        dimensions = self._frozen.shape[1]
        if any(len(blob) != 2 * dimensions for blob in blobs):
            fit = np.array([len(blob) == 2 * dimensions for blob in blobs])
            places, rows, blobs = places[fit], rows[fit], [blob for blob in blobs if len(blob) == 2 * dimensions]
        return places, rows, matrix(blobs, dimensions)

    def _counted(self, places: np.ndarray, rows: np.ndarray, vectors: np.ndarray) -> None:
        of = self._group[places]
        for group in np.unique(of):
            members = of == group
            self._middles.sums[group] += vectors[members].sum(axis=0, dtype=np.float64)
            self._middles.counts[group] += np.count_nonzero(members)
        self._middles = replace(self._middles, added=self._middles.added + len(rows))


def without_units(snapshot: Snapshot, gone: np.ndarray) -> Snapshot:
    """The snapshot without these units; their windows stay, but belong to nobody."""
    dead = np.isin(snapshot.ids, gone)
    if not dead.any():
        return snapshot
    place = np.append(np.cumsum(~dead, dtype=np.int32) - 1, -1).astype(np.int32)
    place[:-1][dead] = -1
    windows = replace(snapshot.windows, units=place[snapshot.windows.units])
    arrays: dict[str, Any] = {name: getattr(snapshot, name)[~dead] for name in UNIT_ARRAYS}
    middles = replace(snapshot.middles, lost=snapshot.middles.lost + int(snapshot.parts[dead].sum()))
    return replace(snapshot, windows=windows, middles=middles, **arrays)


def _forgotten(snapshot: Snapshot, places: np.ndarray) -> Windows:
    """The windows, those of these units belonging to nobody: they were made anew."""
    old = places[snapshot.has_vector[places]]
    if not len(old):
        return snapshot.windows
    units = snapshot.windows.units.copy()
    units[ranges(snapshot.first[old], snapshot.parts[old])] = -1
    return replace(snapshot.windows, units=units)


def _appended(
    windows: Windows, codes: list[np.ndarray], rows: np.ndarray, units: np.ndarray, order: np.ndarray
) -> Windows:
    """Columns past the end of a snapshot are nobody's yet: they are filled where they are, if there are enough."""
    count = windows.count + len(units)
    into, ids = windows.codes, windows.rows
    if count > into.shape[1]:
        room = count + count // _SPARE
        into, ids = np.zeros((len(into), room), np.uint64), np.zeros(room, np.int64)
        into[:, : windows.count] = windows.codes[:, : windows.count]
        ids[: windows.count] = windows.rows[: windows.count]
    for word in range(len(into)):  # one after the other: a copy of all at once would be the peak of a load
        into[word, windows.count : count] = np.concatenate([part[word] for part in codes])[order]
    ids[windows.count : count] = rows[order]
    return Windows(into, ids, np.concatenate([windows.units, units]))
