"""Every action on a line of a receipt, in a real window over real files; only the model is scripted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from assistant.core.events import WorkspaceChanged
from assistant.ui.chat.receipt_row import Act
from assistant.ui.theme import Theme

from .house import LISBON, TEA, House


@pytest.fixture
def house(qtbot: QtBot, theme: Theme, tmp_path: Path) -> Iterator[House]:
    made = House(qtbot, theme, tmp_path)
    made.say("Hello")
    made.open_receipt()
    yield made
    made.close()


def test_wrong_strikes_the_line_with_a_date_and_can_be_taken_back(house: House) -> None:
    house.choose(house.row("Lisbon"), Act.WRONG)
    house.until(lambda: "~~I live in Lisbon, near the Jardim da Estrela~~ · superseded" in house.memory())
    row = house.row("Lisbon")
    house.until(lambda: row.now is not None and row.now.state == "struck")
    assert "Struck" in row.state.text()
    assert "<s>" in row.words.text(), "what was told stands there still, struck"
    assert Act.WRONG not in row.acts()
    house.undo_toast()
    house.until(lambda: LISBON in house.memory())
    house.until(lambda: row.now is not None and row.now.state == "same")


def test_an_entry_is_struck_too(house: House) -> None:
    house.choose(house.row("likes tea"), Act.WRONG)
    house.until(lambda: "2026-11-20|you|~~likes tea, no coffee after noon~~ · superseded" in house.memory())


def test_editing_keeps_date_and_source_and_shows_then_and_now(house: House) -> None:
    row = house.row("likes tea")
    house.choose(row, Act.EDIT)
    assert row.editor is not None
    assert row.editor.edit.toPlainText() == "likes tea, no coffee after noon"
    assert not row.editor.save.isEnabled(), "nothing was changed yet"
    row.editor.edit.setPlainText("likes green tea <b>only</b>")
    row.editor.save.click()
    house.until(lambda: "2026-11-20|you|likes green tea <b>only</b>" in house.memory())
    house.until(lambda: row.now is not None and row.now.state == "changed")
    assert row.editor is None
    assert row.now is not None and row.now.by == "journal"
    assert "likes tea, no coffee after noon" in row.words.accessibleName()
    assert "likes green tea" in row.words.accessibleName()
    assert "&lt;b&gt;" in row.words.text(), "what the person wrote is text, never markup"
    house.undo_toast()
    house.until(lambda: TEA in house.memory())


@pytest.mark.parametrize("keep", [True, False])
def test_a_secret_in_an_edited_line_is_asked_about(house: House, keep: bool) -> None:
    row = house.row("Lisbon")
    house.choose(row, Act.EDIT)
    editor = row.editor
    assert editor is not None
    editor.edit.setPlainText("I live in Lisbon, password: Tr0ub4dor&3")
    editor.save.click()
    house.until(editor.secrets.isVisible)
    assert "Tr0ub4dor" not in house.memory()
    (editor.secrets.keep if keep else editor.secrets.without).click()
    house.until(lambda: "password:" in house.memory())
    assert ("Tr0ub4dor&3" in house.memory()) is keep


def test_escape_leaves_the_editor_and_nothing_changes(house: House) -> None:
    before = house.memory()
    row = house.row("Lisbon")
    house.choose(row, Act.EDIT)
    assert row.editor is not None
    row.editor.edit.setPlainText("other")
    house.qtbot.keyClick(row.editor.edit, Qt.Key.Key_Escape)
    assert row.editor is None
    assert house.memory() == before


def test_a_line_that_went_meanwhile_is_not_overwritten_and_the_words_are_kept(house: House) -> None:
    row = house.row("Lisbon")
    house.choose(row, Act.EDIT)
    (house.root / "MEMORY.md").write_text(f"- entirely other words\n{TEA}\n", encoding="utf-8")
    assert row.editor is not None
    row.editor.edit.setPlainText("I live in Porto")
    row.editor.save.click()
    house.until(lambda: row.editor is not None and row.editor.problem.isVisible())
    assert row.editor is not None and row.editor.edit.toPlainText() == "I live in Porto"
    assert "Porto" not in house.memory()


def test_open_goes_to_the_line_where_it_is_now(house: House) -> None:
    (house.root / "MEMORY.md").write_text(f"# About me\n\n- new\n- new too\n{LISBON}\n{TEA}\n", encoding="utf-8")
    house.window.receipts.look_again()
    row = house.row("Lisbon")
    house.until(lambda: row.now is not None and row.now.state == "moved")
    assert row.place.text() == "MEMORY.md:5"
    house.choose(row, Act.OPEN)
    panel = house.window.memory_panel()
    house.until(lambda: house.window.memory_shown() and panel.current == "files")
    house.until(lambda: panel.files.editor.textCursor().blockNumber() == 4)


def test_never_recall_here_is_felt_in_the_next_turn_and_can_be_taken_back(house: House) -> None:
    row = house.row("Lisbon")
    house.choose(row, Act.NEVER)
    house.until(lambda: row.never)
    assert "Never recalled" in row.state.text()
    told = house.say("And now?")
    assert "Lisbon" not in told and "likes tea" in told
    house.choose(row, Act.AGAIN)
    house.until(lambda: not row.never)
    assert "Lisbon" in house.say("And again?")


def test_never_is_undone_by_the_toast(house: House) -> None:
    row = house.row("likes tea")
    house.choose(row, Act.NEVER)
    house.until(lambda: row.never)
    house.undo_toast()
    house.until(lambda: not row.never)
    assert "likes tea" in house.say("Next")


def test_a_line_of_another_chat_opens_that_chat_at_that_turn(house: House) -> None:
    first = house.window.session.chat_id
    house.say("My boat is called Zephyrina and lies in Faro")
    for n in range(6):
        house.say(f"number {n}")
    house.window.new_chat()
    house.say("Where does Zephyrina lie?")
    house.open_receipt()
    row = house.row("Zephyrina")
    assert row.acts()[0] is Act.OPEN and Act.WRONG not in row.acts() and Act.EDIT not in row.acts()
    house.choose(row, Act.OPEN)
    house.until(lambda: house.window.session.chat_id == first)
    turn = next(each.n for each in house.services.read_chat(first).turns if "Zephyrina" in each.user)

    def is_seen() -> bool:
        view = next((each for each in house.window.page.transcript.views() if each.turn.n == turn), None)
        return view is not None and view.copy_user.hasFocus() and not view.visibleRegion().isEmpty()

    house.until(is_seen)


def test_a_change_by_another_program_shows_in_the_open_receipt(house: House) -> None:
    row = house.row("Lisbon")
    text = house.memory().replace("Jardim da Estrela", "Jardim Botanico")
    (house.root / "MEMORY.md").write_text(text, encoding="utf-8")
    house.services._emit(WorkspaceChanged())
    house.until(lambda: row.now is not None and row.now.state == "changed")
    assert "Changed since" in row.state.text()


def test_all_of_it_by_keyboard(house: House) -> None:
    row = house.row("Lisbon")
    assert row.more in house.window.page.transcript.views()[-1].tab_stops()
    row.more.setFocus()
    house.qtbot.keyClick(row.more, Qt.Key.Key_Space)
    house.until(lambda: QApplication.activePopupWidget() is not None)
    menu = QApplication.activePopupWidget()
    assert menu is not None
    words = [action.text() for action in menu.actions()]
    assert words[:3] == ["Open", "Edit", "Wrong: strike it"]
    assert words[-1] == "Never recall here"
    house.qtbot.keyClick(menu, Qt.Key.Key_Down)
    house.qtbot.keyClick(menu, Qt.Key.Key_Down)
    house.qtbot.keyClick(menu, Qt.Key.Key_Return)
    house.until(lambda: row.editor is not None)


def test_forgotten_words_leave_the_open_receipt(house: House) -> None:
    row = house.row("Lisbon")
    forgetting = house.services.forgetting
    forgetting.now(forgetting.plan(row.line.unit))
    house.services._emit(WorkspaceChanged())
    house.until(lambda: row.now is not None and row.now.state == "forgotten")
    assert row.words.text() == "«forgotten»"
    assert row.acts() == []
    view = house.window.page.transcript.views()[-1]
    view.receipt_button.click()
    view.receipt_button.click()
    again = view.receipt_view()
    assert again is not None
    assert not any("Lisbon" in each.line.text for each in again.rows.values())
    assert "Lisbon" not in house.say("Next")


def test_opening_a_line_of_a_file_that_is_gone_says_so(house: House) -> None:
    note = house.root / "memory" / "boat.md"
    note.parent.mkdir(exist_ok=True)
    note.write_text("# Boat\n\n- Zephyrina lies in Faro\n", encoding="utf-8")
    house.window.page.transcript.views()[-1].receipt_button.click()
    house.say("Where is Zephyrina?")
    note.unlink()
    house.open_receipt()
    row = house.row("Zephyrina")
    house.until(lambda: row.now is not None and row.now.state == "gone")
    assert "No longer there" in row.state.text()
    house.choose(row, Act.OPEN)
    house.until(house.window.memory_shown)
    assert not note.exists()
