"""Turning the git history on in the settings."""

from __future__ import annotations

import subprocess

import pytest
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from assistant.ui.errors import ErrorDialog
from assistant.ui.settings.dialog import SettingsDialog

from .real_services import Kept, kept

__all__ = ["kept"]


def choose(kept: Kept, qtbot: QtBot, value: str) -> None:
    kept.window.open_settings()
    dialog = kept.window.findChildren(SettingsDialog)[-1]
    qtbot.waitUntil(dialog.save_button.isEnabled)
    dialog.choose_page(3)
    field = dialog.history.fields["git"]
    field.setCurrentIndex(field.findData(value))
    with qtbot.waitSignal(dialog.saved):
        dialog.save_button.click()


def test_history_begins_when_it_is_chosen(kept: Kept, qtbot: QtBot) -> None:
    kept.services.remember("tea")
    choose(kept, qtbot, "on")
    qtbot.waitUntil(lambda: len(kept.services.history.log()) == 1)
    kept.services.remember("coffee")
    qtbot.waitUntil(lambda: len(kept.services.history.log()) == 2)


def foreign(kept: Kept) -> None:
    root = kept.services.workspace.root
    subprocess.run(["git", "init", "-q", "-b", "mine"], cwd=root, check=True, timeout=60)


@pytest.mark.parametrize(("words", "setting"), [("Add commits to it", "on"), ("Leave it alone", "off")])
def test_a_repository_of_the_person_is_asked_about(kept: Kept, qtbot: QtBot, words: str, setting: str) -> None:
    foreign(kept)
    kept.services.remember("tea")
    choose(kept, qtbot, "on")
    qtbot.waitUntil(lambda: bool(kept.window.findChildren(QMessageBox)))
    box = kept.window.findChildren(QMessageBox)[0]
    next(button for button in box.buttons() if button.text() == words).click()
    qtbot.waitUntil(lambda: kept.services.settings.load().history.git == setting)
    if setting == "on":
        qtbot.waitUntil(lambda: len(kept.services.history.log()) == 1)


def test_a_repository_that_cannot_be_used_is_an_error_in_words(kept: Kept, qtbot: QtBot) -> None:
    (kept.services.workspace.root / ".git").mkdir()
    (kept.services.workspace.root / ".git" / "keepsake-history").touch()
    choose(kept, qtbot, "on")
    qtbot.waitUntil(lambda: bool(kept.window.findChildren(ErrorDialog)))
    kept.window.findChildren(ErrorDialog)[0].accept()
    assert kept.services.settings.load().history.git == "off"
