"""What the assistant wants to remember and waits for the person's yes: one small file a proposal, in the data folder.

A file is there until each of its items was accepted or declined; as long as it is, it proves that its turns were
distilled. Afterwards the entry in memory or the list of declined turns proves it.
"""

from __future__ import annotations

import contextlib
import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from assistant.core.clock import Clock, stamp, today
from assistant.core.errors import AssistantError
from assistant.core.folders import make_private
from assistant.workspace.contradiction import normalise
from assistant.workspace.declined import Declined
from assistant.workspace.entries import Item, one_line, parse_item, parse_memory
from assistant.workspace.forgotten_text import holds
from assistant.workspace.inbox_files import Proposal, ProposalItem, read_proposal, write_proposal
from assistant.workspace.layout import ARCHIVE, MEMORY
from assistant.workspace.memory import Memory
from assistant.workspace.memory_values import Written
from assistant.workspace.redaction import redact
from assistant.workspace.safe_files import as_error, locked
from assistant.workspace.sources import distilled_turns, run_of_turns

_ID = re.compile(r"[\w-]{1,60}")


class Inbox:
    """Safe to use from several threads and processes. lock: a file outside the data folder."""

    name = "inbox"

    def __init__(self, folder: Path, lock: Path, memory: Memory, declined: Declined, clock: Clock) -> None:
        self._folder = folder
        self._lock = lock
        self._memory = memory
        self._declined = declined
        self._clock = clock
        self._callbacks: list[Callable[[], None]] = []

    def subscribe(self, callback: Callable[[], None]) -> None:
        """Call ``callback()`` after every change, on the thread that made it."""
        self._callbacks.append(callback)

    def propose(
        self, items: Sequence[str], *, source: str, actor: str, day: date | None = None, lead: str = ""
    ) -> Proposal | None:
        """Put down what the assistant wants to remember; durable when it returns. None when nothing is left of it.

        lead: a word that goes in front of what is accepted. Raises AssistantError.
        """
        texts = [one_line(redact(item).text) for item in items]
        kept = [text for text in texts if text and not self._declined.holds(text)]
        if not kept:
            return None
        now = self._clock()
        proposal = Proposal(
            id=f"{now:%Y%m%d%H%M%S}-{secrets.token_hex(3)}",
            time=stamp(self._clock),
            source=redact(source).text,
            actor=actor,
            day=day or today(self._clock),
            items=tuple(ProposalItem(n, text) for n, text in enumerate(kept, 1)),
            lead=redact(lead).text,
        )
        with self._changing():
            write_proposal(self._path(proposal.id), proposal)
        return proposal

    def waiting(self) -> list[Proposal]:
        """What waits, newest first; a damaged file is left out."""
        return sorted(self._open(), key=lambda proposal: (proposal.time, proposal.id), reverse=True)

    def get(self, ident: str) -> Proposal:
        """Raises ("inbox.missing") for one that waits no more."""
        found = next((proposal for proposal in self._open() if proposal.id == ident), None)
        if found is None:
            raise AssistantError(
                "inbox.missing", "This does not wait for an answer any more.", "Look at the list again."
            )
        return found

    def turns(self, chat: str) -> set[int]:
        """The turns of a chat that a waiting proposal was distilled from."""
        runs = (distilled_turns(proposal.source) for proposal in self._stored())
        return {n for run in runs if run and run[0] == chat for n in run_of_turns(run)}

    def accept(self, ident: str, texts: Mapping[int, str] | None = None) -> Written | None:
        """Write the items into memory, with the source and the date of the proposal; None: they were there already.

        texts: which items (by number) and in what words; None: all that wait, as they are. Raises ("inbox.missing"),
        ("inbox.item"), and what writing memory raises; then they wait still.
        """
        with self._changing():
            proposal = self.get(ident)
            chosen = texts if texts is not None else {item.n: item.text for item in proposal.items}
            _check(proposal, chosen)
            wanted = {n: one_line(redact(text).text) for n, text in chosen.items()}
            if not all(wanted.values()):
                raise AssistantError(
                    "memory.empty", "There is nothing to remember.", "Write what should be remembered."
                )
            taken = tuple(replace(item, taken=wanted[item.n]) if item.n in wanted else item for item in proposal.items)
            write_proposal(self._path(ident), replace(proposal, items=taken))
            written = self._remember(proposal, [wanted[item.n] for item in proposal.items if item.n in wanted])
            self._settle(proposal, set(wanted))
        return written

    def decline(self, ident: str, items: Sequence[int] | None = None) -> None:
        """Never propose these items again; None: all that wait. Raises ("inbox.missing"), ("inbox.item")."""
        with self._changing():
            proposal = self.get(ident)
            gone = [item.n for item in proposal.items] if items is None else items
            _check(proposal, gone)
            self._decline(proposal, set(gone))

    def finish(self) -> None:
        """Complete what a killed process left half accepted or declined, so that its words go from the disk."""
        open_items = {proposal.id: {item.n for item in proposal.items} for proposal in self._open()}
        left = [p for p in self._stored() if len(open_items.get(p.id, ())) < len(p.items)]
        if not left:
            return
        with self._changing():
            for proposal in left:
                self._settle(proposal, {item.n for item in proposal.items} - open_items.get(proposal.id, set()))

    def forget_chat(self, chat: str) -> None:
        """A chat was deleted for good: what was to be remembered of it goes with it."""
        with self._changing():
            for proposal in self._stored():
                run = distilled_turns(proposal.source)
                if run and run[0] == chat:
                    self._remove(proposal.id)

    # --- ForgetPlace -------------------------------------------------------------------------------------------

    def scrub(self, texts: Sequence[str]) -> None:
        """Remove the items that hold one of the texts; they are not proposed again."""
        with self._changing():
            for proposal in self._stored():
                found = {item.n for item in proposal.items if _holds(item, texts)}
                if found:
                    self._decline(proposal, found)

    def remaining(self, texts: Sequence[str]) -> int:
        """How many items hold one of the texts."""
        return sum(_holds(item, texts) for proposal in self._stored() for item in proposal.items)

    # --- inside ------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        try:
            make_private(self._folder)
        except OSError as error:
            raise as_error(error, self._folder) from error
        with locked(self._lock):
            yield
        for callback in self._callbacks:
            callback()

    def _stored(self) -> list[Proposal]:
        files = sorted(self._folder.glob("*.json")) if self._folder.is_dir() else []
        found = (read_proposal(path) for path in files if _ID.fullmatch(path.stem))
        return [proposal for proposal in found if proposal]

    def _open(self) -> list[Proposal]:
        """The proposals with the items that really wait: not those a crash left accepted or declined already."""
        waiting = []
        for proposal in self._stored():
            settled = {item.n for item in proposal.items if item.taken and self._remembers(proposal, item.taken)}
            settled |= {item.n for item in proposal.items if self._declined.holds(item.text)}
            left = tuple(replace(item, taken="") for item in proposal.items if item.n not in settled)
            if left:
                waiting.append(replace(proposal, items=left))
        return waiting

    def _remember(self, proposal: Proposal, texts: Sequence[str]) -> Written | None:
        fresh = [text for text in texts if not self._knows(parse_item(text))]
        if not fresh:
            return None
        items = [proposal.lead, *fresh] if proposal.lead else fresh
        return self._memory.append_entry(items, source=proposal.source, actor=proposal.actor, day=proposal.day)

    def _knows(self, wanted: Item) -> bool:
        """Whether a live item says the same: a distilled entry would be written in any case, as a proof."""
        day, words = today(self._clock), normalise(wanted.text)
        items = (item for entry in self._memory.document().entries for item in entry.items)
        return any(normalise(i.text) == words and i.live(day) and wanted.until in (None, i.until) for i in items)

    def _remembers(self, proposal: Proposal, text: str) -> bool:
        """Whether memory holds what was accepted: the process was killed before it could say so here."""
        words = normalise(parse_item(text).text)
        for file in (MEMORY, ARCHIVE):
            for entry in parse_memory(self._memory.read(file).text).entries:
                if entry.source == proposal.source and any(normalise(item.text) == words for item in entry.items):
                    return True
        return False

    def _decline(self, proposal: Proposal, gone: set[int]) -> None:
        run = distilled_turns(proposal.source)
        is_whole = len(gone) == len(proposal.items) and run is not None and not self._has_entry(proposal.source)
        texts = [item.text for item in proposal.items if item.n in gone]
        self._declined.add([run] if run and is_whole else [], texts)
        self._settle(proposal, gone)

    def _has_entry(self, source: str) -> bool:
        entries = (parse_memory(self._memory.read(file).text).entries for file in (MEMORY, ARCHIVE))
        return any(entry.source == source for each in entries for entry in each)

    def _settle(self, proposal: Proposal, done: set[int]) -> None:
        left = tuple(replace(item, taken="") for item in proposal.items if item.n not in done)
        if left:
            write_proposal(self._path(proposal.id), replace(proposal, items=left))
            return
        run = distilled_turns(proposal.source)
        if run and not self._has_entry(proposal.source):  # all of it was known already: the proof must not go
            self._declined.add([run])
        self._remove(proposal.id)

    def _remove(self, ident: str) -> None:
        try:
            self._path(ident).unlink(missing_ok=True)
        except OSError as error:
            raise as_error(error, self._folder) from error

    def _path(self, ident: str) -> Path:
        return self._folder / f"{ident}.json"


def _check(proposal: Proposal, numbers: Sequence[int] | Mapping[int, str]) -> None:
    missing = set(numbers) - {item.n for item in proposal.items}
    if missing or not numbers:
        shown = ", ".join(map(str, sorted(missing))) or "-"
        raise AssistantError("inbox.item", f"There is no item {shown} in this proposal.", "Look at the list again.")


def _holds(item: ProposalItem, texts: Sequence[str]) -> bool:
    return holds(item.text, texts) or holds(item.taken, texts)
