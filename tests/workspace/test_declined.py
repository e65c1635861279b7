"""What was declined stays declined, without a word of it on disk; an undo of a distilled entry declines it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.workspace.declined import Declined
from assistant.workspace.memory_values import Edit
from assistant.workspace.sources import distilled_source, distilled_turns
from assistant.workspace.workspace import Workspace

CHAT = "20261129_153022"
SOURCE = f"chat:{CHAT}#3-5"


@pytest.fixture
def declined(tmp_path: Path) -> Declined:
    return Declined(tmp_path / "declined")


def test_turns_and_texts_are_known_to_another_process_too(declined: Declined, tmp_path: Path) -> None:
    declined.add(turns=[(CHAT, 3, 5)])
    declined.add(texts=["My dog is called Rex."])
    other = Declined(tmp_path / "declined")
    assert other.turns(CHAT) == {3, 4, 5}
    assert other.turns("20260101_000000") == set()
    assert other.holds("my  dog is called REX")
    assert not other.holds("my dog is called Max")
    declined.take_back([(CHAT, 4, 4)], ["My dog is called Rex"])
    assert other.turns(CHAT) == {3, 5}
    assert not other.holds("My dog is called Rex.")


def test_not_a_word_is_on_disk(declined: Declined, tmp_path: Path) -> None:
    declined.add([(CHAT, 1, 2)], ["the surprise party is in Porto", "惊喜派对在波尔图"])
    stored = (tmp_path / "declined" / "declined.jsonl").read_bytes()
    assert b"party" not in stored
    assert b"Porto" not in stored
    assert b"\\u" not in stored
    assert (tmp_path / "declined" / "declined.jsonl").stat().st_mode & 0o077 == 0


def test_the_same_again_adds_no_line(declined: Declined, tmp_path: Path) -> None:
    for _ in range(3):
        declined.add([(CHAT, 1, 2)], ["likes tea"])
    assert len((tmp_path / "declined" / "declined.jsonl").read_bytes().splitlines()) == 1


@pytest.mark.parametrize(
    "damage", [b"{", b"\0" * 100, b"[]", b'{"turns": [["x", null, 2]]}', b'{"texts": 3}', b"\xff\xfe", b'"text"', b"7"]
)
def test_a_damaged_line_costs_only_itself(declined: Declined, tmp_path: Path, damage: bytes) -> None:
    declined.add(texts=["likes tea"])
    path = tmp_path / "declined" / "declined.jsonl"
    path.write_bytes(path.read_bytes() + damage)
    declined.add(texts=["likes coffee"])
    assert declined.holds("likes tea")
    assert declined.holds("likes coffee")


def test_a_run_of_turns_that_no_chat_can_have_costs_no_memory(declined: Declined) -> None:
    declined.add(turns=[(CHAT, 1, 999_999_999)])
    assert len(declined.turns(CHAT)) <= 100_001


@given(st.lists(st.tuples(st.booleans(), st.text(min_size=1, max_size=30)), max_size=12))
def test_the_last_word_counts(tmp_path_factory: pytest.TempPathFactory, said: list[tuple[bool, str]]) -> None:
    declined = Declined(tmp_path_factory.mktemp("d"))
    for no, text in said:
        if no:
            declined.add(texts=[text])
        else:
            declined.take_back(texts=[text])
    last = said[-1:]
    assert all(declined.holds(text) == no for no, text in last)


@given(st.text(alphabet="abc_-0123", min_size=1, max_size=20), st.integers(0, 10**8), st.integers(0, 10**8))
def test_the_source_of_an_entry_tells_its_turns(chat: str, first: int, last: int) -> None:
    assert distilled_turns(distilled_source(chat, first, last)) == (chat, first, last)


@pytest.mark.parametrize(
    "source", ["you", "chat:x", "chat:x#", "chat:x#1-", "chat:x#a", "doc:a#1-2", "chat:x#1-2 y", ""]
)
def test_other_sources_tell_none(source: str) -> None:
    assert distilled_turns(source) is None


def test_undo_of_a_distilled_entry_declines_its_turns_and_words_and_undo_of_that_takes_it_back(ws: Workspace) -> None:
    written = ws.memory.append_entry(["dog is called Rex", "moved to Graz"], source=SOURCE, actor="upkeep")
    undone = ws.memory.undo(written.journal_id)
    assert ws.declined.turns(CHAT) == {3, 4, 5}
    assert ws.declined.holds("dog is called Rex")
    assert ws.declined.holds("moved to Graz")
    ws.memory.undo(undone.journal_id)
    assert ws.declined.turns(CHAT) == set()
    assert not ws.declined.holds("moved to Graz")
    assert [entry.source for entry in ws.memory.document().entries] == [SOURCE]


def test_other_undos_decline_nothing(ws: Workspace) -> None:
    ws.memory.append_entry(["dog is called Rex"], source=SOURCE, actor="upkeep")
    own = ws.memory.remember("likes tea")
    ws.memory.undo(own.journal_id)
    correction = ws.memory.remember("dog is called Max")
    assert correction.superseded == ("dog is called Rex",)
    ws.memory.undo(correction.journal_id)
    assert ws.declined.turns(CHAT) == set()
    assert not ws.declined.holds("likes tea")
    assert not ws.declined.holds("dog is called Rex")


@pytest.mark.parametrize("at_once", [True, False])
def test_an_undo_that_moves_an_entry_back_from_the_archive_declines_nothing(ws: Workspace, at_once: bool) -> None:
    """As tidying up does it: two files in one batch."""
    ws.memory.append_entry(["dog is called Rex"], source=SOURCE, actor="upkeep")
    line = ws.memory.read("MEMORY.md")
    edits = [Edit("memory/archive.md", line.text, ""), Edit("MEMORY.md", "# About me\n", line.sha256)]
    batch = ws.memory.change_many(edits, "upkeep", "Tidied up")
    for ident in [batch] if at_once else [entry.id for entry in reversed(ws.journal.batch(batch))]:
        ws.memory.undo(ident)
    assert [entry.source for entry in ws.memory.document().entries] == [SOURCE]
    assert ws.declined.turns(CHAT) == set()
    assert not ws.declined.holds("dog is called Rex")


def test_an_undo_whose_process_was_killed_is_found_at_the_next_start(
    ws: Workspace, make: Callable[[], Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the journal's line and ours."""
    written = ws.memory.append_entry(["dog is called Rex"], source=SOURCE, actor="upkeep")
    monkeypatch.setattr(ws.undone, "catch_up", lambda: None)
    ws.memory.undo(written.journal_id)
    for n in range(60):
        ws.memory.remember(f"something else {n}")
    again = make()
    assert again.declined.turns(CHAT) == set()
    again.undone.catch_up()
    assert again.declined.turns(CHAT) == {3, 4, 5}
    before = (again.data / "declined" / "declined.jsonl").read_bytes()
    again.undone.catch_up()
    make().undone.catch_up()
    assert (again.data / "declined" / "declined.jsonl").read_bytes() == before
    assert json.loads(before)["turns"] == [[CHAT, 3, 5]]


