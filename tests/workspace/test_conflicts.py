"""Conflicts by rule: what is found, what is not, that they are found quickly, and that both may hold."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.workspace.claims import Claim, claims_of, subject_keys
from assistant.workspace.conflict_book import ConflictBook
from assistant.workspace.conflicts import conflict_of, find_by_rule, pair_id
from assistant.workspace.disagreement import disagree, say_the_same
from assistant.workspace.workspace import Workspace

TODAY = date(2026, 11, 29)


def write(ws: Workspace, file: str, text: str) -> None:
    path = ws.root / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def found(ws: Workspace) -> list[tuple[str, str]]:
    return [(conflict.older.text, conflict.newer.text) for conflict in ws.conflicts.by_rule()]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I live in Lisbon", "lives in Graz now"),
        ("I wake up at 7", "wakes up at 6:30"),
        ("dentist is on Tuesday", "dentist: Friday"),
        ("works at Siemens", "I work for Bosch since May"),
        ("我住在上海", "现在住在苏州"),
        ("moved to Graz on 3 May", "moved to Graz on 9 September"),
        ("rent is 1200 euros", "rent: 1350 euros"),
        ("I have 2 cats", "I have 3 cats"),
        ("flight leaves at 14:30 on 4 Dec", "flight leaves at 15:10 on 4 Dec"),
        ("每周日上午十点跟妈妈视频", "每周日上午九点跟妈妈视频"),
        ("Anna is allergic to nuts", "Anna is not allergic to nuts"),
        ("passport expires on 3 May 2027", "passport expires 9 June 2027"),
        ("I'm married to Ann", "married to Eva"),
        ("房租是3000元", "房租是3500元"),
    ],
)
def test_what_cannot_both_hold(ws: Workspace, older: str, newer: str) -> None:
    write(ws, "MEMORY.md", f"2026-05-03|you|{older}\n2026-09-09|notes|{newer}\n")
    assert found(ws) == [(older, newer)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("sprint 12 retro went fine", "sprint 13 retro went fine"),
        ("room 4 is booked", "room 5 is booked"),
        ("paid 20 on Monday", "paid 30 on Monday"),
        ("ran 5 km on 2026-11-01", "ran 6 km on 2026-11-02"),
        ("todo: milk", "todo: bread"),
        ("好友叫李雷", "好友叫韩梅梅"),
        ("likes tea", "likes coffee"),
        ("lives in Lisbon", "lived in Porto"),
        ("dentist on 3 May", "dentist on May 3rd"),
        ("box 3 holds 21 apples", "box 4 holds 28 apples"),
        ("Ines lives in Graz", "Joost lives in Rotterdam"),
        ("my sister lives in Graz", "my brother lives in Wien"),
    ],
)
def test_what_can_both_hold(ws: Workspace, one: str, other: str) -> None:
    write(ws, "MEMORY.md", f"2026-05-03|you|{one}\n2026-09-09|notes|{other}\n")
    assert found(ws) == []


def test_facts_entries_and_notes_are_held_against_each_other(ws: Workspace) -> None:
    write(ws, "MEMORY.md", "# About me\n\n- I live in Lisbon.\n\n2026-09-09|you|likes tea；lives in Graz\n")
    write(ws, "memory/home.md", "# Home\n\n- lives in Porto\n- wifi = red\n")
    conflicts = ws.conflicts.by_rule()
    assert {(c.older.file, c.newer.file) for c in conflicts} == {
        ("MEMORY.md", "MEMORY.md"),
        ("memory/home.md", "MEMORY.md"),
    }
    for conflict in conflicts:
        assert conflict.newer.text == "lives in Graz"
        assert (conflict.newer.line, conflict.newer.item, conflict.newer.day) == (5, 1, date(2026, 9, 9))
        assert conflict.older.day is None
        located = ws.memory.locate(conflict.older.unit)
        assert located is not None
        assert conflict.older.text.rstrip(".") in located.text


def test_a_word_under_two_headings_is_about_two_things(ws: Workspace) -> None:
    write(ws, "memory/trips.md", "# Lisbon\n\n- hotel: Alfama\n\n# Porto\n\n- hotel: Ribeira\n- hotel: Bolhao\n")
    assert found(ws) == [("hotel: Ribeira", "hotel: Bolhao")]


def test_what_is_struck_over_or_archived_contradicts_nothing(ws: Workspace) -> None:
    lines = (
        "2026-05-03|you|~~lives in Porto~~ · superseded 2026-06-01\n2026-05-04|you|lives in Braga · until 2026-06-01\n"
    )
    write(ws, "MEMORY.md", f"- ~~I live in Faro~~\n\n{lines}2026-09-09|you|lives in Graz\n")
    write(ws, "memory/archive.md", "2025-01-01|you|lives in Coimbra\n")
    assert found(ws) == []


def test_of_measurements_only_the_latest_two_are_asked_about(ws: Workspace) -> None:
    lines = [f"2026-{month:02}-01|import:x|weight is {90 - month} kg\n" for month in range(1, 11)]
    write(ws, "MEMORY.md", "".join(lines))
    assert found(ws) == [("weight is 81 kg", "weight is 80 kg")]


def test_both_hold_is_remembered_until_one_changes(ws: Workspace) -> None:
    write(ws, "MEMORY.md", "2026-05-03|you|lives in Lisbon\n2026-09-09|you|lives in Graz\n")
    ws.conflicts.let_stand(ws.conflicts.by_rule()[0])
    assert ws.conflicts.count() == 0
    assert ConflictBook(ws.root, ws.data / "conflicts", ws.clock).count() == 0
    stored = b"".join(path.read_bytes() for path in (ws.data / "conflicts").iterdir())
    assert b"Lisbon" not in stored
    write(ws, "MEMORY.md", "2026-05-03|you|lives in Lisbon\n2026-09-09|you|lives in Graz, Austria\n")
    assert found(ws) == [("lives in Lisbon", "lives in Graz, Austria")]


def test_it_comes_with_an_edit_by_hand_and_goes_with_the_strike(ws: Workspace) -> None:
    ws.memory.remember("lives in Lisbon")
    assert found(ws) == []
    write(ws, "memory/home.md", "- I live in Graz\n")
    conflict = ws.conflicts.by_rule()[0]
    ws.memory.strike(conflict.older.unit, item=conflict.older.item)
    assert found(ws) == []


def test_an_unreadable_file_costs_only_itself(ws: Workspace) -> None:
    write(ws, "MEMORY.md", "2026-05-03|you|lives in Lisbon\n2026-09-09|you|lives in Graz\n")
    (ws.root / "memory" / "broken.md").write_bytes(b"\x00" * 4096)
    assert len(found(ws)) == 1


def test_the_id_of_a_pair_knows_no_order_and_no_place() -> None:
    one = Claim("MEMORY.md:a", 0, "MEMORY.md", 1, date(2026, 5, 3), "lives in Lisbon")
    other = Claim("memory/x.md:b", None, "memory/x.md", 9, None, "lives in Graz")
    assert conflict_of(one, other, "rule").id == conflict_of(other, one, "meaning").id == pair_id(other.text, one.text)
    assert conflict_of(one, other, "rule").older is other


@given(st.lists(st.text(alphabet="ab 12:是在月Mon|；\n-#", max_size=40), max_size=12))
def test_no_file_fails(lines: list[str]) -> None:
    claims = list(claims_of("MEMORY.md", "\n".join(lines), TODAY))
    for conflict in find_by_rule(claims):
        assert conflict.older.text != conflict.newer.text
    for line in lines:
        assert subject_keys(line) == subject_keys(line)


def test_ten_thousand_entries_that_share_one_subject_take_no_pair_each(ws: Workspace) -> None:
    claims = [Claim(f"u{n}", 0, "MEMORY.md", n, date(2026, 1, 1), f"weight is {n} kg") for n in range(10_000)]
    assert len(find_by_rule(claims)) == 1


@pytest.mark.parametrize(
    ("one", "other", "nearness", "differs"),
    [
        ("the flight to Shanghai leaves on 4 December", "we fly to Shanghai on the 6th of December", 0.69, True),
        ("my sister Ines lives in Graz", "my sister Ines has moved to Vienna", 0.52, True),
        ("妹妹七月结婚", "妹妹的婚礼改到九月", 0.52, True),
        ("I take my coffee with milk", "no milk in my coffee, please", 0.71, True),
        ("I take my coffee with milk", "no milk in my coffee, please", 0.5, False),
        ("the flight to Shanghai leaves on 4 December", "we fly to Shanghai on the 6th of December", 0.3, False),
        ("flight KL0896 on 24 Feb", "flight KL0895 on 7 Feb", 0.8, False),
        ("income tax 2025: refund of 1136", "provisional tax 2027: 74 a month", 0.6, False),
        ("likes tea", "is fond of tea", 0.95, False),
        ("dentist on 3 May", "dentist on May 3rd", 0.95, False),
    ],
)
def test_what_disagrees_when_its_meaning_is_near(one: str, other: str, nearness: float, differs: bool) -> None:
    assert disagree(one, other, nearness) is differs
    assert disagree(other, one, nearness) is differs


@pytest.mark.parametrize(
    ("one", "other", "nearness", "same"),
    [
        ("dog is called Rex", "the name of my dog is Rex", 0.89, True),
        ("妹妹住在杭州", "妹妹在杭州生活", 0.93, True),
        ("dog is called Rex", "Dog is called Rex.", 1.0, False),
        ("dog is called Rex", "the name of my dog is Rex", 0.6, False),
        ("rent is 1200 euros", "rent is 1350 euros", 0.9, False),
        ("drinks alcohol", "does not drink alcohol", 0.9, False),
        ("flight KL0896", "flight KL0895", 0.9, False),
        ("my sister lives in Graz", "my sister lives in Vienna", 0.9, False),
    ],
)
def test_what_says_the_same_in_other_words(one: str, other: str, nearness: float, same: bool) -> None:
    assert say_the_same(one, other, nearness) is same
    assert say_the_same(other, one, nearness) is same


def test_reading_again_is_only_done_for_files_that_changed(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    write(ws, "MEMORY.md", "2026-05-03|you|lives in Lisbon\n")
    write(ws, "memory/home.md", "- wifi = red\n")
    ws.conflicts.claims()
    read: list[str] = []
    original = ConflictBook._read
    monkeypatch.setattr(ConflictBook, "_read", lambda self, file, day: read.append(file) or original(self, file, day))
    write(ws, "memory/home.md", "- I live in Graz\n")
    assert found(ws) == [("I live in Graz", "lives in Lisbon")]
    assert read == ["memory/home.md"]
    Path(ws.root / "memory" / "home.md").unlink()
    assert found(ws) == []
