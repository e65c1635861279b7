"""Two long texts are compared in a time that a person would wait for, and short ones to the last blank line."""

from __future__ import annotations

from assistant.workspace.changes import merge, unified_diff
from assistant.workspace.matching import matcher
from assistant.workspace.text_files import decode, encode_edit


def half_blank(word: str, size: int) -> list[str]:
    return [f"- {word} {n}" if n % 2 else "" for n in range(size)]


def test_short_texts_are_matched_to_the_last_blank_line() -> None:
    found = matcher(half_blank("one", 300), half_blank("other", 300)).get_matching_blocks()
    assert sum(block.size for block in found) == 150


def test_blank_lines_of_long_texts_count_only_beside_others() -> None:
    """Six thousand lines took minutes, on the window's own thread."""
    base, mine, theirs = (half_blank(word, 6_000) for word in ("one", "two", "three"))
    assert "" in matcher(mine, theirs).bpopular
    assert merge("\n".join(base), "\n".join(mine), "\n".join(theirs)) is None
    assert unified_diff("a.md", "\n".join(mine), "\n".join(theirs)).count("\n+- three") == 3_000
    assert encode_edit("\n".join(theirs), decode("\n".join(mine).encode())) == "\n".join(theirs).encode()


def test_a_change_amid_a_long_text_is_still_merged() -> None:
    base = half_blank("one", 6_000)
    mine, theirs = [*base], [*base]
    mine[1] = mine[4_001] = "- mine"
    theirs[2_001] = theirs[5_999] = "- theirs"
    merged = merge("\n".join(base), "\n".join(mine), "\n".join(theirs))
    assert merged is not None and merged.count("- mine") == merged.count("- theirs") == 2
