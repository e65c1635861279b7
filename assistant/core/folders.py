"""Folders that nobody but the person can look into."""

from __future__ import annotations

import os
from pathlib import Path


def make_private(folder: Path) -> None:
    """Make a folder and what is missing above it, each with mode 0700; what is there stays as it is. Raises OSError.

    Path.mkdir gives its mode to the last folder only; those above it would be open to everybody.
    """
    if not folder.parent.exists():
        make_private(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)


def open_private(path: str, flags: int) -> int:
    """An opener for ``open``: a file that it makes has mode 0600; one that is there stays as it is."""
    return os.open(path, flags, 0o600)
