"""Libraries and programs of the system: what is missing, and how to get it."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

# Debian's package: the library to load (lib….so…), the program to find, or the folder that must hold something.
# Qt 6 offscreen, then what an X window needs on top (Qt's "xcb" platform plugin).
QT = {
    "libglib2.0-0": "libglib-2.0.so.0",
    "libgl1": "libGL.so.1",
    "libegl1": "libEGL.so.1",
    "libxkbcommon0": "libxkbcommon.so.0",
    "libdbus-1-3": "libdbus-1.so.3",
    "libfontconfig1": "libfontconfig.so.1",
    "libxkbcommon-x11-0": "libxkbcommon-x11.so.0",
    "libxcb-cursor0": "libxcb-cursor.so.0",
    "libxcb-icccm4": "libxcb-icccm.so.4",
    "libxcb-keysyms1": "libxcb-keysyms.so.1",
    "libxcb-image0": "libxcb-image.so.0",
    "libxcb-randr0": "libxcb-randr.so.0",
    "libxcb-render-util0": "libxcb-render-util.so.0",
    "libxcb-shape0": "libxcb-shape.so.0",
    "libxcb-xfixes0": "libxcb-xfixes.so.0",
    "libxcb-xkb1": "libxcb-xkb.so.1",
    "libx11-xcb1": "libX11-xcb.so.1",
}
TEST = {
    "dbus-daemon": "dbus-run-session",
    "gnome-keyring": "gnome-keyring-daemon",
    "fonts-dejavu-core": "/usr/share/fonts",
}
COMPILER = {"g++": "c++", "make": "make"}


def missing(needed: Mapping[str, str]) -> list[str]:
    """The packages among ``needed`` whose library, program or folder is not there. Linux only; none elsewhere."""
    if not sys.platform.startswith("linux"):
        return []
    return [package for package, sign in needed.items() if not _there(sign)]


def _there(sign: str) -> bool:
    if sign.startswith("/"):
        return any(Path(sign).glob("*/*"))
    if ".so" not in sign:
        return shutil.which(sign) is not None
    try:
        ctypes.CDLL(sign)
    except OSError:
        return False
    return True


def install(packages: list[str]) -> bool:
    """Install Debian packages where that needs no question; True when it worked."""
    prefix = _as_root()
    if prefix is None:
        return False
    environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "update", "-qq"],
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages],
    ):
        done = subprocess.run(
            [*prefix, *command], env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    if done.returncode:
        print(done.stderr.strip(), file=sys.stderr)
    return done.returncode == 0


def _as_root() -> list[str] | None:
    """How to run a command as root without a question; None when that is not possible here."""
    if shutil.which("apt-get") is None:
        return None
    if os.geteuid() == 0:
        return []
    if (
        shutil.which("sudo")
        and subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode == 0
    ):
        return ["sudo", "-n"]
    return None


def ensure(needed: Mapping[str, str], why: str) -> bool:
    """Bring what is missing, or print the one command that does; True when everything is there."""
    packages = missing(needed)
    if not packages:
        return True
    print(f"==> system packages {why}: {' '.join(packages)}", flush=True)
    if install(packages) and not missing(needed):
        return True
    print(f"    not installed here; please run: sudo apt-get install {' '.join(missing(needed))}", flush=True)
    return False
