"""Text that was typed into a memory file and not saved: kept outside the workspace until it is saved or discarded."""

from __future__ import annotations

import hashlib
import json
import logging
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from assistant.core.errors import AssistantError
from assistant.core.folders import make_private
from assistant.core.json_text import parse_json
from assistant.workspace.forgetting import FolderPlace, ForgetPlace
from assistant.workspace.safe_files import as_error, read_bytes, write_atomic

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Draft:
    """text: as it stands in the editor, lines ending with ``\\n``; time: ISO, when it was kept.

    base_text, base_sha, newline: the file as it was read before (see TextFile), "" and "" for one that did not exist.
    """

    file: str
    text: str
    base_text: str
    base_sha: str
    newline: str
    time: str


class Drafts:
    """One file a draft (mode 0600). A draft is what the person is typing, so secrets in it are theirs to decide on."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, draft: Draft) -> None:
        """Write it, durably, over an earlier one of the same file. Raises AssistantError when the disk is full."""
        try:
            make_private(self._folder)
        except OSError as error:
            raise as_error(error, self._folder) from error
        write_atomic(self._path(draft.file), json.dumps(asdict(draft)).encode())

    def drop(self, file: str) -> None:
        """The draft of a file is not needed any more; there need not be one."""
        try:
            self._path(file).unlink(missing_ok=True)
        except OSError as error:
            raise as_error(error, self._folder) from error

    def any(self) -> bool:
        """Whether there may be one: quick, none is read."""
        return bool(self._paths())

    def all(self) -> list[Draft]:
        """All drafts, by file; one that is broken is left where it is and not counted."""
        found = (self._read(path) for path in self._paths())
        return sorted((draft for draft in found if draft), key=lambda draft: draft.file)

    def forget_place(self) -> ForgetPlace:
        """Where forgotten words may stand among the drafts."""
        return FolderPlace("drafts", lambda: [self._folder])

    def _paths(self) -> list[Path]:
        with suppress(OSError):
            return sorted(path for path in self._folder.iterdir() if path.suffix == ".json")
        return []

    def _path(self, file: str) -> Path:
        return self._folder / f"{hashlib.sha256(file.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}.json"

    def _read(self, path: Path) -> Draft | None:
        try:
            fields: Any = parse_json(read_bytes(path))
            draft = Draft(**fields)
            return draft if all(isinstance(value, str) for value in fields.values()) else None
        except (AssistantError, ValueError, TypeError) as error:
            _log.debug("a draft cannot be read: %s", type(error).__name__)
            return None
