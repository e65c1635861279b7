"""Reading and changing one memory file: every change is noticed, journaled and can be taken back, or did not happen."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.core.errors import AssistantError
from assistant.workspace import layout
from assistant.workspace.file_list import problem_of
from assistant.workspace.journal import Change, Journal, Version
from assistant.workspace.redaction import redact
from assistant.workspace.safe_files import as_error, locked
from assistant.workspace.seen import Seen
from assistant.workspace.standing import Standing
from assistant.workspace.text_files import TextFile, as_read_only, check_writable, decode, exact_text, grown, read_text

Callback = Callable[[str, str, str, str], None]
"""file, actor, journal id, summary; called after the change, on the thread that made it."""
News = Callable[[], None]
"""Tells whoever listens; called when the lock is free again."""


class FileChangedError(Exception):
    """Another program wrote the file between our reading and our writing it; the work starts again."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """The bytes ``raw`` for a file whose text was ``base`` (None: remove it).

    added: how many bytes at the end are new, where nothing else changed; undoes: the id of the change it takes back.
    """

    file: str
    base: TextFile
    raw: bytes | None
    actor: str
    summary: str
    added: int = 0
    undoes: str = ""

    @property
    def is_empty(self) -> bool:
        return self.raw == self.base.raw and bool(self.base.sha256) == (self.raw is not None)

    @property
    def growth(self) -> int:
        """Bytes more than before."""
        return len(self.raw or b"") - len(self.base.raw)


class MemoryFiles:
    """The files behind Memory. Its methods but for ``locked`` are called under the lock."""

    def __init__(self, root: Path, lock: Path, journal: Journal) -> None:
        self.root = root
        self._lock = lock
        self._journal = journal
        self._callbacks: list[Callback] = []
        self._news: list[News] = []

    def subscribe(self, callback: Callback) -> None:
        self._callbacks.append(callback)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of all memory files; who listens hears of the changes after it is free again.

        Raises ("workspace.gone"), also where only reading follows: a drive that was pulled has deleted nothing.
        """
        news: list[News] = []
        try:
            with locked(self._lock):
                layout.check_there(self.root)
                try:
                    yield
                except OSError as error:
                    raise as_error(error, self.root) from error
                finally:
                    news, self._news = self._news, []
        finally:
            for tell in news:
                tell()

    def path(self, file: str) -> Path:
        return layout.resolve_existing(self.root, file, known=self._journal.seen.of(file) is not None)

    def read(self, file: str) -> TextFile:
        """The file as it is now; one in another program's form is read-only."""
        text = read_text(self.path(file))
        return as_read_only(text) if layout.is_foreign(file) else text

    def load(self, file: str) -> TextFile:
        """As read; a change by another program since it was last seen is journaled first."""
        current = self.read(file)
        if not layout.is_foreign(file):
            self._note(file, current)
        return current

    def note_all(self) -> list[str]:
        """Journal what other programs changed, made or removed; says which files. The first time nothing is news.

        Day logs are not looked at: they are for people, and grow with every turn.
        """
        seen = self._journal.seen.files()
        known = {file: each for file, each in (seen or {}).items() if layout.kind_of(file) != "log"}
        names = sorted({*layout.memory_files(self.root), *known})
        changed = [file for file in names if not self._is_as_seen(file, known.get(file))]
        return [file for file in changed if self._note(file, read_text(self.root / file), first=seen is None)]

    def _is_as_seen(self, file: str, known: Seen | None) -> bool:
        try:
            stat = (self.root / file).stat()
        except FileNotFoundError:
            return known is not None and not known.sha256
        return known is not None and (known.size, known.modified_ns) == (stat.st_size, stat.st_mtime_ns)

    def change(self, change: FileChange) -> str:
        """Change one file; returns the journal's id, "" where nothing is to be done. Raises as change_all."""
        return self.change_all([change])[0]

    def change_all(self, changes: Sequence[FileChange], batch: str = "") -> list[str]:
        """Change files, all or none; returns the journal's ids ("" where nothing is to be done).

        What comes is written before what goes: a process that is killed in between leaves a text that moves in two
        files rather than in none. Raises FileChangedError, and AssistantError with the files as they were.
        """
        wanted = [change for change in changes if not change.is_empty]
        if not wanted:
            return [""] * len(changes)
        wanted.sort(key=lambda change: (change.raw is None, -change.growth))
        begun: list[Standing] = []
        try:
            for change in wanted:
                begun.append(self._begin(change))
                if not begun[-1].write():
                    raise FileChangedError
            afters = [_after(change.base, change.raw, change.added) for change in wanted]
            idents = self._journal.record_all([_record(*pair) for pair in zip(wanted, afters, strict=True)], batch)
        except (AssistantError, FileChangedError, OSError):
            # What cannot be undone later must not happen.
            for standing in reversed(begun):
                standing.put_back()
            raise
        for standing in begun:
            standing.settle()
        for change, after, ident in zip(wanted, afters, idents, strict=True):
            self._note_own(change, after, ident)
        known = {id(change): ident for change, ident in zip(wanted, idents, strict=True)}
        return [known.get(id(change), "") for change in changes]

    def _note_own(self, change: FileChange, after: TextFile, ident: str) -> None:
        file, added = change.file, after.raw[-change.added :] if change.added else None
        problem = problem_of(file, after)
        self._journal.seen.note(
            file, after.raw, self.path(file), after.sha256, added, actor=change.actor, problem=problem
        )
        self._tell(change.file, change.actor, ident, change.summary)

    def _tell(self, *news: str) -> None:
        for callback in self._callbacks:
            self._news.append(functools.partial(callback, *news))

    def _begin(self, change: FileChange) -> Standing:
        check_writable(change.base, change.file)
        is_new = change.raw is not None and not change.base.sha256 and change.actor != "undo"
        if is_new and redact(change.file).count:  # a name cannot be redacted where it stands
            raise layout.refuse(redact(change.file).text, "holds what looks like a secret")
        path = self.path(change.file)
        layout.make_folder(self.root, path.parent)
        return Standing(path, change.base.raw if change.base.sha256 else None, change.raw, change.added)

    def _note(self, file: str, current: TextFile, first: bool = False) -> bool:
        """Remember the file; True, with a line in the journal, when another program changed it."""
        seen = self._journal.seen
        before, begun = seen.of(file), seen.begun
        now, path = current.sha256, self.root / file
        if not before and not now and redact(file).count:
            return False  # a name that will be refused
        if before and before.sha256 == now:
            if now and not self._is_as_seen(file, before):
                seen.note_state(file, path, before.actor, same=before)
            return False
        is_news = begun and not first and bool(before or now) and layout.kind_of(file) != "log"
        actor = "disk" if is_news else ""
        if is_news and not self._is_ours(file, now):
            self._record_foreign(file, before.sha256 if before else "", current)
        seen.note(file, current.raw, path, now, actor=actor, problem=problem_of(file, current))
        return is_news

    def _is_ours(self, file: str, sha256: str) -> bool:
        """Whether a process of ours was killed between its line in the journal and its note of what it wrote."""
        newest = self._journal.entries(limit=1, path=file)
        return bool(newest) and newest[0].after_sha == sha256

    def _record_foreign(self, file: str, before_sha: str, current: TextFile) -> None:
        copy = self._journal.seen.copy(file)
        prior = exact_text(decode(copy)) if copy is not None else ""
        made, gone = not before_sha, not current.sha256
        how = "Made" if made else "Removed" if gone else "Changed"
        summary = f"{how} by another program"
        ident = self._journal.record(file, "disk", Version(prior, before_sha), _version(current), summary)
        self._tell(file, "disk", ident, summary)


def _record(change: FileChange, after: TextFile) -> Change:
    return Change(
        change.file, change.actor, _version(change.base), _version(after), change.summary, undoes=change.undoes
    )


def _version(file: TextFile) -> Version:
    return Version(exact_text(file), file.sha256)


def _after(base: TextFile, raw: bytes | None, added: int) -> TextFile:
    if raw is None:
        return TextFile("", "utf-8", "\n", False, "")
    if added and not base.problem:
        return grown(base, raw[-added:].decode(base.encoding), raw)
    return decode(raw)
