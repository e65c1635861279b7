"""A small JSON file outside the workspace: changed under a lock; a damaged one is put aside, not written over."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from assistant.core.errors import AssistantError
from assistant.core.folders import make_private
from assistant.workspace.safe_files import as_error, locked, read_bytes, write_atomic

_log = logging.getLogger(__name__)


class JsonFile:
    """Safe to use from several threads and processes; mode 0600. lock: a file of its own."""

    def __init__(self, path: Path, lock: Path) -> None:
        self._path = path
        self._lock = lock

    def read(self) -> Any:
        """The value; None where there is none that can be read."""
        try:
            return self._load()
        except (AssistantError, ValueError, RecursionError) as error:
            _log.info("%s cannot be read: %s", self._path.name, error)
            return None

    def change(self, edit: Callable[[Any], Any]) -> None:
        """Put ``edit(value)`` in the value's place, durably; None stands for no value.

        A file that is no JSON is put aside first as ``<name>.damaged``, for a person to look at. Raises AssistantError
        where it cannot be read or written; then it is as it was.
        """
        try:
            make_private(self._path.parent)
        except OSError as error:
            raise as_error(error, self._path) from error
        with locked(self._lock):
            text = json.dumps(edit(self._sound()), ensure_ascii=False, indent=1)
            write_atomic(self._path, text.encode("utf-8", "surrogatepass"))

    def _load(self) -> Any:
        raw = read_bytes(self._path)
        return json.loads(raw) if raw.strip() else None

    def _sound(self) -> Any:
        try:
            return self._load()
        except (ValueError, RecursionError) as error:
            _log.warning("%s is damaged and put aside: %s", self._path.name, error)
            write_atomic(self._path.with_name(f"{self._path.name}.damaged"), read_bytes(self._path))
            return None
