"""Prepare a clone: ``set_up.py run|test|lint [keepsake's arguments]``. Prints its steps; what is done costs no time.

Started by any Python 3; this file alone is kept to what an old one can read. It looks for a Python that Keepsake runs
on, makes .venv with it and goes on inside it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST, TOO_NEW = (3, 11), (3, 14)
ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    if Path(sys.prefix).resolve() != VENV.resolve():
        python = choose_python()
        if python is None:
            print(
                "Keepsake needs Python 3.11, 3.12 or 3.13, and none was found. Install one (on Debian and Ubuntu:\n"
                "apt-get install python3 python3-venv) or name one: make KEEPSAKE_PYTHON=/path/to/python3.11",
                file=sys.stderr,
            )
            return 1
        if not make_venv(python):
            return 1
        return go_on_with(VENV_PYTHON)
    sys.path[0] = str(ROOT)
    from tools.setup_steps import plan

    return plan.carry_out(sys.argv[1], ROOT, os.environ, sys.argv[2:])


def choose_python() -> str | None:
    """The Python to make .venv with: KEEPSAKE_PYTHON, the one that runs this, else the newest that fits on PATH."""
    named = os.environ.get("KEEPSAKE_PYTHON")
    candidates = [named] if named else [sys.executable, "python3.13", "python3.12", "python3.11", "python3", "python"]
    for candidate in candidates:
        if candidate and fits(version_of(candidate)):
            return candidate
    return None


def fits(version: tuple[int, ...]) -> bool:
    """Whether Keepsake runs on that version of Python."""
    return OLDEST <= version < TOO_NEW


def version_of(python: str) -> tuple[int, ...]:
    """(major, minor) of an interpreter; empty when it cannot be run, as version managers' stand-ins often cannot."""
    path = shutil.which(python)
    if path is None:
        return ()
    code = "import sys; print(*sys.version_info[:2])"
    done = subprocess.run([path, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return tuple(int(part) for part in done.stdout.split()) if done.returncode == 0 else ()


def make_venv(python: str) -> bool:
    """Make .venv unless a working one is there. False, with the reason printed, when that fails."""
    if fits(version_of(str(VENV_PYTHON))) and has_pip(str(VENV_PYTHON)):
        return True
    print(f"==> making .venv with {python}", flush=True)
    if not has_pip(python, "ensurepip") and not install_venv_package(python):
        return False
    return subprocess.run([python, "-m", "venv", "--clear", str(VENV)], check=False).returncode == 0


def has_pip(python: str, module: str = "pip") -> bool:
    """Whether an interpreter has pip (or the module that brings it)."""
    return subprocess.run([python, "-c", "import " + module], stderr=subprocess.DEVNULL, check=False).returncode == 0


def install_venv_package(python: str) -> bool:
    """Debian and Ubuntu keep venv in a package of its own."""
    package = "python{}.{}-venv".format(*version_of(python))
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        environ = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
        for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", package]):
            subprocess.run(command, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
        if has_pip(python, "ensurepip"):
            return True
    print(f"{python} cannot make virtual environments. Install {package} and try again.", file=sys.stderr)
    return False


def go_on_with(python: Path) -> int:
    """Run this script again under another interpreter, in this process's place where the system can do that."""
    command = [str(python), str(Path(__file__).resolve()), *sys.argv[1:]]
    sys.stdout.flush()
    if os.name == "posix":
        os.execv(command[0], command)
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
