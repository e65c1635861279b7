"""The backups that were made of a workspace, as far as this computer knows: so that forgetting can reach them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from assistant.workspace.json_file import JsonFile

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
        self._file = JsonFile(folder / "backups.json", lock)

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
        self._file.change(lambda stored: [{**asdict(b), "path": str(b.path)} for b in edit(list(_each(stored)))])

    def _read(self) -> list[KnownBackup]:
        return list(_each(self._file.read()))


def _each(stored: Any) -> Iterator[KnownBackup]:
    """Those that have all fields, of the right types."""
    for fields in stored if isinstance(stored, list) else ():
        try:
            known = KnownBackup(**{**fields, "path": Path(fields["path"])})
        except (TypeError, KeyError) as error:
            _log.info("a backup that is known cannot be read: %s", error)
            continue
        if isinstance(known.made, str) and isinstance(known.key, str) and isinstance(known.files, int):
            yield known
