"""Forgetting reaches the git history, the backups and the self-test, and its proof names them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant.runtime.backup_forgetting import BackupPlace
from assistant.runtime.backups import BackupService
from assistant.runtime.composition import Places, compose
from assistant.runtime.services import Services
from tests.runtime.test_backups import Keyring
from tests.runtime.test_history import holding


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    made = compose(Places(tmp_path / "ws", tmp_path / "config", tmp_path / "state"), environ={})
    backups = BackupService(made.workspace, made.paths, Keyring())
    made.forget_places[:] = [place for place in made.forget_places if place.name != "backups"]
    made.forget_places.append(BackupPlace(backups, "ws"))
    made.backups = backups
    yield made
    made.close()


def test_history_backups_and_self_test_hold_nothing_of_it(services: Services, tmp_path: Path) -> None:
    services.history.turn_on()
    text = "the quixotonal soup is in the cellar"
    services.remember(text)
    services.remember("likes tea")
    services.self_test.add("where is the soup?", "quixotonal soup is in the cellar")
    services.self_test.add("what do I like?", "tea")
    services.backups.make(tmp_path / "b.age")
    report = services.forgetting.now(services.forgetting.plan(text))
    left = {each.place: each.remaining for each in report.searched}
    assert {"history", "backups", "self-test"} <= left.keys()
    assert not any(left.values()), left
    assert holding(services.workspace.root, "quixotonal") == []
    services.remember("after it")
    services.lanes.keeping.submit(lambda: None).result()
    assert holding(services.workspace.root, "quixotonal") == []


def test_what_cannot_be_looked_into_is_said(services: Services, tmp_path: Path) -> None:
    services.remember("the quixotonal soup")
    services.backups.make(tmp_path / "b.age", "horse")
    report = services.forgetting.now(services.forgetting.plan("the quixotonal soup"))
    backups = next(each for each in report.searched if each.place == "backups")
    assert backups.remaining == 1 and "b.age" in backups.hint
