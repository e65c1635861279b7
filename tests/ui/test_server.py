"""A server as engine in the window: the mark while it is used, what is asked before, and its page of the settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from assistant.core.errors import AssistantError, Cancelled
from assistant.core.events import ModelFailed, ModelReady
from assistant.core.values import ModelInfo
from assistant.ui.main_window import MainWindow
from assistant.ui.settings.dialog import SettingsDialog
from assistant.ui.wiring import SERVER_PAGE

from .fakes import FakeServices, HeldLane

LOCAL = ModelInfo("Starter.gguf", Path("Starter.gguf"), "llama", "Q4", 98_000_000, 4096, 4096, "own")
THERE = ModelInfo("qwen3", Path(), "", "", 0, 32768, 0, "server", host="ai.example.org")
BESIDE = ModelInfo("qwen3", Path(), "", "", 0, 8192, 0, "server", host="localhost:8080", here=True)


@pytest.fixture
def dialog(qtbot: QtBot, window: MainWindow) -> Iterator[SettingsDialog]:
    yield opened(qtbot, window)
    for left in window.findChildren(SettingsDialog):
        left.reject()


def opened(qtbot: QtBot, window: MainWindow) -> SettingsDialog:
    """The settings, once they show what is stored."""
    window.open_settings(SERVER_PAGE)
    made = window.findChildren(SettingsDialog)[-1]
    qtbot.waitUntil(made.save_button.isEnabled)
    return made


def answer(words: str) -> list[str]:
    """Press the button with these words in the next question; what was asked is in the list then."""
    asked: list[str] = []

    def press() -> None:
        box = QApplication.activeModalWidget()
        if not isinstance(box, QMessageBox):
            QTimer.singleShot(0, press)
            return
        asked.extend([box.text(), box.informativeText()])
        next(b for b in box.findChildren(QPushButton) if b.text() == words).click()

    QTimer.singleShot(0, press)
    return asked


def calls(services: FakeServices, name: str) -> list[tuple[Any, ...]]:
    return [call for call in services.calls if call[0] == name]


# --- the mark ---------------------------------------------------------------------------------------------------------


def test_the_window_says_where_messages_go_while_a_server_is_used(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    mark, line = window.topbar.server, window.bottombar.offline
    services.emit(ModelReady(LOCAL))
    qtbot.waitUntil(lambda: window.topbar.model.text() == "Starter")
    assert not mark.isVisible()
    assert line.text() == "Offline — nothing leaves this laptop"
    services.emit(ModelReady(THERE))
    qtbot.waitUntil(lambda: mark.isVisible() and mark.text() == "ai.example.org")
    assert line.text() == "Your messages go to ai.example.org"
    assert "lines of memory" in mark.toolTip()
    services.emit(ModelReady(LOCAL))
    qtbot.waitUntil(lambda: not mark.isVisible())
    assert line.text() == "Offline — nothing leaves this laptop"


def test_a_server_on_this_laptop_is_marked_but_nothing_leaves(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    services.emit(ModelReady(BESIDE))
    qtbot.waitUntil(window.topbar.server.isVisible)
    assert "on this laptop" in window.bottombar.offline.text()


@pytest.mark.parametrize("allowed", [False, True])
def test_in_a_private_chat_nothing_is_said_to_leave_unless_it_does(
    qtbot: QtBot, window: MainWindow, services: FakeServices, allowed: bool
) -> None:
    services.emit(ModelReady(replace(THERE, private=allowed)))
    qtbot.waitUntil(window.topbar.server.isVisible)
    window.kinds.new_private()
    goes = "Your messages go to ai.example.org"
    stays = "Offline — nothing leaves this laptop"
    qtbot.waitUntil(lambda: window.bottombar.offline.text() == (goes if allowed else stays))
    assert window.topbar.server.isVisible() == allowed
    window.new_chat()
    qtbot.waitUntil(lambda: window.bottombar.offline.text() == goes)
    assert window.topbar.server.isVisible()


def test_a_server_that_fails_is_no_longer_marked(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    services.emit(ModelReady(THERE), ModelFailed(AssistantError("remote.refused", "No server answers at x.", "")))
    qtbot.waitUntil(lambda: window.topbar.model.text() == "The server does not answer")
    assert not window.topbar.server.isVisible()


def test_the_mark_leads_to_the_settings(window: MainWindow) -> None:
    window.topbar.server_asked.emit()
    dialog = window.findChildren(SettingsDialog)[-1]
    assert dialog.stack.currentIndex() == SERVER_PAGE
    dialog.reject()


# --- the settings -----------------------------------------------------------------------------------------------------


def choose(dialog: SettingsDialog, engine: str, url: str = "") -> None:
    field = dialog.server.fields["engine"]
    field.setCurrentIndex(field.findData(engine))  # type: ignore[union-attr]
    dialog.server.url.setText(url)


def test_switching_on_asks_once_and_says_what_goes_where(dialog: SettingsDialog, services: FakeServices) -> None:
    choose(dialog, "remote", "https://ai.example.org")
    asked = answer("Use this server")
    dialog.save_button.click()
    assert "ai.example.org" in asked[0]
    assert "what you write" in asked[1]
    assert "Private chats are answered on this laptop." in asked[1]
    assert services.settings.load().remote.url == "https://ai.example.org"
    assert calls(services, "use_server") == [("use_server", True)]


def test_who_stays_here_changes_nothing(dialog: SettingsDialog, services: FakeServices) -> None:
    choose(dialog, "remote", "http://192.0.2.7:8080")
    asked = answer("Stay on this laptop")
    dialog.save_button.click()
    assert "not encrypted" in asked[1]
    assert services.settings.load().remote.url == ""
    assert calls(services, "use_server") == []


def test_an_address_that_was_agreed_to_is_not_asked_about_again(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    services.settings.update("remote", url="http://localhost:8080", agreed="http://localhost:8080")
    dialog = opened(qtbot, window)
    choose(dialog, "remote", "http://localhost:8080")
    dialog.save_button.click()
    assert calls(services, "use_server") == [("use_server", True)]


def test_switching_off_needs_no_question(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    services.settings.update("remote", url="http://localhost:8080", agreed="http://localhost:8080")
    services.settings.update("model", engine="remote")
    dialog = opened(qtbot, window)
    choose(dialog, "local", "http://localhost:8080")
    dialog.save_button.click()
    assert calls(services, "use_server") == [("use_server", False)]


def test_what_is_no_address_is_said(qtbot: QtBot, dialog: SettingsDialog, services: FakeServices) -> None:
    choose(dialog, "remote", "not an address")
    with qtbot.waitSignal(dialog.failed):
        dialog.save_button.click()
    assert calls(services, "use_server") == []


def test_the_way_there_is_shown_while_it_is_typed(dialog: SettingsDialog) -> None:
    hint: QLabel = dialog.server.hints["url"]
    said = []
    for url in ("http://192.0.2.7:8080", "https://ai.example.org", "localhost:8080"):
        dialog.server.url.setText(url)
        said.append(hint.text())
    assert said[0].startswith("Not encrypted")
    assert said[1:] == ["Encrypted on the way to ai.example.org.", "A server on this laptop."]


def test_a_key_is_given_to_the_keyring_and_not_to_the_settings(dialog: SettingsDialog, services: FakeServices) -> None:
    choose(dialog, "local", "https://ai.example.org")
    dialog.server.key.setText("sk-secret-1")
    dialog.save_button.click()
    assert calls(services, "set_key") == [("set_key", "sk-secret-1", True)]
    assert calls(services, "use_server") == []
    assert b"sk-secret-1" not in services.settings.path.read_bytes()


def test_a_key_in_the_clear_is_asked_about(dialog: SettingsDialog, services: FakeServices) -> None:
    choose(dialog, "local", "http://192.0.2.7:8080")
    dialog.server.key.setText("sk-secret-1")
    asked = answer("Cancel")
    dialog.save_button.click()
    assert "could read the key" in asked[0]
    assert calls(services, "set_key") == []


def test_the_test_shows_what_answers_and_fills_the_models(
    qtbot: QtBot, dialog: SettingsDialog, services: FakeServices
) -> None:
    choose(dialog, "local", "localhost:8080")
    with qtbot.waitSignal(dialog.server.tested):
        dialog.server.test_button.click()
    assert calls(services, "test") == [("test", "localhost:8080", "", None, False)]
    assert "tiny answers: Hello there." in dialog.server.result.text()
    assert [dialog.server.model.itemText(n) for n in range(dialog.server.model.count())] == ["tiny", "big"]
    assert dialog.server.model.currentText() == ""


def test_a_test_that_fails_says_why(qtbot: QtBot, dialog: SettingsDialog, services: FakeServices) -> None:
    services.remote.found = AssistantError("remote.refused", "No server answers at localhost:8080.", "Start it.")
    choose(dialog, "local", "localhost:8080")
    with qtbot.waitSignal(dialog.server.tested):
        dialog.server.test_button.click()
    assert dialog.server.result.text() == "No server answers at localhost:8080. Start it."
    assert dialog.server.test_button.isEnabled()


def test_a_test_that_was_left_is_no_failure(window: MainWindow, dialog: SettingsDialog) -> None:
    failed: list[object] = []
    window.bridge.work_failed.connect(failed.append)
    dialog.server._on_failed(Cancelled())
    assert failed == []


def test_a_server_that_does_not_answer_is_not_taken_for_none(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    line = window.bottombar.offline
    services.emit(ModelFailed(AssistantError("remote.refused", "No server answers at x.", "")))
    qtbot.waitUntil(lambda: line.text() == "A server is set, but it gives no answers now")
    services.emit(ModelFailed(AssistantError("remote.unasked", "You have not said yet.", "")))
    qtbot.waitUntil(lambda: line.text() == "Offline — nothing leaves this laptop")


def test_messages_do_not_wait_while_the_keyring_asks(
    qtbot: QtBot, window: MainWindow, dialog: SettingsDialog, services: FakeServices
) -> None:
    services.lanes.keeping = keyring = HeldLane()
    choose(dialog, "local", "https://ai.example.org")
    dialog.server.key.setText("sk-secret-1")
    dialog.save_button.click()
    window.session.send("hello")
    qtbot.waitUntil(lambda: bool(calls(services, "send")))
    assert calls(services, "set_key") == []
    with qtbot.waitSignal(dialog.saved):
        keyring.release()
    assert calls(services, "set_key") == [("set_key", "sk-secret-1", True)]
