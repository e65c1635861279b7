"""CASES 5, 6, 7, 36, 39, 41 through what came later: panel pages, temporary chats, two windows, declined notes."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from assistant.core.events import TurnFailed
from tests.cases.conftest import House, OpenHouse
from tests.cases.test_cases_distil import NOTHING, asks_for_notes, distil_the_rest, entries, facts, overflow

PAGES = ("files", "search", "journal", "review", "prompt", "checks", "picture")


def temporary(house: House) -> None:
    house.window.kinds.new_temporary()
    house.wait(house.window.page.banner.isVisible)


@pytest.mark.parametrize("page", PAGES)
def test_delete_keys_in_a_panel_page_delete_nothing(
    qtbot: QtBot, scripted: OpenHouse, tmp_path: Path, page: str
) -> None:
    """Case 7: every control of the page in turn; no chat, no note, and nothing of memory goes from the disk."""
    house = scripted(["Hello."])
    house.say("keep me")
    house.services.remember("likes tea")
    house.services.workspace.memory.save("memory/Boats.md", "# Boats\n\n- the Ariel\n", "")
    house.services.workspace.inbox.propose(["owns a boat"], source="tool", actor="assistant")
    house.services.self_test.add("what do I like?", "likes tea") if page == "checks" else None
    house.window.show_memory_page(page)
    panel = house.window.memory_panel()
    house.wait(lambda: panel.isVisible())
    for key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
        for widget in panel.findChildren(QWidget):
            if widget.isVisible() and widget.focusPolicy() != Qt.FocusPolicy.NoFocus:
                widget.setFocus()
                qtbot.keyClick(widget, key)
    assert [info.title for info in house.services.list_chats()] == ["keep me"]
    assert (tmp_path / "ws" / "MEMORY.md").read_text().endswith("|you|likes tea\n")
    assert (tmp_path / "ws" / "memory" / "Boats.md").read_text() == "# Boats\n\n- the Ariel\n"
    assert len(house.services.review.waiting()) == 1


@pytest.mark.parametrize("key", [Qt.Key.Key_Delete, Qt.Key.Key_Backspace])
def test_delete_keys_outside_the_list_end_no_temporary_chat(qtbot: QtBot, scripted: OpenHouse, key: Qt.Key) -> None:
    """Case 7."""
    house = scripted(["Hello."])
    temporary(house)
    chat = house.say("keep me").chat
    window = house.window
    for widget in window.findChildren(QWidget):
        focusable = widget.isVisible() and widget.focusPolicy() != Qt.FocusPolicy.NoFocus
        if focusable and widget is not window.sidebar.view:
            widget.setFocus()
            qtbot.keyClick(widget, key)
    assert house.services.read_chat(chat).turns[0].reply == "Hello."
    house.wait(lambda: house.window.sidebar.model.row_of(chat) >= 0)


@pytest.mark.parametrize("title", ['a<>:"/\\|?*b', "🐘 家", "x" * 300, "dot.", "CON", "   "])
def test_any_title_of_a_temporary_chat_goes_with_it_when_it_is_kept(scripted: OpenHouse, title: str) -> None:
    """Case 5: and nothing of it was on disk before."""
    house = scripted(["Hello."])
    temporary(house)
    chat = house.say("hello").chat
    house.services.rename_chat(chat, title)
    shown = house.services.read_chat(chat).title
    assert list((house.folder / "ws" / "chats").rglob("*.md")) == []
    kept = house.services.keep_chat(chat)
    assert house.services.read_chat(kept).title == shown
    assert [info.title for info in house.services.list_chats() if info.id == kept] == [shown]
    if title.strip():
        assert shown[:4] == title.strip()[:4]


def test_two_windows_on_one_workspace_see_each_others_doings(scripted: OpenHouse, tmp_path: Path) -> None:
    """Case 6: chats, memory, the inbox and a deletion in one window show in the other; nothing is lost."""
    one, two = scripted(lambda _: "One."), scripted(lambda _: "Two.")
    first, second = one.say("from the first").chat, two.say("from the second").chat
    for house in (one, two):
        house.wait(lambda house=house: {first, second} <= set(house.window.sidebar.model.shown_chats()))
    two.window.open_chat(first)
    two.wait(lambda: two.shown() == [("from the first", "One.")])
    two.say("and back")
    one.wait(lambda: one.shown() == [("from the first", "One."), ("and back", "Two.")])
    one.services.remember("likes tea")
    two.services.remember("owns a boat")
    two.window.show_memory_page("files")
    page = two.window.memory_panel().files
    two.wait(lambda: "likes tea" in page.editor.toPlainText() and "owns a boat" in page.editor.toPlainText())
    one.services.remember("keeps bees")
    two.wait(lambda: "keeps bees" in page.editor.toPlainText())
    proposal = one.services.workspace.inbox.propose(["rides a horse"], source="tool", actor="assistant")
    assert proposal is not None
    assert [each.id for each in two.services.review.waiting()] == [proposal.id]
    two.services.review.accept(proposal.id)
    assert one.services.review.waiting() == []
    one.window.chats.delete(second)
    two.wait(lambda: second not in two.window.sidebar.model.shown_chats())
    assert (tmp_path / "ws" / "MEMORY.md").read_text().count("\n") == 4
    assert [one.seen(TurnFailed), two.seen(TurnFailed)] == [[], []]


@pytest.mark.parametrize("writes", ["ask", "show"])
def test_what_was_declined_is_never_made_again_and_the_rest_is_not_lost(scripted: OpenHouse, writes: str) -> None:
    """Cases 36 and 39 with a no: whichever way the assistant writes afterwards, and after a restart."""
    house = scripted(lambda messages: NOTHING if asks_for_notes(messages) else "I see.", window=700)
    house.services.settings.update("memory", writes="ask")
    chat = overflow(house, *facts(12))
    distil_the_rest(house, chat)
    gone = {item.text for proposal in house.services.review.waiting() for item in proposal.items}
    assert gone
    house.services.review.decline_all()
    done = house.services.read_chat(chat).summarized
    path = house.services.workspace.chats.path(chat)
    path.write_text(path.read_text().replace(f"**Summarized through**: #{done}", "**Summarized through**: null"))
    house.services.settings.update("memory", writes=writes)
    house.close()
    again = scripted(lambda messages: NOTHING if asks_for_notes(messages) else "I see.", window=700)
    again.window.open_chat(chat)
    again.wait(lambda: len(again.shown()) == 12)
    for text in facts(20)[12:]:
        again.say(text)
    distil_the_rest(again, chat)
    again.services.review.accept_all()
    kept = "\n".join(entries(again))
    for n in range(done):
        assert f" {n * 7 + 1000} " not in kept, n
    for n in range(done, again.services.read_chat(chat).summarized):
        assert kept.count(f" {n * 7 + 1000} ") == 1, n
    assert len(again.turns(chat)) == 20


def test_an_undo_of_a_distilled_entry_is_not_distilled_again(scripted: OpenHouse) -> None:
    """Case 39: in the journal of the window, for a pointer that was lost too."""
    house = scripted(lambda messages: NOTHING if asks_for_notes(messages) else "I see.", window=700)
    chat = overflow(house, *facts(12))
    distil_the_rest(house, chat)
    done = house.services.read_chat(chat).summarized
    for entry in house.services.workspace.journal.entries(50):
        house.services.workspace.memory.undo(entry.id)
    assert entries(house) == []
    path = house.services.workspace.chats.path(chat)
    path.write_text(path.read_text().replace(f"**Summarized through**: #{done}", '**Summarized through**: "999"'))
    distil_the_rest(house, chat)
    assert [line for line in entries(house) if "1000" in line] == []
    assert len(house.turns(chat)) == 12
