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
from assistant.settings.secrets import SecretStore
from assistant.ui.main_window import MainWindow
from assistant.ui.theme import Theme

from .fakes import NOW


class Keyring(SecretStore):
    """A keyring in memory."""

    def __init__(self) -> None:
        self.held: dict[str, str] = {}

    def get(self, name: str) -> str | None:
        return self.held.get(name)

    def set(self, name: str, secret: str) -> None:
        self.held[name] = secret


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
