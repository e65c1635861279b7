"""From what the person said about where things are to the services of one workspace."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from assistant.core.clock import Clock, fixed_clock, system_clock
from assistant.recall.search import BUDGET_MS
from assistant.runtime.assistants import DEFAULT, AssistantService
from assistant.runtime.services import Services
from assistant.runtime.workers import Workers
from assistant.settings.paths import default_workspace, find_paths
from assistant.settings.store import SettingsStore
from assistant.workspace.identity import workspace_id
from assistant.workspace.workspace import Workspace


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
) -> Services:
    """The services for one workspace, which is made where it is missing. Raises AssistantError where it cannot be.

    recall_budget_ms: how long a search waits for meaning before it answers by words. workers: of other services, which
    hand them over before these start.
    """
    paths = find_paths(places.config, places.state, environ)
    settings = SettingsStore(paths.settings_file)
    assistants = find_assistants(places, environ)
    root, name = assistants.root(assistants.current), assistants.current
    is_new = not root.exists()
    ident = workspace_id(root, paths.data)
    state = paths.workspace_state(ident)
    clock: Clock = fixed_clock(places.now) if places.now else system_clock
    workspace = Workspace(root, paths.workspace_data(ident), state, clock, name)
    workspace.prepare()
    if is_new or name != DEFAULT:  # known by its inode from now on, or its journal would be lost should it be moved
        workspace_id(root, paths.data)
    return Services(settings, paths, workspace, state, recall_budget_ms, assistants, workers)
