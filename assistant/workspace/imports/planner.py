"""What an import will change in the memory files: redacted, without what is there already, every clash settled."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date

from assistant.core.clock import Clock, today
from assistant.core.errors import AssistantError
from assistant.workspace import layout
from assistant.workspace.chat_head import printable
from assistant.workspace.contradiction import normalise
from assistant.workspace.entries import format_item, one_line, parse_item
from assistant.workspace.imports.document import Document
from assistant.workspace.imports.values import SYSTEMS, FoundEntry, FoundFacts, FoundLog, FoundNote
from assistant.workspace.memory import LONGEST_ITEM, Memory
from assistant.workspace.redaction import redact
from assistant.workspace.text_files import TextFile, check_writable

_LONGEST_SOURCE = 60
FoundMemory = FoundEntry | FoundFacts | FoundNote | FoundLog


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A memory file as it will be. base: as it is now."""

    file: str
    base: TextFile
    text: str


class MemoryPlanner:
    """Takes what was found and says what of it is new; writes nothing. redacted: secrets taken out."""

    def __init__(self, memory: Memory, root_files: list[str], system: str, clock: Clock) -> None:
        self._memory, self._system, self._today = memory, system, today(clock)
        self._names = {file.casefold(): file for file in root_files}
        self._planned: dict[str, PlannedFile] = {}
        self._documents: dict[str, Document] = {}
        self._entries: list[FoundEntry] = []
        self._looked: set[str] = set()
        self._known: set[tuple[date, str]] = set()
        self._live: set[str] = set()
        self.redacted = 0

    def take(self, found: FoundMemory) -> str:
        """ "new", "known", or the reason why it is skipped. Entries wait for ``files`` to be placed, by date."""
        match found:
            case FoundEntry():
                return self._take_entry(found)
            case FoundFacts():
                heading = f"## From {SYSTEMS[self._system]}"
                return _new(self._document(layout.MEMORY).add_facts(heading, self._clean(found.text)))
            case FoundNote():
                return self._take_note(found)
            case FoundLog():
                return self._take_log(found)

    def files(self) -> Iterator[PlannedFile]:
        """The files to write, new ones and the archive first."""
        for entry in sorted(self._entries, key=lambda each: each.day):
            self._place(entry)
        self._entries = []
        yield from self._planned.values()
        for file in sorted(self._documents, key=lambda file: (file == layout.MEMORY, file)):
            if (document := self._documents[file]).changed:
                yield PlannedFile(file, document.base, document.text())

    @property
    def struck(self) -> int:
        """Items that a newer fact replaced, once ``files`` was asked."""
        return sum(document.struck for document in self._documents.values())

    def _take_entry(self, found: FoundEntry) -> str:
        known = self._known_items(_shelf(found.shelf))
        fresh = []
        for text in found.items:
            for item in map(parse_item, _pieces(one_line(self._clean(text)))):
                key = (found.day, normalise(item.text))
                if key in known or (item.live(self._today) and key[1] in self._live) or not key[1]:
                    continue
                known.add(key)
                fresh.append(item)
        if fresh:
            items = tuple(format_item(item) for item in fresh)
            self._entries.append(replace(found, items=items, source=self._source(found.source)))
        return _new(bool(fresh))

    def _place(self, entry: FoundEntry) -> None:
        document = self._document(_shelf(entry.shelf))
        items = [parse_item(item) for item in entry.items]
        document.add_entry(entry.day, entry.source, items, check=not entry.shelf, today=self._today)

    def _source(self, source: str) -> str:
        """The word it had there. ``chat:…`` would claim that turns of a chat here were distilled."""
        word = one_line(self._clean(source))[:_LONGEST_SOURCE].strip()
        return f"import:{self._system}" if not word or word.startswith(("chat:", "import:")) else word

    def _take_note(self, found: FoundNote) -> str:
        text = self._clean(found.text)
        for name in _names(found.name, self._system):
            try:
                file = layout.topic_file(name)
            except AssistantError:
                continue
            there = self._text_of(file)
            if there is None:
                self._planned[file] = PlannedFile(file, self._memory.read(file), text)
                self._names[file.casefold()] = file
                return "new"
            if _same(there, text):
                return "known"
        return "name"

    def _take_log(self, found: FoundLog) -> str:
        file, text = layout.log_file(found.day), self._clean(found.text)
        planned = self._planned.get(file)
        base = planned.base if planned else self._memory.read(file)
        check_writable(base, file)
        there = planned.text if planned else base.text
        lines = {line.strip() for line in there.split("\n")}
        fresh = [line for line in text.rstrip("\n").split("\n") if line.strip() and line.strip() not in lines]
        if not fresh:
            return "known"
        added = text if not there.strip() else "\n".join([there.rstrip("\n"), *fresh, ""])
        self._planned[file] = PlannedFile(file, base, added)
        return "new"

    def _text_of(self, file: str) -> str | None:
        if planned := self._planned.get(file):
            return planned.text
        known = self._names.get(file.casefold())
        return self._memory.read(known).text if known else None

    def _document(self, file: str) -> Document:
        if file not in self._documents:
            base = self._memory.read(file)
            check_writable(base, file)
            self._documents[file] = Document(base)
        return self._documents[file]

    def _known_items(self, shelf: str) -> set[tuple[date, str]]:
        """What entries say already: with their day in any state, and whatever the day while it holds."""
        for file in {layout.MEMORY, layout.ARCHIVE, shelf} - self._looked:
            self._looked.add(file)
            for entry in self._document(file).entries:
                self._known |= {(entry.date, normalise(item.text)) for item in entry.items}
                self._live |= {normalise(item.text) for item in entry.items if item.live(self._today)}
        return self._known

    def _clean(self, text: str) -> str:
        cleaned = redact(printable(text))
        self.redacted += cleaned.count
        return cleaned.text


def _shelf(shelf: str) -> str:
    """The file that holds it here."""
    return {"": layout.MEMORY, "archive": layout.ARCHIVE}.get(shelf) or layout.topic_file(shelf)


def _new(fresh: bool) -> str:
    return "new" if fresh else "known"


def _pieces(text: str) -> Iterator[str]:
    """A text that is too long for one item, in pieces; nothing is cut off."""
    for start in range(0, max(1, len(text)), LONGEST_ITEM):
        yield text[start : start + LONGEST_ITEM]


def _names(name: str, system: str) -> Iterator[str]:
    """Names for a note: its own, then with the system behind it, for one that is taken by another text."""
    plain = re.sub(r"[^\w .-]|[\u200b-\u200f]", "-", name.removesuffix(".md")).strip(" -.")[:120] or "note"
    yield plain
    yield f"{plain} - {system}"
    for number in range(2, 100):
        yield f"{plain} - {system} {number}"


def _same(one: str, other: str) -> bool:
    """The same text, but for white space at the ends of lines."""
    return [line.rstrip() for line in one.strip().split("\n")] == [line.rstrip() for line in other.strip().split("\n")]
