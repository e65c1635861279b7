"""Distilling waits for quiet moments and costs the next turn nothing."""

from __future__ import annotations

import pytest

from assistant.chat.row import FixedRow
from assistant.core.events import DistillProgress, MemoryChanged
from assistant.core.values import Message, Role
from assistant.runtime import distilling
from tests.fakes import FakeEngine
from tests.runtime.conftest import Stage

NOTES = "- sister Ines moved to Graz on 3 May"


def _cut_chat(stage: Stage) -> str:
    """A chat whose first turn has left the window and is not memory yet."""
    chat = stage.services.new_chat("Talk")
    for text in ("My sister Ines moved to Graz on 3 May.", "And now?"):
        turn = stage.services.workspace.chats.begin_turn(chat, text)
        stage.services.workspace.chats.end_turn(chat, turn.n, "I see.")
    stage.services.receipts.add_row(chat, FixedRow((), (), "2026-11-30", "", start=2, bare=2, cut_at=2))
    return chat


def _entries(stage: Stage) -> list[str]:
    return [entry.source for entry in stage.services.workspace.memory.document().entries]


@pytest.fixture
def hushed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is quiet at once."""
    monkeypatch.setattr(distilling, "QUIET_SECONDS", 0.0)


def test_nothing_is_distilled_while_the_person_may_be_writing(stage: Stage) -> None:
    chat = _cut_chat(stage)
    stage.services.distilling.note(chat)
    stage.services.distilling.look()
    stage.settle()
    assert stage.engine.asked == []


@pytest.mark.usefixtures("hushed")
def test_when_it_is_quiet_what_left_becomes_memory(stage: Stage) -> None:
    stage.use(FakeEngine([NOTES]))
    chat = _cut_chat(stage)
    stage.services.distilling.note(chat)
    stage.services.distilling.look()
    stage.wait(lambda: bool(stage.of(MemoryChanged)))
    stage.settle()
    assert _entries(stage) == [f"chat:{chat}#1-1"]
    assert stage.services.read_chat(chat).summarized == 1
    assert stage.of(DistillProgress)[-1].done == stage.of(DistillProgress)[-1].total


@pytest.mark.usefixtures("hushed")
def test_what_an_earlier_run_left_undone_is_found_at_the_start(stage: Stage) -> None:
    stage.use(FakeEngine([NOTES]))
    chat = _cut_chat(stage)
    stage.services.distilling.find_due()
    stage.services.distilling.look()
    stage.wait(lambda: bool(stage.of(MemoryChanged)))
    assert _entries(stage) == [f"chat:{chat}#1-1"]


@pytest.mark.usefixtures("hushed")
def test_afterwards_the_chats_prompt_is_read_again(stage: Stage) -> None:
    stage.use(FakeEngine([NOTES, "", "Fine."]))
    chat = _cut_chat(stage)
    stage.services.distilling.make_way(chat)
    stage.services.distilling.note(chat)
    stage.services.distilling.look()
    stage.wait(lambda: bool(stage.of(MemoryChanged)))
    stage.settle()
    again: list[Message] = stage.engine.asked[-1]
    assert [message.role for message in again[1:]] == [Role.USER, Role.ASSISTANT]
    assert again[1].text == "And now?"
    stage.services.send(chat, "Are you there?")
    stage.wait_for_end()
    assert stage.engine.asked[-1][: len(again)] == again


@pytest.mark.usefixtures("hushed")
def test_a_turn_that_comes_meanwhile_stops_it_and_it_is_due_again(stage: Stage) -> None:
    engine = FakeEngine([NOTES, "Hello.", NOTES])
    stage.use(engine)
    chat = _cut_chat(stage)
    engine.before_reply = lambda: stage.services.distilling.make_way(chat) if len(engine.asked) == 1 else None
    stage.services.distilling.note(chat)
    stage.services.distilling.look()
    stage.settle()
    assert _entries(stage) == []
    stage.services.send(chat, "Hello?")
    stage.wait_for_end()
    stage.settle()
    stage.services.distilling.look()
    stage.wait(lambda: bool(stage.of(MemoryChanged)))
    assert _entries(stage) == [f"chat:{chat}#1-1"]
