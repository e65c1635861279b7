"""``models.json`` in the models folder: files and folders that lie elsewhere, by reference."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assistant.core.errors import AssistantError
from assistant.core.folders import make_private
from assistant.core.json_text import parse_json

_NAME = "models.json"


@dataclass(frozen=True, slots=True)
class Added:
    """What a person added: files, and folders in which models are looked for. hidden: files in them to pass over."""

    files: tuple[Path, ...] = ()
    folders: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()


class ModelRegistry:
    """Reads and writes the file. Another program of ours may do so at any time; each write is whole."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _NAME

    def read(self) -> Added:
        """Raises AssistantError("model.registry") for a file that cannot be understood; it is left as it is."""
        try:
            data = parse_json(self._path.read_bytes())
            return Added(_paths(data, "files"), _paths(data, "folders"), _paths(data, "hidden"))
        except (FileNotFoundError, NotADirectoryError):
            return Added()
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise AssistantError(
                "model.registry",
                f"The list of added models, {self._path}, cannot be read.",
                "Delete it and add the models again.",
            ) from error

    def write(self, added: Added) -> None:
        """Raises AssistantError("model.registry_write")."""
        lists = {"files": added.files, "folders": added.folders, "hidden": added.hidden}
        data = {name: [str(path) for path in paths] for name, paths in lists.items() if paths or name == "files"}
        try:
            self._replace(json.dumps(data, ensure_ascii=False, sort_keys=True, indent=1) + "\n")
        except OSError as error:
            raise AssistantError(
                "model.registry_write",
                f"{self._path} cannot be written: {error.strerror or error}.",
                "Check the folder's permissions and whether the disk has room.",
            ) from error

    def _replace(self, text: str) -> None:
        make_private(self._path.parent)
        handle, name = tempfile.mkstemp(dir=self._path.parent, prefix=".models-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self._path)
        finally:
            Path(name).unlink(missing_ok=True)


def _paths(data: Mapping[str, Any], key: str) -> tuple[Path, ...]:
    """What can name no file is passed over; only "files" has always been there."""
    items = data["files"] if key == "files" else data.get(key, [])
    return tuple(Path(item) for item in items if isinstance(item, str) and _can_name(item))


def _can_name(text: str) -> bool:
    try:
        return b"\0" not in os.fsencode(text) and bool(Path(text).name)
    except UnicodeEncodeError:
        return False
