"""The whole house once: a real window, the real models, real files.

A conversation overflows, is distilled, is closed, is opened again, and what was said in its first turn is in the
prompt again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from assistant.core.events import Event, ModelReady, TurnFailed, TurnFinished
from assistant.runtime.composition import Places, compose
from assistant.runtime.services import Services
from assistant.ui.application import dress_application
from assistant.ui.main_window import MainWindow
from tests.real_embeddings import embedding_model_path
from tests.real_models import starter_model_path

pytestmark = [pytest.mark.real, pytest.mark.qt_log_ignore("This plugin does not support")]

FACT = "My sister Ines moved to Graz on 3 May and works as a luthier."
_TIMEOUT = 120_000  # milliseconds; a condition that is not met by then is a failure, not slowness


class House:
    """The app as app.py composes it, without its process."""

    def __init__(self, qtbot: QtBot, app: QApplication, folder: Path) -> None:
        self._qtbot = qtbot
        self.closed = False
        self.services: Services = compose(Places(folder / "ws", folder / "config", folder / "state"), {})
        self.events: list[Event] = []
        self.services.subscribe(self.events.append)
        self.window = MainWindow(self.services, dress_application(app, "en", "light"))
        self.window.show()
        qtbot.waitExposed(self.window)
        self.services.start()
        self.wait(lambda: self.count(ModelReady) == 1)

    def count(self, kind: type) -> int:
        return sum(isinstance(event, kind) for event in list(self.events))

    def wait(self, condition: Callable[[], bool]) -> None:
        self._qtbot.waitUntil(condition, timeout=_TIMEOUT)

    def say(self, text: str) -> TurnFinished:
        """Type it into the composer, press Enter, and wait for the reply to be on disk."""
        edit = self.window.page.composer.edit
        before = self.count(TurnFinished)
        edit.setFocus()
        self._qtbot.keyClicks(edit, text)
        self._qtbot.keyClick(edit, Qt.Key.Key_Return)
        self.wait(lambda: self.count(TurnFinished) > before or self.count(TurnFailed) > 0)
        assert self.count(TurnFailed) == 0, self.events[-1]
        self.wait(lambda: not self.window.session.streaming())
        return next(event for event in reversed(self.events) if isinstance(event, TurnFinished))

    def close(self) -> None:
        if self.closed:
            return
        self.closed = True
        self.window.close()
        self.services.close()
        self.window.deleteLater()


@pytest.fixture
def open_house(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Iterator[Callable[[], House]]:
    models = tmp_path / "state" / "models"
    models.mkdir(parents=True)
    (models / "Starter.gguf").symlink_to(starter_model_path())
    (models / "multilingual-e5-small").symlink_to(embedding_model_path())
    (tmp_path / "config").mkdir()
    settings = "[model]\nthreads = 1\nwindow = 700\nmax_tokens = 24\ntemperature = 0.2\n"
    (tmp_path / "config" / "settings.toml").write_text(settings)
    houses: list[House] = []

    def open_it() -> House:
        houses.append(House(qtbot, qapp, tmp_path))
        return houses[-1]

    yield open_it
    for house in houses:
        house.close()


def test_what_was_said_first_is_known_after_overflow_and_restart(open_house: Callable[[], House]) -> None:
    house = open_house()
    first = house.say(FACT)
    chat = first.chat
    for number in range(12):
        house.say(f"Thought {number}: let us talk about the garden, the rain and the apples for a while longer.")
        if house.services.prompts.was_cut(chat):
            break
    memory = house.services.workspace.memory
    house.wait(lambda: any(e.source.startswith(f"chat:{chat}#1-") for e in memory.document().entries))
    house.wait(lambda: house.services.read_chat(chat).summarized >= 1)
    shown = house.services.read_chat(chat)
    assert [turn.n for turn in shown.turns] == list(range(1, len(shown.turns) + 1))
    assert all(turn.reply is not None for turn in shown.turns)
    house.close()

    again = open_house()
    again.window.open_chat(chat)
    again.wait(lambda: len(again.window.session.turns()) == len(shown.turns))
    prompt = again.services.preview(chat, "Where does my sister live?")
    said = "\n".join(message.text for message in prompt.messages)
    assert "Graz" in said
    history = next(block.text for block in prompt.blocks if block.name == "history")
    assert all(FACT not in part.rpartition("</recalled>")[2] for part in history.split("<recalled>"))
    finished = again.say("Where does my sister live?")
    told = [line for line in finished.receipt.lines if "Graz" in line.text]
    assert told
    assert all(line.file == "MEMORY.md" or line.file.startswith("chats/") for line in told)


def test_a_second_turn_reads_only_what_is_new(open_house: Callable[[], House]) -> None:
    house = open_house()
    first = house.say("I like green tea.")
    second = house.say("And black coffee in the morning.")
    before = first.done.prompt_tokens + first.done.tokens
    assert second.done.reused_tokens >= 0.95 * before
