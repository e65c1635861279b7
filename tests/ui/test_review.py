"""The review page and the toasts of what the assistant remembers, in the real window over real memory."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from assistant.core.errors import AssistantError
from assistant.recall.pairs import NearPair
from assistant.ui.application import use_language
from assistant.ui.errors import ErrorDialog
from assistant.ui.memory.conflict_card import ConflictCard
from assistant.ui.memory.days import day_words
from assistant.ui.memory.proposal_card import ProposalCard
from assistant.ui.memory.review import ReviewPage
from assistant.workspace.inbox_files import Proposal
from assistant.workspace.memory_values import Edit
from tests.fakes import FakeEngine

from .real_services import Kept, kept

__all__ = ["kept"]
CHAT = "20261129_153022"
MEMORY = "- wifi = red\n\n2026-05-03|you|lives in Lisbon\n2026-09-09|you|likes tea；I live in Graz\n"


def propose(kept: Kept, *items: str, source: str = f"chat:{CHAT}#3-5") -> Proposal:
    made = kept.services.workspace.inbox.propose(items, source=source, actor="upkeep", day=date(2026, 5, 3))
    assert made is not None
    return made


def write(kept: Kept, text: str = MEMORY) -> None:
    (kept.services.workspace.root / "MEMORY.md").write_text(text, encoding="utf-8")


def memory(kept: Kept) -> str:
    return kept.services.workspace.memory.read("MEMORY.md").text


def opened(kept: Kept, qtbot: QtBot) -> ReviewPage:
    """The review page, as the person opens it, when it has read both."""
    kept.window.memory.review()
    page = kept.window.memory_panel().page("review")
    assert isinstance(page, ReviewPage)
    for lane in (kept.services.lanes.files, kept.services.lanes.keeping):
        lane.submit(lambda: None).result(30)
    parts = (page.empty, page.inbox, page.conflicts, page.same)
    qtbot.waitUntil(lambda: any(part.isVisible() for part in parts))
    return page


def badge(kept: Kept) -> int:
    return kept.window.memory_panel().rail.buttons["review"].badge


def proposal_card(page: ReviewPage, qtbot: QtBot, at: int = 0) -> ProposalCard:
    qtbot.waitUntil(lambda: len(page.inbox.widgets()) > at)
    card = page.inbox.widgets()[at]
    assert isinstance(card, ProposalCard)
    return card


def conflict_card(page: ReviewPage, qtbot: QtBot, at: int = 0) -> ConflictCard:
    qtbot.waitUntil(lambda: len(page.conflicts.widgets()) > at)
    card = page.conflicts.widgets()[at]
    assert isinstance(card, ConflictCard)
    return card


def test_where_nothing_waits_it_says_so(kept: Kept, qtbot: QtBot) -> None:
    page = opened(kept, qtbot)
    qtbot.waitUntil(page.empty.isVisible)
    assert page.inbox.isHidden() and page.conflicts.isHidden()
    assert badge(kept) == 0


def test_the_badge_shows_before_the_page_is_opened(kept: Kept, qtbot: QtBot) -> None:
    write(kept)
    propose(kept, "dog is called Rex", "moved to Graz")
    kept.window.toggle_memory()
    qtbot.waitUntil(lambda: badge(kept) == 3)
    assert kept.window.memory_panel().current == "files"


def test_yes_writes_one_thing_and_the_other_waits_on(kept: Kept, qtbot: QtBot) -> None:
    propose(kept, "dog is called Rex", "moved to Graz")
    page = opened(kept, qtbot)
    card = proposal_card(page, qtbot)
    assert [row.said.text() for row in card.rows] == ["dog is called Rex", "moved to Graz"]
    card.rows[1].yes.click()
    qtbot.waitUntil(lambda: len(page.inbox.widgets()) == 1 and page.inbox.widgets()[0] is not card)
    assert memory(kept) == f"2026-05-03|chat:{CHAT}#3-5|moved to Graz\n"
    assert [row.said.text() for row in page.inbox.widgets()[0].rows] == ["dog is called Rex"]
    qtbot.waitUntil(lambda: badge(kept) == 1)
    toast = kept.window.toasts.newest()
    assert toast is not None
    assert toast.text() == "Remembered: moved to Graz"
    toast.action_button().click()
    qtbot.waitUntil(lambda: memory(kept) == "")
    qtbot.waitUntil(lambda: kept.services.workspace.declined.holds("moved to Graz"))


def test_it_may_be_put_in_other_words(kept: Kept, qtbot: QtBot) -> None:
    propose(kept, "dog is called Rex")
    page = opened(kept, qtbot)
    row = proposal_card(page, qtbot).rows[0]
    row.edit.click()
    assert row.field.hasFocus() and row.said.isHidden()
    row.field.clear()
    assert not row.yes.isEnabled()
    qtbot.keyClick(row.field, Qt.Key.Key_Escape)
    assert row.field.isHidden() and kept.window.memory_shown()
    row.edit.click()
    row.field.setText("dog is called Rex the Second")
    qtbot.keyClick(row.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: memory(kept).endswith("|dog is called Rex the Second\n"))
    qtbot.waitUntil(page.empty.isVisible)


def test_no_declines_it_for_good(kept: Kept, qtbot: QtBot) -> None:
    propose(kept, "dog is called Rex")
    page = opened(kept, qtbot)
    proposal_card(page, qtbot).rows[0].no.click()
    qtbot.waitUntil(page.empty.isVisible)
    assert memory(kept) == ""
    assert kept.services.workspace.declined.turns(CHAT) == {3, 4, 5}
    assert kept.window.bottombar.notice.whole() == "It is not proposed again"


@pytest.mark.parametrize("yes", [True, False])
def test_an_answer_to_all(kept: Kept, qtbot: QtBot, yes: bool) -> None:
    propose(kept, "dog is called Rex", "moved to Graz")
    propose(kept, "likes tea", source="tool")
    page = opened(kept, qtbot)
    proposal_card(page, qtbot, 1)
    (page.yes_to_all if yes else page.no_to_all).click()
    qtbot.waitUntil(page.empty.isVisible)
    assert len(memory(kept).splitlines()) == (2 if yes else 0)


def test_what_is_being_edited_stays_when_more_comes_or_another_thing_is_answered(kept: Kept, qtbot: QtBot) -> None:
    propose(kept, "dog is called Rex", "moved to Graz")
    page = opened(kept, qtbot)
    card = proposal_card(page, qtbot)
    card.rows[0].edit.click()
    card.rows[0].field.setText("dog is Rex")
    propose(kept, "likes tea", source="tool")
    qtbot.waitUntil(lambda: len(page.inbox.widgets()) == 2)
    assert card.rows[0].field.text() == "dog is Rex"
    card.rows[1].no.click()
    qtbot.waitUntil(lambda: card not in page.inbox.widgets())
    rows = [row for each in page.inbox.widgets() for row in each.rows if row.item.text == "dog is called Rex"]
    assert rows[0].editing() and rows[0].field.text() == "dog is Rex"


def test_the_chat_it_comes_from_is_one_click_away(kept: Kept, qtbot: QtBot) -> None:
    chat = kept.services.new_chat("Moving")
    propose(kept, "moved to Graz", source=f"chat:{chat}#1-1")
    card = proposal_card(opened(kept, qtbot), qtbot)
    card.link.click()
    qtbot.waitUntil(lambda: kept.window.session.chat_id == chat)


def test_a_conflict_shows_both_lines_with_their_days_and_places(kept: Kept, qtbot: QtBot) -> None:
    write(kept)
    page = opened(kept, qtbot)
    card = conflict_card(page, qtbot)
    words = [each.text() for each in card.findChildren(QLabel)]
    for shown in ("You said on 3 May", "lives in Lisbon", "You said on 9 September", "I live in Graz"):
        assert shown in words
    card.newer.place.click()
    qtbot.waitUntil(lambda: kept.window.memory_panel().current == "files")
    files = kept.window.memory_panel().files
    qtbot.waitUntil(lambda: files.editor.textCursor().blockNumber() == 3)


@pytest.mark.parametrize(("which", "struck"), [("newer", "lives in Lisbon"), ("older", "I live in Graz")])
def test_the_line_that_holds_is_picked_and_it_can_be_undone(kept: Kept, qtbot: QtBot, which: str, struck: str) -> None:
    write(kept)
    page = opened(kept, qtbot)
    getattr(conflict_card(page, qtbot), which).holds.click()
    qtbot.waitUntil(page.empty.isVisible)
    assert f"~~{struck}~~ · superseded 2026-11-29" in memory(kept)
    assert badge(kept) == 0
    toast = kept.window.toasts.newest()
    assert toast is not None
    toast.action_button().click()
    qtbot.waitUntil(lambda: memory(kept) == MEMORY)
    conflict_card(page, qtbot)


def test_both_hold(kept: Kept, qtbot: QtBot) -> None:
    write(kept)
    page = opened(kept, qtbot)
    conflict_card(page, qtbot).both.click()
    qtbot.waitUntil(page.empty.isVisible)
    assert memory(kept) == MEMORY
    assert kept.services.review.conflicts() == []


def test_what_is_said_twice_in_other_words_is_offered_once(
    kept: Kept, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 26: the same fact in other words."""
    write(kept, "2026-05-03|you|dog is called Rex\n2026-09-09|you|the name of my dog is Rex\n")
    units = [claim.unit for claim in kept.services.workspace.conflicts.claims()]
    near = NearPair(units[0], units[1], 0.89)
    monkeypatch.setattr(kept.services.recall, "near_pairs", lambda least, most: [near])
    page = opened(kept, qtbot)
    qtbot.waitUntil(lambda: len(page.same.widgets()) == 1)
    card = page.same.widgets()[0]
    assert card.ask.isHidden() and card.both.text() == "Keep both" and card.newer.holds.text() == "Keep this one"
    assert page.conflicts.isHidden() and badge(kept) == 1
    assert kept.services.review.conflicts() == []
    card.newer.holds.click()
    qtbot.waitUntil(page.empty.isVisible)
    assert memory(kept).splitlines()[0] == "2026-05-03|you|~~dog is called Rex~~ · superseded 2026-11-29"


