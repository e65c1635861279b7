"""Where a restore unpacks, and what becomes of that when its process is killed: no plain text stays about."""

from __future__ import annotations

import contextlib
import json
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assistant.core.errors import AssistantError
from assistant.core.folders import make_private
from assistant.core.json_text import parse_json
from assistant.settings.paths import Paths
from assistant.workspace.layout import TEMP_PREFIX
from assistant.workspace.safe_files import locked, read_bytes, write_atomic

_PREFIX = f"{TEMP_PREFIX}restore-"
_NOTE = "restoring.json"


@dataclass(frozen=True, slots=True)
class Staging:
    """work: becomes the workspace, so it is beside its place; data: is kept about it; others: about its assistants."""

    work: Path
    data: Path
    others: Path


@contextlib.contextmanager
def staging(parent: Path, paths: Paths) -> Iterator[Staging]:
    """New folders, one restore at a time; what of them was not moved away is deleted, if need be by the next restore.

    Raises ("workspace.busy") while another restore runs.
    """
    kept = paths.data / "workspaces"
    make_private(kept)
    make_private(parent)
    with locked(paths.data / "restore.lock"):
        _sweep(paths)
        token = secrets.token_hex(4)
        stage = Staging(*(folder / f"{_PREFIX}{token}{part}" for folder, part in _places(parent, kept)))
        write_atomic(paths.data / _NOTE, json.dumps(str(stage.work)).encode("utf-8", "surrogatepass"))
        try:
            for folder in (stage.work, stage.data, stage.others):
                folder.mkdir(mode=0o700)
            yield stage
        finally:
            for folder in (stage.work, stage.data, stage.others):
                shutil.rmtree(folder, ignore_errors=True)
            (paths.data / _NOTE).unlink(missing_ok=True)


def sweep_restores(paths: Paths) -> None:
    """Delete what a killed restore unpacked; one that runs is left alone. Never raises for a disk that is away."""
    if not (paths.data / _NOTE).exists():
        return
    with contextlib.suppress(AssistantError, OSError), locked(paths.data / "restore.lock", seconds=0):
        _sweep(paths)


def earlier_workspaces(paths: Paths) -> list[Path]:
    """The folders that hold what was kept about workspaces before others took their place."""
    sweep_restores(paths)
    return [paths.data / "replaced"]


def _sweep(paths: Paths) -> None:
    note = paths.data / _NOTE
    if not note.exists():
        return
    try:
        said = parse_json(read_bytes(note).decode("utf-8", "surrogatepass"))
    except ValueError:
        said = ""
    work = Path(said) if isinstance(said, str) and "\0" not in said else Path()
    ours = work.is_absolute() and work.name.startswith(_PREFIX)
    moved = ours and not work.exists()
    for folder in (paths.data / "workspaces").glob(f"{_PREFIX}*"):
        if moved and any(folder.iterdir()):  # of a workspace that is in its place: it stays, as what was there before
            make_private(paths.data / "replaced")
            folder.replace(paths.data / "replaced" / folder.name.removeprefix(TEMP_PREFIX))
        else:
            shutil.rmtree(folder, ignore_errors=True)
    if ours:
        shutil.rmtree(work, ignore_errors=True)
    note.unlink(missing_ok=True)


def _places(parent: Path, kept: Path) -> tuple[tuple[Path, str], ...]:
    return (parent, ""), (kept, "-data"), (kept, "-others")
