"""The app as a person has it: the command line, the window over real services, with a scripted or the real model."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.events import Event, ModelReady, TurnFailed, TurnFinished
from assistant.core.ports import Progress
from assistant.core.values import ChatEvent, Delta, EngineSettings, GenerateOptions, Message, ModelInfo
from assistant.runtime.composition import Places, compose
from assistant.runtime.services import Services
from assistant.ui.application import dress_application
from assistant.ui.main_window import MainWindow
from assistant.workspace.chats import Turn
from tests.cli.conftest import Keepsake, keepsake
from tests.engine.gguf_files import chat_facts, gguf_bytes
from tests.fakes import FakeEngine, Script
from tests.real_embeddings import embedding_model_path
from tests.real_models import starter_model_path
from tests.ui.conftest import services, theme, window

__all__ = ["Keepsake", "keepsake", "services", "theme", "window"]
PATIENCE = 60_000  # milliseconds; a condition that is not met by then is a failure, not slowness


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The offscreen platform warns of what a screen-less window cannot do; everything else still fails a test."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.qt_log_ignore("This plugin does not support"))


class HeldEngine(FakeEngine):
    """Says its first line, then waits for ``go`` (or a stop) before each further one. Loading waits for ``loaded``."""

    def __init__(self, script: Script | Sequence[str | AssistantError] = (), window: int = 4096) -> None:
        super().__init__(script, window)
        self.go = threading.Event()
        self.loaded = threading.Event()
        self.loaded.set()

    def load(self, path: Path, settings: EngineSettings, cancel: CancelToken, progress: Progress) -> ModelInfo:
        wait_for(self.loaded, cancel)
        return super().load(path, settings, cancel, progress)

    def chat(self, messages: Sequence[Message], options: GenerateOptions, cancel: CancelToken) -> Iterator[ChatEvent]:
        for event in super().chat(messages, options, cancel):
            yield event
            if isinstance(event, Delta):
                wait_for(self.go, cancel)


def wait_for(event: threading.Event, cancel: CancelToken) -> None:
    while not event.wait(0.005) and not cancel.cancelled:
        pass


class House:
    """A window over real services, as app.py composes them. ``folder`` holds workspace, settings and state."""

    def __init__(self, qtbot: QtBot, app: QApplication, folder: Path) -> None:
        self._qtbot = qtbot
        self.folder = folder
        self.closed = False
        self.engine: Any = None
        self.services: Services = compose(Places(folder / "ws", folder / "config", folder / "state"), {})
        self.events: list[Event] = []
        self.services.subscribe(self.events.append)
        self.window = MainWindow(self.services, dress_application(app, "en", "light"))
        self.window.show()
        qtbot.waitExposed(self.window)
        self.services.start()
        self.wait(lambda: self.seen(ModelReady))

    def seen(self, kind: type) -> list[Any]:
        return [event for event in list(self.events) if isinstance(event, kind)]

    def wait(self, condition: Callable[[], object]) -> None:
        self._qtbot.waitUntil(lambda: bool(condition()), timeout=PATIENCE)

    def write(self, text: str) -> None:
        """Put it into the composer and press Enter."""
        edit = self.window.page.composer.edit
        edit.setFocus()
        edit.insertPlainText(text)
        self._qtbot.keyClick(edit, Qt.Key.Key_Return)

    def say(self, text: str) -> TurnFinished:
        """Write it and wait for the whole reply."""
        return self.turn(lambda: self.write(text))

    def turn(self, act: Callable[[], object]) -> TurnFinished:
        """Do what begins a turn, and wait for its end."""
        before = len(self.seen(TurnFinished))
        act()
        self.wait(lambda: len(self.seen(TurnFinished)) > before or self.seen(TurnFailed))
        assert not self.seen(TurnFailed), self.seen(TurnFailed)
        self.wait(lambda: not self.window.session.streaming())
        return self.seen(TurnFinished)[-1]

    @property
    def chat(self) -> str:
        return self.window.session.chat_id

    def turns(self, chat: str = "") -> Sequence[Turn]:
        return self.services.read_chat(chat or self.chat).turns

    def shown(self) -> list[tuple[str, str]]:
        """What the transcript shows: the person's words and the reply of each turn."""
        return [(turn.user, turn.reply or "") for turn in self.window.session.turns()]

    def close(self) -> None:
        if self.closed:
            return
        self.closed = True
        if self.window.memory_open():
            self.window.memory_panel().discard()
        self.window.kinds.leave()
        self.window.close()
        self.window.release()
        self.services.close()
        self.window.deleteLater()


OpenHouse = Callable[..., House]


@pytest.fixture(autouse=True)
def hushed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Quiet moments come soon."""
    monkeypatch.setattr("assistant.runtime.distilling.QUIET_SECONDS", 0.2)
    monkeypatch.setattr("assistant.runtime.services._LOOK_SECONDS", 0.1)


@pytest.fixture
def scripted(qtbot: QtBot, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenHouse]:
    """Opens a window whose model says what ``script`` gives; again on the same files when called again."""
    models = tmp_path / "state" / "models"
    models.mkdir(parents=True)
    (models / "Tiny.gguf").write_bytes(gguf_bytes(chat_facts(), {"token_embd.weight": (64, 4)}))
    houses: list[House] = []

    def open_it(
        script: Script | Sequence[str | AssistantError] = (), window: int = 4096, kind: type[FakeEngine] = FakeEngine
    ) -> House:
        engine = kind(script, window)
        monkeypatch.setattr("assistant.runtime.workers.WorkerEngine", lambda *_: engine)
        house = House(qtbot, qapp, tmp_path)
        house.engine = engine
        houses.append(house)
        return house

    yield open_it
    for house in houses:
        house.close()


@pytest.fixture
def real(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Iterator[OpenHouse]:
    """Opens a window with the real starter model and the real embedding model; ``settings`` is its [model] section."""
    houses: list[House] = []
    put_models(tmp_path)

    def open_it(settings: str = "window = 1024\nmax_tokens = 24") -> House:
        write_settings(tmp_path, settings)
        houses.append(House(qtbot, qapp, tmp_path))
        return houses[-1]

    yield open_it
    for house in houses:
        house.close()


def put_models(folder: Path) -> None:
    models = folder / "state" / "models"
    models.mkdir(parents=True, exist_ok=True)
    (models / "Starter.gguf").symlink_to(starter_model_path())
    (models / "multilingual-e5-small").symlink_to(embedding_model_path())


def write_settings(folder: Path, model: str) -> None:
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config" / "settings.toml").write_text(f"[model]\nthreads = 1\n{model}\n")
