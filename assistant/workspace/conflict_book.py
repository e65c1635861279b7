"""The conflicts of one workspace: what its memory claims, which pairs disagree, and which the person lets stand."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.core.clock import Clock, today
from assistant.core.errors import AssistantError
from assistant.workspace import layout
from assistant.workspace.safe_files import append_lines, read_bytes, read_text

if TYPE_CHECKING:
    from assistant.workspace.claims import Claim
    from assistant.workspace.conflicts import MemoryConflict

_Mark = tuple[int, int, date]


class ConflictBook:
    """root: the workspace; folder: in the data folder, for hashes of the pairs that both hold."""

    def __init__(self, root: Path, folder: Path, clock: Clock) -> None:
        self._root = root
        self._path = folder / "both-hold"
        self._clock = clock
        self._claims: dict[str, tuple[_Mark, tuple[Claim, ...]]] = {}

    def claims(self) -> list[Claim]:
        """What MEMORY.md and the notes claim today; files that did not change since then are not read again."""
        day = today(self._clock)
        files = [f for f in layout.memory_files(self._root) if f != layout.ARCHIVE and not layout.is_conflict_copy(f)]
        known = self._claims
        now: dict[str, tuple[_Mark, tuple[Claim, ...]]] = {}
        for file in files:
            mark = self._mark(file, day)
            before = known.get(file)
            if mark and before and before[0] == mark:
                now[file] = before
            elif mark:
                now[file] = (mark, self._read(file, day))
        self._claims = now  # in one step: the window and a quiet moment may ask at the same time
        return [claim for _, claims in now.values() for claim in claims]

    def by_rule(self) -> list[MemoryConflict]:
        """The pairs that disagree by rule, newest first, without those that the person lets stand."""
        from assistant.workspace.conflicts import find_by_rule

        return self.undecided(find_by_rule(self.claims()))

    def count(self) -> int:
        """How many pairs disagree by rule."""
        return len(self.by_rule())

    def undecided(self, conflicts: Iterable[MemoryConflict]) -> list[MemoryConflict]:
        """Without those that the person lets stand."""
        decided = self._decided()
        return [conflict for conflict in conflicts if conflict.id not in decided]

    def let_stand(self, conflict: MemoryConflict) -> None:
        """Both hold: the pair never comes back, unless one of the two texts changes. Raises AssistantError."""
        if conflict.id not in self._decided():
            append_lines(self._path, conflict.id.encode() + b"\n")

    def _decided(self) -> set[str]:
        return set(read_bytes(self._path).decode("ascii", "replace").split())

    def _mark(self, file: str, day: date) -> _Mark | None:
        try:
            stat = (self._root / file).stat()
        except OSError:  # gone since it was listed
            return None
        return stat.st_size, stat.st_mtime_ns, day

    def _read(self, file: str, day: date) -> tuple[Claim, ...]:
        from assistant.workspace.claims import claims_of  # not when the window starts

        try:
            text = read_text(self._root / file)
        except AssistantError:  # what cannot be read claims nothing; the doctor names it
            return ()
        return tuple(claims_of(file, text.text, day))
