"""What the operating system says about a file, in words a person can act on."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from assistant.core.errors import AssistantError

_FULL = frozenset({errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)})
_READ_ONLY = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENODEV, errno.ENXIO, getattr(errno, "ESTALE", errno.ENOENT)})

_ABSENT = (FileNotFoundError, NotADirectoryError)
"""The latter where a file stands in the place of its folder."""


def as_error(error: OSError, path: Path) -> AssistantError:
    """The failure of a file operation in words; codes disk.full, workspace.read_only, workspace.gone, workspace.io."""
    if error.errno in _FULL:
        return AssistantError(
            "disk.full", f"The disk is full; {path.name} was not changed.", "Free some space, then try again."
        )
    if error.errno in _READ_ONLY:
        return AssistantError(
            "workspace.read_only", f"{path} cannot be written: {error.strerror}.", "Check its permissions."
        )
    if error.errno in _GONE:
        return AssistantError(
            "workspace.gone",
            f"{path} is not there any more.",
            "Connect its drive, or choose the folder where it is now.",
        )
    return AssistantError("workspace.io", f"{path} cannot be read or written: {error.strerror or error}.")


def as_read_error(error: OSError, path: Path) -> AssistantError:
    """As as_error, of what was only to be read; ("workspace.unreadable") where that is not allowed."""
    if isinstance(error, PermissionError):
        return AssistantError(
            "workspace.unreadable", f"{path.name} cannot be read: {error.strerror}.", "Check its permissions."
        )
    return as_error(error, path)


def read_bytes(path: Path) -> bytes:
    """The whole file; b"" when it does not exist. Raises AssistantError for what cannot be read."""
    try:
        return path.read_bytes()
    except _ABSENT:
        return b""
    except OSError as error:
        raise as_read_error(error, path) from error


def ends_with_newline(path: Path) -> bool:
    """True for an empty or missing file too: what is appended then starts on a line of its own."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 1))
            return file.read(1) in (b"", b"\n")
    except _ABSENT:
        return True
    except OSError as error:
        raise as_error(error, path) from error
