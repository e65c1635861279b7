"""Diffs and merges."""

from __future__ import annotations

import subprocess

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from assistant.workspace.changes import merge, merge_for, splice, unified_diff

LINES = st.lists(st.sampled_from(["a", "b", "c", "d", "", "e"]), max_size=8).map("\n".join)
FILES = st.tuples(LINES, st.sampled_from(["", "\n"])).map("".join)


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=30))
def test_a_splice_goes_both_ways(head, middle, tail):
    for prior, after in ((head + tail, head + middle + tail), (head + middle + tail, middle), (head, tail)):
        change = splice(prior, after)
        assert change.undo(after) == prior
        assert prior[: change.start] + change.added + prior[change.start + len(change.removed) :] == after


@given(FILES, FILES)
@example("a\na\na\na\na", "b\na\na\na\na")
@example("a\na\na\na\na", "a\na\na\na\nb")
@example("a\na\na\na\na\na\na\nb\n", "a\na\na\na\na\na\nb\n")
@settings(max_examples=30, deadline=None)
def test_patch_understands_the_diff(tmp_path_factory, prior, after):
    assume(prior and after)
    diff = unified_diff("f", prior, after)
    assert bool(diff) == (prior != after)
    folder = tmp_path_factory.mktemp("patch")
    (folder / "f").write_text(prior)
    if diff:
        subprocess.run(["git", "apply", "--unsafe-paths", "-"], input=diff, text=True, cwd=folder, check=True)
    assert (folder / "f").read_text() == after


@given(FILES, FILES)
def test_one_side_alone_always_wins(base, other):
    assert merge(base, base, other) == other
    assert merge(base, other, base) == other
    assert merge(base, other, other) == other


def test_changes_of_different_lines_meet():
    base = "one\ntwo\nthree\nfour\nfive\n"
    mine, theirs = base.replace("one", "ONE"), base.replace("five", "FIVE")
    assert merge(base, mine, theirs) == "ONE\ntwo\nthree\nfour\nFIVE\n"
    assert merge(base, base.replace("two", "TWO"), base.replace("three", "THREE")) == "one\nTWO\nTHREE\nfour\nfive\n"


def test_both_appended():
    assert merge("a\n", "a\nmine\n", "a\ntheirs\n") == "a\nmine\ntheirs\n"
    assert merge("", "mine\n", "theirs\n") == "mine\ntheirs\n"


def test_the_same_line_changed_twice_is_a_conflict():
    assert merge("a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n") is None
    assert merge("a\nb\nc\n", "a\nc\n", "a\nY\nc\n") is None


def test_a_removed_line_beside_added_ones():
    assert merge("a\nb\n", "a\nb\nc\nd\n", "a\n") == "a\nc\nd\n"
    assert merge("a\nb\n", "a\n", "a\nb\nc\n") == "a\nc\n"


@given(st.lists(st.integers(0, 9), min_size=3, max_size=8, unique=True), st.data())
def test_what_both_kept_is_in_the_merge(base, data):
    lines = [f"line {n}" for n in base]
    mine, theirs = list(lines), list(lines)
    mine.insert(data.draw(st.integers(0, len(mine))), "mine")
    theirs.insert(data.draw(st.integers(0, len(theirs))), "theirs")
    merged = merge("\n".join(lines), "\n".join(mine), "\n".join(theirs))
    assert merged is not None
    assert [line for line in merged.split("\n") if line.startswith("line")] == lines
    assert {"mine", "theirs"} <= set(merged.split("\n"))


@given(FILES, FILES, FILES)
@settings(max_examples=300)
def test_a_merge_loses_nothing_that_a_side_added_and_takes_no_side(base, mine, theirs):
    merged, other_way = merge(base, mine, theirs), merge(base, theirs, mine)
    assert (merged is None) == (other_way is None)
    if merged is None or other_way is None:
        return
    assert sorted(merged.split("\n")) == sorted(other_way.split("\n")), "but for the order of what both added"
    held = set(base.split("\n"))
    for side in (mine, theirs):
        assert set(side.split("\n")) - held <= set(merged.split("\n"))
    assert set(merged.split("\n")) <= set(mine.split("\n")) | set(theirs.split("\n"))


@given(FILES, FILES, FILES)
def test_where_one_side_must_win_it_does_and_the_rest_is_merged(base, mine, theirs):
    merged = merge(base, mine, theirs)
    settled = merge_for(base, mine, theirs)
    if merged is not None:
        assert settled == merged
    held = set(base.split("\n"))
    assert set(theirs.split("\n")) - held <= set(settled.split("\n"))
