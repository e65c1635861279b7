"""What the doctor says, and that one thing that is amiss keeps no other from being looked at."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant.runtime.checks import Check, run_checks
from assistant.runtime.composition import Places, compose
from assistant.runtime.services import Services


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    made = compose(Places(tmp_path / "Jo's memory", tmp_path / "config", tmp_path / "state"), {})
    yield made
    made.close()


def permissions(services: Services) -> Check:
    return next(check for check in run_checks(services) if check.name == "permissions")


def test_files_that_others_may_read_are_named_with_a_command_that_a_shell_takes(services: Services) -> None:
    root = services.workspace.root
    assert permissions(services).ok
    services.remember("likes tea")
    (root / "MEMORY.md").chmod(0o644)
    found = permissions(services)
    assert not found.ok and "Jo's memory/MEMORY.md" in found.detail
    assert shlex.split(found.fix.removeprefix("Run: ")) == ["chmod", "-R", "go-rwx", str(root)]


def test_a_file_that_goes_while_it_is_looked_for_is_none(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    walk = os.walk

    def with_one_that_has_gone(root: Path) -> Iterator[tuple[str, list[str], list[str]]]:
        for folder, folders, files in walk(root):
            yield folder, folders, [*files, ".keepsake-that-was-written"]

    monkeypatch.setattr("assistant.runtime.checks.os.walk", with_one_that_has_gone)
    assert permissions(services).ok


@pytest.mark.parametrize("name", ["x" * 300, "../" * 2000])
def test_an_embedding_model_that_no_folder_can_be_called_is_none(tmp_path: Path, name: str) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "settings.toml").write_text(f'[embedding]\nmodel = "{name}"\n')
    services = compose(Places(tmp_path / "ws", tmp_path / "config", tmp_path / "state"), {})
    assert services.embedder is None
    services.close()
