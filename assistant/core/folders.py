"""Folders that nobody but the person can look into, and paths as people type them."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from assistant.core.errors import AssistantError


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


def named_path(name: Path) -> Path:
    """What a person typed as an absolute path; ``~`` is their own folder.

    Raises AssistantError("path.name") for what can name no file: ``~nobody``, a name that is too long, a NUL in it.
    """
    try:
        path = name.expanduser().absolute()
        os.lstat(path)
    except (RuntimeError, ValueError) as error:
        raise _no_name(name) from error
    except OSError as error:
        if error.errno in (errno.ENAMETOOLONG, errno.ELOOP):
            raise _no_name(name) from error
    return path


def _no_name(name: Path) -> AssistantError:
    shown = str(name)[:60].encode("utf-8", "replace").decode()
    return AssistantError("path.name", f"{shown!r} can be no file's name.", "Check its name.")
