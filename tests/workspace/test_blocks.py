"""Markdown falls into the pieces a person would point at."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.workspace.blocks import text_blocks

NOTE = """Intro line
goes on.

# Boats
- kayak
  red, in the shed
- canoe

## Rules
1. wear a vest
2. tell somebody

```sh
# not a heading

- not a bullet
```
| a | b |
|---|---|
| 1 | 2 |

# Empty heading
---
"""


def blocks(text: str) -> list[tuple[int, str, tuple[str, ...]]]:
    return [(b.line, b.text, b.headings) for b in text_blocks(list(enumerate(text.split("\n"), 1)))]


def test_bullets_paragraphs_code_and_headings() -> None:
    assert blocks(NOTE) == [
        (1, "Intro line\ngoes on.", ()),
        (5, "- kayak\n  red, in the shed", ("Boats",)),
        (7, "- canoe", ("Boats",)),
        (10, "1. wear a vest", ("Boats", "Rules")),
        (11, "2. tell somebody", ("Boats", "Rules")),
        (13, "```sh\n# not a heading\n\n- not a bullet\n```\n| a | b |\n|---|---|\n| 1 | 2 |", ("Boats", "Rules")),
        (22, "Empty heading", ()),
    ]


def test_a_long_paragraph_is_parted_at_sentences() -> None:
    parts = blocks("A sentence of some words. " * 200)
    assert len(parts) > 3
    assert all(len(text) <= 1200 and text.endswith(".") for _, text, _ in parts)


@settings(max_examples=200, deadline=None)
@given(text=st.text(st.sampled_from(list("# -*`~|1.ab\n\t。")), max_size=300))
def test_no_word_is_lost_and_lines_are_right(text: str) -> None:
    lines = text.split("\n")
    found = blocks(text)
    kept = "".join(part for _, body, _ in found for part in body) + "".join(h for _, _, hs in found for h in hs)
    for char in "ab1":
        if char in text and char != "1":
            assert char in kept
    assert all(body.split("\n")[0].strip() in lines[line - 1] for line, body, _ in found)


def test_a_heading_of_many_blanks_is_soon_taken_apart() -> None:
    """Within seconds at most: it took minutes when each blank was tried as the end."""
    blanks = " " * 200_000
    assert blocks(f"## a{blanks}b {blanks}## {blanks}\n- kayak")[0][2] == (f"a{blanks}b",)
