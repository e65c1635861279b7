"""What became of a line that was told: found exactly, by what was done to it, or by what is most like it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assistant.chat.line_now import line_now, lines_now
from assistant.core.values import PromptLine
from assistant.workspace.budget import Limits
from assistant.workspace.forgetting import FORGOTTEN
from assistant.workspace.ids import line_id
from assistant.workspace.tidy import apply_tidy, plan_tidy
from assistant.workspace.workspace import Workspace

MEMORY = "MEMORY.md"
LISBON = "- I live in Lisbon, near the Jardim da Estrela"
TEA = "2026-11-20|you|likes tea, no coffee after noon；dentist on Tuesday"


def _pinned(text: str, line: int = 1, file: str = MEMORY) -> PromptLine:
    return PromptLine(file, line, text, "pinned", line_id(file, text), 9)


def _put(workspace: Workspace, *lines: str, file: str = MEMORY) -> None:
    path = workspace.root / file
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def test_a_line_that_stands_where_it_stood(workspace: Workspace) -> None:
    _put(workspace, LISBON, TEA)
    now = line_now(workspace, _pinned(LISBON))
    assert (now.state, now.line, now.text, now.sure) == ("same", 1, LISBON, 1.0)


def test_a_line_that_moved_is_found_wherever_it_is(workspace: Workspace) -> None:
    _put(workspace, "# About", "", "- other", LISBON)
    assert (line_now(workspace, _pinned(LISBON)).state, line_now(workspace, _pinned(LISBON)).line) == ("moved", 4)


def test_of_two_equal_lines_the_nearer_one(workspace: Workspace) -> None:
    _put(workspace, LISBON, *["- x"] * 8, LISBON)
    again = PromptLine(MEMORY, 9, LISBON, "meaning", line_id(MEMORY, LISBON) + "-2")
    assert line_now(workspace, again).line == 10


def test_a_struck_line_and_a_line_with_a_struck_part(workspace: Workspace) -> None:
    _put(
        workspace,
        "- ~~I live in Lisbon, near the Jardim da Estrela~~ · superseded 2026-11-30",
        "2026-11-20|you|likes tea, no coffee after noon；~~dentist on Tuesday~~ · superseded 2026-11-29",
    )
    assert line_now(workspace, _pinned(LISBON)).state == "struck"
    part = line_now(workspace, PromptLine(MEMORY, 2, TEA, "tail", line_id(MEMORY, TEA)))
    assert (part.state, part.by, part.line) == ("changed", "strike", 2)
    told = PromptLine(MEMORY, 2, "[2026-11-20, new in MEMORY.md] dentist on Tuesday", "recent", line_id(MEMORY, TEA))
    assert line_now(workspace, told).state == "struck", "the part that was told is struck"


def test_an_archived_line(workspace: Workspace) -> None:
    _put(workspace, LISBON)
    _put(
        workspace,
        "2026-11-20|you|likes tea, no coffee after noon · moved 2026-11-30；dentist on Tuesday · moved 2026-11-30",
        file="memory/archive.md",
    )
    now = line_now(workspace, _pinned(TEA, 2))
    assert (now.state, now.file, now.line) == ("archived", "memory/archive.md", 1)


@pytest.mark.parametrize("head", ["2026-01-05|you|party", "2026-01-05 | you |  party "])
def test_what_a_tidy_up_took_away_is_found_in_the_archive(workspace: Workspace, head: str) -> None:
    raw = f"{head} · until 2026-02-01"
    _put(workspace, LISBON, raw)
    plan = plan_tidy(workspace.memory, Limits(), workspace.clock().date())
    apply_tidy(workspace.memory, plan)
    now = line_now(workspace, PromptLine(MEMORY, 2, raw, "tail", line_id(MEMORY, raw)))
    assert (now.state, now.file) == ("archived", "memory/archive.md")
    assert "party" in now.text


def test_the_journal_knows_what_a_line_became_however_different(workspace: Workspace) -> None:
    _put(workspace, LISBON, "- zzz")
    for text in ("- I live in Porto now", "- Porto is home"):
        read = workspace.memory.read(MEMORY)
        workspace.memory.save(MEMORY, f"{text}\n- zzz\n", read.sha256)
    now = line_now(workspace, _pinned(LISBON))
    assert (now.state, now.text, now.by) == ("changed", "- Porto is home", "journal")
    assert now.sure >= 0.9


def test_without_a_journal_the_most_similar_line_is_shown_with_how_sure(workspace: Workspace) -> None:
    _put(workspace, "- I live in Lisbon, near the Jardim Botânico", "- the cat is called Mo")
    now = line_now(workspace, _pinned(LISBON))
    assert (now.state, now.line, now.by) == ("changed", 1, "words")
    assert 0.6 <= now.sure < 1


def test_a_line_of_another_told_fact_is_not_taken_for_it(workspace: Workspace) -> None:
    cat, dog = "- the cat is called Mo", "- the dog is called Mo"
    _put(workspace, cat)
    first, second = lines_now(workspace, [_pinned(cat), _pinned(dog, 2)])
    assert (first.state, second.state) == ("same", "gone")


def test_chinese_lines_are_compared_too(workspace: Workspace) -> None:
    _put(workspace, "- 我住在里斯本，靠近埃什特雷拉花园的北门", "- 猫叫小白")
    now = line_now(workspace, _pinned("- 我住在里斯本，靠近埃什特雷拉花园"))
    assert (now.state, now.line) == ("changed", 1)


def test_what_was_recalled_is_found_by_its_unit(workspace: Workspace) -> None:
    block = "Two lines\nof one paragraph"
    _put(workspace, "# T", "", *block.split("\n"), file="memory/t.md")
    line = PromptLine("memory/t.md", 2, "[T, memory/t.md] Two lines of one paragraph", "meaning")
    line = PromptLine(line.file, 3, line.text, line.why, line_id(line.file, block))
    now = line_now(workspace, line)
    assert (now.state, now.text) == ("same", block)


def test_chats_forgotten_words_and_the_day(workspace: Workspace) -> None:
    chat = workspace.chats.create("Trip")
    turn = workspace.chats.begin_turn(chat, "hello", None)
    file = next(info.file for info in workspace.chats.list())
    there = PromptLine(file, 9, "[2026] you: hello", "meaning", f"{chat}#{turn.n}")
    gone = PromptLine("chats/2026-11/x.md", 9, "[2026] you: hello", "meaning", "x#1")
    forgotten = PromptLine(MEMORY, 3, FORGOTTEN, "pinned", line_id(MEMORY, "x"))
    day = PromptLine("", 0, "[today is 2026-11-30, a Monday]", "date", "day:2026-11-30")
    states = [now.state for now in lines_now(workspace, [there, gone, forgotten, day])]
    assert states == ["same", "gone", "forgotten", "same"]


def test_a_long_memory_is_taken_apart_once(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"2026-01-{n % 28 + 1:02d}|you|fact number {n} about the garden" for n in range(10_000)]
    _put(workspace, *lines)
    reads = []
    read = workspace.memory.read
    monkeypatch.setattr(workspace.memory, "read", lambda file: (reads.append(file), read(file))[1])
    told = [_pinned(line, n + 1) for n, line in enumerate(lines[::500])]
    told += [_pinned(f"2026-01-01|you|fact number {n} about the gardens of Graz") for n in range(20)]
    assert [now.state for now in lines_now(workspace, told)].count("moved") == 19
    assert sorted(reads) == [MEMORY, "memory/archive.md"]


_texts = st.text(max_size=30)
_files = st.one_of(st.sampled_from([MEMORY, "memory/t.md", "memory/archive.md", "chats/2026-11/x.md", ""]), _texts)
_told = st.builds(PromptLine, _files, st.integers(-1, 50), _texts, st.sampled_from(["pinned", "recent", "?"]), _texts)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(_told, max_size=4), st.lists(_texts, max_size=8))
def test_it_never_raises(workspace: Workspace, told: list[PromptLine], body: list[str]) -> None:
    Path(workspace.root / MEMORY).write_bytes("\n".join(body).encode("utf-8", "replace"))
    assert len(lines_now(workspace, told)) == len(told)


_said = st.text(alphabet="abc ü中·", min_size=1, max_size=12).map("x{}".format).map(str.strip)
_marks = st.sampled_from(["", " · until 2099-01-01", " · updated 2026-10-01"])
_items = st.lists(st.builds(str.__add__, _said, _marks), min_size=1, max_size=3).map("；".join)
_kinds = st.one_of(_items.map("2026-11-20|you|{}".format), st.builds("- {}{}".format, _said, _marks))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(_kinds)
def test_what_the_door_strikes_is_found_struck(workspace: Workspace, raw: str) -> None:
    _put(workspace, "- another", raw, "- a third")
    workspace.memory.strike(line_id(MEMORY, raw))
    now = line_now(workspace, PromptLine(MEMORY, 2, raw, "pinned", line_id(MEMORY, raw)))
    assert (now.state, now.line) == ("struck", 2)


_facts = st.sampled_from(["- red tea in the morning", "- red tea in the evening", "- green tea", "x", "~~x~~"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(_facts, min_size=1, max_size=8), st.integers(0, 7), st.integers(1, 9))
def test_the_exact_line_is_found_before_any_other(
    workspace: Workspace, body: list[str], wanted: int, line: int
) -> None:
    _put(workspace, *body)
    text = body[wanted % len(body)]
    now = line_now(workspace, _pinned(text, line))
    assert now.text == text
    assert now.state == ("same" if now.line == line else "moved")
    assert abs(now.line - line) == min(abs(n - line) for n, each in enumerate(body, 1) if each == text)


@pytest.mark.parametrize(
    "file", ["memory/\ud800.md", "\ud800", "a\0b", "memory/a\0.md", "memory/a\0.json", "../x", "/etc/passwd"]
)
def test_a_file_that_no_disk_can_have_is_gone(workspace: Workspace, file: str) -> None:
    assert line_now(workspace, PromptLine(file, 1, "- tea", "pinned")).state == "gone"


def test_a_name_that_no_file_can_have_is_gone(workspace: Workspace) -> None:
    now = line_now(workspace, PromptLine(f"chats/{'x' * 5000}.md", 1, "you: hello", "keyword", "x#1"))
    assert now.state == "gone"
