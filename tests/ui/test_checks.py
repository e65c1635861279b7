"""The self-test page in the real window, over real memory."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from assistant.ui.memory.checks import ChecksPage
from assistant.workspace.memory import Saved

from .real_services import Kept, kept

__all__ = ["kept"]


@pytest.fixture
def page(kept: Kept, qtbot: QtBot) -> ChecksPage:
    kept.services.remember("the boiler is in the cellar")
    kept.window.toggle_memory()
    panel = kept.window.memory_panel()
    panel.show_page("checks")
    found = panel.page("checks")
    assert isinstance(found, ChecksPage)
    qtbot.waitUntil(found.hint.isVisible)
    return found


def pin(page: ChecksPage, qtbot: QtBot, question: str, expect: str) -> None:
    rows = page.model.rowCount()
    page.question.setText(question)
    page.expect.setText(expect)
    page.add_button.click()
    qtbot.waitUntil(lambda: page.model.rowCount() == rows + 1)


def lose(kept: Kept) -> str:
    memory = kept.services.workspace.memory
    saved = memory.save("MEMORY.md", "nothing\n", memory.read("MEMORY.md").sha256)
    assert isinstance(saved, Saved)
    return saved.journal_id


def row(page: ChecksPage, n: int = 0) -> str:
    return str(page.model.index(n).data(Qt.ItemDataRole.AccessibleTextRole))


def test_a_question_is_pinned_asked_and_removed(kept: Kept, qtbot: QtBot, page: ChecksPage) -> None:
    assert not page.add_button.isEnabled() and not page.run_button.isEnabled()
    pin(page, qtbot, "where is the boiler?", "cellar")
    assert row(page) == "where is the boiler?, place 1 · cellar"
    assert page.hint.isHidden() and page.card.isHidden()
    lose(kept)
    page.run_button.click()
    qtbot.waitUntil(page.card.isVisible)
    assert row(page) == "where is the boiler?, place 1 → not found · cellar"
    assert kept.window.memory_panel().rail.buttons["checks"].badge == 1
    assert page.card.back.isHidden(), "nothing is known that could be undone"
    page.view.setCurrentIndex(page.model.index(0))
    page.remove_button.click()
    qtbot.waitUntil(page.hint.isVisible)
    assert kept.window.memory_panel().rail.buttons["checks"].badge == 0


def test_a_tidy_up_that_lost_something_is_undone_from_the_card(kept: Kept, qtbot: QtBot, page: ChecksPage) -> None:
    pin(page, qtbot, "where is the boiler?", "cellar")
    kept.services.self_test.run_later("tidy", lose(kept))
    qtbot.waitUntil(page.card.isVisible)
    assert page.card.back.text() == "Undo the tidy-up"
    page.card.back.click()
    qtbot.waitUntil(page.card.isHidden)
    assert "cellar" in kept.services.workspace.memory.read("MEMORY.md").text
    assert row(page) == "where is the boiler?, not found → place 1 · cellar"


def test_a_rebuild_says_that_there_is_nothing_to_undo(kept: Kept, qtbot: QtBot, page: ChecksPage) -> None:
    pin(page, qtbot, "where is the boiler?", "cellar")
    lose(kept)
    kept.services.self_test.run_later("rebuild")
    qtbot.waitUntil(page.card.isVisible)
    assert "your files did not change" in page.card.why.text() and page.card.back.isHidden()


def test_a_search_hit_is_pinned_from_its_menu(kept: Kept, qtbot: QtBot, page: ChecksPage) -> None:
    panel = kept.window.memory_panel()
    panel.start_search()
    panel.search.field.setText("boiler")
    panel.search.ask()
    qtbot.waitUntil(lambda: panel.search.model.rowCount() == 1)
    panel.search.view.setCurrentIndex(panel.search.model.index(0))
    next(action for action in panel.search.view.actions() if action.text() == "Pin as check").trigger()
    qtbot.waitUntil(lambda: len(kept.services.self_test.store.checks()) == 1)
    panel.show_page("checks")
    qtbot.waitUntil(lambda: page.model.rowCount() == 1 and row(page).startswith("boiler, place 1"))
