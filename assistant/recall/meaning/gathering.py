"""Putting vectors as they are read to their units: codes, centres and places for a snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from assistant.recall.meaning.snapshot import UNIT_ARRAYS, Centres, Snapshot, Windows, ranges
from assistant.recall.meaning.vectors import matrix


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
    """Windows that come to a snapshot, read in the order of their parts."""

    def __init__(self, snapshot: Snapshot, frozen: np.ndarray | None = None) -> None:
        """frozen: the centres for the codes, where these are the first ones."""
        middles = snapshot.middles if frozen is None else replace(snapshot.middles, frozen=frozen)
        self._snapshot = snapshot
        self._middles = replace(middles, sums=middles.sums.copy(), counts=middles.counts.copy())
        self._rows: list[np.ndarray] = []
        self._units: list[np.ndarray] = []
        snapshot.windows.codes.cut(snapshot.windows.count)

    @property
    def middles(self) -> Centres:
        """With all that was added or counted."""
        return self._middles

    def count(self, places: np.ndarray, rows: np.ndarray, blobs: Sequence[bytes]) -> None:
        """For the centres alone."""
        self._counted(*self._fitting(places, rows, blobs))

    def add(self, places: np.ndarray, rows: np.ndarray, blobs: Sequence[bytes]) -> None:
        """places: of the units; rows: ids of the vectors; blobs: as they are stored. Other lengths are left out."""
        places, rows, vectors = self._fitting(places, rows, blobs)
        self._counted(places, rows, vectors)
        vectors -= self._middles.frozen[self._snapshot.group[places]]
        self._snapshot.windows.codes.add(vectors)
        self._rows.append(rows)
        self._units.append(places.astype(np.int32))

    def done(self) -> Snapshot:
        """The snapshot with these windows, and with the centres that they make."""
        before = self._snapshot
        if not self._units:
            return before
        units = np.concatenate(self._units)
        order = np.argsort(units, kind="stable").astype(np.int32)
        places, first, parts = np.unique(units[order], return_index=True, return_counts=True)
        known = _without_windows(before, places[before.has_vector[places]])
        arrays: dict[str, Any] = {name: getattr(before, name).copy() for name in ("first", "parts", "has_vector")}
        arrays["first"][places] = known.count + first
        arrays["parts"][places] = parts
        arrays["has_vector"][places] = True
        windows = replace(
            known,
            rows=np.concatenate([known.rows, *self._rows]),
            units=np.concatenate([known.units, units]),
            sorted=np.concatenate([known.sorted, order + np.int32(known.count)]),
        )
        centres = self._middles.now(before.questions)
        return replace(before, windows=windows, middles=self._middles, centres=centres, **arrays)

    def _fitting(
        self, places: np.ndarray, rows: np.ndarray, blobs: Sequence[bytes]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        size = 2 * self._snapshot.dimensions
        if any(len(blob) != size for blob in blobs):
            fit = np.array([len(blob) == size for blob in blobs])
            places, rows, blobs = places[fit], rows[fit], [blob for blob in blobs if len(blob) == size]
        return places, rows, matrix(blobs, self._snapshot.dimensions)

    def _counted(self, places: np.ndarray, rows: np.ndarray, vectors: np.ndarray) -> None:
        of = self._snapshot.group[places]
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


def _without_windows(snapshot: Snapshot, places: np.ndarray) -> Windows:
    """The windows, those of these units belonging to nobody: they were made anew."""
    if not len(places):
        return snapshot.windows
    units = snapshot.windows.units.copy()
    units[snapshot.windows.sorted[ranges(snapshot.first[places], snapshot.parts[places])]] = -1
    return replace(snapshot.windows, units=units)
