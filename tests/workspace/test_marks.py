"""Marks: what is written comes back, what is struck or over is neither injected nor ranked, on every path."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

from hypothesis import assume, given
from hypothesis import strategies as st

from assistant.recall.units.making import units_of
from assistant.workspace.budget import Limits, load_memory
from assistant.workspace.entries import Item, format_entry, format_item, parse_entry, parse_item, parse_memory, strike
from assistant.workspace.fact_marks import block_item, dead_facts
from assistant.workspace.layout import MEMORY
from assistant.workspace.line_edits import strike_unit
from assistant.workspace.unit_places import unit_places

TODAY = date(2026, 11, 29)
DAYS = st.dates(date(2020, 1, 1), date(2030, 12, 31))
WORDS = st.lists(
    st.sampled_from(["tea", "milk", "·", "~", "~~", "|", "；", "\\", "until", "2026-01-01", "中文", "#", "-", "a.b"]),
    min_size=1,
    max_size=6,
).map(" ".join)


def whole(item: Item) -> bool:
    """Whether its words are words only: none that would be read as marks."""
    return parse_item(item.text) == Item(item.text)


ITEMS = st.builds(
    Item,
    text=WORDS.map(str.strip),
    until=st.none() | DAYS,
    updated=st.none() | DAYS,
    superseded=st.none() | DAYS,
    moved=st.none() | DAYS,
    struck=st.booleans(),
).filter(whole)


@given(ITEMS)
def test_an_item_comes_back_with_all_its_marks(item):
    assert parse_item(format_item(item)) == item


@given(st.lists(ITEMS, min_size=1, max_size=4), st.data())
def test_striking_one_item_of_an_entry_leaves_the_others(items, data):
    raw = format_entry(TODAY, "you", items)
    entry = parse_entry(raw)
    assert entry is not None
    assert list(entry.items) == items
    index = data.draw(st.integers(0, len(items) - 1))
    assume(not items[index].struck and "~~" not in items[index].text)
    struck = parse_entry(strike(raw, index, TODAY))
    assert struck is not None
    expected = replace(items[index], struck=True, superseded=struck.items[index].superseded)
    assert list(struck.items) == [*items[:index], expected, *items[index + 1 :]]
    assert struck.items[index].superseded in (TODAY, items[index].superseded)


LEADS = st.sampled_from(["", "- ", "  * ", "1. ", "- [ ] ", "> ", "> - "])
FACT = st.lists(st.sampled_from(["tea", "milk", "中文", "x|y", "a.b", "until"]), min_size=1, max_size=4).map(" ".join)


@given(LEADS, FACT, st.none() | DAYS)
def test_a_struck_fact_is_over_everywhere_and_its_words_stay(lead, words, until):
    mark = f" · until {until}" if until else ""
    text = f"- first\n\n{lead}{words}{mark}\n\nlast"
    place = next(place for place in unit_places(MEMORY, text) if place.first == 3)
    struck = strike_unit(text, place, TODAY)
    line = struck.split("\n")[2]
    assert line == f"{lead}~~{words}~~{mark} · superseded {TODAY}"
    item = block_item(line)
    assert (item.text, item.until, item.superseded, item.struck) == (words, until, TODAY, True)
    assert dead_facts(parse_memory(struck).fact_lines, TODAY) == {3: "superseded"}
    assert [unit.struck for unit in units_of(MEMORY, struck)[0]] == [False, True, False]


@given(st.lists(ITEMS, min_size=1, max_size=6), st.integers(-3, 3))
def test_only_what_holds_today_is_injected_and_ranked_as_true(items, days):
    today = TODAY + timedelta(days)
    text = "".join(format_entry(TODAY, "you", [item]) + "\n" for item in items)
    loaded = load_memory(parse_memory(text), Limits(), today, lambda texts: [1] * len(texts), 100_000)
    assert [entry.items[0] for entry in loaded.entries] == [item for item in items if item.live(today)]
    for unit, item in zip(units_of(MEMORY, text)[0], items, strict=True):
        assert unit.struck == (item.struck or item.superseded is not None)
        assert unit.until == (None if item.replaced else item.until)
