"""The snapshots of an assistant's chats in its state folder: found, loaded, written, and kept within a limit.

They are derived: one that is cut, lies or does not fit any more is deleted and never loaded, and costs reading again.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import secrets
import shutil
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.core.cancel import CancelToken
from assistant.core.folders import make_private, open_private
from assistant.engine.snapshot_file import (
    SUFFIX,
    TEMP,
    Identity,
    Run,
    Snapshot,
    digest_of,
    load_state,
    read_snapshot,
    write_snapshot,
)

_log = logging.getLogger(__name__)

ROW = "fixed row"
"""In the place of a conversation: what chats begin with. No chat can be called so."""
_EPOCH = "epoch"
"""A file that is written anew when something was forgotten: what was read before must not come back to disk."""
_TEMP_SECONDS = 3600.0
"""An unfinished file so old is a killed process's."""
_FREE_BYTES = 500_000_000
"""So much of the disk stays free of snapshots."""
_OF_ONE = 3
"""States kept of one conversation: its latest branches."""
_SAMPLES, _SAMPLE_BYTES = 16, 65_536


@dataclass(frozen=True, slots=True)
class Place:
    """Where snapshots of an assistant's chats are, and how many bytes they may take together."""

    folder: Path
    limit: int

    @property
    def epoch(self) -> str:
        """Another one as soon as something was forgotten."""
        try:
            return (self.folder / _EPOCH).read_text("ascii", "replace")
        except OSError:
            return ""


class SnapshotStore:
    """The snapshots of one place that fit one loaded model. For one thread; other processes may use the folder too."""

    def __init__(self, place: Place, identity: Identity, epoch: str | None = None) -> None:
        """epoch: of the place when what is saved was read, None for now."""
        self.place = place
        self._epoch = place.epoch if epoch is None else epoch
        self._identity = identity
        self._known: dict[tuple[str, int, int], Snapshot | None] = {}

    def look(self) -> list[Snapshot]:
        """What is there now, the latest used first; what is spoilt or does not fit any more is deleted."""
        found: dict[tuple[str, int, int], Snapshot | None] = {}
        for path, status in _newest_first(self.place.folder):
            key = (path.name, status.st_mtime_ns, status.st_size)
            found[key] = self._known[key] if key in self._known else self._judged(path)
        self._known = found
        return [snapshot for snapshot in found.values() if snapshot]

    def load(self, snapshot: Snapshot, cancel: CancelToken) -> bytearray | None:
        """Its state, and it counts as used now; None, and the file is gone, where it is not what was written.

        Raises Cancelled.
        """
        try:
            state = load_state(snapshot, cancel)
            if state is not None:
                os.utime(snapshot.path)
                return state
        except (OSError, MemoryError) as error:
            _log.info("the snapshot %s cannot be read: %s", snapshot.path.name, error)
            return None
        self.reject(snapshot, "its bytes are not those that were written")
        return None

    def reject(self, snapshot: Snapshot, why: str) -> None:
        """Delete a snapshot that turned out to be of no use."""
        _log.info("the snapshot %s is deleted: %s", snapshot.path.name, why)
        _unlink(snapshot.path)

    def save(
        self, conversation: str, tokens: Sequence[int], replies: Sequence[Run], state: memoryview, cancel: CancelToken
    ) -> bool:
        """Write one; whether it is there now. Raises Cancelled; what was there before stays then."""
        folder = self.place.folder
        if not self._identity.model:
            return False
        try:
            make_private(folder)
            if len(state) > self.place.limit or shutil.disk_usage(folder).free < len(state) + _FREE_BYTES:
                return False
            path = write_snapshot(folder, digest_of(conversation), self._identity, tokens, replies, state, cancel)
        except OSError as error:
            _log.info("no snapshot was written: %s", error)
            return False
        if self.place.epoch != self._epoch:  # something was forgotten meanwhile
            _unlink(path)
            return False
        self._drop_outgrown(digest_of(conversation))
        shrink(self.place)
        return True

    def _judged(self, path: Path) -> Snapshot | None:
        """None for one of another model too, which stays."""
        snapshot = read_snapshot(path)
        if snapshot is None:
            _log.info("the snapshot %s is deleted: it is cut, spoilt or of another version", path.name)
            _unlink(path)
            return None
        if snapshot.identity == self._identity:
            return snapshot
        if snapshot.identity.model == self._identity.model:
            self.reject(snapshot, "the model runs with other settings now")
        return None

    def _drop_outgrown(self, conversation: str) -> None:
        """Of one conversation stay the latest branches, none of them the beginning of the newest."""
        own = [each for each in self.look() if each.conversation == conversation]
        newest = own[0].tokens if own else ()  # the one that was just written
        branches = [
            each for each in own if len(each.tokens) == len(newest) or newest[: len(each.tokens)] != each.tokens
        ]
        for each in own:
            if each not in branches[:_OF_ONE]:
                _unlink(each.path)


