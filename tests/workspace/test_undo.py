"""Undo of any change, whatever came after it: it gives back, or it is a conflict; it never takes what is another's."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assistant.core.errors import AssistantError
from assistant.workspace.changes import unified_diff
from assistant.workspace.memory import Conflict, Saved
from assistant.workspace.patches import reverse_patch

MEMORY = "MEMORY.md"
POOL = ["alpha", "beta", "gamma", "- delta", "- epsilon", "", "# Head", "zeta 中文"]
LINES = st.lists(st.sampled_from(POOL), max_size=10)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["app", "app", "disk", "remember", "undo"]),
        st.integers(0, 9),
        st.integers(0, 2),
        st.lists(st.sampled_from([*POOL, "eta", "theta"]), max_size=2),
    ),
    min_size=1,
    max_size=8,
)


def lines(text: str) -> Counter[str]:
    return Counter(line for line in text.split("\n") if line.strip())


def read(ws) -> str:
    path = ws.root / MEMORY
    return path.read_bytes().decode() if path.exists() else ""


def replace_lines(text: str, at: int, gone: int, new: list[str]) -> str:
    parts = text.split("\n")
    at = min(at, len(parts) - 1)
    return "\n".join([*parts[:at], *new, *parts[at + gone :]])


def changed(diff: str, sign: str) -> Counter[str]:
    return Counter(
        line[1:] for line in diff.split("\n") if line[:1] == sign and line[:3] != sign * 3 and line[1:].strip()
    )


def check_undo(ws, ident: str) -> None:
    entry = ws.journal.get(ident)
    before = read(ws)
    try:
        answer = ws.memory.undo(ident)
    except AssistantError as error:
        assert error.code == "journal.undone"
        assert read(ws) == before
        return
    if isinstance(answer, Conflict):
        assert read(ws) == before, "a conflict writes nothing"
        assert answer.theirs.rstrip("\n") == before.rstrip("\n")
        return
    after = read(ws)
    added, removed = changed(entry.diff, "+"), changed(entry.diff, "-")
    assert not (lines(before) - lines(after)) - added, "only what the change had added may go"
    assert not (lines(after) - lines(before)) - removed, "only what the change had removed may come"
    if answer.journal_id:
        ws.memory.undo(answer.journal_id)
        assert read(ws) == before, "the undo of the undo is exact"
        ws.memory.undo(ws.journal.entries(limit=1)[0].id)
        assert read(ws) == after


@given(LINES, STEPS, st.data())
@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_sequence_of_changes_by_anyone_can_be_undone_or_says_why_not(ws, start, steps, data):
    (ws.root / MEMORY).write_text("\n".join(start) + "\n")
    ws.memory.note_disk_changes()
    known = {entry.id for entry in ws.journal.entries()}
    for how, at, gone, new in steps:
        text = read(ws)
        if how == "app":
            ws.memory.save(MEMORY, replace_lines(text, at, gone, new), ws.memory.read(MEMORY).sha256)
        elif how == "disk":
            (ws.root / MEMORY).write_text(replace_lines(text, at, gone, new))
            ws.memory.note_disk_changes()
        elif how == "remember":
            ws.memory.remember(f"thing {at} of {gone}")
        else:
            ids = [entry.id for entry in ws.journal.entries() if entry.id not in known]
            if ids:
                check_undo(ws, ids[at % len(ids)])
    ids = [entry.id for entry in ws.journal.entries() if entry.id not in known]
    for ident in data.draw(st.permutations(ids[:6])):
        check_undo(ws, ident)


@given(LINES, LINES, LINES)
def test_a_reverse_patch_takes_back_that_change_alone(prior, after, more):
    before, now = "\n".join(prior) + "\n", "\n".join(after) + "\n"
    diff = unified_diff("f", before, now)
    assert reverse_patch(diff, now) in (before, None)
    later = "\n".join(more) + "\n" + now + "\n".join(more) + "\n"
    undone = reverse_patch(diff, later)
    if undone is not None:
        assert not (lines(later) - lines(undone)) - changed(diff, "+")
        assert not (lines(undone) - lines(later)) - changed(diff, "-")


TEXT = "".join(f"line number {n}\n" for n in range(40))


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_an_old_change_is_taken_back_far_below_where_it_was(ending):
    now = TEXT.replace("line number 20\n", "line number twenty\nand a half\n")
    diff = unified_diff("f", TEXT, now)
    later = ("new first\n" * 9 + now.replace("line number 19\n", "")).replace("\n", ending)
    expected = ("new first\n" * 9 + TEXT.replace("line number 19\n", "")).replace("\n", ending)
    assert reverse_patch(diff, later) == expected


def test_what_could_be_meant_twice_is_not_guessed():
    diff = unified_diff("f", "a\nb\n", "a\nX\nb\n")
    assert reverse_patch(diff, "q\nX\nr\nX\n") is None
    assert reverse_patch(diff, "q\nX\nr\n") == "q\nr\n"
    assert reverse_patch(unified_diff("f", "a\nX\nb\n", "a\nb\n"), "q\nr\n") is None, "where it stood is not known"
    assert reverse_patch(diff, "a\nb\n") is None, "it is gone already, or was never there"
    assert reverse_patch(unified_diff("f", "a\nY\nb\n", "a\nX\nb\n"), "a\nY\nb\n") == "a\nY\nb\n"


def known_by_its_diff(ws) -> tuple[str, Saved]:
    """A long file of which one line was changed, and no copy of what was seen is left; what it said before."""
    start = "".join(f"fact number {n} of many that make it long enough\n" for n in range(400))
    (ws.root / MEMORY).write_text(start)
    ws.memory.note_disk_changes()
    done = ws.memory.save(MEMORY, start.replace("number 200 ", "number two hundred "), ws.memory.read(MEMORY).sha256)
    assert isinstance(done, Saved)
    for path in (ws.data / "seen").iterdir():
        path.unlink()
    return start, done


def test_the_text_before_is_found_where_only_the_diff_is_known(ws):
    """The copies of what was seen are lost and the file was long: the diff and its surroundings are enough."""
    start, done = known_by_its_diff(ws)
    (ws.root / MEMORY).write_text("a new first line\n" + read(ws))
    assert isinstance(ws.memory.undo(done.journal_id), Saved)
    assert read(ws) == "a new first line\n" + start


def test_where_nothing_tells_what_was_before_it_says_so(ws):
    _, done = known_by_its_diff(ws)
    (ws.root / MEMORY).write_text("all new\n")
    with pytest.raises(AssistantError) as refused:
        ws.memory.undo(done.journal_id)
    assert refused.value.code == "journal.unknown"
    assert read(ws) == "all new\n"


def test_a_conflict_keeps_what_came_later_elsewhere(ws):
    (ws.root / MEMORY).write_text("one\ntwo\nthree\nfour\nfive\n")
    ws.memory.note_disk_changes()
    done = ws.memory.save(MEMORY, "one\nTWO\nthree\nfour\nfive\n", ws.memory.read(MEMORY).sha256)
    ws.memory.save(MEMORY, "one\ntwice\nthree\nfour\nfive\nsix\n", ws.memory.read(MEMORY).sha256)
    answer = ws.memory.undo(done.journal_id)
    assert isinstance(answer, Conflict)
    assert (answer.mine, answer.theirs) == (
        "one\ntwo\nthree\nfour\nfive\nsix\n",
        "one\ntwice\nthree\nfour\nfive\nsix\n",
    )
    assert answer.file == MEMORY
    assert isinstance(ws.memory.save(MEMORY, answer.mine, answer.theirs_sha), Saved)


@pytest.mark.parametrize("name", ["memory/🐘.md", "memory/a[1]/b c.md", "memory/con.md"])
def test_a_file_of_any_name_that_another_program_removed_comes_back(ws, name):
    path = ws.root / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("- by hand\n")
    ws.memory.note_disk_changes()
    path.unlink()
    if path.parent != ws.root / "memory":
        path.parent.rmdir()
    assert ws.memory.note_disk_changes() == [name]
    removed = ws.journal.entries(limit=1)[0]
    assert isinstance(ws.memory.undo(removed.id), Saved)
    assert path.read_text() == "- by hand\n"
    with pytest.raises(AssistantError):
        ws.memory.read("memory/never there?.md")
