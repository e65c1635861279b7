"""CASES 26, 36-41 when what the assistant wants to remember waits for a yes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from assistant.core.events import InboxChanged, TurnFailed
from assistant.core.values import Message
from tests.cases.conftest import House, OpenHouse
from tests.cases.test_cases_distil import NOTHING, REPLIES, asks_for_notes, distil_the_rest, entries, facts, overflow


def asking(house: House) -> House:
    house.services.settings.update("memory", writes="ask")
    return house


def proposed(house: House) -> str:
    return "\n".join(item.text for proposal in house.services.review.waiting() for item in proposal.items)


def test_every_fact_of_sixty_messages_waits_for_a_yes(scripted: OpenHouse) -> None:
    """Case 36: all reach the model, facts survive, small talk is not even proposed."""
    house = asking(scripted(lambda messages: NOTHING if asks_for_notes(messages) else "I see.", window=700))
    short = ["行程改到周五", "对花生过敏", "好友叫李雷", "ok", "谢谢", "嗯"]
    chat = overflow(house, *short, *facts(60))
    distil_the_rest(house, chat)
    done = house.services.read_chat(chat).summarized
    assert done >= 50
    assert entries(house) == []
    waits = proposed(house)
    for text in short[:3]:
        assert text in waits
    assert not {"ok", "谢谢", "嗯"} & set(waits.splitlines())
    for n in range(done - len(short)):
        assert waits.count(f" {n * 7 + 1000} ") == 1, n
    house.services.review.accept_all()
    kept = "\n".join(entries(house))
    assert all(kept.count(f" {n * 7 + 1000} ") == 1 for n in range(done - len(short)))
    assert house.seen(InboxChanged)[-1].waiting == 0


@pytest.mark.parametrize("kind", REPLIES)
def test_whatever_the_model_answers_no_turn_is_lost(scripted: OpenHouse, kind: str) -> None:
    """Cases 37 and 38."""
    house = asking(scripted(lambda messages: REPLIES[kind] if asks_for_notes(messages) else "I see.", window=700))
    chat = overflow(house, *facts(12))
    distil_the_rest(house, chat)
    done = house.services.read_chat(chat).summarized
    house.services.review.accept_all()
    kept = "\n".join(entries(house))
    for n in range(done):
        assert kept.count(f" {n * 7 + 1000} ") == 1, n
    if kind in ("prose", "error", "nothing said"):
        assert "(as said)" in kept
    assert house.seen(TurnFailed) == []


def test_recalled_lines_and_the_models_claims_are_not_proposed(scripted: OpenHouse) -> None:
    """Case 41."""

    def answer(messages: Sequence[Message]) -> str:
        if asks_for_notes(messages):
            return "- the boat Ariel lies in the harbour of Zadar\n- you own a castle in Spain\n- keeps box 3 with 1021"
        return "You own a castle in Spain."

    house = asking(scripted(answer, window=700))
    house.services.workspace.memory.remember("the boat Ariel lies in the harbour of Zadar")
    overflow(house, "where does the boat Ariel lie?", *facts(12))
    distil_the_rest(house, house.chat)
    waits = proposed(house)
    assert "1021" in waits
    assert "castle" not in waits
    assert "Zadar" not in waits


@pytest.mark.timeout(300)
def test_the_real_model_proposes_and_the_person_decides(real: OpenHouse) -> None:
    """What was said leaves the window, the starter model makes notes of it, and nothing is memory before the yes."""
    house = asking(real("window = 512\nmax_tokens = 16"))
    filler = " We talked for a long time about it and then about many other small things of that day." * 3
    said = [f"My sister Ines moved to Graz on {n + 3} May.{filler}" for n in range(6)]
    chat = overflow(house, *said)
    distil_the_rest(house, chat)
    assert entries(house) == []
    waiting = house.services.review.waiting()
    assert waiting
    assert "Graz" in proposed(house)
    assert all(proposal.source.startswith(f"chat:{chat}#") for proposal in waiting)
    house.services.review.decline(waiting[0].id)
    assert len(house.services.review.waiting()) == len(waiting) - 1
    house.services.review.accept_all()
    assert all(f"|chat:{chat}#" in line for line in entries(house))
    assert len(entries(house)) == len(waiting) - 1
