"""Turning the git history on in the settings."""

from __future__ import annotations

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


def test_a_repository_of_the_person_is_refused_in_words(kept: Kept, qtbot: QtBot) -> None:
    (kept.services.workspace.root / ".git").mkdir()
    choose(kept, qtbot, "on")
    qtbot.waitUntil(lambda: bool(kept.window.findChildren(ErrorDialog)))
    dialog = kept.window.findChildren(ErrorDialog)[0]
    assert kept.services.settings.load().history.git == "off"
    dialog.accept()
