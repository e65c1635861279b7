"""Backing up and restoring through the window, on real files."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog
from pytestqt.qtbot import QtBot

from assistant.runtime.composition import Places, compose, find_assistants
from assistant.ui.backup.make_dialog import BackupDialog
from assistant.ui.backup.restore_dialog import RestoreDialog
from assistant.ui.main_window import MainWindow
from assistant.ui.theme import Theme
from assistant.workspace.backup_content import read_steady

from .real_services import Kept, kept

__all__ = ["kept"]
PATIENCE = 60_000
D = TypeVar("D", bound=QDialog)


def opened(window: MainWindow, words: str, kind: type[D]) -> D:
    next(action for action in window.actions_by_name() if action.text() == words).trigger()
    return next(dialog for dialog in window.findChildren(kind) if dialog.isVisible())


def made(kept: Kept, qtbot: QtBot, target: Path) -> BackupDialog:
    dialog = opened(kept.window, "Back up…", BackupDialog)
    dialog.where.edit.setText(str(target))
    dialog.go.click()
    qtbot.waitUntil(lambda: dialog.report.isVisible() or dialog.problem.isVisible(), timeout=PATIENCE)
    return dialog


def test_a_backup_shows_the_key_once_and_comes_back(kept: Kept, qtbot: QtBot, tmp_path: Path) -> None:
    kept.services.remember("likes oolong")
    dialog = made(kept, qtbot, tmp_path / "b.age")
    assert "Read back and compared" in dialog.report.words.text()
    key = "".join(dialog.report.key.text().split())
    assert key.startswith("AGE-SECRET-KEY-1")
    next(child for child in dialog.report.card.children() if getattr(child, "text", str)() == "Copy the key").click()
    assert QGuiApplication.clipboard().text() == key
    dialog.go.click()
    again = made(kept, qtbot, tmp_path / "b.age")
    assert not again.report.card.isVisible(), "the key is shown once"
    assert "b.age" in again.last.text()
    again.go.click()
    kept.keyring.held.clear()
    back = opened(kept.window, "Restore a backup…", RestoreDialog)
    assert not back.go.isEnabled()
    back.file.edit.setText(str(tmp_path / "b.age"))
    back.go.click()
    qtbot.waitUntil(back.problem.isVisible, timeout=PATIENCE)
    assert "holds no key" in back.problem.text()
    back.secret.setText(f"  {key[:20].lower()} {key[20:]}\n")
    back.go.click()
    qtbot.waitUntil(back.use.isVisible, timeout=PATIENCE)
    assert "oolong" in (tmp_path / "ws restored" / "MEMORY.md").read_text()
    back.use.click()
    qtbot.waitUntil(lambda: back.use.text() == "Opens at the next start", timeout=PATIENCE)
    assert kept.services.settings.load().general.workspace == str(tmp_path / "ws restored")
    back.go.click()


def test_a_passphrase_is_asked_for_twice(kept: Kept, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = opened(kept.window, "Back up…", BackupDialog)
    assert not dialog.first.isVisible()
    dialog.lock.setCurrentIndex(1)
    dialog.where.edit.setText(str(tmp_path / "b.age"))
    dialog.first.setText("horse")
    dialog.again.setText("donkey")
    dialog.go.click()
    assert dialog.problem.text() == "The two passphrases differ."
    dialog.again.setText("horse")
    form = dialog.height()
    dialog.go.click()
    qtbot.waitUntil(dialog.report.isVisible, timeout=PATIENCE)
    qtbot.waitUntil(lambda: dialog.height() < form - 100)
    assert not dialog.report.card.isVisible()
    dialog.go.click()
    back = opened(kept.window, "Restore a backup…", RestoreDialog)
    back.file.edit.setText(str(tmp_path / "b.age"))
    back.secret.setText("donkey")
    back.go.click()
    qtbot.waitUntil(back.problem.isVisible, timeout=PATIENCE)
    assert "not the right one" in back.problem.text()
    assert not (tmp_path / "ws restored").exists()
    back.reject()


def test_a_file_of_somebody_else_is_kept(kept: Kept, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "thesis.doc").write_text("years")
    dialog = made(kept, qtbot, tmp_path / "thesis.doc")
    assert "no backup that was made here" in dialog.problem.text()
    assert dialog.go.isEnabled()
    dialog.reject()


def test_cancelling_stops_it_and_leaves_nothing(
    kept: Kept, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go = threading.Event(), threading.Event()

    def slow(path: Path) -> object:
        begun.set()
        assert go.wait(30)
        return read_steady(path)

    monkeypatch.setattr("assistant.workspace.backup_tar.read_steady", slow)
    kept.services.remember("tea")
    kept.services.remember("coffee")
    dialog = opened(kept.window, "Back up…", BackupDialog)
    dialog.where.edit.setText(str(tmp_path / "b.age"))
    dialog.go.click()
    qtbot.waitUntil(begun.is_set)
    dialog.cancel.click()
    go.set()
    kept.services.lanes.keeping.submit(lambda: None).result()
    assert not (tmp_path / "b.age").exists()
    assert list(tmp_path.glob(".~keepsake*")) == []


@pytest.mark.parametrize("name", ["~nobody-is-called-so/b.age", "a" * 5_000, "a\0b"])
def test_what_can_be_no_name_is_said_in_both_dialogs(kept: Kept, qtbot: QtBot, name: str) -> None:
    dialog = made(kept, qtbot, Path(name))
    assert "can be no file's name" in dialog.problem.text() and dialog.go.isEnabled()
    dialog.where.edit.clear()
    assert not dialog.go.isEnabled(), "not into whatever folder the app was started in"
    dialog.reject()
    restoring = opened(kept.window, "Restore a backup…", RestoreDialog)
    restoring.file.edit.setText(name)
    restoring.go.click()
    qtbot.waitUntil(restoring.problem.isVisible, timeout=PATIENCE)
    assert "can be no file's name" in restoring.problem.text()


def test_a_backup_is_restored_beside_the_folder_also_from_another_assistant(
    qtbot: QtBot, theme: Theme, tmp_path: Path
) -> None:
    places = Places(tmp_path / "ws", tmp_path / "config", tmp_path / "state")
    (tmp_path / "ws").mkdir()
    find_assistants(places, {}).add("Anna")
    services = compose(replace(places, assistant="Anna"), {})
    window = MainWindow(services, theme)
    window.show()
    qtbot.waitExposed(window)
    dialog = opened(window, "Restore a backup…", RestoreDialog)
    assert dialog.folder.text() == str(tmp_path / "ws restored")
    dialog.reject()
    window.close()
    window.release()
    services.close()
    window.deleteLater()
