"""Where the files that ship with the app are: prompts, icons, themes, the model catalogue."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def resource(name: str) -> Path:
    """The path of a shipped file or folder, ``name`` with forward slashes.

    An installed wheel keeps them in ``assistant/_resources``, a source checkout in ``resources`` beside the package.
    Raises FileNotFoundError when neither has it: the installation is incomplete.
    """
    for folder in (_PACKAGE / "_resources", _PACKAGE.parent / "resources"):
        path = folder / name
        if path.exists():
            return path
    raise FileNotFoundError(f"The shipped file {name!r} is missing; please install Keepsake again.")
