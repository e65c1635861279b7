"""The backups that were made of a workspace, as far as this computer knows: so that forgetting can reach them."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from assistant.core.errors import AssistantError
from assistant.workspace.safe_files import locked, read_bytes, write_atomic

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class KnownBackup:
    """A backup that was made. made: ISO time; key: "keyring" or "passphrase"."""

    path: Path
    made: str
    key: str
    files: int = 0

    @property
    def there(self) -> bool:
        return self.path.is_file()

    @property
    def deleted(self) -> bool:
        """The file is gone though its folder is there: no drive that is only unplugged."""
        return self.path.parent.is_dir() and not self.path.exists()


class KnownBackups:
    """One small JSON file. lock: a file beside it."""

    def __init__(self, folder: Path, lock: Path) -> None:
        self._path = folder / "backups.json"
        self._lock = lock

    def all(self) -> list[KnownBackup]:
        """Newest first; those that were deleted are left out."""
        return sorted((b for b in self._read() if not b.deleted), key=lambda b: b.made, reverse=True)

    def add(self, backup: KnownBackup) -> None:
        """Note a backup in place of the one that was at its path."""
        self._change(lambda known: [*(b for b in known if b.path != backup.path and not b.deleted), backup])

    def remove(self, path: Path) -> None:
        """Know nothing of it any more."""
        self._change(lambda known: [b for b in known if b.path != path])

    def _change(self, edit: Callable[[list[KnownBackup]], list[KnownBackup]]) -> None:
        with locked(self._lock):
            known = [{**asdict(b), "path": str(b.path)} for b in edit(self._read())]
            write_atomic(self._path, json.dumps(known, indent=1).encode())

    def _read(self) -> list[KnownBackup]:
        try:
            stored = json.loads(read_bytes(self._path) or b"[]")
            known = [KnownBackup(**{**fields, "path": Path(fields["path"])}) for fields in stored]
            return [each for each in known if isinstance(each.made, str) and isinstance(each.key, str)]
        except (AssistantError, ValueError, TypeError, KeyError) as error:
            _log.debug("the list of backups cannot be read: %s", error)
            return []