# --- for who keeps house; none of it needs a model ----------------------------------------------------------------


def shrink(place: Place) -> None:
    """Delete the least recently used until all of them fit the limit."""
    total = 0
    for path, status in _newest_first(place.folder):
        total += status.st_size
        if total > place.limit:
            _unlink(path)


def drop_conversation(folder: Path, conversation: str) -> None:
    """Delete the snapshots of one conversation, and unfinished files, which do not say of which they are."""
    for path in left_in(folder):
        if path.name.startswith((digest_of(conversation), TEMP)):
            _unlink(path)


def drop_all(folder: Path) -> None:
    """Delete everything, and let no process write again what it read before this, were it the first. Raises OSError."""
    make_private(folder)
    with open(folder / _EPOCH, "w", opener=open_private) as file:
        file.write(secrets.token_hex(16))
    for path in left_in(folder):
        path.unlink(missing_ok=True)


def left_in(folder: Path) -> list[Path]:
    """All files that hold anything of a chat, unfinished ones too."""
    try:
        return sorted(path for path in folder.iterdir() if path.name != _EPOCH)
    except OSError:
        return []


def drop_foreign(place: Place, conversations: Collection[str]) -> int:
    """Delete what is of no conversation of these, what is spoilt, and what killed processes left; how many went."""
    known = {digest_of(name) for name in (*conversations, ROW)}
    gone = 0
    for path, _status in _newest_first(place.folder):
        snapshot = read_snapshot(path)
        if snapshot is None or snapshot.conversation not in known:
            gone += _unlink(path)
    for path in left_in(place.folder):
        with contextlib.suppress(OSError):
            if path.name.startswith(TEMP) and path.stat().st_mtime < time.time() - _TEMP_SECONDS:
                gone += _unlink(path)
    shrink(place)
    return gone


def drop_models(folder: Path, present: Collection[str]) -> int:
    """Delete the snapshots of models that are not among these (see model_identity); how many went."""
    gone = 0
    for path, _status in _newest_first(folder):
        snapshot = read_snapshot(path)
        if snapshot and snapshot.identity.model not in present:
            gone += _unlink(path)
    return gone


def usage(folder: Path) -> tuple[int, int]:
    """How many snapshots there are, and their bytes together."""
    sizes = [status.st_size for _path, status in _newest_first(folder)]
    return len(sizes), sum(sizes)


def model_identity(path: Path) -> str:
    """Names the weights of a model file: its size and pieces from all over it; "" where it cannot be read any more.

    The digest of some gigabytes would take longer than a snapshot saves.
    """
    try:
        size = path.stat().st_size
        digest = hashlib.sha256(str(size).encode())
        with path.open("rb") as file:
            for n in range(_SAMPLES):
                file.seek(max(0, size - _SAMPLE_BYTES) * n // (_SAMPLES - 1))
                digest.update(file.read(_SAMPLE_BYTES))
    except OSError:
        return ""
    return digest.hexdigest()[:32]


def _newest_first(folder: Path) -> list[tuple[Path, os.stat_result]]:
    return sorted(_files(folder), key=lambda each: -each[1].st_mtime_ns)


def _files(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(SUFFIX) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    yield Path(entry.path), entry.stat(follow_symlinks=False)


def _unlink(path: Path) -> bool:
    """Whether it is gone by this; another process may have been quicker, or hold it open (Windows)."""
    try:
        path.unlink()
    except OSError:
        return False
    return True
