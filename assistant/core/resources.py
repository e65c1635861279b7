"""Where the files that ship with the program are: inside the installed package, or beside it in a source checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def resource(name: str) -> Path:
    """The path of a shipped file or folder, ``name`` relative to resources/. Raises FileNotFoundError."""
    for root in (_PACKAGE / "_resources", _PACKAGE.parent / "resources"):
        if (path := root / name).exists():
            return path
    raise FileNotFoundError(f"Keepsake is installed without its file {name}")
