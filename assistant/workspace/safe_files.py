"""Files that are whole or not written at all, under locks that a second process honours."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from assistant.core.errors import AssistantError
from assistant.core.folders import make_private
from assistant.workspace.disk import as_error, ends_with_newline, read_bytes
from assistant.workspace.exchange import exchange
from assistant.workspace.layout import TEMP_PREFIX
from assistant.workspace.text_files import TextFile, read_text

__all__ = [
    "TextFile",
    "append_durably",
    "append_lines",
    "as_error",
    "locked",
    "read_bytes",
    "read_text",
    "remove_stale_temps",
    "sync_folder",
    "write_atomic",
    "write_over",
]

_LOCK_SECONDS = 20.0
_POLL_SECONDS = 0.005
_REPLACED_TRIES = 8
_BINARY = getattr(os, "O_BINARY", 0)


@contextlib.contextmanager
def locked(lock_path: Path, seconds: float = _LOCK_SECONDS) -> Iterator[None]:
    """Hold a lock against other threads and processes. Not re-entrant. Raises ("workspace.busy") when it is not had
    within ``seconds``.
    """
    try:
        make_private(lock_path.parent)
        lock = FileLock(lock_path, timeout=seconds, mode=0o600, thread_local=False)
        lock.acquire(poll_interval=_POLL_SECONDS)
    except Timeout as error:
        raise AssistantError(
            "workspace.busy", "Another program has been writing for too long.", "Close it, then try again."
        ) from error
    except OSError as error:
        raise as_error(error, lock_path) from error
    try:
        yield
    finally:
        lock.release()


def write_atomic(path: Path, data: bytes) -> None:
    """Replace or create a file (mode 0600) so that a crash at any moment leaves the old text or the new one.

    A symlink is written through to its target. The folder must exist. Raises AssistantError as in as_error; then
    the old file is intact and nothing of the new one is left.
    """
    with _written(path, data) as (temp, target):
        temp.replace(target)
        sync_folder(target.parent)


def aside_of(path: Path) -> Path:
    """A name beside the file that ``path`` names, which no other file has; what a crash leaves there is cleared up."""
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    return target.with_name(f"{TEMP_PREFIX}{os.getpid()}-{secrets.token_hex(4)}")


def write_over(path: Path, data: bytes, expected: bytes | None, aside: Path | None = None) -> bool:
    """As write_atomic, but only over a file of the bytes ``expected`` (None: where none is); False: it has others.

    What another program writes at the very same time is neither overwritten nor lost, however it writes: its file
    stays and this one is not written, or what it added stands behind. Where the system cannot exchange two files
    (Windows, some network disks) a few microseconds remain. aside: see aside_of; there the old file stays, so that it
    can be put back where the disk has no room for it to be written again.
    """
    with _written(path, data) as (temp, target):
        if expected is None:
            return _create(temp, target)
        if read_bytes(target) != expected or not target.exists():
            return False
        if not exchange(temp, target):
            _keep(target, aside)
            temp.replace(target)
        displaced = read_bytes(temp) if temp.exists() else expected
        if displaced.startswith(expected):
            if aside and temp.exists():
                temp.replace(aside)
            sync_folder(target.parent)
            if added := displaced[len(expected) :]:  # through a handle that was open already
                append_durably(target, added)
            return True
        sync_folder(target.parent)
        while read_bytes(temp) != data:  # what we took away was newer than what we knew
            exchange(temp, target)
        return False


@contextlib.contextmanager
def _written(path: Path, data: bytes) -> Iterator[tuple[Path, Path]]:
    """A temporary file with the data beside the file that ``path`` names; it is gone afterwards."""
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    temp = aside_of(target)
    try:
        descriptor = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
        try:
            _write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        yield temp, target
    except OSError as error:
        raise as_error(error, target) from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            temp.unlink()


def _keep(target: Path, aside: Path | None) -> None:
    """Give the file a second name, where the disk has such."""
    if aside is not None:
        with contextlib.suppress(OSError):
            os.link(target, aside)


def _create(temp: Path, target: Path) -> bool:
    """Give the file its name unless the name is taken."""
    try:
        os.link(temp, target)
    except FileExistsError:
        return False
    except OSError:  # a disk without links
        if target.exists():
            return False
        temp.replace(target)
    sync_folder(target.parent)
    return True


def append_durably(path: Path, data: bytes, *, create: bool = True) -> None:
    """Add bytes to the end of a file and wait until they are on the disk; the cost does not depend on its length.

    An editor that saves by renaming may put another file in its place meanwhile: then the bytes go there too. When
    the disk is full what was written in part is taken back. Raises AssistantError as in as_error.
    """
    flags = os.O_WRONLY | os.O_APPEND | _BINARY | (os.O_CREAT if create else 0)
    try:
        for _ in range(_REPLACED_TRIES):
            fresh = create and not path.exists()
            descriptor = os.open(path, flags, 0o600)
            try:
                _append(descriptor, data)
                still_there = _same_file(descriptor, path)
            finally:
                os.close(descriptor)
            if still_there:
                if fresh:
                    sync_folder(path.parent)
                return
    except OSError as error:
        raise as_error(error, path) from error
    raise AssistantError("workspace.busy", f"Another program keeps replacing {path.name}.", "Close it, then try again.")


def append_lines(path: Path, lines: bytes) -> None:
    """As append_durably, for a file of lines in a folder of ours (mode 0700, made where it is missing).

    A line that a crash cut off stays a line of its own.
    """
    try:
        make_private(path.parent)
    except OSError as error:
        raise as_error(error, path) from error
    append_durably(path, (b"" if ends_with_newline(path) else b"\n") + lines)


def sync_folder(folder: Path) -> None:
    """Make a rename or a new name in ``folder`` durable; Windows needs and has no such call."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_stale_temps(folder: Path, older_than: float) -> int:
    """Delete temporary files that a killed process left, last written before ``older_than`` (Unix time)."""
    removed = 0
    with os.scandir(folder) as entries:
        ours = [Path(e.path) for e in entries if e.name.startswith(TEMP_PREFIX) and e.is_file(follow_symlinks=False)]
    for path in ours:
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_mtime < older_than:
                path.unlink()
                removed += 1
    return removed


def _append(descriptor: int, data: bytes) -> None:
    size = os.fstat(descriptor).st_size
    try:
        _write_all(descriptor, data)
        os.fsync(descriptor)
    except OSError:
        # Only our own bytes are taken back: a larger file means that somebody else added to it meanwhile.
        if size < os.fstat(descriptor).st_size <= size + len(data):
            os.ftruncate(descriptor, size)
        raise


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _same_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
