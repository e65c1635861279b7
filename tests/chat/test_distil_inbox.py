"""Distilling when the person wants to be asked, and when they declined what was distilled."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from assistant.chat.distil import FALLBACK_MARK, Batch, Distiller
from assistant.core.cancel import CancelToken
from assistant.workspace.workspace import Workspace
from tests.fakes import FakeEngine

WINDOW = 400


def chat_with(workspace: Workspace, *said: str) -> str:
    chat = workspace.chats.create("Talk")
    for text in said:
        workspace.chats.end_turn(chat, workspace.chats.begin_turn(chat, text, None).n, "I see.")
    return chat


def run(workspace: Workspace, chat: str, replies: Sequence[str], state: Path, asks: bool = True) -> list[Batch]:
    read = workspace.chats.read(chat)
    distiller = Distiller(workspace, state, lambda: asks)
    return list(distiller.run(read, read.branch(), FakeEngine(replies), WINDOW, CancelToken(), lambda *_: None))


def lines(workspace: Workspace) -> list[str]:
    return [entry.raw for entry in workspace.memory.document().entries]


def test_notes_wait_for_a_yes_and_the_turns_are_done(workspace: Workspace, tmp_path: Path) -> None:
    chat = chat_with(workspace, "My dog is called Rex.", "I moved to Graz on 3 May.")
    batches = run(workspace, chat, ["- dog is called Rex\n- moved to Graz on 3 May"], tmp_path)
    assert lines(workspace) == []
    assert workspace.chats.read(chat).summarized == 2
    proposal = workspace.inbox.waiting()[0]
    assert (batches[0].entries, batches[0].proposal) == ((), proposal.id)
    assert (proposal.source, proposal.actor) == (f"chat:{chat}#1-2", "upkeep")
    assert [item.text for item in proposal.items] == ["dog is called Rex", "moved to Graz on 3 May"]
    workspace.inbox.accept(proposal.id)
    assert lines(workspace) == [f"2026-11-30|chat:{chat}#1-2|dog is called Rex；moved to Graz on 3 May"]


@pytest.mark.parametrize("answer", ["none yet", "accepted", "declined"])
def test_a_lost_pointer_does_not_propose_them_again(workspace: Workspace, tmp_path: Path, answer: str) -> None:
    """Cases 39 and 40 with the inbox: the proposal, the entry or the answer proves that they are done."""
    chat = chat_with(workspace, "My dog is called Rex.")
    run(workspace, chat, ["- dog is called Rex"], tmp_path)
    ident = workspace.inbox.waiting()[0].id
    if answer == "accepted":
        workspace.inbox.accept(ident)
    if answer == "declined":
        workspace.inbox.decline(ident)
    before = lines(workspace)
    workspace.chats.set_summarized(chat, 0)
    assert run(workspace, chat, ["- dog is called Rex"], tmp_path) == []
    assert len(workspace.inbox.waiting()) == (answer == "none yet")
    assert lines(workspace) == before
    assert workspace.chats.read(chat).summarized == 1


@pytest.mark.parametrize("asks", [False, True])
def test_what_was_declined_is_dropped_from_later_notes(workspace: Workspace, tmp_path: Path, asks: bool) -> None:
    workspace.declined.add(texts=["dog is called Rex"])
    chat = chat_with(workspace, "My dog is called Rex.", "I moved to Graz on 3 May.")
    run(workspace, chat, ["- dog is called Rex\n- moved to Graz on 3 May"], tmp_path, asks)
    for proposal in workspace.inbox.waiting():
        workspace.inbox.accept(proposal.id)
    assert lines(workspace) == [f"2026-11-30|chat:{chat}#1-2|moved to Graz on 3 May"]


def test_where_all_was_declined_nothing_is_written_and_it_goes_on(workspace: Workspace, tmp_path: Path) -> None:
    workspace.declined.add(texts=["dog is called Rex"])
    chat = chat_with(workspace, "dog is called Rex")
    run(workspace, chat, ["- dog is called Rex"], tmp_path)
    assert workspace.inbox.waiting() == []
    assert lines(workspace) == []
    assert workspace.chats.read(chat).summarized == 1


def test_an_entry_that_was_undone_is_not_made_again(workspace: Workspace, tmp_path: Path) -> None:
    chat = chat_with(workspace, "My dog is called Rex.")
    run(workspace, chat, ["- dog is called Rex"], tmp_path, asks=False)
    undone = workspace.memory.undo(workspace.journal.entries()[0].id)
    workspace.chats.set_summarized(chat, 0)
    assert run(workspace, chat, ["- dog is called Rex"], tmp_path, asks=False) == []
    assert lines(workspace) == []
    workspace.memory.undo(undone.journal_id)
    assert len(lines(workspace)) == 1


def test_the_fall_back_is_marked_when_it_is_accepted(workspace: Workspace, tmp_path: Path) -> None:
    chat = chat_with(workspace, "对花生过敏", "ok")
    batches = run(workspace, chat, ["What?", "", "Error: no"], tmp_path)
    assert batches[0].fallback
    assert [item.text for item in workspace.inbox.waiting()[0].items] == ["对花生过敏"]
    workspace.inbox.accept(workspace.inbox.waiting()[0].id)
    assert lines(workspace) == [f"2026-11-30|chat:{chat}#1-2|{FALLBACK_MARK}；对花生过敏"]
