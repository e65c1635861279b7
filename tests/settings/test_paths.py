"""Where files go for every way a person can say so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assistant.settings.paths import default_workspace, find_paths
from assistant.settings.schema import GeneralSettings, Settings


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_platform_s_own_folders_are_the_default(home: Path) -> None:
    paths = find_paths(None, None, {})
    folders = {paths.config, paths.data, paths.cache, paths.state}
    assert len(folders) == 4
    assert all(folder.is_relative_to(home) and folder.name == "keepsake" for folder in folders)
    assert paths.models == paths.data / "models"
    assert paths.settings_file == paths.config / "settings.toml"


def test_one_state_folder_holds_all_but_the_settings(home: Path) -> None:
    paths = find_paths(None, None, {"KEEPSAKE_STATE": "there", "KEEPSAKE_CONFIG": "~/here"})
    assert paths.config == home / "here"
    assert {paths.data.parent, paths.cache.parent, paths.state.parent, paths.models.parent} == {home / "there"}


def test_an_option_wins_over_its_variable(home: Path) -> None:
    environ = {"KEEPSAKE_STATE": "wrong", "KEEPSAKE_CONFIG": "wrong"}
    paths = find_paths(home / "c", home / "s", environ)
    assert (paths.config, paths.data) == (home / "c", home / "s" / "data")


def test_the_models_can_lie_elsewhere(home: Path) -> None:
    assert find_paths(None, home / "s", {"KEEPSAKE_MODELS": str(home / "m")}).models == home / "m"


def test_data_and_state_of_a_workspace_never_share_a_folder(home: Path) -> None:
    paths = find_paths(None, None, {})
    merged = replace(paths, state=paths.data)
    assert merged.workspace_data("id") != merged.workspace_state("id")


def test_the_workspace_is_the_option_the_variable_the_setting_or_keepsake(home: Path) -> None:
    chosen = Settings(general=GeneralSettings(workspace="Documents/张 庭"))
    environ = {"KEEPSAKE_WORKSPACE": "~/variable"}
    assert default_workspace(chosen, Path("option"), environ) == home / "option"
    assert default_workspace(chosen, None, environ) == home / "variable"
    assert default_workspace(chosen, None, {"KEEPSAKE_WORKSPACE": ""}) == home / "Documents/张 庭"
    assert default_workspace(Settings(), None, {}) == home / "Keepsake"


def test_looking_creates_nothing(home: Path) -> None:
    find_paths(None, None, {})
    default_workspace(Settings(), None, {})
    assert list(home.iterdir()) == []


def test_the_shared_models_are_the_platforms_whatever_the_state(tmp_path: Path) -> None:
    paths = find_paths(None, tmp_path, {})
    assert paths.models == tmp_path / "models"
    assert paths.shared_models == find_paths(None, None, {}).models
