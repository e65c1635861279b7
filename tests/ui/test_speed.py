"""The speed of the model in the settings: measured at a button's press, told in words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.ports import Progress
from assistant.engine.speed import Speed
from assistant.engine.tuning import PolicyFigures, Tuning
from assistant.ui.main_window import MainWindow
from assistant.ui.settings.dialog import SettingsDialog

from .fakes import FakeServices

ONE = PolicyFigures(1, "passive", False, Speed(90, 65), Speed(88, 47))
TWO = PolicyFigures(2, "library", True, Speed(170, 66), Speed(85, 46))
TUNING = Tuning(
    "starter",
    "a machine",
    "2026-11-30T12:00:00+01:00",
    40.5,
    {"threads": 1, "threads_batch": 2, "wait": "library", "give_way": True, "draft": 8, "flash_attention": "on"},
    (ONE, TWO),
    (),
)


@pytest.fixture
def dialog(qtbot: QtBot, window: MainWindow, services: FakeServices) -> SettingsDialog:
    window.open_settings()
    dialog = window.findChild(SettingsDialog)
    assert dialog is not None
    dialog.choose_page(1)
    qtbot.waitUntil(dialog.save_button.isEnabled)
    return dialog


def test_measuring_tells_what_it_found(qtbot: QtBot, dialog: SettingsDialog, services: FakeServices) -> None:
    row = dialog.model.speed
    qtbot.waitUntil(lambda: row.words.text().startswith("Not measured yet."))
    services.tuning.finds = TUNING
    row.button.click()
    qtbot.waitUntil(lambda: row.button.text() == "Measure again")
    words = row.words.text()
    assert words.startswith("Reads 170 and writes 65 tokens a second; 47 while another program")
    assert "Threads: 1 to write, 2 to read." in words and "Flash attention is on." in words
    assert "quiet moment" not in words
    services.tuning.finds = replace(TUNING, others=1.4)
    row.button.click()
    qtbot.waitUntil(lambda: row.words.text().endswith("measure again in a quiet moment."))
    assert "several at once" in words and "30" in words.rpartition("Measured on")[2]


def test_what_was_measured_before_is_there_at_once(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    services.tuning.known = TUNING
    window.open_settings()
    dialog = window.findChild(SettingsDialog)
    assert dialog is not None
    qtbot.waitUntil(lambda: dialog.model.speed.words.text().startswith("Reads 170"))


def test_a_failure_is_told_and_measuring_can_be_tried_again(
    qtbot: QtBot, dialog: SettingsDialog, services: FakeServices
) -> None:
    row = dialog.model.speed
    services.tuning.finds = AssistantError("model.failed", "It could not be loaded.", "Check it.")
    with qtbot.waitSignal(row.failed) as told:
        row.button.click()
    assert told.args is not None and told.args[0].code == "model.failed"
    assert row.button.text() == "Measure" and row.button.isEnabled()


def test_it_can_be_stopped_and_the_button_says_so(
    qtbot: QtBot, dialog: SettingsDialog, services: FakeServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = dialog.model.speed
    seen: list[tuple[str, str]] = []

    def measure(_name: str, cancel: CancelToken, progress: Progress) -> Tuning:
        progress(1, 5, "how threads wait")
        seen.append((row.button.text(), row.words.text()))
        row.button.click()
        assert cancel.cancelled and not row.button.isEnabled()
        raise Cancelled

    monkeypatch.setattr(services.tuning, "measure", measure)
    row.button.click()
    assert seen == [("Stop", "Measuring, step 2 of 5. Messages wait until it is done.")]
    qtbot.waitUntil(row.button.isEnabled)
    assert row.button.text() == "Measure"
