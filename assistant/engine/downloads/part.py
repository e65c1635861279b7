"""The part of a file that has arrived: the bytes, what they are of, and their running hash."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.folders import make_private, open_private
from assistant.core.json_text import parse_json
from assistant.engine.downloads.failures import unwritable

_BLOCK = 1 << 20
_PART, _STATE, _LOCK = ".part", ".part.json", ".part.lock"


@dataclass(frozen=True, slots=True)
class PartState:
    """What the bytes are of. name: of the model in the catalogue; size 0, sha256 "": not known yet."""

    name: str
    url: str
    etag: str = ""
    size: int = 0
    sha256: str = ""


class PartFile:
    """``target.part`` and its state. Use it as a context manager: one process at a time holds it.

    The digest is always that of the bytes on the disk; those of an earlier run are read once when it is opened.
    """

    def __init__(self, target: Path, wanted: PartState) -> None:
        self.target = target
        self.path = target.with_name(target.name + _PART)
        self.state = wanted
        self._state_path = target.with_name(target.name + _STATE)
        self._lock_path = target.with_name(target.name + _LOCK)
        self._stack = contextlib.ExitStack()
        self._file: BinaryIO | None = None
        self.size = 0
        self._digest = hashlib.sha256()

    def __enter__(self) -> PartFile:
        with self._told():
            make_private(self.target.parent)
            self._stack.enter_context(_locked(self._lock_path, self.target.name))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        with contextlib.suppress(OSError):  # what is of nothing that anybody knows has no byte either
            if not self._state_path.exists():
                self.path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # Windows deletes no open file; there the lock does it when it is released
            self._lock_path.unlink(missing_ok=True)  # while it is held, or another process could hold what is deleted
        self._stack.close()

    @property
    def is_there(self) -> bool:
        """Whether the file itself is there already."""
        with self._told():
            return self.target.exists()

    @property
    def digest(self) -> str:
        return self._digest.hexdigest()

    def open(self, cancel: CancelToken) -> None:
        """Take up what an earlier run left of the same file, or begin anew. Raises Cancelled, AssistantError."""
        known = read_state(self.target)
        with self._told():
            if known is None or not _same_file(known, self.state):
                self.restart()
                return
            wanted = self.state
            self.state = replace(
                wanted, etag=known.etag, size=wanted.size or known.size, sha256=wanted.sha256 or known.sha256
            )
            self._file = open(self.path, "ab", opener=open_private)  # noqa: SIM115 - closed by the context
            self._read_again(cancel)

    def write(self, data: bytes) -> None:
        """Append. Raises AssistantError when the disk does not take it; what is there stays whole."""
        assert self._file is not None
        with self._told():
            self._file.write(data)
        self.size += len(data)
        self._digest.update(data)

    def note(self, etag: str, size: int, sha256: str) -> None:
        """Write down what the server says that the bytes are of, before the first of them."""
        state = replace(self.state, etag=etag, size=size, sha256=sha256)
        if state == self.state and self._state_path.exists():
            return
        self.state = state
        with self._told():
            replacement = self._state_path.with_name(self._state_path.name + ".new")
            with open(replacement, "w", encoding="utf-8", opener=open_private) as file:
                file.write(json.dumps(asdict(state), ensure_ascii=False, sort_keys=True, indent=1) + "\n")
            replacement.replace(self._state_path)

    def restart(self) -> None:
        """Begin anew with no byte."""
        self._close()
        with self._told():
            self._file = open(self.path, "wb", opener=open_private)  # noqa: SIM115 - closed by the context
        self.size, self._digest = 0, hashlib.sha256()
        self.state = replace(self.state, etag="")

    def keep(self) -> None:
        """Have all that arrived on the disk."""
        if self._file is not None:
            with self._told():
                self._file.flush()
                os.fsync(self._file.fileno())

    def finish(self) -> None:
        """The whole file is here and is right: give it its name."""
        self.keep()
        self._close()
        with self._told():
            self.path.replace(self.target)
        with contextlib.suppress(OSError):  # without a part beside it, it says nothing
            self._state_path.unlink(missing_ok=True)

    def discard(self) -> None:
        """Leave nothing of it."""
        self._close()
        with self._told():
            self.path.unlink(missing_ok=True)
            self._state_path.unlink(missing_ok=True)

    def _read_again(self, cancel: CancelToken) -> None:
        self.size, self._digest = 0, hashlib.sha256()
        with self.path.open("rb") as file:
            while block := file.read(_BLOCK):
                cancel.check()
                self._digest.update(block)
                self.size += len(block)

    def _close(self) -> None:
        if self._file is not None:
            file, self._file = self._file, None
            with contextlib.suppress(OSError):  # what could not be flushed has been told of
                file.close()

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise unwritable(self.target, error) from error


def read_state(target: Path) -> PartState | None:
    """What a part beside ``target`` is of; None where there is none, or nobody knows any more."""
    try:
        data = parse_json(target.with_name(target.name + _STATE).read_bytes())
        texts = {key: data[key] for key in ("name", "url", "etag", "sha256") if isinstance(data[key], str)}
        size = data["size"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if len(texts) < 4 or not isinstance(size, int) or size < 0 or not target.with_name(target.name + _PART).exists():
        return None
    return PartState(size=size, **texts)


def parts_in(folder: Path) -> list[tuple[Path, PartState, int]]:
    """The unfinished downloads of a folder: the file each will be, what it is of, and the bytes that are here."""
    found = []
    with contextlib.suppress(OSError):
        for path in sorted(folder.glob("*" + _STATE)):
            target = path.with_name(path.name.removesuffix(_STATE))
            state = read_state(target)
            if state is not None:
                found.append((target, state, target.with_name(target.name + _PART).stat().st_size))
    return found


def arrived(target: Path) -> int:
    """Bytes of a file that are here, of its part or of the whole."""
    for path in (target, target.with_name(target.name + _PART)):
        with contextlib.suppress(OSError):
            return path.stat().st_size
    return 0


def discard_part(target: Path) -> None:
    """Remove what has arrived of a file. Raises AssistantError("download.busy") while it is being fetched."""
    with PartFile(target, PartState("", "")) as part:
        part.discard()


def _same_file(known: PartState, wanted: PartState) -> bool:
    """The address may differ (another mirror); what the bytes are of may not."""
    if known.sha256 and wanted.sha256:
        return known.sha256 == wanted.sha256
    return known.url == wanted.url


@contextlib.contextmanager
def _locked(path: Path, name: str) -> Iterator[None]:
    from filelock import FileLock, Timeout

    try:
        with FileLock(path, timeout=0, mode=0o600):
            yield
    except Timeout as error:
        raise AssistantError(
            "download.busy", f"{name} is being downloaded already.", "Wait until that is done, or stop it there."
        ) from error
