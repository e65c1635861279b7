"""Backups: one encrypted file of everything that cannot be rebuilt, proven by reading it back."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING

from assistant.core.cancel import CancelToken
from assistant.core.clock import stamp
from assistant.core.errors import AssistantError
from assistant.core.folders import named_path
from assistant.core.ports import Progress
from assistant.runtime.age import Key, decrypting, encrypt, kind_of, new_key, parse_key
from assistant.runtime.assistants import AssistantService
from assistant.settings.paths import Paths
from assistant.settings.secrets import SecretStore
from assistant.workspace.backup_content import Item, Part, Source, free_of, items
from assistant.workspace.disk import as_error
from assistant.workspace.identity import workspace_id
from assistant.workspace.known_backups import KnownBackup, KnownBackups
from assistant.workspace.layout import TEMP_PREFIX
from assistant.workspace.safe_files import remove_stale_temps, sync_folder
from assistant.workspace.workspace import Workspace

if TYPE_CHECKING:
    from assistant.runtime.restoring import RestoreReport
    from assistant.workspace.backup_tar import Manifest

SUFFIX = ".tar.gz.age"
_ABANDONED_SECONDS = 24 * 3600.0
_KEY_NAME = "backup-key"
_NO_KEYRING_HINT = "Use a passphrase instead: `keepsake backup FILE --passphrase`, or that choice in the window."


@dataclass(frozen=True, slots=True)
class BackupReport:
    """A backup that was made and read back. files, bytes: what is in it; size: of the file; skipped: left out.

    new_key: the recovery key, where this backup made it; "" otherwise.
    """

    file: Path
    files: int
    bytes: int
    size: int
    key: str
    proved: int
    skipped: tuple[str, ...]
    new_key: str = ""


class BackupService:
    """Of the person's folder with all assistants. Blocking; the keyring may ask the person to unlock it."""

    def __init__(
        self,
        workspace: Workspace,
        paths: Paths,
        keyring: SecretStore | None = None,
        assistants: AssistantService | None = None,
    ) -> None:
        self._workspace = workspace
        self._paths = paths
        self.assistants = assistants or AssistantService(workspace.root, paths)
        self._settings = paths.settings_file
        self._keyring = keyring or SecretStore()
        self._closing = CancelToken()

    @cached_property
    def known(self) -> KnownBackups:
        """The backups that were made of this folder, whichever assistant was open then."""
        first = self._part("", self.assistants.base)
        return KnownBackups(first.data, first.lock.with_name("backups.lock"))

    def key(self) -> Key | None:
        """The key in the keyring; None before the first backup. Raises AssistantError ``keyring.*``."""
        secret = self._keyring.get(_KEY_NAME)
        return parse_key(secret) if secret else None

    def close(self) -> None:
        """Stop a backup that is being made; nothing is left of it."""
        self._closing.cancel()

    def suggest_name(self) -> str:
        """A name for a backup made today."""
        return f"keepsake-{self._workspace.clock():%Y-%m-%d}{SUFFIX}"

    def make(
        self,
        file: Path,
        passphrase: str | None = None,
        *,
        overwrite: bool = False,
        cancel: CancelToken | None = None,
        progress: Progress | None = None,
    ) -> BackupReport:
        """Write a backup and read it back. passphrase: lock it with that instead of the key in the keyring.

        A folder as ``file`` gets a file with the day in its name. Raises AssistantError: ``backup.exists`` for a file
        that is no backup known here (unless ``overwrite``), ``backup.passphrase_empty``, ``keyring.*``, ``disk.full``;
        then nothing was written.
        """
        target = self._target(file, overwrite)
        key, fresh = self._key_for(passphrase)
        skipped: list[str] = []
        with beside(target) as temp:
            with temp.open("wb") as stream:
                written = self._write(stream, key, target, skipped, cancel or self._closing, progress)
            proved = prove(temp, key)
            if proved != written:
                raise AssistantError("backup.unproved", "The backup could not be read back.", "Try another disk.")
            size = temp.stat().st_size
        self.known.add(KnownBackup(target, written.made, key.kind, len(written.files)))
        shown = key.secret if fresh else ""
        count = len(written.files)
        return BackupReport(target, count, written.size, size, key.kind, count, tuple(skipped), shown)

    def restore(self, file: Path, folder: Path, secret: str) -> RestoreReport:
        """Restore a backup into a new or empty folder, beside this workspace. secret: its passphrase or recovery key,
        "" for the key in the keyring. Raises AssistantError as ``restoring.restore``.
        """
        from assistant.runtime.restoring import restore  # here and below: a window that opens needs no tar

        file = named_path(file)
        if kind_of(file) == "passphrase":
            key = Key("passphrase", secret)
        else:
            key = parse_key(secret) if secret.strip() else stored_key(self._keyring)
        report = restore(file, key, named_path(folder), self._paths, self._workspace.clock())
        adopt_key(key, self._keyring)
        return report

    def _write(
        self,
        stream: IO[bytes],
        key: Key,
        target: Path,
        skipped: list[str],
        cancel: CancelToken,
        progress: Progress | None,
    ) -> Manifest:
        from assistant.workspace.backup_tar import write_tar

        workspace, written = self._workspace, list["Manifest"]()
        others = frozenset([target, *(known.path for known in self.known.all())])
        source = Source(self._parts(), self._settings, others)
        found = _counted(items(source, skipped), cancel, progress)
        ident, made = source.parts[0].data.name, stamp(workspace.clock)
        encrypt(stream, key, lambda plain: written.append(write_tar(plain, found, ident, made, app_version())))
        stream.flush()
        os.fsync(stream.fileno())
        return written[0]

    def _parts(self) -> tuple[Part, ...]:
        others = self.assistants.names()[1:]
        return (self._part("", self.assistants.base), *(self._part(n, self.assistants.root(n)) for n in others))

    def _part(self, name: str, root: Path) -> Part:
        ident = workspace_id(root, self._paths.data)
        lock = self._paths.workspace_state(ident) / "locks" / "memory.lock"
        return Part(name, root, self._paths.workspace_data(ident), lock)

    def _target(self, file: Path, overwrite: bool) -> Path:
        target = Path(os.path.realpath(named_path(file)))
        if target.is_dir():
            target = target / self.suggest_name()
        free_of(self._paths.data / "workspaces", target)
        ours = any(known.path == target for known in self.known.all())
        if target.exists() and not ours and not overwrite:
            raise AssistantError(
                "backup.exists",
                f"There is a file {target.name} already, and it is no backup that was made here.",
                "Choose another name, or allow it with --overwrite.",
            )
        return target

    def _key_for(self, passphrase: str | None) -> tuple[Key, bool]:
        if passphrase is not None:
            if not passphrase.strip():
                raise AssistantError("backup.passphrase_empty", "The passphrase is empty.", "Choose a long one.")
            return Key("passphrase", passphrase), False
        try:
            if key := self.key():
                return key, False
            key = new_key()
            self._keyring.set(_KEY_NAME, key.secret)
        except AssistantError as error:
            if error.code == "keyring.none":
                raise AssistantError(error.code, error.message, _NO_KEYRING_HINT) from error
            raise
        return key, True


