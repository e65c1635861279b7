"""Places where forgotten words may stand: each can take them out, and say how many are left.

A text is matched in any case and line wrapping (see forgotten_text). Whoever stores words outside the workspace's own
files offers a ForgetPlace; most are a folder of text and JSON, for which FolderPlace is enough.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from assistant.core.json_text import parse_json
from assistant.workspace.disk import as_error, read_bytes
from assistant.workspace.forgotten_text import (
    FORGOTTEN,
    encodings,
    found_in_bytes,
    scrub_json,
    scrub_json_line,
    scrub_text,
)
from assistant.workspace.safe_files import write_atomic
from assistant.workspace.text_files import decode, exact_bytes, exact_text

__all__ = [
    "FORGOTTEN",
    "FolderPlace",
    "ForgetPlace",
    "files_below",
    "remaining_in",
    "scrub_bytes",
    "scrub_file",
    "scrub_text",
]
_BINARY = (".gguf", ".onnx", ".safetensors", ".lock", ".alive")


class ForgetPlace(Protocol):
    """A place with words of the person. Both methods may be called from any thread, again and again."""

    @property
    def name(self) -> str:
        """What it is, for the proof: "journal", "receipts"."""
        ...

    def scrub(self, texts: Sequence[str]) -> None:
        """Take the texts out; nothing happens where there are none. Raises AssistantError where it cannot."""
        ...

    def remaining(self, texts: Sequence[str]) -> int:
        """In how many files (or records) one of the texts still stands."""
        ...


class FolderPlace:
    """All files of folders, whatever they are. skip: which ones belong to another place."""

    def __init__(
        self, name: str, folders: Callable[[], Iterable[Path]], skip: Callable[[Path], bool] = lambda _: False
    ) -> None:
        self.name = name
        self._folders = folders
        self._skip = skip

    def scrub(self, texts: Sequence[str]) -> None:
        for path in self._files():
            scrub_file(path, texts)

    def remaining(self, texts: Sequence[str]) -> int:
        return remaining_in(self._files(), texts)

    def _files(self) -> Iterator[Path]:
        for folder in self._folders():
            yield from (path for path in files_below(folder) if not self._skip(path))


def files_below(folder: Path) -> Iterator[Path]:
    """Every file that may hold words, hidden and temporary ones too; links are not followed."""
    if folder.is_file():
        yield folder
        return
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        for entry in sorted(os.scandir(folder), key=lambda each: each.name):
            if entry.is_dir(follow_symlinks=False):
                yield from files_below(Path(entry.path))
            elif entry.is_file(follow_symlinks=False) and not entry.name.endswith(_BINARY):
                yield Path(entry.path)


def remaining_in(paths: Iterable[Path], texts: Sequence[str]) -> int:
    """In how many of the files one of the texts stands, searched byte by byte."""
    return sum(1 for path in paths if found_in_bytes(read_bytes(path), texts))


def scrub_file(path: Path, texts: Sequence[str]) -> bool:
    """Replace the texts in a file by «forgotten»; True when it held one.

    JSON and JSON lines stay such; a text file keeps its encoding and every other byte. A log, which its writer holds
    open, is masked in place. Raises AssistantError where the file cannot be written.
    """
    raw = read_bytes(path)
    if not found_in_bytes(raw, texts):
        return False
    if path.suffix == ".log" or path.name.endswith(".log.1"):
        _mask(path, raw, texts)
    else:
        write_atomic(path, _scrubbed(path, raw, texts))
    return True


def scrub_bytes(path: Path, raw: bytes, texts: Sequence[str]) -> bytes:
    """The bytes of a file of that name without the texts, as scrub_file leaves them; unchanged where none stands."""
    return _scrubbed(path, raw, texts) if found_in_bytes(raw, texts) else raw


def _scrubbed(path: Path, raw: bytes, texts: Sequence[str]) -> bytes:
    text = raw.decode("utf-8", "surrogateescape")
    if path.suffix == ".json":
        with contextlib.suppress(ValueError, RecursionError):
            value = scrub_json(parse_json(text), texts)
            indent = 1 if "\n" in text.strip() else None
            return json.dumps(value, ensure_ascii=text.isascii(), indent=indent).encode("utf-8", "surrogatepass")
    if path.suffix in (".json", ".jsonl", ".append"):
        lines = [_line(line, texts) for line in text.split("\n")]
        return scrub_text("\n".join(lines), texts).encode("utf-8", "surrogateescape")
    file = decode(raw, path.name)
    if not file.writable:
        for text in texts:
            for form in encodings(text):
                raw = raw.replace(form, FORGOTTEN.encode())
        return raw
    return exact_bytes(scrub_text(exact_text(file), texts), file)


def _line(line: str, texts: Sequence[str]) -> str:
    return scrub_json_line(line, texts) if line.lstrip().startswith(("{", "[", '"')) else scrub_text(line, texts)


def _mask(path: Path, raw: bytes, texts: Sequence[str]) -> None:
    """Overwrite the very bytes, so that who writes the file goes on where it was."""
    try:
        with path.open("r+b") as file:
            for text in texts:
                for form in dict.fromkeys(encodings(text)):
                    at = raw.lower().find(form.lower())
                    while at >= 0:
                        file.seek(at)
                        file.write(b"*" * len(form))
                        at = raw.lower().find(form.lower(), at + len(form))
    except OSError as error:
        raise as_error(error, path) from error
