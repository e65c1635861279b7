"""Forgetting in the window, over real services: asked, hidden at once, brought back or erased, and proved."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QLabel

from assistant.core.cancel import CancelToken
from assistant.ui.forget_flow import GRACE_SECONDS, ForgetStrip
from assistant.ui.memory.forget import ForgetDialog
from assistant.ui.memory.forget_proof import ProofDialog
from tests.cases.conftest import House, OpenHouse, scripted

__all__ = ["scripted"]
FACT = "the vault code of Zephyria is quixotonal 4711"


@pytest.fixture
def house(scripted: OpenHouse) -> House:
    made = scripted(["Noted.", "Fine."])
    made.services.remember(FACT)
    made.services.remember("bike stands in the cellar")
    return made


def traces(folder: Path) -> list[str]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".gguf")
    return [str(path) for path in files if b"quixotonal" in path.read_bytes().lower()]


def memory_text(house: House) -> str:
    return (house.folder / "ws" / "MEMORY.md").read_text()


def asked(house: House) -> ForgetDialog:
    house.wait(lambda: isinstance(house.window.forgetting.dialog, ForgetDialog))
    dialog = house.window.forgetting.dialog
    assert isinstance(dialog, ForgetDialog)
    return dialog


def agree(house: House) -> ForgetStrip:
    dialog = asked(house)
    QTest.mouseClick(dialog.forget, Qt.MouseButton.LeftButton)
    house.wait(lambda: house.window.forgetting.strips())
    return house.window.forgetting.strips()[-1]


def find(house: House, words: str) -> None:
    """Search for it in the panel and choose the first hit."""
    house.window.memory.search()
    page = house.window.memory_panel().page("search")
    page.field.setText(words)
    page.ask()
    house.wait(lambda: page.model.rowCount() > 0)
    page.view.setCurrentIndex(page.model.index(0, 0))


def press(house: House, words: str) -> None:
    """Choose an action of the found line's menu."""
    page = house.window.memory_panel().page("search")
    next(action for action in page.view.actions() if action.text() == words).trigger()


def texts(dialog: QDialog) -> str:
    return "\n".join(each.text() for each in dialog.findChildren(QLabel))


def test_the_dialog_shows_what_goes_place_by_place_and_cancel_removes_nothing(house: House) -> None:
    find(house, "vault code")
    press(house, "Forget…")
    dialog = asked(house)
    assert FACT in texts(dialog)
    assert "MEMORY.md:1" in texts(dialog)
    assert "Memory files 1" in dialog.places.text()
    assert "Journal 3" in dialog.places.text()  # two changes, and the copy of the file
    QTest.mouseClick(dialog.cancel, Qt.MouseButton.LeftButton)
    assert FACT in memory_text(house)
    assert house.window.forgetting.isHidden()


def test_undo_within_the_grace_period_brings_it_back_byte_for_byte(house: House) -> None:
    before = memory_text(house)
    find(house, "vault code")
    press(house, "Forget…")
    strip = agree(house)
    assert "quixotonal" not in memory_text(house)
    assert f"{GRACE_SECONDS} s" in strip.words.text()
    assert "quixotonal" not in strip.words.text()
    for _ in range(GRACE_SECONDS - 1):
        strip.tick()
    assert "1 s" in strip.words.text()
    QTest.mouseClick(strip.undo, Qt.MouseButton.LeftButton)
    house.wait(lambda: not house.window.forgetting.strips())
    assert memory_text(house) == before
    assert house.window.forgetting.isHidden()


def test_when_the_time_is_up_it_is_erased_and_the_search_is_shown(house: House, tmp_path: Path) -> None:
    find(house, "vault code")
    press(house, "Forget…")
    strip = agree(house)
    for _ in range(GRACE_SECONDS):
        strip.tick()
    assert strip.undo.isHidden()
    house.wait(lambda: strip.show_proof.isVisible())
    assert "nothing is left" in strip.words.text()
    strip.tick()
    assert "nothing is left" in strip.words.text(), "it does not count down once more"
    QTest.mouseClick(strip.show_proof, Qt.MouseButton.LeftButton)
    proof = house.window.forgetting.dialog
    assert isinstance(proof, ProofDialog)
    assert {place.remaining for place in proof.report.searched} == {0}
    assert "Search index" in texts(proof)
    QTest.mouseClick(proof.close_button, Qt.MouseButton.LeftButton)
    QTest.mouseClick(strip.shut, Qt.MouseButton.LeftButton)
    house.wait(lambda: not house.window.forgetting.strips())
    left = traces(tmp_path)
    assert left == []
    assert "bike" in memory_text(house)


