"""Reading and changing one memory file: every change is noticed, journaled and can be taken back, or did not happen."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from assistant.core.errors import AssistantError
from assistant.workspace import layout
from assistant.workspace.journal import Journal, Version
from assistant.workspace.safe_files import append_durably, as_error, locked, read_bytes, write_atomic
from assistant.workspace.text_files import TextFile, check_writable, decode, exact_text, grown, read_text, sha

Callback = Callable[[str, str, str, str], None]
"""file, actor, journal id, summary; called after the change, on the thread that made it."""


class FileChangedError(Exception):
    """Another program wrote the file between our reading and our writing it; the work starts again."""


class MemoryFiles:
    """The files behind Memory. Its methods but for ``locked`` are called under the lock."""

    def __init__(self, root: Path, lock: Path, journal: Journal) -> None:
        self.root = root
        self._lock = lock
        self._journal = journal
        self._callbacks: list[Callback] = []
        self._news: list[tuple[str, str, str, str]] = []

    def subscribe(self, callback: Callback) -> None:
        self._callbacks.append(callback)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of all memory files; who listens hears of the changes after it is free again."""
        news: list[tuple[str, str, str, str]] = []
        try:
            with locked(self._lock):
                try:
                    yield
                except OSError as error:
                    raise as_error(error, self.root) from error
                finally:
                    news, self._news = self._news, []
        finally:
            for each in news:
                for callback in self._callbacks:
                    callback(*each)

    def path(self, file: str) -> Path:
        return layout.resolve_existing(self.root, file)

    def load(self, file: str) -> TextFile:
        """The file as it is now; a change by another program since it was last seen is journaled first."""
        current = read_text(self.path(file))
        self._note(file, current)
        return current

    def note_all(self) -> list[str]:
        """Journal what other programs changed, made or removed; says which files. The first time nothing is news."""
        seen = self._journal.seen.files()
        changed = []
        for file in sorted({*layout.memory_files(self.root), *(seen or {})}):
            known = (seen or {}).get(file)
            path = self.root / file
            if known and path.exists() == bool(known.sha256):
                stat = path.stat() if known.sha256 else None
                if stat is None or (stat.st_size, stat.st_mtime_ns) == (known.size, known.modified_ns):
                    continue
            if self._note(file, read_text(path), first=seen is None):
                changed.append(file)
        return changed

    def change(
        self,
        file: str,
        base: TextFile,
        raw: bytes | None,
        actor: str,
        summary: str,
        *,
        added: int = 0,
        undoes: str = "",
    ) -> str:
        """Make the bytes ``raw`` of a file whose text was ``base`` (None: remove it); returns the journal's id.

        added: how many bytes at the end are new, where nothing else changed. Raises FileChangedError, and
        AssistantError with the file as it was.
        """
        if raw == base.raw and bool(base.sha256) == (raw is not None):
            return ""
        check_writable(base, file)
        path = self.path(file)
        layout.make_folder(self.root, path.parent)
        self._write(path, base, raw, added)
        after = _after(base, raw, added)
        try:
            ident = self._journal.record(file, actor, _version(base), _version(after), summary, undoes)
        except AssistantError:
            # What cannot be undone later must not happen.
            _put_back(path, base, len(raw or b""), added)
            raise
        self._journal.seen.note(file, after.raw, path, after.sha256, after.raw[-added:] if added else None)
        self._news.append((file, actor, ident, summary))
        return ident

    def _write(self, path: Path, base: TextFile, raw: bytes | None, added: int) -> None:
        if added and raw is not None:
            append_durably(path, raw[-added:])
            return
        if read_bytes(path) != base.raw:
            raise FileChangedError
        if raw is None:
            path.unlink(missing_ok=True)
        else:
            write_atomic(path, raw)

    def _note(self, file: str, current: TextFile, first: bool = False) -> bool:
        """Remember the file; True, with a line in the journal, when another program changed it."""
        seen = self._journal.seen
        known = seen.files()
        before = (known or {}).get(file)
        now = current.sha256
        if before and before.sha256 == now:
            return False
        is_news = known is not None and not first and bool(before or now)
        if is_news:
            self._record_foreign(file, before.sha256 if before else "", current)
        seen.note(file, current.raw, self.root / file, now)
        return is_news

    def _record_foreign(self, file: str, before_sha: str, current: TextFile) -> None:
        copy = self._journal.seen.copy(file)
        prior = exact_text(decode(copy)) if copy is not None else ""
        made, gone = not before_sha, not current.sha256
        how = "Made" if made else "Removed" if gone else "Changed"
        summary = f"{how} by another program"
        ident = self._journal.record(file, "disk", Version(prior, before_sha), _version(current), summary)
        self._news.append((file, "disk", ident, summary))


def _version(file: TextFile) -> Version:
    return Version(exact_text(file), file.sha256)


def _after(base: TextFile, raw: bytes | None, added: int) -> TextFile:
    if raw is None:
        return TextFile("", "utf-8", "\n", False, "")
    if added and not base.problem:
        return grown(base, raw[-added:].decode(base.encoding), raw)
    return decode(raw)


def _put_back(path: Path, base: TextFile, size: int, added: int) -> None:
    """Undo a write whose journal line failed. Cutting our own bytes off also works on a full disk."""
    try:
        if added and path.stat().st_size == size:
            with path.open("r+b") as file:
                file.truncate(size - added)
        elif not base.sha256:
            path.unlink(missing_ok=True)
        elif sha(read_bytes(path)) != base.sha256:
            write_atomic(path, base.raw)
        if not base.sha256 and path.exists() and not path.stat().st_size:
            path.unlink()
    except OSError as error:
        raise as_error(error, path) from error
