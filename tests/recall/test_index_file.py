"""What may happen to the index file, or stand in its place: the next search or sync has an index all the same."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from assistant.core.cancel import CancelToken
from assistant.recall.search import Recall
from tests.recall.helpers import CLOCK, SmallWorkspace, found, quiet, texts

INDEX = "index.sqlite3"


def sync(recall: Recall) -> None:
    recall.sync(CancelToken(), quiet)


@pytest.mark.logs("index .* is no good")
@pytest.mark.parametrize("suffix", ["", "-wal", "-journal"])
def test_a_folder_in_its_place_is_put_aside(workspace: SmallWorkspace, state: Path, suffix: str) -> None:
    workspace.remember("2026-11-01|you|the red kayak")
    for number in ("one", "two"):
        (state / (INDEX + suffix)).mkdir(parents=True)
        (state / (INDEX + suffix) / f"{number}.txt").write_text("mine")
        recall = Recall(workspace, state, None, CLOCK)
        assert texts(recall, "kayak") == ["the red kayak"]
        (note,) = recall.status().errors
        assert note.startswith("A folder stood where the search index is kept; it is index.sqlite3")
        recall.close()
        for path in recall.files:
            path.unlink()
    assert sorted(path.name for path in state.rglob("*.txt")) == ["one.txt", "two.txt"]


@pytest.mark.logs("index .* is no good", "search failed")
@pytest.mark.parametrize("first", [sync, lambda recall: found(recall, "kayak"), Recall.file_states, Recall.status])
def test_one_that_is_cut_to_nothing_while_it_is_open_is_built_anew(
    workspace: SmallWorkspace, state: Path, recall: Recall, first: Callable[[Recall], object]
) -> None:
    workspace.remember("2026-11-01|you|the red kayak")
    sync(recall)
    other = Recall(workspace, state, None, CLOCK)
    assert texts(recall, "kayak") == texts(other, "kayak") == ["the red kayak"]
    os.truncate(state / INDEX, 0)
    workspace.remember("2026-11-02|you|the blue kayak")
    first(recall)
    assert {*texts(other, "kayak")} == {*texts(recall, "kayak")} == {"the red kayak", "the blue kayak"}
    sync(other)
    assert other.status().units == recall.status().units == 2
    other.close()
