"""In a chat with branches only turns of one branch belong together: as neighbours of a hit, and as its context."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from assistant.core.cancel import CancelToken
from assistant.recall.search import Recall
from assistant.recall.units.making import units_of
from tests.recall.helpers import SmallWorkspace, found, quiet

CHAT = "20261101_100000"
FILE = f"chats/2026-11/{CHAT}.md"
FAR = "and so on " * 31  # further than what a turn knows of those around it
Told = tuple[int, str, str]  # number, what it follows as written, what was said


def text(turns: Sequence[Told], part: bool = False, around: str = "") -> str:
    lines = [] if part else [f"# Chat: {CHAT}", "", "## Metadata", "", f"- **Session ID**: {CHAT}", ""]
    lines += ["## Conversation", ""]
    for number, arrow, said in turns:
        lines += [
            f"### 2026-11-{number:02d}T10:00:00+01:00 · #{number}{arrow}",
            "",
            "**User**:",
            "",
            f"> {around}{said} {around}".rstrip(),
            "",
        ]
        lines += ["**Assistant**:", "", "> Noted.", ""]
    return "\n".join(lines)


TREE: list[Told] = [
    (1, "", "hello there"),
    (2, "", "paint the boat green"),
    (3, "", "with two coats"),
    (4, " ← #1", "paint the zephyria blue"),
    (5, "", "the old brush is lost"),
    (6, " ← #4", "the new brush is here"),
    (7, " ← #0", "good evening"),
    (8, "", "goodbye"),
]


def beside(recall: Recall, query: str) -> list[int]:
    return sorted(int(hit.id.partition("#")[2]) for hit in found(recall, query) if "neighbour" in hit.why)


@pytest.mark.parametrize(
    ("query", "numbers"), [("zephyria", [1, 6]), ("coats", [2]), ("hello", [4]), ("green", [1, 3]), ("evening", [8])]
)
def test_the_turns_beside_a_hit_are_of_its_branch(
    workspace: SmallWorkspace, by_words: Recall, query: str, numbers: list[int]
) -> None:
    workspace.write(FILE, text(TREE, around=FAR))
    (first, *_) = found(by_words, query)
    assert query in first.text and beside(by_words, query) == numbers


def test_a_turn_that_gets_another_place_has_other_neighbours(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.write(FILE, text(TREE, around=FAR))
    assert beside(by_words, "zephyria") == [1, 6]
    other = [(number, " ← #2" if number == 4 else arrow, said) for number, arrow, said in TREE]
    workspace.write(FILE, text(other, around=FAR))
    assert beside(by_words, "zephyria") == [2, 6]


def test_the_context_of_a_turn_is_of_its_branch() -> None:
    units = {unit.number: unit for unit in units_of(FILE, text(TREE))[0]}
    assert units[1].context == "paint the zephyria blue"
    assert "hello" in units[4].context and "new brush" in units[4].context and "coats" not in units[4].context
    assert units[7].context == "goodbye" and "brush" not in units[7].passage.body
    assert [unit.follows for unit in units.values()] == [0, 1, 2, 1, 4, 4, 0, 7]


def test_branches_reach_over_the_parts_of_a_long_chat(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.write(FILE, text(TREE, around=FAR))
    more: list[Told] = [(9, "", "the kayak is red"), (10, " ← #3", "the anchor is heavy"), (11, "", "so is the chain")]
    workspace.write(FILE.replace(".md", "_part2.md"), text(more, part=True, around=FAR))
    by_words.sync(CancelToken(), quiet)
    assert beside(by_words, "kayak") == [8] and beside(by_words, "anchor") == [3, 11]
