"""The backups that were made of a workspace, as far as this computer knows: so that forgetting can reach them."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from assistant.core.errors import AssistantError
from assistant.core.json_text import parse_json
from assistant.workspace.safe_files import locked, read_bytes, write_atomic
from assistant.workspace.stored import fits, keep_damaged

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
            keep_damaged(self._path)
            write_atomic(self._path, json.dumps(known, indent=1).encode())

    def _read(self) -> list[KnownBackup]:
        """What somebody edited into another form costs itself alone."""
        try:
            stored = parse_json(read_bytes(self._path) or b"[]")
        except (AssistantError, ValueError) as error:
            _log.debug("the list of backups cannot be read: %s", error)
            return []
        usable = [each for each in stored if _fits(each)] if isinstance(stored, list) else []
        return [KnownBackup(**{**each, "path": Path(each["path"])}) for each in usable]


def _fits(value: Any) -> bool:
    path = value.get("path") if isinstance(value, dict) else None
    return isinstance(path, str) and "\0" not in path and fits(value, KnownBackup)
