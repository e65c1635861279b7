"""Importing through the window, on real files: look, bring over, take back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from assistant.ui.application import use_language
from assistant.ui.imports.dialog import ImportDialog
from assistant.ui.main_window import MainWindow
from tests import imported

from .real_services import Kept, kept

__all__ = ["kept"]
PATIENCE = 60_000


def opened(window: MainWindow, words: str = "Import…") -> ImportDialog:
    next(action for action in window.actions_by_name() if action.text() == words).trigger()
    return next(dialog for dialog in window.findChildren(ImportDialog) if dialog.isVisible())


def looked(kept: Kept, qtbot: QtBot, path: Path) -> ImportDialog:
    dialog = opened(kept.window)
    dialog.path.setText(str(path))
    dialog.go.click()
    qtbot.waitUntil(lambda: dialog.report is not None or dialog.problem.isVisible(), timeout=PATIENCE)
    return dialog


def toast(kept: Kept) -> str:
    newest = kept.window.toasts.newest()
    return newest.text() if newest else ""


def undo(kept: Kept) -> None:
    newest = kept.window.toasts.newest()
    assert newest is not None
    newest.action_button().click()


def said(dialog: ImportDialog) -> str:
    return "\n".join(each.text() for each in dialog.findChildren(QLabel) if each.isVisibleTo(dialog))


def test_a_folder_is_looked_at_brought_over_and_taken_back(kept: Kept, qtbot: QtBot, tmp_path: Path) -> None:
    root = kept.services.workspace.root
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    dialog = looked(kept, qtbot, imported.nanobot(tmp_path / "bot"))
    words = said(dialog)
    assert "From nanobot, this would come over" in words
    assert "the other assistant's own character" in words and "SOUL.md" in words
    assert "no valid JSON, or cut off" in words and "memory/history.jsonl:3" in words
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
    assert dialog.report is not None and not dialog.report.diff.isVisible()
    dialog.report.toggle.click()
    assert "+- Works as a hydrologist" in dialog.report.diff.toPlainText() and dialog.report.diff.isVisible()
    dialog.go.click()
    qtbot.waitUntil(lambda: toast(kept).startswith("Imported"), timeout=PATIENCE)
    assert toast(kept) == "Imported from nanobot · memories: 6 · chats: 2"
    assert "hydrologist" in (root / "MEMORY.md").read_text()
    assert len(kept.services.list_chats()) == 2
    undo(kept)
    qtbot.waitUntil(lambda: not (root / "MEMORY.md").exists(), timeout=PATIENCE)
    qtbot.waitUntil(lambda: toast(kept) == "Taken back", timeout=PATIENCE)
    assert kept.services.list_chats() == []


def test_a_chat_that_went_on_is_named_when_the_rest_is_taken_back(kept: Kept, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = looked(kept, qtbot, imported.chatgpt_zip(tmp_path / "export.zip"))
    assert "The chats hold 5 turns" in said(dialog)
    dialog.go.click()
    qtbot.waitUntil(lambda: toast(kept).startswith("Imported"), timeout=PATIENCE)
    chat = kept.services.list_chats()[0]
    kept.services.workspace.chats.begin_turn(chat.id, "and breakfast?")
    qtbot.waitUntil(lambda: bool(kept.window.sidebar.model.infos()), timeout=PATIENCE)
    undo(kept)
    qtbot.waitUntil(lambda: "went on since" in toast(kept), timeout=PATIENCE)
    assert "Lisbon in March" in toast(kept)
    assert kept.services.list_chats()[0].id == chat.id


def test_what_is_here_already_cannot_be_imported_again(kept: Kept, qtbot: QtBot, tmp_path: Path) -> None:
    source = imported.countbot(tmp_path / "bot")
    looked(kept, qtbot, source).go.click()
    qtbot.waitUntil(lambda: toast(kept).startswith("Imported"), timeout=PATIENCE)
    again = looked(kept, qtbot, source)
    assert "everything is here already" in said(again)
    assert not again.go.isEnabled()
    again.back.click()
    assert again.go.text() == "Look" and again.go.isEnabled()
    again.reject()


def test_what_is_not_recognised_is_said_and_can_be_chosen_anew(kept: Kept, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = opened(kept.window)
    assert not dialog.go.isEnabled(), "there is nothing to look at yet"
    dialog.reject()
    dialog = looked(kept, qtbot, imported.write(tmp_path / "letter.md", "Dear all\n"))
    assert dialog.problem.text() == (
        "Keepsake does not recognise what is in letter.md. Choose the system it comes from."
    )
    dialog.system.setCurrentIndex(dialog.system.findData("openmausbot"))
    dialog.go.click()
    qtbot.waitUntil(lambda: dialog.report is not None, timeout=PATIENCE)
    assert "From OpenMausBot, this would come over" in said(dialog)
    dialog.reject()


def test_closing_the_dialog_stops_what_it_does(kept: Kept, qtbot: QtBot, tmp_path: Path) -> None:
    many = [imported.conversation(f"n{n}", f"n{n}") for n in range(400)]
    source = imported.write(tmp_path / "conversations.json", json.dumps(many))
    dialog = looked(kept, qtbot, source)
    dialog.go.click()
    qtbot.waitUntil(lambda: len(kept.services.list_chats()) > 3, timeout=PATIENCE)
    dialog.reject()
    qtbot.waitUntil(lambda: any(each.undone for each in kept.services.importing.list()), timeout=PATIENCE)
    assert kept.services.list_chats() == []
    assert toast(kept) == ""


@pytest.mark.parametrize("choice", ["light", "dark"])
def test_the_dialog_is_said_in_chinese_too(
    kept: Kept, qtbot: QtBot, qapp: QApplication, tmp_path: Path, choice: str
) -> None:
    kept.window.theme.choose(choice)
    use_language(qapp, "zh_CN")
    try:
        dialog = opened(kept.window)
        assert not any(word in said(dialog) for word in ("Keepsake looks", "Folder", "Look"))
        dialog.path.setText(str(imported.nanobot(tmp_path / "bot")))
        dialog.go.click()
        qtbot.waitUntil(lambda: dialog.report is not None, timeout=PATIENCE)
        words = said(dialog)
        assert "将从 nanobot 导入这些" in words and "那个助手自己的性格设定" in words
        assert not any(word in words for word in ("would", "behind", "Dated", "valid"))
        dialog.reject()
    finally:
        use_language(qapp, "en")


@pytest.mark.parametrize("name", ["~nobody-is-called-so/x", "a" * 5_000, "a\0b"])
def test_what_can_be_no_name_is_said(kept: Kept, qtbot: QtBot, name: str) -> None:
    dialog = looked(kept, qtbot, Path(name))
    assert "can be no file's name" in dialog.problem.text() and dialog.go.isEnabled()
