"""What an undo says about distilled entries: taken back is declined, brought back is wanted again.

It is read from the journal, where an undo is durable before anything else happens: whoever is killed behind it finds
it there at the next start.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

from assistant.core.errors import AssistantError
from assistant.core.folders import make_private
from assistant.workspace.declined import Declined
from assistant.workspace.entries import Entry, parse_entry, parse_memory
from assistant.workspace.journal import Journal, JournalEntry
from assistant.workspace.layout import ARCHIVE, MEMORY
from assistant.workspace.memory import Memory
from assistant.workspace.safe_files import read_bytes, write_atomic
from assistant.workspace.sources import Turns, distilled_turns

_FEW = 50  # changes; a look at the latest ones nearly always finds where the last look ended
_log = logging.getLogger(__name__)


class UndoneEntries:
    """Tells Declined what the undos in the journal mean. ``folder``: where it keeps how far it has read."""

    def __init__(self, memory: Memory, journal: Journal, declined: Declined, folder: Path) -> None:
        self._memory = memory
        self._journal = journal
        self._declined = declined
        self._path = folder / "undone.seen"

    def on_change(self, file: str, actor: str, journal_id: str, summary: str) -> None:
        """For Memory.subscribe: what an undo means is taken in at once, or at the next start if that cannot be."""
        if actor != "undo":
            return
        try:
            self.catch_up()
        except AssistantError as error:  # the undo itself is done
            _log.info("what the undo means could not be written down: %s", error)

    def catch_up(self) -> None:
        """Take in the undos since the last call, oldest first. Raises AssistantError when it cannot be written."""
        seen = read_bytes(self._path).decode("ascii", "replace").strip()
        news = self._since(seen)
        if not news:
            return
        undos = [change for change in reversed(news) if change.actor == "undo"]
        for _, batch in itertools.groupby(undos, lambda change: change.batch or change.id):
            self._take_in(list(batch))
        self._mark(news[0].id)

    def _mark(self, ident: str) -> None:
        """Where the next look ends; without it the same is read again and means the same, so nobody is held up."""
        try:
            make_private(self._path.parent)
            write_atomic(self._path, ident.encode())
        except (AssistantError, OSError) as error:
            _log.info("how far the journal was read could not be written down: %s", error)

    def _since(self, seen: str) -> list[JournalEntry]:
        """Newest first; all that there are when nothing was seen, or that line is not there any more."""
        for limit in (_FEW, None):
            changes = self._journal.entries(limit)
            ids = [change.id for change in changes]
            if seen in ids:
                return changes[: ids.index(seen)]
        return changes

    def _take_in(self, undo: Sequence[JournalEntry]) -> None:
        """What one undo did to one file, or to several at once."""
        gone = [entry for change in undo for entry in _entries(change.diff, "-")]
        came = [entry for change in undo for entry in _entries(change.diff, "+")]
        # Changed, or moved to another file, but not taken away.
        sources = {entry.source for entry in gone} & {entry.source for entry in came}
        gone = [entry for entry in gone if entry.source not in sources]
        came = [entry for entry in came if entry.source not in sources]
        stands = self._standing() if gone else {}
        gone = [entry for entry in gone if not _texts([entry]) <= stands.get(entry.source, set())]
        if gone:  # and was not moved to another file by an undo of its own
            self._declined.add(_turns(entry for entry in gone if entry.source not in stands), _texts(gone))
        if came:
            self._declined.take_back(_turns(came), _texts(came))

    def _standing(self) -> dict[str, set[str]]:
        """The texts of the distilled entries that memory has now, by source."""
        found: dict[str, set[str]] = {}
        for file in (MEMORY, ARCHIVE):
            for entry in parse_memory(self._memory.read(file).text).entries:
                found.setdefault(entry.source, set()).update(_texts([entry]))
        return found


def _entries(diff: str, sign: str) -> list[Entry]:
    """The distilled entries among the lines that a diff removes or adds."""
    lines = (line[1:].removesuffix("\r") for line in diff.split("\n")[2:] if line.startswith(sign))
    entries = (parse_entry(line) for line in lines)
    return [entry for entry in entries if entry and distilled_turns(entry.source)]


def _turns(entries: Iterable[Entry]) -> list[Turns]:
    return [turns for entry in entries if (turns := distilled_turns(entry.source))]


def _texts(entries: Iterable[Entry]) -> set[str]:
    return {item.text for entry in entries for item in entry.items}
