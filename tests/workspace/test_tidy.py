"""Tidying up: what leaves and why, nothing lost, one diff before, one undo after."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assistant.core.errors import AssistantError
from assistant.workspace.budget import Limits
from assistant.workspace.entries import Item, format_entry, parse_memory
from assistant.workspace.memory import Saved
from assistant.workspace.tidy import apply_tidy, plan_tidy

MEMORY, ARCHIVE, NOTE = "MEMORY.md", "memory/archive.md", "memory/boats.md"
TODAY = date(2026, 11, 29)
WIDE = Limits()


def put(ws, file: str, text: str) -> None:
    (ws.root / file).write_bytes(text.encode())


def text(ws, file: str) -> str:
    path = ws.root / file
    return path.read_bytes().decode() if path.exists() else ""


def tidy(ws, limits: Limits = WIDE):
    plan = plan_tidy(ws.memory, limits, TODAY)
    return plan, apply_tidy(ws.memory, plan, "upkeep")


def test_what_is_over_moves_to_the_archive_and_one_undo_brings_it_back(ws):
    before = (
        "# Me\r\n\r\n- drinks tea\r\n2026-01-01|you|visa · until 2026-02-01\r\n\r\n"
        "2026-03-01|you|a；b \\； c · until 2026-04-01；~~d~~ · superseded 2026-05-01\r\n2026-11-01|you|e"
    )
    put(ws, MEMORY, before)
    put(ws, ARCHIVE, "2020-01-01|you|old")
    plan, batch = tidy(ws)
    assert text(ws, MEMORY) == (
        "# Me\r\n\r\n- drinks tea\r\n\r\n2026-03-01|you|a；~~d~~ · superseded 2026-05-01\r\n2026-11-01|you|e"
    )
    assert text(ws, ARCHIVE) == (
        "2020-01-01|you|old\n2026-01-01|you|visa · until 2026-02-01 · moved 2026-11-29\n"
        "2026-03-01|you|b \\； c · until 2026-04-01 · moved 2026-11-29\n"
    )
    assert [(each.line, each.text, each.why) for each in plan.moved] == [
        (4, "visa", "expired"),
        (6, "b ； c", "expired"),
    ]
    assert plan.diff.count("+++") == 2
    assert "-2026-01-01|you|visa · until 2026-02-01" in plan.diff
    assert {entry.actor for entry in ws.journal.batch(batch)} == {"upkeep"}
    assert isinstance(ws.memory.undo(batch), Saved)
    assert (text(ws, MEMORY), text(ws, ARCHIVE)) == (before, "2020-01-01|you|old")


def test_a_tidy_memory_stays_as_it_is(ws):
    put(ws, MEMORY, "- drinks tea\n- drinks tea now\n2026-01-01|you|a；b\n2026-01-02|you|A\n")
    plan, batch = tidy(ws)
    assert (plan.moved, plan.merged, plan.diff, plan.edits, batch) == ((), (), "", (), "")
    assert ws.journal.entries() == []


def test_the_very_same_again_is_merged_into_the_oldest_line(ws):
    put(
        ws,
        MEMORY,
        "- tea\n- milk\n- tea\n\n# Work\n- tea\n- tea\n  green\n\n"
        "2026-02-01|you|likes boats；sails\n2026-01-01|you|likes boats\n"
        "2026-03-01|you|likes boats\n2026-03-02|you|likes boats · until 2027-01-01\n",
    )
    put(ws, NOTE, "---\ntitle: Boats\n---\n- kayak\n- kayak\n  - red\n- kayak")
    plan, _ = tidy(ws)
    assert text(ws, MEMORY) == (
        "- tea\n- milk\n\n# Work\n- tea\n- tea\n  green\n\n"
        "2026-02-01|you|sails\n2026-01-01|you|likes boats\n2026-03-02|you|likes boats · until 2027-01-01\n"
    )
    assert text(ws, NOTE) == "---\ntitle: Boats\n---\n- kayak\n- kayak\n  - red\n"
    assert {(each.file, each.line, each.kept) for each in plan.merged} == {
        (MEMORY, 3, 1),
        (MEMORY, 10, 11),
        (MEMORY, 12, 11),
        (NOTE, 7, 4),
    }
    assert not (ws.root / ARCHIVE).exists()


def test_the_proof_that_turns_were_distilled_is_kept(ws):
    proof = "2026-02-01|chat:20261129_153022#1-4|likes tea\n"
    put(ws, MEMORY, "2026-01-01|you|likes tea\n" + proof + "2026-02-02|chat:20261129_153022#5|x · until 2026-03-01\n")
    tidy(ws)
    sources = [entry.source for entry in parse_memory(text(ws, ARCHIVE)).entries]
    assert sources == ["chat:20261129_153022#1-4", "chat:20261129_153022#5"]
    assert text(ws, MEMORY) == "2026-01-01|you|likes tea\n"


def test_over_budget_struck_entries_go_first_then_the_oldest_and_facts_never(ws):
    facts = "# Facts\n" + "".join(f"- fact {n}\n" for n in range(10))
    lines = [f"2026-01-{n:02}|you|thing number {n} of many" for n in range(1, 21)]
    lines[14] = "2026-01-15|you|~~struck~~ · superseded 2026-02-01"
    put(ws, MEMORY, facts + "".join(f"{line}\n" for line in lines))
    plan, _ = tidy(ws, Limits(fact_lines=27, entries=10))
    assert [each.text for each in plan.moved] == [*(f"thing number {n} of many" for n in (1, 2, 3)), "struck"]
    assert text(ws, MEMORY) == facts + "".join(f"{line}\n" for n, line in enumerate(lines) if n not in (0, 1, 2, 14))
    plan, _ = tidy(ws, Limits(fact_lines=5, entries=10))
    assert plan.over
    assert len(parse_memory(text(ws, MEMORY)).entries) == 10
    assert text(ws, MEMORY).startswith(facts)
    assert text(ws, MEMORY).endswith("".join(f"{line}\n" for line in lines[-5:]))


def test_over_budget_in_bytes(ws):
    put(ws, MEMORY, "".join(f"2026-01-{n:02}|you|{'中' * 100} {n}\n" for n in range(1, 29)))
    plan, _ = tidy(ws, Limits(fact_bytes=5000, entries=3))
    assert len((ws.root / MEMORY).read_bytes()) <= 5000 < len((ws.root / MEMORY).read_bytes()) + 330
    assert {each.why for each in plan.moved} == {"over budget"}


def test_nothing_is_cut_by_a_plain_write(ws):
    put(ws, MEMORY, "".join(f"2026-01-01|you|thing {n} · until 2026-01-02\n" for n in range(300)))
    before = text(ws, MEMORY)
    ws.memory.remember("one more")
    assert text(ws, MEMORY) == before + "2026-11-29|you|one more\n"


def test_a_plan_for_files_that_changed_is_refused(ws):
    put(ws, MEMORY, "2026-01-01|you|visa · until 2026-02-01\n")
    plan = plan_tidy(ws.memory, WIDE, TODAY)
    ws.memory.remember("likes tea")
    before = text(ws, MEMORY)
    with pytest.raises(AssistantError) as refused:
        apply_tidy(ws.memory, plan)
    assert refused.value.code == "memory.changed"
    assert (text(ws, MEMORY), (ws.root / ARCHIVE).exists()) == (before, False)


def test_what_cannot_be_read_is_left_alone(ws):
    (ws.root / MEMORY).write_bytes("2026-01-01|you|中文很好 ".encode() + b"\xff \xc2\xb7 until 2026-02-01\n")
    assert tidy(ws)[0].moved == ()
    (ws.root / MEMORY).write_bytes(b"\0" * 4096)
    assert tidy(ws)[0].edits == ()


ITEMS = st.builds(
    Item,
    text=st.sampled_from(["tea", "milk", "boats", "a；b", "中文 | x"]),
    until=st.sampled_from([None, TODAY - timedelta(9), TODAY + timedelta(9)]),
    superseded=st.sampled_from([None, None, TODAY]),
    struck=st.booleans(),
)
ENTRIES = st.builds(
    format_entry,
    st.dates(TODAY - timedelta(60), TODAY),
    st.sampled_from(["you", "tool", "chat:20261129_153022#1-4"]),
    st.lists(ITEMS, min_size=1, max_size=3),
)
LINES = ENTRIES | st.sampled_from(["# Facts", "", "- tea", "- boats", "  - child", "prose", "| a |", "```"])


def said(memory: str) -> Counter[str]:
    return Counter(item.text for entry in parse_memory(memory).entries for item in entry.items)


@given(st.lists(LINES, max_size=12), st.integers(1, 12), st.integers(0, 5), st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nothing_is_ever_lost_by_tidying(ws, lines, most, last, ending):
    before = ending.join(lines)
    put(ws, MEMORY, before)
    (ws.root / ARCHIVE).unlink(missing_ok=True)
    plan, batch = tidy(ws, Limits(fact_lines=most, entries=last))
    after = said(text(ws, MEMORY)) + said(text(ws, ARCHIVE))
    assert set(after) == set(said(before)), "every item is in one of the two files"
    gone = said(before) - after
    merged = Counter(each.text for each in plan.merged if not each.text.startswith("- "))
    assert gone <= merged
    facts = [line for line in lines if not parse_memory(line).entries]
    kept = [line.removesuffix("\r") for line in text(ws, MEMORY).split("\n") if not parse_memory(line).entries]
    assert Counter(facts) - Counter(kept) <= Counter(each.text for each in plan.merged)
    sources = {entry.source for entry in parse_memory(before).entries if entry.source.startswith("chat:")}
    assert sources == {
        entry.source
        for file in (MEMORY, ARCHIVE)
        for entry in parse_memory(text(ws, file)).entries
        if entry.source.startswith("chat:")
    }
    again, _ = tidy(ws, Limits(fact_lines=most, entries=last))
    assert again.edits == (), "tidied once is tidy"
    if batch:
        assert isinstance(ws.memory.undo(batch), Saved)
        assert text(ws, MEMORY) == before
