"""The inbox: proposals that wait for a yes, at whatever moment the process dies."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest

from assistant.core.errors import AssistantError
from assistant.workspace.inbox import Inbox
from assistant.workspace.inbox_files import Proposal
from assistant.workspace.workspace import Workspace

CHAT = "20261129_153022"
SOURCE = f"chat:{CHAT}#3-5"


def propose(ws: Workspace, *items: str, source: str = SOURCE, lead: str = "") -> Proposal:
    made = ws.inbox.propose(items, source=source, actor="upkeep", day=date(2026, 5, 3), lead=lead)
    assert made is not None
    return made


def lines(ws: Workspace) -> list[str]:
    return [entry.raw for entry in ws.memory.document().entries]


def waiting(ws: Workspace) -> list[list[str]]:
    return [[item.text for item in proposal.items] for proposal in ws.inbox.waiting()]


def test_what_is_proposed_waits_and_is_not_memory(ws: Workspace, make: Callable[..., Workspace]) -> None:
    propose(ws, "dog is called Rex", "moved to Graz")
    assert waiting(make()) == [["dog is called Rex", "moved to Graz"]]
    assert lines(ws) == []
    assert make().inbox.turns(CHAT) == {3, 4, 5}
    file = next((ws.data / "inbox").glob("*.json"))
    assert file.stat().st_mode & 0o077 == 0


def test_yes_writes_it_with_its_own_source_and_date(ws: Workspace) -> None:
    proposal = propose(ws, "dog is called Rex", "moved to Graz")
    written = ws.inbox.accept(proposal.id)
    assert lines(ws) == [f"2026-05-03|{SOURCE}|dog is called Rex；moved to Graz"]
    assert written is not None
    assert ws.journal.entries()[0].actor == "upkeep"
    assert ws.inbox.waiting() == []
    assert list((ws.data / "inbox").glob("*.json")) == []


def test_single_items_may_be_edited_and_accepted_and_the_rest_declined(ws: Workspace) -> None:
    proposal = propose(ws, "dog is called Rex", "moved to Graz", "likes tea")
    ws.inbox.accept(proposal.id, {2: "moved to Graz on 3 May"})
    assert waiting(ws) == [["dog is called Rex", "likes tea"]]
    assert [item.n for item in ws.inbox.get(proposal.id).items] == [1, 3]
    ws.inbox.decline(proposal.id, [1])
    ws.inbox.accept(proposal.id)
    assert lines(ws) == [f"2026-05-03|{SOURCE}|moved to Graz on 3 May", f"2026-05-03|{SOURCE}|likes tea"]
    assert ws.declined.holds("dog is called Rex")
    assert ws.declined.turns(CHAT) == set()


def test_no_declines_turns_and_words_for_good(ws: Workspace) -> None:
    proposal = propose(ws, "dog is called Rex", "moved to Graz")
    ws.inbox.decline(proposal.id)
    assert waiting(ws) == []
    assert lines(ws) == []
    assert ws.declined.turns(CHAT) == {3, 4, 5}
    assert ws.inbox.propose(["dog is called Rex."], source="tool", actor="assistant") is None


def test_undo_of_what_was_accepted_declines_it(ws: Workspace) -> None:
    written = ws.inbox.accept(propose(ws, "dog is called Rex").id)
    assert written is not None
    ws.memory.undo(written.journal_id)
    assert ws.declined.turns(CHAT) == {3, 4, 5}
    assert ws.declined.holds("dog is called Rex")


def test_secrets_are_in_no_file(ws: Workspace) -> None:
    proposal = propose(ws, "the password: hunter2secret", "likes tea")
    assert "hunter2secret" not in "".join(path.read_text() for path in (ws.data / "inbox").iterdir())
    ws.inbox.accept(proposal.id, {2: "my key is sk-abcdefghijklmnopqrstuvwxyz123456"})
    everything = b"".join(path.read_bytes() for path in ws.data.rglob("*") if path.is_file())
    assert b"sk-abcdef" not in everything + (ws.root / "MEMORY.md").read_bytes()


def test_what_memory_holds_already_is_not_written_again(ws: Workspace) -> None:
    """Case 26: the same fact twice."""
    proposal = propose(ws, "dog is called Rex")
    ws.memory.remember("Dog is called Rex.")
    assert ws.inbox.accept(proposal.id) is None
    assert len(lines(ws)) == 1
    assert ws.declined.turns(CHAT) == {3, 4, 5}  # the proof that they were distilled
    assert ws.inbox.waiting() == []


def test_a_correction_that_is_accepted_strikes_the_older_fact(ws: Workspace) -> None:
    """Case 26: a fact that contradicts an older one."""
    ws.memory.remember("dog is called Rex")
    ws.inbox.accept(propose(ws, "dog is called Max").id)
    assert lines(ws)[0].endswith("~~dog is called Rex~~ · superseded 2026-11-29")
    assert lines(ws)[1].endswith("dog is called Max")


def test_the_mark_of_the_fall_back_stands_in_front(ws: Workspace) -> None:
    ws.inbox.accept(propose(ws, "对花生过敏", lead="(as said)").id)
    assert lines(ws) == [f"2026-05-03|{SOURCE}|(as said)；对花生过敏"]


@pytest.mark.parametrize("damage", [b"", b"{", b"\0" * 64, b"[]", b'{"items": [{"n": 1}]}', b'{"items": 4}', b"\xff"])
def test_a_damaged_file_costs_only_itself(ws: Workspace, damage: bytes) -> None:
    propose(ws, "dog is called Rex")
    (ws.data / "inbox" / "20261129000000-abcdef.json").write_bytes(damage)
    assert waiting(ws) == [["dog is called Rex"]]
    assert (ws.data / "inbox" / "20261129000000-abcdef.json").read_bytes() == damage


def test_answers_that_make_no_sense_change_nothing(ws: Workspace) -> None:
    proposal = propose(ws, "dog is called Rex")
    for wrong in (lambda: ws.inbox.accept("nothing"), lambda: ws.inbox.decline("../../x")):
        with pytest.raises(AssistantError) as caught:
            wrong()
        assert caught.value.code == "inbox.missing"
    for wrong in (lambda: ws.inbox.accept(proposal.id, {7: "x"}), lambda: ws.inbox.decline(proposal.id, [7])):
        with pytest.raises(AssistantError) as caught:
            wrong()
        assert caught.value.code == "inbox.item"
    with pytest.raises(AssistantError) as caught:
        ws.inbox.accept(proposal.id, {1: "  "})
    assert caught.value.code == "memory.empty"
    assert waiting(ws) == [["dog is called Rex"]]


class Killed(Exception):  # noqa: N818
    """The process ends here."""


@pytest.mark.parametrize("moment", ["before memory", "after memory"])
def test_killed_while_it_accepts(
    ws: Workspace, make: Callable[..., Workspace], monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Nothing is written twice and nothing is lost."""
    proposal = propose(ws, "dog is called Rex", "moved to Graz")
    write = ws.memory.append_entry

    def dies(*args: object, **named: object) -> None:
        if moment == "after memory":
            write(*args, **named)
        raise Killed

    monkeypatch.setattr(ws.memory, "append_entry", dies)
    with pytest.raises(Killed):
        ws.inbox.accept(proposal.id, {1: "dog is called Rex II"})
    again = make()
    again.inbox.finish()
    if moment == "before memory":
        assert waiting(again) == [["dog is called Rex", "moved to Graz"]]
        assert lines(again) == []
    else:
        assert waiting(again) == [["moved to Graz"]]
        assert lines(again) == [f"2026-05-03|{SOURCE}|dog is called Rex II"]
        assert len(next((again.data / "inbox").glob("*.json")).read_text().split("Rex")) == 1


