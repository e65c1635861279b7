"""Memory by day and source."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from assistant.workspace.timeline import SOURCES, Moment, best_zoom, periods, source_kind

MOMENTS = st.lists(
    st.builds(
        Moment,
        st.dates(),
        st.sampled_from(SOURCES),
        st.just("MEMORY.md"),
        st.integers(1, 9),
        st.just("x"),
        st.booleans(),
    ),
    max_size=30,
)


@given(MOMENTS, st.sampled_from(["day", "week", "month"]))
def test_every_entry_stands_in_one_period_and_periods_follow_on_one_another(found: list[Moment], by: str) -> None:
    found.sort(key=lambda each: each.day)
    made = periods(found, by)  # type: ignore[arg-type]
    assert [each for period in made for each in period.moments] == found
    assert all(sum(period.counts.values()) == period.total for period in made)
    for earlier, later in pairwise(made):
        assert later.first == earlier.last + timedelta(days=1)
    for period in made[1:]:
        assert all(period.first <= each.day <= period.last for each in period.moments)
    assert len(made) <= 4_000


def test_weeks_begin_on_monday_and_months_on_the_first() -> None:
    found = [Moment(day, "you", "MEMORY.md", 1, "x", True) for day in (date(2026, 1, 31), date(2026, 3, 1))]
    assert [each.first for each in periods(found, "month")] == [date(2026, 1, 1), date(2026, 2, 1), date(2026, 3, 1)]
    weeks = periods(found, "week")
    assert (weeks[0].first, weeks[-1].last, len(weeks)) == (date(2026, 1, 26), date(2026, 3, 1), 5)
    assert best_zoom(found) == "day" and best_zoom([]) == "day"


def test_kinds_of_sources() -> None:
    kinds = {
        source: source_kind(source) for source in ("you", "chat:1#2-3", "tool", "import:x", "doc:a.md", "web-chat")
    }
    assert list(kinds.values()) == ["you", "distilled", "tool", "import", "documents", "other"]
