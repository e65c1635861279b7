"""The memory files as this app last saw them, so that a change by another program has a prior text too."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import threading
from dataclasses import asdict, dataclass
from pathlib import Path

from assistant.core.errors import AssistantError
from assistant.core.folders import make_private
from assistant.core.json_text import parse_json
from assistant.workspace.safe_files import as_error, read_bytes
from assistant.workspace.text_files import sha

_log = logging.getLogger(__name__)
_SPARE_LINES = 1_000
UNKNOWN = "-"
"""The checksum of a file of which only the state was noted, not the text."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of a file. sha256 "": that it does not exist; actor: who wrote it last, "" where nobody knows.

    size, modified_ns: of the file with these very bytes; -1: another one took its place at once.
    """

    sha256: str
    size: int
    modified_ns: int
    actor: str = ""
    problem: str = ""

    @property
    def is_sound(self) -> bool:
        """Whether each field is of its kind: the file may have been edited by hand."""
        words = (self.sha256, self.actor, self.problem)
        return all(isinstance(each, str) for each in words) and type(self.size) is type(self.modified_ns) is int


class SeenCopies:
    """Exact copies of the memory files in the data folder (mode 0600), with what stat said of each.

    They may be deleted at any time: the files then count as seen for the first time. Writes are not synced to the
    disk: a copy that a crash left behind does not match its checksum and is not used. What was seen is a file of
    lines, the last of a file counts, so that noting one costs a line however many there are.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._list = folder / "seen.jsonl"
        self._lock = threading.Lock()
        self._known: dict[str, Seen] = {}
        self._read = (0, 0)  # inode, bytes
        self._lines = 0

    def files(self) -> dict[str, Seen] | None:
        """What was seen, by file; None when nothing ever was."""
        with self._lock:
            return dict(self._known) if self._is_there() else None

    def of(self, file: str) -> Seen | None:
        """What was seen of one file."""
        with self._lock:
            return self._known.get(file) if self._is_there() else None

    @property
    def begun(self) -> bool:
        """Whether anything was ever seen."""
        with self._lock:
            return self._is_there()

    def copy(self, file: str) -> bytes | None:
        """The bytes as they were last seen; None when they are not known. b"" for a file that did not exist."""
        seen = self.of(file)
        if seen is None:
            return None
        if not seen.sha256:
            return b""
        try:
            raw = read_bytes(self._path(file))
        except AssistantError as error:
            _log.debug("no copy: %s", error)
            return None
        return raw if sha(raw) == seen.sha256 else None

    def note(
        self,
        file: str,
        raw: bytes,
        path: Path,
        sha256: str,
        added: bytes | None = None,
        *,
        actor: str = "",
        problem: str = "",
    ) -> None:
        """Remember the bytes of a file. added: the end of ``raw`` that is new, where nothing else changed."""
        try:
            make_private(self._folder)
            copy = self._path(file)
            if added is not None and copy.exists() and copy.stat().st_size == len(raw) - len(added):
                with copy.open("ab") as end:
                    end.write(added)
            else:
                _replace(copy, raw)
            self._add(file, _seen(path, sha256, len(raw), actor, problem))
        except OSError as error:
            raise as_error(error, self._folder) from error

    @property
    def folder(self) -> Path:
        """Where all copies are."""
        return self._folder

    def note_state(self, file: str, path: Path, actor: str, *, same: Seen | None = None) -> None:
        """Remember who wrote a file last, not what; same: what was seen of it, where only its time is another."""
        try:
            make_private(self._folder)
            sha256, problem = (same.sha256, same.problem) if same else (UNKNOWN, "")
            self._add(file, _seen(path, sha256, path.stat().st_size, actor, problem))
        except OSError as error:
            raise as_error(error, self._folder) from error

    def _add(self, file: str, seen: Seen) -> None:
        with self._lock:
            self._catch_up()
            if self._lines > 2 * len(self._known) + _SPARE_LINES:
                _replace(self._list, b"".join(_line(*known) for known in {**self._known, file: seen}.items()))
                return
            line = _line(file, seen)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
            descriptor = os.open(self._list, flags, 0o600)
            with os.fdopen(descriptor, "ab", buffering=0) as end:
                torn = os.fstat(end.fileno()).st_size > self._read[1]
                end.write(b"\n" + line if torn else line)  # a line that a crash cut off stays a line of its own
                now = os.fstat(end.fileno())
            if now.st_size == self._read[1] + len(line):  # nobody else wrote: what was read is all but this
                self._known[file], self._lines = seen, self._lines + 1
                self._read = (now.st_ino, now.st_size)

    def _is_there(self) -> bool:
        try:
            self._catch_up()
        except OSError as error:
            _log.debug("what was seen is not known: %s", error)
            return False
        return self._read[0] != 0

    def _catch_up(self) -> None:
        """Read what was added since, by whatever process; all of it where the file is another one."""
        try:
            stat = self._list.stat()
        except FileNotFoundError:
            self._known, self._read, self._lines = {}, (0, 0), 0
            return
        inode, offset = self._read
        if stat.st_ino != inode or stat.st_size < offset:
            self._known, self._lines, offset = {}, 0, 0
        if stat.st_size > offset:
            with self._list.open("rb") as file:
                file.seek(offset)
                whole = file.read().rpartition(b"\n")[0]
            for line in whole.split(b"\n") if whole else ():
                self._take(line)
            offset += len(whole) + 1 if whole else 0
        self._read = (stat.st_ino, offset)

    def _take(self, line: bytes) -> None:
        self._lines += 1
        try:
            fields = parse_json(line)
            file = fields.pop("file")
            seen = Seen(**fields)
            if not isinstance(file, str) or not seen.is_sound:
                raise TypeError("a field is of another kind")
            self._known[file] = seen
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            _log.debug("a line of what was seen is damaged: %s", error)

    def _path(self, file: str) -> Path:
        return self._folder / f"{hashlib.sha256(file.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}.copy"


def _seen(path: Path, sha256: str, size: int, actor: str, problem: str) -> Seen:
    try:
        stat = path.stat()
    except FileNotFoundError:
        return Seen("", 0, 0, actor)
    return Seen(sha256, size if stat.st_size == size else -1, stat.st_mtime_ns, actor, problem)


def _line(file: str, seen: Seen) -> bytes:
    return json.dumps({"file": file, **asdict(seen)}).encode() + b"\n"


def _replace(path: Path, data: bytes) -> None:
    temp = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    descriptor = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    temp.replace(path)
