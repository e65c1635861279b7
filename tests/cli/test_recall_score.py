"""The scorer counts as the labelled sets say, by cases small enough to work out by hand."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.cli.bench.labelled_set import Question
from assistant.cli.bench.recall_score import ranking, score


def question(
    ident: str, gold: str, *, every: bool = False, also: str = "", stale: str = "", kind: str = "k"
) -> Question:
    """Ids are single letters."""
    ids = (frozenset(letters) for letters in (gold, also, stale))
    golds, partly, older = ids
    return Question(ident, ident, kind, "en", golds, every, partly, older, date(2026, 11, 30))


QUESTIONS = [
    question("second", "x"),
    question("both wanted", "xy", every=True),
    question("old first", "n", stale="o", kind="other"),
    question("nothing, and silent", ""),
    question("nothing, but an answer", ""),
    question("right in part first", "g", also="h"),
    question("gave up", "z"),
    question("new first", "n", stale="o"),
    question("nothing, and no line", ""),
]
ANSWERS = {
    "second": list("pxx"),
    "both wanted": list("yppqrsx"),  # p counts once, so x is the sixth
    "old first": list("on"),
    "nothing, and silent": [],
    "nothing, but an answer": ["x"],
    "right in part first": list("hg"),
    "gave up": [],
    "new first": list("no"),
}


def test_the_means_are_those_worked_out_by_hand() -> None:
    row = score(QUESTIONS, ANSWERS).kinds["all"]
    assert row.questions == 6
    assert row.recall_1 == pytest.approx((0 + 1 + 0 + 1 + 0 + 1) / 6, abs=1e-4)
    assert row.recall_5 == pytest.approx((1 + 0.5 + 1 + 1 + 0 + 1) / 6, abs=1e-4)
    assert row.recall_10 == pytest.approx((1 + 1 + 1 + 1 + 0 + 1) / 6, abs=1e-4)
    assert row.mrr == pytest.approx((0.5 + 1 + 0.5 + 1 + 0 + 1) / 6, abs=1e-4)


def test_silence_and_what_is_current_are_counted_apart() -> None:
    found = score(QUESTIONS, ANSWERS)
    assert (found.current_first, found.superseded) == (0.5, 2)
    assert (found.silent, found.negatives) == (pytest.approx(1 / 3, abs=1e-4), 3)
    assert found.gave_up == 1
    assert list(found.kinds) == ["all", "k", "other"]


def test_answers_that_are_missing_are_failures_and_not_silence() -> None:
    found = score(QUESTIONS, {})
    assert (found.kinds["all"].recall_10, found.silent, found.gave_up) == (0.0, 0.0, 0)


def test_a_perfect_answer_is_perfect() -> None:
    found = score(QUESTIONS, {q.id: sorted(q.gold) for q in QUESTIONS})
    row = found.kinds["all"]
    assert (row.recall_1, row.recall_5, row.mrr) == (1, 1, 1)
    assert (found.silent, found.current_first, found.gave_up) == (1, 1, 0)


@given(st.lists(st.sampled_from("abcdefgh"), max_size=30), st.booleans())
def test_more_hits_never_find_less_and_no_figure_leaves_its_range(hits: list[str], every: bool) -> None:
    asked = question("q", "abc", every=every, also="d", stale="e")
    row = score([asked], {"q": hits}).kinds["all"]
    assert 0 <= row.recall_5 <= 1 and row.recall_10 >= (row.recall_5 if not every else 0)
    assert row.recall_1 <= row.mrr <= 1
    assert len(ranking(asked, hits)) == len(set(hits) - {"d"})
