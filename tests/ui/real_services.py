"""A window over real services on real files, for pages whose fakes would hide what matters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from assistant.runtime.backups import BackupService
from assistant.runtime.composition import Places, compose
from assistant.runtime.services import Services
from assistant.ui.main_window import MainWindow
from assistant.ui.theme import Theme
from tests.fakes import Keyring

from .fakes import NOW


@dataclass
class Kept:
    """``services`` are not started: nothing happens that the test does not ask for."""

    services: Services
    window: MainWindow
    keyring: Keyring = field(default_factory=Keyring)


@pytest.fixture
def kept(qtbot: QtBot, theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kept]:
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    (tmp_path / "home").mkdir()
    keyring = Keyring()
    services = compose(Places(tmp_path / "ws", tmp_path / "config", tmp_path / "state", NOW), {})
    services.backups = BackupService(services.workspace, services.paths, keyring)
    window = MainWindow(services, theme, lambda: NOW)
    window.show()
    qtbot.waitExposed(window)
    yield Kept(services, window, keyring)
    if window.memory_open():
        window.memory_panel().discard()
    window.close()
    window.release()
    services.close()
    window.deleteLater()
