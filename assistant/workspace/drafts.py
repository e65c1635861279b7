"""Text that was typed into a memory file and not saved: kept outside the workspace until it is saved or discarded."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from assistant.core.errors import AssistantError
from assistant.core.folders import make_private
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

    name = "drafts"

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

    def all(self) -> list[Draft]:
        """All drafts, by file; one that is broken is left where it is and not counted."""
        found = (self._read(path) for path in self._paths())
        return sorted((draft for draft in found if draft), key=lambda draft: draft.file)

    # --- forgetting: see ForgetPlace ---

    def scrub(self, texts: Sequence[str]) -> None:
        """Take texts out of every draft; one of which nothing is left is dropped."""
        for path in self._paths():
            if (draft := self._read(path)) is None:
                continue
            without = Draft(**{**asdict(draft), **{key: _without(getattr(draft, key), texts) for key in _TEXTS}})
            if without == draft:
                continue
            if without.text.strip():
                self.keep(without)
            else:
                self.drop(draft.file)

    def remaining(self, texts: Sequence[str]) -> int:
        """How many drafts still hold one of the texts."""
        wanted = [text for text in texts if text]
        drafts = self.all()
        return sum(any(text in getattr(draft, key) for text in wanted for key in _TEXTS) for draft in drafts)

    def _paths(self) -> list[Path]:
        with suppress(OSError):
            return sorted(path for path in self._folder.iterdir() if path.suffix == ".json")
        return []

    def _path(self, file: str) -> Path:
        return self._folder / f"{hashlib.sha256(file.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}.json"

    def _read(self, path: Path) -> Draft | None:
        try:
            fields: Any = json.loads(read_bytes(path))
            draft = Draft(**fields)
            return draft if all(isinstance(value, str) for value in fields.values()) else None
        except (AssistantError, ValueError, TypeError) as error:
            _log.warning("a draft cannot be read: %s", type(error).__name__)
            return None


_TEXTS = ("text", "base_text")


def _without(text: str, texts: Sequence[str]) -> str:
    for each in texts:
        if each:
            text = text.replace(each, "")
    return text
