"""Entries: the grammar of MEMORY.md, both ways."""

from __future__ import annotations

import re
from datetime import date

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assistant.workspace.entries import Item, format_entry, parse_entry, parse_item, parse_memory, strike

DAY = date(2026, 11, 29)
TEXTS = st.text(
    alphabet=st.sampled_from(list("ab；|\\ ·~\t1-")) | st.characters(blacklist_categories=["Cs"]), max_size=20
)


def plain(text: str) -> str:
    return format_entry(DAY, "you", [text]).split("|", 2)[2].strip()


@given(st.text(max_size=200))
def test_parsing_keeps_every_line(text):
    memory = parse_memory(text)
    assert "\n".join(memory.lines) == text
    numbers = [entry.line for entry in memory.entries] + [line for line, _ in memory.fact_lines]
    assert len(numbers) == len(set(numbers))
    assert len(memory.lines) - len(numbers) == (memory.lines[-1] in ("", "\r"))


@given(st.lists(TEXTS, min_size=1, max_size=4), st.text(alphabet="ab|c:#- \n", max_size=10))
def test_items_come_back(texts, source):
    kept = [" ".join(t.split()) for t in texts]
    kept = [t for t in kept if t and parse_item(t) == Item(t)]
    assume(kept)
    entry = parse_entry(format_entry(DAY, source, kept))
    assert entry is not None
    assert [item.text for item in entry.items] == kept
    assert entry.source == re.sub("\n+", " ", source.replace("|", "/")).strip()


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_writing_what_was_read_changes_nothing_more(texts):
    line = format_entry(DAY, "you", texts)
    if entry := parse_entry(line):
        again = parse_entry(entry.text)
        assert again is not None
        assert again.items == entry.items


dates = st.none() | st.dates(date(2000, 1, 1), date(2099, 12, 31))


@given(dates, dates, dates, dates, st.booleans())
def test_marks_come_back(until, updated, superseded, moved, struck):
    item = Item("dentist on Tuesday", until, updated, superseded, moved, struck)
    entry = parse_entry(format_entry(DAY, "you", [item, "other"]))
    assert entry is not None
    assert entry.items == (item, Item("other"))


def test_the_examples_of_the_format_description():
    first = parse_entry("2026-02-15|web-chat|user asked about weather APIs；chose OpenWeatherMap；cache 3600 s")
    second = parse_entry("2026-11-29|chat:20261129_153022#12-40|flies MU5102 to Shanghai on 4 Dec · until 2026-12-05")
    third = parse_entry("2026-11-20|you|~~dentist on Tuesday~~ · superseded 2026-11-29")
    assert first and second and third
    assert [item.text for item in first.items][1:] == ["chose OpenWeatherMap", "cache 3600 s"]
    assert second.items[0].until == date(2026, 12, 5)
    assert second.live(date(2026, 12, 5))
    assert not second.live(date(2026, 12, 6))
    assert third.items[0] == Item("dentist on Tuesday", superseded=date(2026, 11, 29), struck=True)
    assert not third.live(DAY)


def test_spaces_by_hand_and_bars_in_the_content():
    entry = parse_entry("2026-11-29 | web chat |  a | b \\； c ；d  ")
    assert entry
    assert (entry.source, [item.text for item in entry.items]) == ("web chat", ["a | b ； c", "d"])


@pytest.mark.parametrize(
    "line",
    [
        "2026-02-30|you|no such day",
        "2026-13-01|you|x",
        "2026-1-1|you|x",
        "2026-11-29|you|",
        "2026-11-29|you|  ；  ",
        "2026-11-29|you",
        "| 2026-11-29 | a | b |",
        "- 2026-11-29|you|x",
        "２０２６-11-29|you|x",
    ],
)
def test_lines_of_another_form_are_facts(line):
    memory = parse_memory(f"{line}\n")
    assert memory.entries == ()
    assert memory.fact_lines == ((1, line),)


def test_headings_tables_and_code_between_entries():
    text = "# Me\n\n2026-11-29|you|a\n## Later\n\n| x | y |\n|---|---|\n```\ncode | here\n```\n2026-11-30|you|b"
    memory = parse_memory(text)
    assert [(e.line, e.raw) for e in memory.entries] == [(3, "2026-11-29|you|a"), (11, "2026-11-30|you|b")]
    assert [line for line, _ in memory.fact_lines] == [1, 2, 4, 5, 6, 7, 8, 9, 10]


def test_crlf_is_no_part_of_an_entry():
    memory = parse_memory("fact\r\n2026-11-29|you|a\r\n")
    assert memory.entries[0].raw == "2026-11-29|you|a"
    assert memory.fact_lines == ((1, "fact"),)


def test_striking_leaves_the_rest_of_the_line():
    raw = "2026-11-20 | you | a ；b · until 2026-12-01 ； c \\； d"
    assert strike(raw, 1, DAY) == ("2026-11-20 | you | a ；~~b~~ · until 2026-12-01 · superseded 2026-11-29； c \\； d")
    assert strike(raw, 0, DAY).startswith("2026-11-20 | you | ~~a~~ · superseded 2026-11-29 ；b")
    struck = parse_entry(strike(raw, 2, DAY))
    assert struck
    assert struck.items[2] == Item("c ； d", superseded=DAY, struck=True)
    assert plain("a\nb") == "a b"


def test_an_item_of_many_blanks_is_soon_taken_apart():
    """Within seconds at most: it took minutes when a mark was sought at each of them."""
    blanks = " " * 200_000
    entry = parse_entry(f"2026-01-01|you|a{blanks}b{blanks}· until 2026-02-01{blanks}")
    assert entry and entry.items == (Item(f"a{blanks}b", until=date(2026, 2, 1)),)
