"""Restoring a backup: unpacked beside its place, read back and compared, and only then moved there."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from assistant.core.errors import AssistantError
from assistant.core.folders import make_private
from assistant.runtime.age import Key, decrypting
from assistant.runtime.restore_staging import staging
from assistant.settings.paths import Paths, default_workspace
from assistant.settings.store import SettingsStore
from assistant.workspace.backup_content import DATA, OTHERS, SETTINGS, WORKSPACE, free_of
from assistant.workspace.backup_tar import FileRecord, Manifest, read_tar
from assistant.workspace.disk import as_error
from assistant.workspace.identity import workspace_around, workspace_id
from assistant.workspace.known_backups import KnownBackup, KnownBackups


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """A workspace that was restored and read back. made: when the backup was; settings: whether they were restored.

    replaced: where what was kept before about a workspace at this place was put aside; None: there was nothing.
    """

    workspace: Path
    made: str
    files: int
    bytes: int
    proved: int
    settings: bool
    replaced: Path | None


def restore(file: Path, key: Key, root: Path, paths: Paths, now: datetime) -> RestoreReport:
    """Bring a backup back into ``root``, a new folder or one without files.

    Raises AssistantError: ``restore.not_empty``, ``backup.*``, ``disk.full``; then nothing is left behind. Settings
    that are there already are kept; restored ones come to name ``root`` where it is not the default place.
    """
    root = Path(os.path.realpath(root))
    _check_empty(root)
    try:
        _check_place(root, paths)
        with staging(root.parent, paths) as made:
            stage = _Stage({WORKSPACE: made.work, DATA: made.data, OTHERS: made.others})
            with decrypting(file, key) as stream:
                manifest = read_tar(stream, stage.take)
            proved = stage.prove(manifest)
            _check_empty(root)
            _move_in(made.work, root)
            ident, replaced = _keep_data(made.data, root, paths, now)
            for each in made.others.iterdir():
                _keep_data(each, root / "assistants" / each.name, paths, now)
        known = KnownBackups(paths.workspace_data(ident), paths.workspace_state(ident) / "locks" / "backups.lock")
        known.add(KnownBackup(Path(os.path.realpath(file)), manifest.made, key.kind, len(manifest.files)))
        settings = _restore_settings(stage.settings, root, paths)
    except OSError as error:
        raise as_error(error, root) from error
    return RestoreReport(root, manifest.made, len(manifest.files), manifest.size, proved, settings, replaced)


class _Stage:
    """Unpacks into one folder a part."""

    def __init__(self, folders: dict[str, Path]) -> None:
        self._folders = folders
        self.settings: bytes | None = None

    def take(self, name: str, record: FileRecord, data: bytes) -> None:
        if name == SETTINGS:
            self.settings = data
            return
        path = self._path(name)
        try:
            self._write(path, record, data)
        except OSError as error:
            raise as_error(error, path) from error

    def _write(self, path: Path, record: FileRecord, data: bytes) -> None:
        make_private(path.parent)
        # The person can always read and write it; whether others may is as it was.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        path.chmod(record.mode | 0o600)

    def prove(self, manifest: Manifest) -> int:
        """Read everything back; how many files are as the manifest says. All of it is on the disk then."""
        if hasattr(os, "sync"):  # one for all: a call a file takes minutes for thousands of files
            os.sync()
        for name, record in manifest.files.items():
            data = self.settings if name == SETTINGS else self._path(name).read_bytes()
            if data is None or hashlib.sha256(data).hexdigest() != record.sha256:
                raise AssistantError(
                    "restore.unproved", f"{name} could not be read back; nothing was restored.", "Try another disk."
                )
        return len(manifest.files)

    def _path(self, name: str) -> Path:
        part, _, rest = name.partition("/")
        return self._folders[part] / rest


def _check_place(root: Path, paths: Paths) -> None:
    """Not in what the app keeps for itself; nor in a workspace, where restored chats would be notes of its memory."""
    free_of(paths.data / "workspaces", root)
    if workspace_around(paths.data, root):
        raise AssistantError(
            "restore.inside", f"The folder {root} lies inside a Keepsake folder.", "Choose a folder beside it."
        )


def _check_empty(root: Path) -> None:
    if root.is_symlink() or (root.exists() and not root.is_dir()) or any(_files(root)):
        raise AssistantError(
            "restore.not_empty",
            f"The folder {root} holds files already; a backup is restored into a new or empty one only.",
            "Choose another folder with --workspace, or move that one away first.",
        )


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())


def _move_in(work: Path, root: Path) -> None:
    for folder in sorted((path for path in root.rglob("*") if path.is_dir()), reverse=True):
        folder.rmdir()
    with contextlib.suppress(OSError):  # of Windows, or of a drive whose top folder this is
        work.replace(root)  # also over an empty folder, at once
        return
    make_private(root)
    for child in list(work.iterdir()):
        child.replace(root / child.name)


def _keep_data(data: Path, root: Path, paths: Paths, now: datetime) -> tuple[str, Path | None]:
    """What is kept about a workspace goes under its id here; the id, and where what was there before is now."""
    ident = workspace_id(root, paths.data)
    replaced = _put_aside(paths, ident, now)
    data.replace(paths.workspace_data(ident))
    return ident, replaced


def _put_aside(paths: Paths, ident: str, now: datetime) -> Path | None:
    """What is kept about a workspace that was here before stays, in a place of its own: nothing is lost."""
    kept = paths.workspace_data(ident)
    if not kept.exists():
        return None
    aside = paths.data / "replaced" / f"{ident}-{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
    make_private(aside.parent)
    kept.replace(aside)
    if any(_files(aside)):
        return aside
    shutil.rmtree(aside)
    return None


def _restore_settings(data: bytes | None, root: Path, paths: Paths) -> bool:
    if data is None or paths.settings_file.exists():
        return False
    make_private(paths.config)
    descriptor = os.open(paths.settings_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    store = SettingsStore(paths.settings_file)
    if default_workspace(store.load(), None, {}) != root:
        store.update("general", workspace=str(root))
    return True
