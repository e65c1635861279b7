"""Dates, times, weekdays and numbers in one form, in English and Chinese."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.workspace.figures import codes, figures, same_value


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ("on 3 May", "dates", {"05-03"}),
        ("May 3rd", "dates", {"05-03"}),
        ("五月三日", "dates", {"05-03"}),
        ("5月3号", "dates", {"05-03"}),
        ("十二月二十一日", "dates", {"12-21"}),
        ("2026-05-03", "dates", {"2026-05-03"}),
        ("in July", "dates", {"07"}),
        ("七月结婚", "dates", {"07"}),
        ("两个月后", "dates", set()),
        ("you may go", "dates", set()),
        ("at 14:30", "times", {"14:30"}),
        ("2 pm", "times", {"14:00"}),
        ("下午三点半", "times", {"15:30"}),
        ("周日上午十点", "times", {"10:00"}),
        ("on Tuesdays", "weekdays", {"1"}),
        ("周日", "weekdays", {"6"}),
        ("星期五", "weekdays", {"4"}),
        ("1,200 euros", "numbers", {"1200 eur"}),
        ("3.50", "numbers", {"3.5"}),
        ("€42 and 45 kg, 38克, 80%", "numbers", {"42 eur", "45 kg", "38 g", "80 %"}),
        ("两只猫，三个孩子", "numbers", {"3", "2"}),
        ("ADR-016 and KL0895", "numbers", set()),
    ],
)
def test_figures(text: str, kind: str, values: set[str]) -> None:
    assert getattr(figures(text), kind) >= values
    if not values:
        assert not getattr(figures(text), kind)


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("flight on 4 December at 14:30", "flight on the 6th of December", "date"),
        ("flight on 4 December", "flight on 2026-12-04", ""),
        ("married in July", "married on 12 July", ""),
        ("stand-up 09:30", "stand-up 10:15", "time"),
        ("dentist on Tuesday", "牙医改到周五", "weekday"),
        ("rent 1200", "rent 1350", "number"),
        ("rent 1200 euros", "rent €1350", "number"),
        ("rent 1200 euros", "rent €1200", ""),
        ("the cat weighs 4 kg", "the cat is 6 years old", ""),
        ("my dog is 4 years old", "the dog turned 6", "number"),
        ("trip 4 Dec", "trip 4 Dec to 9 Dec", ""),
        ("allergic to nuts", "not allergic to nuts", "no"),
        ("对花生过敏", "对花生不过敏", "no"),
        ("不错的餐厅", "好餐厅", ""),
        ("likes tea", "likes coffee", ""),
    ],
)
def test_in_what_two_texts_differ(one: str, other: str, kind: str) -> None:
    assert figures(one).differ(figures(other)) == kind
    assert figures(other).differ(figures(one)) == kind


def test_the_same_value_in_other_words() -> None:
    assert same_value("3 May", "May 3rd")
    assert same_value("周二", "Tuesday")
    assert not same_value("3 May", "4 May")
    assert not same_value("Rex", "Max")


def test_what_names_one_thing_among_many() -> None:
    assert codes("flight KL0896, order PX-4420 of 2025") == {"kl0896", "px-4420", "2025"}
    assert codes("rent is 1200 euros, at 14:30 on 2026-05-03") == frozenset()


@given(st.text(max_size=200))
def test_no_text_fails_or_differs_from_itself(text: str) -> None:
    assert figures(text).differ(figures(text)) == ""
    assert codes(text) == codes(text)