@pytest.mark.parametrize(
    ("replies", "shown"),
    [
        (["yes", "no"], "fake thinks that they contradict each other."),
        (["No", "Yes"], "fake thinks that both can hold."),
        (["Well, well", "yes"], "fake gave no clear answer."),
        ([AssistantError("engine.died", "The model stopped.")], "The model stopped."),
    ],
)
def test_the_models_opinion_stands_below_and_decides_nothing(
    kept: Kept, qtbot: QtBot, replies: list[str | AssistantError], shown: str
) -> None:
    kept.services.prompts.engine = kept.services.model_service.engine = FakeEngine(replies)
    write(kept)
    card = conflict_card(opened(kept, qtbot), qtbot)
    card.ask.click()
    qtbot.waitUntil(lambda: card.opinion.isVisible() and card.opinion.text() == shown)
    assert card.ask.isEnabled()
    assert memory(kept) == MEMORY


def test_wide_they_stand_beside_each_other_and_narrow_below(kept: Kept, qtbot: QtBot) -> None:
    write(kept)
    card = conflict_card(opened(kept, qtbot), qtbot)
    panel = kept.window.memory_panel()
    kept.window.resize(1400, 800)
    for width, across in ((760, True), (400, False)):
        kept.window.splitter.setSizes([200, 1400 - 200 - width, width])
        qtbot.waitUntil(lambda width=width: abs(panel.width() - width) < 40)
        qtbot.waitUntil(lambda across=across: (card.older.y() == card.newer.y()) is across)


