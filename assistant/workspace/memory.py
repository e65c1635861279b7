"""The one door to the memory files: redact, find duplicates and corrections, journal, write, tell who listens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import TypeVar

from assistant.core.clock import Clock, today
from assistant.core.errors import AssistantError
from assistant.workspace import layout
from assistant.workspace.changes import merge
from assistant.workspace.chat_head import printable
from assistant.workspace.contradiction import normalise
from assistant.workspace.entries import (
    Item,
    MemoryText,
    format_entry,
    format_item,
    one_line,
    parse_entry,
    parse_item,
    parse_memory,
    strike,
)
from assistant.workspace.ids import line_id
from assistant.workspace.item_index import ItemIndex, Place
from assistant.workspace.journal import Journal
from assistant.workspace.memory_files import Callback, FileChangedError, MemoryFiles
from assistant.workspace.memory_values import Conflict, MemoryFileInfo, Saved, Written
from assistant.workspace.notes import parse_note
from assistant.workspace.redaction import redact
from assistant.workspace.safe_files import read_text
from assistant.workspace.text_files import (
    TextFile,
    check_writable,
    encode_added,
    encode_edit,
    exact_bytes,
    exact_text,
    visible,
)

__all__ = ["Conflict", "Memory", "MemoryFileInfo", "Saved", "Written"]
LONGEST_ITEM = 10_000  # characters; longer texts are notes, not things to remember
_TRIES = 5
_T = TypeVar("_T")


class Memory:
    """Safe to use from several threads and processes. state: folder of the lock."""

    def __init__(self, root: Path, state: Path, journal: Journal, clock: Clock) -> None:
        self._root = root
        self._journal = journal
        self._clock = clock
        self._files = MemoryFiles(root, state / "locks" / "memory.lock", journal)
        self._parsed: tuple[str, MemoryText] | None = None
        self._index: tuple[str, ItemIndex] | None = None

    def subscribe(self, callback: Callback) -> None:
        """Call ``callback(file, actor, journal_id, summary)`` after every change, on the thread that made it."""
        self._files.subscribe(callback)

    def remember(
        self,
        text: str,
        *,
        source: str = "you",
        topic: str | None = None,
        until: date | None = None,
        actor: str = "you",
        keep_secrets: bool = False,
    ) -> Written:
        """Write one thing as an entry of MEMORY.md, or as a bullet of a topic note.

        The same words again write nothing; a correction strikes the entry it corrects. until: the last local day on
        which it holds. keep_secrets: the person chose to keep what looks like a secret. Raises ("memory.empty"),
        ("memory.long"), and what writing a file raises.
        """
        said, redacted = self._clean(text, keep_secrets)
        item = parse_item(said)
        item = replace(item, until=until) if until else item
        if topic is not None:
            return self._again(lambda: self._remember_note(item, layout.topic_file(topic), actor, redacted))
        return self._again(lambda: self._remember_items([item], source, actor, today(self._clock), redacted))

    def append_entry(
        self,
        items: Sequence[str],
        *,
        source: str,
        actor: str,
        day: date | None = None,
        keep_secrets: bool = False,
    ) -> Written:
        """Write several things as one entry. Those that are there already are left out, but a distilled entry
        (source ``chat:…``) is written in any case since it is the proof that its turns were distilled.
        """
        cleaned = [self._clean(item, keep_secrets) for item in items if item.strip()]
        if not cleaned:
            raise _empty()
        parsed = [parse_item(text) for text, _ in cleaned]
        redacted = sum(count for _, count in cleaned)
        written_on = day or today(self._clock)
        return self._again(lambda: self._remember_items(parsed, source, actor, written_on, redacted))

    def read(self, file: str) -> TextFile:
        """A memory file; a missing one is empty with sha256 "". Raises ("workspace.path")."""
        return read_text(self._files.path(file))

    def document(self) -> MemoryText:
        """MEMORY.md taken apart."""
        return self._parse(self.read(layout.MEMORY))

    def save(
        self, file: str, text: str, base_sha: str, actor: str = "you", *, keep_secrets: bool = False
    ) -> Saved | Conflict:
        """Write a whole file that was read when its checksum was ``base_sha`` ("" for a new file).

        Lines that stay keep their very bytes; secrets in lines that are new are redacted. A file that changed
        meanwhile is not written: see Conflict.
        """
        return self._again(lambda: self._save(file, printable(text), base_sha, actor, keep_secrets))

    def undo(self, journal_id: str) -> Saved | Conflict:
        """Take a change back: exactly when the file is as it left it, else merged with what came after.

        Raises ("journal.missing") for an unknown id, ("journal.undone") for a change that was taken back already.
        """
        return self._again(lambda: self._undo(journal_id))

    def note_disk_changes(self) -> list[str]:
        """Journal what other programs changed since the files were last seen; says which files."""
        with self._files.locked():
            return self._files.note_all()

    def files(self) -> list[MemoryFileInfo]:
        """All memory files that exist, the day logs last."""
        return [self._info(file) for file in (*layout.memory_files(self._root), *layout.log_files(self._root))]

    def _again(self, work: Callable[[], _T]) -> _T:
        """Do the work under the lock, anew when another program wrote the file meanwhile."""
        for _ in range(_TRIES):
            try:
                with self._files.locked():
                    return work()
            except FileChangedError:
                continue
        raise AssistantError(
            "workspace.busy", "Another program keeps writing the file.", "Close it there, then try again."
        )

    def _remember_items(self, items: Sequence[Item], source: str, actor: str, day: date, redacted: int) -> Written:
        base = self._files.load(layout.MEMORY)
        check_writable(base, layout.MEMORY)
        index, now = self._index_of(base), today(self._clock)
        known = {id(item): place for item in items if (place := _duplicate(index, item, now))}
        fresh = [item for item in items if id(item) not in known]
        if not fresh and not source.startswith("chat:"):
            place = known[id(items[0])]
            ident = line_id(layout.MEMORY, place.raw)
            return Written(ident, layout.MEMORY, place.line, _texts(items), redacted, "", duplicate=True)
        wanted = fresh or list(items)
        struck = _unique(place for item in fresh for place in _corrected(index, item, now))
        entry = format_entry(day, redact(source).text, wanted)
        summary = f"Remembered: {_texts(wanted)[:120]}"
        line, journal_id = self._add_line(layout.MEMORY, base, entry, actor, summary, struck)
        old = tuple(place.item.text for place in struck)
        return Written(
            line_id(layout.MEMORY, entry), layout.MEMORY, line, _texts(wanted), redacted, journal_id, superseded=old
        )

    def _remember_note(self, item: Item, file: str, actor: str, redacted: int) -> Written:
        base = self._files.load(file)
        check_writable(base, file)
        text = format_item(item)
        for number, line in enumerate(base.text.split("\n"), 1):
            if normalise(line.strip().lstrip("-*+ ")) == normalise(text):
                return Written(line_id(file, line), file, number, text, redacted, "", duplicate=True)
        bullet = f"- {text}"
        at, journal_id = self._add_line(file, base, bullet, actor, f"Remembered: {text[:120]}", ())
        return Written(line_id(file, bullet), file, at, text, redacted, journal_id)

    def _add_line(
        self, file: str, base: TextFile, line: str, actor: str, summary: str, struck: Sequence[Place]
    ) -> tuple[int, str]:
        """Append a line, all before it byte for byte but for the items it strikes; (line number, journal id)."""
        text = exact_text(base)
        start = base.newline if text and not text.endswith("\n") else ""
        number = text.count("\n") + 1 + bool(start)
        added = encode_added(f"{start}{line}{base.newline}", base)
        if not struck:
            raw = base.raw + added
            ident = self._files.change(file, base, raw, actor, summary, added=len(added))
            self._grow_index(base, raw, file, line, number)
            return number, ident
        lines = text.split("\n")
        for place in reversed(struck):
            # From the last item of a line to its first one, so that earlier strikes do not move the later places.
            now = lines[place.line - 1]
            ending = "\r" if now.endswith("\r") else ""
            lines[place.line - 1] = strike(now.removesuffix("\r"), place.index, today(self._clock)) + ending
        raw = exact_bytes("\n".join(lines), base) + added
        return number, self._files.change(file, base, raw, actor, summary)

    def _save(self, file: str, text: str, base_sha: str, actor: str, keep_secrets: bool) -> Saved | Conflict:
        current = self._files.load(file)
        if current.sha256 != base_sha:
            return self._conflict(file, text, base_sha, current)
        check_writable(current, file)
        redacted = redact(text, current.text) if not keep_secrets else None
        wanted = encode_edit(redacted.text if redacted else text, current)
        ident = self._files.change(file, current, wanted, actor, f"Edited {file}")
        return Saved(ident, read_text(self._files.path(file)).sha256, redacted.count if redacted else 0)

    def _conflict(self, file: str, mine: str, base_sha: str, current: TextFile) -> Conflict:
        exact = self._journal.text_with_sha(file, base_sha) if base_sha else ""
        theirs, wanted = visible(exact_text(current)), visible(mine)
        base = None if exact is None else visible(exact)
        merged = None if base is None else merge(base, theirs, wanted)
        return Conflict(base or "", wanted, theirs, merged, current.sha256)

    def _undo(self, ident: str) -> Saved | Conflict:
        entry = self._journal.get(ident)
        if entry is None:
            raise AssistantError("journal.missing", "This change is not in the journal.", "Reload the journal.")
        if not entry.can_undo:
            raise AssistantError("journal.undone", "This change was taken back already.")
        current = self._files.load(entry.path)
        check_writable(current, entry.path)
        text = exact_text(current)
        if current.sha256 == entry.after_sha:
            wanted: str | None = self._journal.undo_of(ident, text)
        else:
            wanted = self._merged_undo(ident, text)
        if wanted is None:
            prior = visible(entry.prior or "")
            return Conflict("", visible(text), prior, None, current.sha256)
        gone = not entry.before_sha and not wanted
        raw = None if gone else exact_bytes(wanted, current)
        done = self._files.change(entry.path, current, raw, "undo", f"Took back: {entry.summary}", undoes=ident)
        return Saved(done, read_text(self._files.path(entry.path)).sha256 if not gone else "")

    def _merged_undo(self, ident: str, text: str) -> str | None:
        if texts := self._journal.texts(ident):
            prior, after = texts
            return merge(after, text, prior)
        removed, added = self._journal.local_change(ident)
        return text.replace(added, removed) if added and text.count(added) == 1 else None

    def _clean(self, text: str, keep_secrets: bool) -> tuple[str, int]:
        redacted = redact(printable(text))
        said = one_line(printable(text) if keep_secrets else redacted.text).strip()
        if not said:
            raise _empty()
        if len(said) > LONGEST_ITEM:
            raise AssistantError(
                "memory.long", f"This is longer than {LONGEST_ITEM} characters.", "Put it into a note of its own."
            )
        return said, 0 if keep_secrets else redacted.count

    def _parse(self, file: TextFile) -> MemoryText:
        if self._parsed is None or self._parsed[0] != file.sha256:
            self._parsed = (file.sha256, parse_memory(file.text))
        return self._parsed[1]

    def _index_of(self, base: TextFile) -> ItemIndex:
        if self._index is None or self._index[0] != base.sha256:
            self._index = (base.sha256, ItemIndex(self._parse(base)))
        return self._index[1]

    def _grow_index(self, base: TextFile, raw: bytes, file: str, line: str, number: int) -> None:
        """The index of the longer file; so adding to a long file does not take it apart again."""
        seen = (self._journal.seen.files() or {}).get(file)
        if file == layout.MEMORY and self._index and seen and seen.size == len(raw) and self._index[0] == base.sha256:
            if entry := parse_entry(line, number):
                self._index[1].add(entry)
            self._index = (seen.sha256, self._index[1])

    def _info(self, file: str) -> MemoryFileInfo:
        path = self._root / file
        kind = {layout.MEMORY: "memory", layout.ARCHIVE: "archive"}.get(file, "topic")
        kind = "log" if file.startswith(f"{layout.LOGS}/") else kind
        stat = path.stat()
        text = read_text(path)
        problem = text.problem or (parse_note(text.text).problem if kind == "topic" else "")
        modified = datetime.fromtimestamp(stat.st_mtime).astimezone().replace(microsecond=0).isoformat()
        return MemoryFileInfo(file, kind, stat.st_size, modified, problem)


def _duplicate(index: ItemIndex, item: Item, now: date) -> Place | None:
    """The same words, unless they now hold until another day."""
    place = index.same(item, now)
    return place if place and item.until in (None, place.item.until) else None


def _corrected(index: ItemIndex, item: Item, now: date) -> list[Place]:
    same = index.same(item, now)
    return [*index.contradicted(item, now), *([same] if same else [])]


def _unique(places: Iterable[Place]) -> list[Place]:
    return sorted(set(places), key=lambda place: (place.line, place.index))


def _texts(items: Sequence[Item]) -> str:
    return "；".join(format_item(item) for item in items)


def _empty() -> AssistantError:
    return AssistantError("memory.empty", "There is nothing to remember.", "Write what should be remembered.")
