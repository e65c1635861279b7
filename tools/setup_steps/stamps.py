"""Which steps are done: a stamp a step in .venv, holding the hash of what the step was made from."""

from __future__ import annotations

import hashlib
from pathlib import Path


class Stamps:
    """The stamps in one folder; they vanish together with the environment that they speak of."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def done(self, step: str, key: str) -> bool:
        """Whether the step was finished with exactly these inputs."""
        try:
            return (self._folder / step).read_text() == key
        except OSError:
            return False

    def finish(self, step: str, key: str) -> None:
        """Note that the step is done."""
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / step).write_text(key)


def key_of(*inputs: str | Path) -> str:
    """The hash of texts and of the contents of files, in this order."""
    digest = hashlib.sha256()
    for item in inputs:
        data = item.read_bytes() if isinstance(item, Path) else item.encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hex; reads it in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
