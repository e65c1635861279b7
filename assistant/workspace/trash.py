"""Deleted chats: out of the workspace, kept until purged, so that a deletion can be undone."""

from __future__ import annotations

import json
import secrets
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from assistant.core.errors import AssistantError
from assistant.core.folders import make_private
from assistant.core.json_text import parse_json
from assistant.workspace.layout import make_folder
from assistant.workspace.safe_files import as_error, read_bytes, sync_folder, write_atomic

_RECORD = "deleted.json"


@dataclass(frozen=True, slots=True)
class DeletedChat:
    """A chat in the trash. folder: its own in the trash; files: names relative to the workspace; deleted: when."""

    id: str
    title: str
    folder: str
    files: tuple[str, ...]
    deleted: str


class Trash:
    """Moves files of a workspace into a folder outside it and back. The caller holds the chat's lock."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._root = root
        self._folder = folder

    def put(self, ident: str, title: str, paths: list[Path], at: str) -> DeletedChat:
        """Move the files away. The record is written first, so a crash in between leaves nothing unknown."""
        folder = self._folder / secrets.token_hex(8)
        files = tuple(path.relative_to(self._root).as_posix() for path in paths)
        deleted = DeletedChat(ident, title, folder.name, files, at)
        try:
            make_private(folder)
            write_atomic(folder / _RECORD, json.dumps(asdict(deleted)).encode())
            # The first part goes last: until then the chat is still listed, and deleting it again ends the move.
            for path in reversed(paths):
                _move(path, folder / path.name)
            sync_folder(paths[0].parent)
        except OSError as error:
            raise as_error(error, paths[0]) from error
        return deleted

    def restore(self, deleted: DeletedChat) -> None:
        """Move the files back. Raises ("chat.exists") when their place is taken, ("chat.missing") once purged."""
        folder = self._folder / deleted.folder
        if not (folder / _RECORD).exists():
            raise AssistantError("chat.missing", "The chat was deleted for good.")
        targets = [(folder / Path(file).name, self._root / file) for file in deleted.files]
        if taken := next((target for source, target in targets if source.exists() and target.exists()), None):
            raise AssistantError(
                "chat.exists", f"There is another chat in {taken.name} now.", "Delete or rename it first."
            )
        try:
            for source, target in targets:
                make_folder(self._root, target.parent)
                if source.exists():
                    _move(source, target)
            shutil.rmtree(folder)
        except OSError as error:
            raise as_error(error, folder) from error

    def read(self, deleted: DeletedChat) -> list[str]:
        """The texts of its files in order, as far as they can be read."""
        folder = self._folder / deleted.folder
        paths = (folder / Path(file).name for file in deleted.files)
        return [read_bytes(path).decode("utf-8", "replace") for path in paths if path.exists()]

    def purge(self, deleted: DeletedChat) -> None:
        """Delete for good."""
        folder = self._folder / deleted.folder
        try:
            if folder.parent == self._folder and folder.exists():
                shutil.rmtree(folder)
        except OSError as error:
            raise as_error(error, folder) from error

    def list(self) -> list[DeletedChat]:
        """What can be restored, newest first."""
        found = [_read(path) for path in self._folder.glob(f"*/{_RECORD}")] if self._folder.is_dir() else []
        return sorted((each for each in found if each), key=lambda each: each.deleted, reverse=True)


def _read(path: Path) -> DeletedChat | None:
    try:
        fields = parse_json(read_bytes(path))
        return DeletedChat(**{**fields, "files": tuple(fields["files"])})
    except (AssistantError, ValueError, KeyError, TypeError):
        return None


def _move(source: Path, target: Path) -> None:
    try:
        source.replace(target)
    except OSError:
        # Another file system: a copy, then the original goes.
        write_atomic(target, source.read_bytes())
        source.unlink()
