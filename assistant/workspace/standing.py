"""A file while it is being changed: the old one stays beside it until the change is written down, to be put back."""

from __future__ import annotations

import logging
from pathlib import Path

from assistant.core.errors import AssistantError
from assistant.workspace.exchange import exchange
from assistant.workspace.safe_files import append_durably, aside_of, read_bytes, write_over

_log = logging.getLogger(__name__)


class Standing:
    """One file, from ``before`` (None: there is none) to ``after`` (None: it goes).

    added: where only so many bytes at its end are new.

    Putting back needs no room on the disk: a full one is why it is done.
    """

    def __init__(self, path: Path, before: bytes | None, after: bytes | None, added: int = 0) -> None:
        self._path, self._before, self._after, self._added = path, before, after, added
        self._aside = aside_of(path)

    def write(self) -> bool:
        """Make the change; False, with nothing done, where another program wrote the file. Raises AssistantError."""
        if self._added and self._after is not None:
            append_durably(self._path, self._after[-self._added :])
            return True
        if self._after is not None:
            return write_over(self._path, self._after, self._before, self._aside)
        return self._take_away()

    def _take_away(self) -> bool:
        if read_bytes(self._path) != (self._before or b""):
            return False
        try:
            self._path.replace(self._aside)
        except FileNotFoundError:
            return True
        if read_bytes(self._aside) == self._before:
            return True
        self._aside.replace(self._path)
        return False

    def settle(self) -> None:
        """The change holds: the old file is not needed any more."""
        try:
            self._aside.unlink(missing_ok=True)
        except OSError as error:  # cleared up at a later start
            _log.info("an old file could not be removed: %s", error)

    def put_back(self) -> None:
        """Take the change back as far as it was made, unless another program has written since; never raises."""
        try:
            if self._added:
                self._cut()
            elif self._after is None:
                self._bring_back()
            elif self._before is None:
                if read_bytes(self._path) == self._after:
                    self._path.unlink(missing_ok=True)
            else:
                self._change_back()
        except (AssistantError, OSError) as error:
            _log.warning("%s could not be put back: %s", self._path.name, error)

    def _cut(self) -> None:
        size = self._path.stat().st_size
        if size == len(self._after or b""):
            with self._path.open("r+b") as file:
                file.truncate(size - self._added)
            size -= self._added
        if self._before is None and not size:
            self._path.unlink()

    def _bring_back(self) -> None:
        if self._aside.exists() and not self._path.exists():
            self._aside.replace(self._path)

    def _change_back(self) -> None:
        if read_bytes(self._path) != self._after:
            return
        if not self._aside.exists():
            write_over(self._path, self._before or b"", self._after)
            return
        path = Path(self._aside.parent, self._path.resolve().name)
        if not exchange(self._aside, path):
            self._aside.replace(path)
        elif read_bytes(self._aside) == self._after:
            self._aside.unlink()
        else:  # written at that very moment by another program
            exchange(self._aside, path)
