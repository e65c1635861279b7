"""Two files change places in one step, so that nobody's write can slip in between a look and a replacement."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

_HERE = -100  # AT_FDCWD
_EXCHANGE = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS
_UNABLE = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM, errno.EXDEV})


def exchange(one: Path, other: Path) -> bool:
    """Swap two existing files of one folder; False where the system or the disk cannot. Raises OSError."""
    swap = _swap()
    if swap is None:
        return False
    code = swap(os.fsencode(one), os.fsencode(other))
    if code in _UNABLE:
        return False
    if code:
        raise OSError(code, os.strerror(code), str(other))
    return True


@cache
def _swap() -> Callable[[bytes, bytes], int] | None:
    """The system's call; it gives 0 or the number of the error."""
    import ctypes  # not when the window starts

    if sys.platform not in ("linux", "darwin"):
        return None
    library = ctypes.CDLL(None, use_errno=True)
    linux = getattr(library, "renameat2", None)
    mac = getattr(library, "renamex_np", None)
    if linux is not None:
        return lambda a, b: ctypes.get_errno() if linux(_HERE, a, _HERE, b, _EXCHANGE) else 0
    if mac is not None:
        return lambda a, b: ctypes.get_errno() if mac(a, b, _EXCHANGE) else 0
    return None