def test_a_turn_is_forgotten_from_the_transcript(house: House, tmp_path: Path) -> None:
    house.say(f"remember what I say: {FACT}")
    view = house.window.page.transcript.views()[-1]
    QTest.mouseClick(view.forget, Qt.MouseButton.LeftButton)
    assert "chat, turn 1" in texts(asked(house))
    strip = agree(house)
    house.wait(lambda: house.shown()[0] == ("«forgotten»", "«forgotten»"))
    QTest.mouseClick(strip.now, Qt.MouseButton.LeftButton)
    house.wait(lambda: strip.show_proof.isVisible())
    assert "quixotonal" not in str(house.turns())
    house.close()
    left = [Path(path).read_text(errors="replace") for path in traces(tmp_path)]
    assert not any("remember what I say" in text for text in left)


def test_closing_the_window_erases_at_once(house: House, tmp_path: Path) -> None:
    find(house, "vault code")
    press(house, "Forget…")
    agree(house)
    house.close()
    assert traces(tmp_path) == []


def test_a_line_in_the_editor_and_a_line_of_a_receipt_lead_there(house: House) -> None:
    house.window.show_place("MEMORY.md", 1)
    files = house.window.memory_panel().page("files")
    house.wait(lambda: FACT in files.editor.toPlainText())
    text = files.editor.document().findBlockByNumber(0).text()
    files.editor.forget_asked.emit(1, text)
    dialog = asked(house)
    assert dialog.plan.targets[0].file == "MEMORY.md"
    dialog.reject()
    house.window.forgetting.dialog = None
    house.window.receipts.forget_asked.emit(dialog.plan.targets[0].id, FACT)
    assert asked(house).plan.targets == dialog.plan.targets
    asked(house).reject()


def test_what_is_left_is_said_in_red_with_what_to_do(house: House) -> None:
    (house.folder / "ws" / "shopping.md").write_text(FACT)
    find(house, "vault code")
    press(house, "Forget…")
    strip = agree(house)
    QTest.mouseClick(strip.now, Qt.MouseButton.LeftButton)
    house.wait(lambda: strip.show_proof.isVisible())
    assert strip.words.text() == "Memory files still holds it."
    assert strip.objectName() == "errorcard"
    QTest.mouseClick(strip.show_proof, Qt.MouseButton.LeftButton)
    proof = house.window.forgetting.dialog
    assert isinstance(proof, ProofDialog)
    assert "by hand" in texts(proof)
    proof.accept()


def test_a_found_line_can_be_struck_and_taken_back(house: House) -> None:
    find(house, "vault code")
    press(house, "Wrong: strike it")
    house.wait(lambda: f"~~{FACT}~~" in memory_text(house))
    house.wait(lambda: house.window.toasts.newest() is not None)
    QTest.mouseClick(house.window.toasts.newest().action_button(), Qt.MouseButton.LeftButton)  # type: ignore[union-attr]
    house.wait(lambda: "~~" not in memory_text(house))


def test_what_was_remembered_from_a_turn_goes_with_it_when_ticked(house: House) -> None:
    chat = house.say("I keep my things in the vault").chat
    house.services.workspace.memory.append_entry(["uses a vault"], source=f"chat:{chat}#1-1", actor="upkeep")
    house.services.recall.sync(CancelToken())
    house.window.forgetting.ask([f"{chat}#1"])
    dialog = asked(house)
    assert dialog.also[0].text().endswith("uses a vault")
    dialog.also[0].click()
    strip = agree(house)
    house.wait(lambda: "uses a vault" not in memory_text(house))
    QTest.mouseClick(strip.undo, Qt.MouseButton.LeftButton)
    house.wait(lambda: "uses a vault" in memory_text(house))
