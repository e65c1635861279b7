"""Which parser reads which system, and which system a path belongs to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from assistant.core.errors import AssistantError
from assistant.workspace.imports.atoms import is_atoms, read_atoms
from assistant.workspace.imports.chatgpt import is_chatgpt, read_chatgpt
from assistant.workspace.imports.countbot import is_countbot, read_countbot
from assistant.workspace.imports.nanobot import is_nanobot, read_nanobot
from assistant.workspace.imports.openmausbot import is_openmausbot, read_openmausbot
from assistant.workspace.imports.values import SYSTEMS, Found

_READERS: dict[str, Callable[[Path], Iterator[Found]]] = {
    "countbot": read_countbot,
    "nanobot": read_nanobot,
    "openmausbot": read_openmausbot,
    "atoms": read_atoms,
    "chatgpt": read_chatgpt,
}
# The most particular first: a folder may look like several.
_SIGNS: tuple[tuple[str, Callable[[Path], bool]], ...] = (
    ("chatgpt", is_chatgpt),
    ("countbot", is_countbot),
    ("nanobot", is_nanobot),
    ("openmausbot", is_openmausbot),
    ("atoms", is_atoms),
)


def read_system(system: str, path: Path) -> Iterator[Found]:
    """Everything found at ``path``, lazily; a parser never raises for what the files hold.

    Raises ("import.system") for an unknown system, ("import.missing") where there is nothing.
    """
    if not path.exists():
        raise AssistantError("import.missing", f"There is nothing at {path}.", "Choose another file or folder.")
    if system not in SYSTEMS:
        raise AssistantError(
            "import.system", f"Keepsake does not know the system {system[:60]!r}.", f"It knows: {', '.join(SYSTEMS)}."
        )
    return _READERS[system](_chosen(path))


def _chosen(path: Path) -> Path:
    """What the person named may be a link; what lies in it may not."""
    return Path(os.path.realpath(path))


def recognise(path: Path) -> str:
    """The system whose files these are. Raises ("import.missing") or ("import.unknown")."""
    if not path.exists():
        raise AssistantError("import.missing", f"There is nothing at {path}.", "Choose another file or folder.")
    for system, fits in _SIGNS:
        try:
            if fits(_chosen(path)):
                return system
        except OSError:
            continue
    raise AssistantError(
        "import.unknown",
        f"Keepsake does not recognise what is in {path.name}.",
        "Choose the system it comes from.",
    )
