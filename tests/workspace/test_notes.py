"""Notes are read as a person and their other programs wrote them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.workspace.notes import parse_note, wikilinks


def test_front_matter_sections_and_links():
    text = (
        "---\ntitle: Trip\ntags: [travel, '#spain']\naliases: one, two\ncssclass: x\n---\nIntro [[Hotel]]\n\n# Plan #\n"
        "go\n```\n# no heading [[no link]]\n```\n## Later\n[[Hotel|there]] [[Food#Lunch]] `[[code]]`\n"
    )
    note = parse_note(text)
    assert (note.title, note.tags, note.aliases, note.body_line) == ("Trip", ("travel", "spain"), ("one", "two"), 7)
    assert [(s.heading, s.level, s.line) for s in note.sections] == [("", 0, 7), ("Plan", 1, 9), ("Later", 2, 14)]
    assert note.sections[1].text == "go\n```\n# no heading [[no link]]\n```"
    assert wikilinks(text) == ("Hotel", "Food")
    assert note.problem == ""


def test_the_first_heading_names_a_note_without_front_matter():
    assert parse_note("text\n# Name\n").title == "Name"
    assert parse_note("text").title == ""


@pytest.mark.parametrize(
    ("text", "body_line"),
    [
        ("---\ntitle: A\n---", 4),
        ("\ufeff---\r\ntitle: A\r\n---\r\nx", 4),
        ("---\ntitle: A\n...\nx", 4),
    ],
)
def test_front_matter_however_it_ends(text, body_line):
    note = parse_note(text)
    assert (note.title, note.body_line, note.problem) == ("A", body_line, "")


@pytest.mark.parametrize(
    "front",
    ['description: "abc "def" ghi"', "- a\n- b", "a: [", "d: 2026-13-45", "!!python/object:os.system x", "x: &a [*a"],
)
def test_invalid_front_matter_is_named_and_the_text_read(front):
    note = parse_note(f"---\n{front}\n---\n# Body\ntext\n")
    assert note.problem
    assert note.title == "Body"
    assert note.sections[0].text.startswith("text")


def test_front_matter_that_never_closes_is_text():
    note = parse_note("---\ntitle: A\n# H\n")
    assert note.body_line == 1
    assert "closing" in note.problem


@given(st.text(alphabet=st.sampled_from(list("-#[]|`~\n\r: a\t&*!{}'\"")) | st.characters(), max_size=60))
def test_any_note_parses_and_its_sections_hold_every_line(text):
    note = parse_note(text)
    wikilinks(text)
    lines = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]
    for section in note.sections:
        start = section.line - 1 + bool(section.level)
        size = len(section.text.split("\n")) if section.text or start < len(lines) else 0
        assert "\n".join(lines[start : start + size]) in (section.text, "") or section.text == ""


@given(st.text(max_size=60))
def test_any_front_matter_parses(front):
    parse_note(f"---\n{front}\n---\nbody")


def test_a_heading_of_many_blanks_is_soon_taken_apart():
    blanks = " \t" * 100_000
    note = parse_note(f"# a{blanks}b{blanks}##{blanks}\ntext\n# c##\n")
    assert [section.heading for section in note.sections] == [f"a{blanks}b", "c##"]