def test_killed_while_it_declines(
    ws: Workspace, make: Callable[..., Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal = propose(ws, "dog is called Rex")

    def dies(*_: object) -> None:
        raise Killed

    monkeypatch.setattr(ws.inbox, "_settle", dies)
    with pytest.raises(Killed):
        ws.inbox.decline(proposal.id)
    again = make()
    assert waiting(again) == []
    assert again.inbox.turns(CHAT) | again.declined.turns(CHAT) == {3, 4, 5}
    again.inbox.finish()
    assert list((again.data / "inbox").glob("*.json")) == []
    assert again.declined.turns(CHAT) == {3, 4, 5}


def test_a_chat_that_is_deleted_for_good_takes_its_proposals_with_it(ws: Workspace) -> None:
    """Case 8."""
    chat = ws.chats.create("Secret plans")
    ws.chats.end_turn(chat, ws.chats.begin_turn(chat, "The party is in Porto.").n, "I see.")
    propose(ws, "party is in Porto", source=f"chat:{chat}#1-1")
    propose(ws, "likes tea", source="tool")
    ws.purge_chat(ws.chats.delete(chat))
    assert waiting(ws) == [["likes tea"]]
    assert b"Porto" not in b"".join(path.read_bytes() for path in ws.data.rglob("*") if path.is_file())


def test_what_is_forgotten_goes_from_the_inbox_too(ws: Workspace) -> None:
    propose(ws, "dog is called Rex", "moved to Graz")
    place = ws.inbox
    assert place.name == "inbox"
    assert place.remaining(["dog is called Rex"]) == 1
    place.scrub(["dog is called Rex"])
    assert place.remaining(["dog is called Rex"]) == 0
    assert waiting(ws) == [["moved to Graz"]]
    assert ws.declined.holds("dog is called Rex")


def test_who_listens_hears_of_every_change(ws: Workspace) -> None:
    heard: list[int] = []
    ws.inbox.subscribe(lambda: heard.append(len(ws.inbox.waiting())))
    proposal = propose(ws, "dog is called Rex")
    ws.inbox.accept(proposal.id)
    assert heard == [1, 0]


def test_two_windows_say_yes_at_once(ws: Workspace, make: Callable[..., Workspace]) -> None:
    """It is written once; the other is told that it waits no more."""
    proposal = propose(ws, "dog is called Rex", "moved to Graz")
    both = [make(), make()]
    with ThreadPoolExecutor(2) as pool:
        done = [pool.submit(each.inbox.accept, proposal.id) for each in both]
    errors = [future.exception() for future in done if future.exception()]
    assert [getattr(error, "code", "") for error in errors] == ["inbox.missing"]
    assert len(lines(ws)) == 1
    assert ws.inbox.waiting() == []


def test_an_inbox_that_was_never_used_is_empty(tmp_path: Path, ws: Workspace) -> None:
    inbox = Inbox(tmp_path / "none", tmp_path / "none.lock", ws.memory, ws.declined, ws.clock)
    assert inbox.waiting() == []
    inbox.finish()
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    "items", ['[{"n": 1e400, "text": "a"}]', '[{"n": 1, "text": "a"}, {"n": 1, "text": "b"}]', "[]"]
)
def test_items_that_cannot_be_told_apart_are_no_proposal(ws: Workspace, items: str) -> None:
    propose(ws, "dog is called Rex")
    file = ws.data / "inbox" / "20261129-other.json"
    file.write_text(f'{{"time": "t", "source": "{SOURCE}", "actor": "upkeep", "day": "2026-05-03", "items": {items}}}')
    assert waiting(ws) == [["dog is called Rex"]]
