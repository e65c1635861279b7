"""The memory files as this app last saw them, so that a change by another program has a prior text too."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from assistant.core.errors import AssistantError
from assistant.core.folders import make_private
from assistant.workspace.safe_files import as_error, read_bytes
from assistant.workspace.text_files import sha

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of a file. sha256 "": that it does not exist."""

    sha256: str
    size: int
    modified_ns: int


class SeenCopies:
    """Exact copies of the memory files in the data folder (mode 0600), with what stat said of each.

    They may be deleted at any time: the files then count as seen for the first time. Writes are not synced to the
    disk: a copy that a crash left behind does not match its checksum and is not used.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._index = folder / "seen.json"

    def files(self) -> dict[str, Seen] | None:
        """What was seen, by file; None when nothing ever was."""
        try:
            stored = json.loads(read_bytes(self._index) or b"null")
            return None if stored is None else {file: Seen(**fields) for file, fields in stored.items()}
        except (AssistantError, ValueError, TypeError, AttributeError) as error:
            _log.debug("what was seen is not known: %s", error)
            return None

    def copy(self, file: str) -> bytes | None:
        """The bytes as they were last seen; None when they are not known. b"" for a file that did not exist."""
        seen = (self.files() or {}).get(file)
        if seen is None:
            return None
        raw = read_bytes(self._path(file))
        if not seen.sha256:
            return b""
        return raw if sha(raw) == seen.sha256 else None

    def note(self, file: str, raw: bytes, path: Path, sha256: str, added: bytes | None = None) -> None:
        """Remember the bytes of a file. added: the end of ``raw`` that is new, where nothing else changed."""
        try:
            stat = path.stat() if path.exists() else None
            make_private(self._folder)
            copy = self._path(file)
            if added is not None and copy.exists() and copy.stat().st_size == len(raw) - len(added):
                with copy.open("ab") as end:
                    end.write(added)
            else:
                _replace(copy, raw)
            seen = Seen(sha256, stat.st_size, stat.st_mtime_ns) if stat else Seen("", 0, 0)
            index = {**(self.files() or {}), file: seen}
            _replace(self._index, json.dumps({name: asdict(each) for name, each in index.items()}).encode())
        except OSError as error:
            raise as_error(error, self._folder) from error

    def forget(self, file: str) -> None:
        """Keep no copy of a file; it counts as seen for the first time then."""
        try:
            self._path(file).unlink(missing_ok=True)
            if index := self.files():
                index.pop(file, None)
                _replace(self._index, json.dumps({name: asdict(each) for name, each in index.items()}).encode())
        except OSError as error:
            raise as_error(error, self._folder) from error

    def path(self, file: str) -> Path:
        """Where the copy of a file is."""
        return self._path(file)

    @property
    def folder(self) -> Path:
        return self._folder

    def _path(self, file: str) -> Path:
        return self._folder / f"{hashlib.sha256(file.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}.copy"


def _replace(path: Path, data: bytes) -> None:
    temp = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    descriptor = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    temp.replace(path)