def test_a_conflict_that_another_program_makes_appears_and_one_it_solves_goes(kept: Kept, qtbot: QtBot) -> None:
    kept.services.remember("likes tea")
    page = opened(kept, qtbot)
    write(kept)
    kept.services.workspace.memory.note_disk_changes()
    conflict_card(page, qtbot)
    write(kept, "2026-05-03|you|lives in Lisbon\n")
    kept.services.workspace.memory.note_disk_changes()
    qtbot.waitUntil(page.empty.isVisible)


def test_what_is_gone_meanwhile_is_told_and_read_again(kept: Kept, qtbot: QtBot) -> None:
    write(kept)
    page = opened(kept, qtbot)
    card = conflict_card(page, qtbot)
    write(kept, "2026-05-03|you|lives in Lisbon, mostly\n2026-09-09|you|likes tea\n")
    card.newer.holds.click()
    qtbot.waitUntil(lambda: kept.window.findChild(ErrorDialog) is not None)
    dialog = kept.window.findChild(ErrorDialog)
    assert dialog is not None
    dialog.accept()
    qtbot.waitUntil(page.empty.isVisible)


def test_by_keyboard_the_focus_goes_on_with_the_next_card(kept: Kept, qtbot: QtBot) -> None:
    propose(kept, "likes tea", source="tool")
    propose(kept, "dog is called Rex")
    page = opened(kept, qtbot)
    proposal_card(page, qtbot, 1)
    first = page.inbox.widgets()[0]
    first.rows[0].yes.setFocus()
    qtbot.keyClick(first.rows[0].yes, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: len(page.inbox.widgets()) == 1)
    assert page.inbox.widgets()[0].rows[0].yes.hasFocus()


