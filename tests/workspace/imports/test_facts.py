"""Undated Markdown as a section: each block stays what it is, so a second import finds all of it there."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assistant.workspace.imports.facts import fresh_section, known_blocks

_LINES = ["# Me", "## Tea", "### Cups", "- a", "- b", "1. c", "plain", "more words", "", "```", "~~~", "  in"]
_TEXT = st.lists(st.sampled_from(_LINES), max_size=14).map("\n".join)


@given(text=_TEXT, there=_TEXT)
def test_a_second_time_all_of_it_is_known(text: str, there: str) -> None:
    known = known_blocks(fresh_section(there, set()))
    lines = fresh_section(text, known)
    assert fresh_section(text, known_blocks([*fresh_section(there, set()), "", *lines])) == []


def test_a_paragraph_below_a_heading_that_goes_joins_no_bullet() -> None:
    lines = fresh_section("# One\n- tea\n# Two\nlives in Delft", set())
    assert "lives in Delft" not in lines[lines.index("- tea") + 1]


def test_code_that_was_left_open_is_closed() -> None:
    assert fresh_section("words\n\n```\ncode", set()) == ["words", "", "```", "code", "```"]