def test_what_was_wanted_again_stays_wanted_when_the_mark_is_lost(ws: Workspace) -> None:
    written = ws.memory.append_entry(["dog is called Rex"], source=SOURCE, actor="upkeep")
    undone = ws.memory.undo(written.journal_id)
    ws.memory.undo(undone.journal_id)
    (ws.data / "declined" / "undone.seen").unlink()
    ws.undone.catch_up()
    assert ws.declined.turns(CHAT) == set()


def test_a_mark_that_cannot_be_written_holds_nobody_up(ws: Workspace, make: Callable[[], Workspace]) -> None:
    """On a full disk a chat could not begin for it."""
    written = ws.memory.append_entry(["dog is called Rex"], source=SOURCE, actor="upkeep")
    ws.memory.undo(written.journal_id)
    mark = ws.data / "declined" / "undone.seen"
    mark.unlink()
    mark.symlink_to("nowhere/at all")
    again = make()
    again.undone.catch_up()
    again.undone.catch_up()
    assert again.declined.turns(CHAT) == {3, 4, 5}


def test_a_number_beyond_all_numbers_costs_its_line(declined: Declined, tmp_path: Path) -> None:
    declined.add(turns=[(CHAT, 3, 5)])
    with (tmp_path / "declined" / "declined.jsonl").open("a") as file:
        file.write(f'{{"turns": [["{CHAT}", 1, 1e400]]}}\n{{"turns": [["{CHAT}", NaN, Infinity]]}}\n')
    assert Declined(tmp_path / "declined").turns(CHAT) == {3, 4, 5}
