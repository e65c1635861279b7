"""Whether a folder lies on a network drive, whose changes by others the system does not announce."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_REMOTE = frozenset(
    "9p afs ceph cifs davfs fuse.davfs fuse.glusterfs fuse.rclone fuse.sshfs fuse.s3fs fuse.vmhgfs-fuse "
    "fuse.gvfsd-fuse glusterfs lustre ncpfs nfs nfs4 prl_fs smb3 smbfs vboxsf virtiofs drvfs".split()
)
"""Types of file systems, as Linux names them: those of servers, and those that a virtual machine has from its host."""
_WINDOWS_REMOTE = 4  # DRIVE_REMOTE of GetDriveTypeW


def is_remote(folder: Path) -> bool:
    """Whether another machine may change what is in the folder. False where that is not known."""
    if sys.platform == "win32":
        return _is_remote_on_windows(folder)
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return file_system(mounts, os.path.realpath(folder)) in _REMOTE


def file_system(mounts: str, folder: str) -> str:
    """The type of the file system that holds an absolute path, by the text of Linux's mountinfo; "" for none."""
    best, found = "", ""
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if len(fields) < 5 or not after:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields[4])
        inside = folder == point or folder.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):  # of two at one point the later one lies on top
            best, found = point, after.split(" ")[0]
    return found


def _is_remote_on_windows(folder: Path) -> bool:
    import ctypes

    drive = os.path.splitdrive(os.path.realpath(folder))[0]
    if drive.startswith("\\\\"):
        return True
    windll = getattr(ctypes, "windll")  # noqa: B009 - the type checker of another system has none
    return bool(windll.kernel32.GetDriveTypeW(f"{drive}\\") == _WINDOWS_REMOTE)