def test_what_the_assistant_remembers_by_itself_shows_with_undo_joined(kept: Kept, qtbot: QtBot) -> None:
    door = kept.services.workspace.memory
    door.remember("I said this myself")
    door.append_entry(["likes tea"], source=f"chat:{CHAT}#1-1", actor="upkeep")
    door.append_entry(["moved to Graz", "has a cat"], source=f"chat:{CHAT}#2-4", actor="upkeep")
    toasts = kept.window.toasts
    qtbot.waitUntil(lambda: bool(toasts.shown()) and toasts.shown()[-1].text().startswith("3 things"))
    assert [toast.text() for toast in toasts.shown()] == ["3 things remembered: likes tea · moved to Graz · has a cat"]
    toasts.shown()[0].action_button().click()
    qtbot.waitUntil(lambda: memory(kept) == "2026-11-29|you|I said this myself\n")
    qtbot.waitUntil(lambda: kept.services.workspace.declined.turns(CHAT) == {1, 2, 3, 4})


def test_files_that_changed_as_one_go_back_as_one(kept: Kept, qtbot: QtBot) -> None:
    door = kept.services.workspace.memory
    door.append_entry(["likes tea"], source=f"chat:{CHAT}#1-1", actor="you")
    line = door.read("MEMORY.md")
    door.change_many([Edit("memory/archive.md", line.text, ""), Edit("MEMORY.md", "", line.sha256)], "upkeep", "Tidied")
    toasts = kept.window.toasts
    qtbot.waitUntil(lambda: [toast.text() for toast in toasts.shown()] == ["Tidied"])
    toasts.shown()[0].action_button().click()
    qtbot.waitUntil(lambda: memory(kept) == line.text and not door.read("memory/archive.md").sha256)
    assert kept.services.workspace.journal.entries(1)[0].batch
    assert kept.services.workspace.declined.turns(CHAT) == set()


def test_what_waits_for_a_yes_is_told_with_a_way_there(kept: Kept, qtbot: QtBot) -> None:
    propose(kept, "dog is called Rex", "moved to Graz")
    qtbot.waitUntil(lambda: kept.window.toasts.newest() is not None)
    toast = kept.window.toasts.newest()
    assert toast is not None
    assert toast.text() == "The assistant would like to remember 2 things"
    toast.action_button().click()
    assert kept.window.memory.is_reviewing()
    propose(kept, "likes tea", source="tool")
    qtbot.waitUntil(lambda: badge(kept) == 3)
    assert kept.window.toasts.shown() == []


@pytest.fixture
def chinese(qapp: QApplication) -> Iterator[None]:
    use_language(qapp, "zh_CN")
    yield
    use_language(qapp, "en")


def test_days_in_two_languages(chinese: None) -> None:
    assert day_words(date(2026, 5, 3), date(2026, 11, 29)) == "5月3日"
    assert day_words(date(2025, 12, 24), date(2026, 11, 29)) == "2025年12月24日"


def test_days_of_other_years_say_so(qapp: QApplication) -> None:
    assert day_words(date(2026, 5, 3), date(2026, 11, 29)) == "3 May"
    assert day_words(date(2025, 12, 24), date(2026, 11, 29)) == "24 December 2025"
