"""From what the person said about where things are to the services of one workspace."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from assistant.core.clock import Clock, fixed_clock, system_clock
from assistant.core.errors import AssistantError
from assistant.recall.search import BUDGET_MS
from assistant.runtime.assistants import DEFAULT, AssistantService
from assistant.runtime.services import Services
from assistant.runtime.workers import Workers
from assistant.settings.paths import default_workspace, find_paths
from assistant.settings.store import SettingsStore
from assistant.workspace.identity import known_id, workspace_id
from assistant.workspace.workspace import Workspace

_UNKNOWN = "unknown"
"""In the place of a workspace's id that could not be noted; no folder is of that name."""


@dataclass(frozen=True, slots=True)
class Places:
    """What the person said about where things are (None: nothing), the time if it is set, and the assistant's name."""

    workspace: Path | None = None
    config: Path | None = None
    state: Path | None = None
    now: datetime | None = None
    assistant: str = ""


def find_assistants(places: Places, environ: Mapping[str, str] = os.environ) -> AssistantService:
    """The assistants and which one is meant, without opening any. Raises ("assistant.missing")."""
    paths = find_paths(places.config, places.state, environ)
    base = default_workspace(SettingsStore(paths.settings_file).load(), places.workspace, environ)
    found = AssistantService(base, paths)
    root = found.root(places.assistant or environ.get("KEEPSAKE_ASSISTANT", ""))
    found.current = root.name if root != base else DEFAULT
    return found


def compose(
    places: Places,
    environ: Mapping[str, str] = os.environ,
    recall_budget_ms: float = BUDGET_MS,
    workers: Workers | None = None,
    *,
    only_read: bool = False,
) -> Services:
    """The services for one workspace, which is made where it is missing. Raises AssistantError where it cannot be,
    ("state.unwritable") where Keepsake cannot write into its own folders.

    recall_budget_ms: how long a search waits for meaning before it answers by words. workers: of other services, which
    hand them over before these start. only_read: make and note nothing, for what only shows what is there.
    """
    paths = find_paths(places.config, places.state, environ)
    settings = SettingsStore(paths.settings_file)
    assistants = find_assistants(places, environ)
    root, name = assistants.root(assistants.current), assistants.current
    is_new = not root.exists()
    ident = known_id(root, paths.data) or _UNKNOWN if only_read else _registered(root, paths.data)
    state = paths.workspace_state(ident)
    clock: Clock = fixed_clock(places.now) if places.now else system_clock
    workspace = Workspace(root, paths.workspace_data(ident), state, clock, name)
    if not only_read:
        _check_writable(paths.data, workspace.data, state)
        workspace.prepare()
    elif is_new:
        raise AssistantError("workspace.missing", f"There is no folder {root}.", "Name the folder with your memory.")
    if not only_read and (is_new or name != DEFAULT):
        # known by its inode from now on, or its journal would be lost should it be moved
        workspace_id(root, paths.data)
    return Services(settings, paths, workspace, state, recall_budget_ms, assistants, workers)


def _registered(root: Path, data: Path) -> str:
    try:
        return workspace_id(root, data)
    except AssistantError as error:
        why = error.__cause__
        if not isinstance(why, OSError) or error.code == "workspace.busy":
            raise
        raise _unwritable(data, why.strerror or str(why)) from error


def _check_writable(*folders: Path) -> None:
    """Before anything is half done: a file that is there takes another line where its folder takes no other file."""
    for folder in folders:
        if folder.exists() and not os.access(folder, os.W_OK):
            raise _unwritable(folder, os.strerror(errno.EACCES))


def _unwritable(folder: Path, why: str) -> AssistantError:
    return AssistantError(
        "state.unwritable",
        f"Keepsake cannot write into its own folder {folder}: {why}.",
        "Check its permissions and its disk, or name another folder with --state or KEEPSAKE_STATE.",
    )
