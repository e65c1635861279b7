"""JSON that anybody may have written: what is wrong is one short error, what cannot be counted with is no number."""

from __future__ import annotations

import pytest

from assistant.core.json_text import parse_json


def test_numbers_beyond_all_counting_are_none() -> None:
    assert parse_json(f"[NaN, 1e400, {'9' * 6_000}, -{'9' * 6_000}, 7, 2.5]") == [None, None, None, None, 7, 2.5]


@pytest.mark.parametrize("text", ["", "{", "[" * 200_000, b"\xff\xfe{", "[1] 2"])
def test_what_is_no_json_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError):
        parse_json(text)
