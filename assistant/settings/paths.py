"""Where everything lies outside the workspace. Nothing is created here: who writes makes the folder (mode 0700)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assistant.settings.schema import Settings

APP = "keepsake"


@dataclass(frozen=True, slots=True)
class Paths:
    """Absolute folders. config: settings. data: journals and receipts. cache, state: derived, may be deleted.

    shared_models: the platform's own models folder, looked into where ``models`` is another one and holds none.
    """

    config: Path
    data: Path
    cache: Path
    state: Path
    models: Path
    shared_models: Path

    @property
    def settings_file(self) -> Path:
        return self.config / "settings.toml"

    def workspace_data(self, ident: str) -> Path:
        """What must be kept for one workspace: journal, prior texts, receipts."""
        return self.data / "workspaces" / ident

    def workspace_state(self, ident: str) -> Path:
        """What is rebuilt for one workspace: index, vectors, snapshots. (macOS has one folder for data and state.)"""
        return self.state / "derived" / ident


def find_paths(config: Path | None, state: Path | None, environ: Mapping[str, str]) -> Paths:
    """The folders for the given options (None: not given), KEEPSAKE_* variables, or else the platform's own.

    One ``state`` folder holds data, cache, state and models; KEEPSAKE_MODELS moves the models alone.
    """
    config = config or _variable(environ, "KEEPSAKE_CONFIG")
    state = state or _variable(environ, "KEEPSAKE_STATE")
    models = _variable(environ, "KEEPSAKE_MODELS")
    if state:
        base = _absolute(state)
        data, cache, kept, own_models = base / "data", base / "cache", base / "state", base / "models"
    else:
        data, cache, kept = _platform("data"), _platform("cache"), _platform("state")
        own_models = data / "models"
    return Paths(
        config=_absolute(config) if config else _platform("config"),
        data=data,
        cache=cache,
        state=kept,
        models=_absolute(models) if models else own_models,
        shared_models=_platform("data") / "models",
    )


def default_workspace(settings: Settings, option: Path | None, environ: Mapping[str, str]) -> Path:
    """The workspace folder: the option, else KEEPSAKE_WORKSPACE, else the setting, else ~/Keepsake.

    A relative option or variable counts from the current folder, a relative setting from the home folder.
    """
    if chosen := option or _variable(environ, "KEEPSAKE_WORKSPACE"):
        return _absolute(chosen)
    return Path.home() / expanded(Path(settings.general.workspace or "Keepsake"))


def _variable(environ: Mapping[str, str], name: str) -> Path | None:
    value = environ.get(name, "")
    return Path(value) if value else None


def _absolute(path: Path) -> Path:
    return expanded(path).absolute()


def expanded(path: Path) -> Path:
    """With ~ as the home folder; ``~name`` stays as it is, it may be a folder's name."""
    return Path.home().joinpath(*path.parts[1:]) if path.parts[:1] == ("~",) else path


def _platform(kind: str) -> Path:
    from platformdirs import PlatformDirs

    dirs = PlatformDirs(APP, appauthor=False)
    found = {
        "config": dirs.user_config_path,
        "data": dirs.user_data_path,
        "cache": dirs.user_cache_path,
        "state": dirs.user_state_path,
    }
    return found[kind]