def adopt_key(key: Key, keyring: SecretStore | None = None) -> None:
    """Keep the recovery key of another computer in this one's keyring, if it has none yet and takes one."""
    keyring = keyring or SecretStore()
    with contextlib.suppress(AssistantError):
        if key.kind == "keyring" and keyring.get(_KEY_NAME) is None:
            keyring.set(_KEY_NAME, key.secret)


def stored_key(keyring: SecretStore | None = None) -> Key:
    """The key in this computer's keyring. Raises AssistantError("backup.no_key") where it holds none."""
    hint = "Give the recovery key that was shown when the backup was made (--key-file)."
    try:
        secret = (keyring or SecretStore()).get(_KEY_NAME)
    except AssistantError as error:
        raise AssistantError(error.code, error.message, hint) from error
    if not secret:
        raise AssistantError("backup.no_key", "The keyring of this computer holds no key for backups.", hint)
    return parse_key(secret)


def prove(file: Path, key: Key) -> Manifest:
    """Read a whole backup and compare every file with the manifest. Raises AssistantError ``backup.*``."""
    from assistant.workspace.backup_tar import read_tar

    with decrypting(file, key) as stream:
        return read_tar(stream, lambda *_: None)


@contextlib.contextmanager
def beside(target: Path) -> Iterator[Path]:
    """A new file (mode 0600) that takes the target's place when the block ends well, and is gone otherwise."""
    with contextlib.suppress(OSError):  # what a killed one left: as large as a backup
        remove_stale_temps(target.parent, time.time() - _ABANDONED_SECONDS)
    temp = target.with_name(f"{TEMP_PREFIX}{os.getpid()}-{secrets.token_hex(4)}")
    try:
        os.close(os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            yield temp
            temp.replace(target)
            sync_folder(target.parent)
        finally:
            temp.unlink(missing_ok=True)
    except OSError as error:
        raise as_error(error, target) from error


def _counted(found: Iterator[Item], cancel: CancelToken, progress: Progress | None) -> Iterator[Item]:
    for number, item in enumerate(found, 1):
        cancel.check()
        if progress:
            progress(number, 0, "files")
        yield item


def app_version() -> str:
    """The version of this Keepsake, "" where it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("keepsake")
    except PackageNotFoundError:
        return ""
