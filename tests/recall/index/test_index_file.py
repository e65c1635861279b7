"""What may happen to the index file, or stand in its place: the next search or sync has an index all the same."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.values import RecallQuery
from assistant.recall.modes import BROKEN
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
@pytest.mark.parametrize("first", [sync, lambda recall: found(recall, "kayak"), Recall.file_states])
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


@pytest.fixture
def no_room(state: Path) -> Callable[[], Path]:
    """Nothing can be written beside the index: what SQLite would make there has no place. Even root cannot."""

    def hinder() -> Path:
        in_the_way = state / f"{INDEX}-shm"
        in_the_way.symlink_to(state / "nowhere" / "at all")
        return in_the_way

    return hinder


def test_one_that_cannot_be_written_is_read_and_kept(
    workspace: SmallWorkspace, state: Path, recall: Recall, no_room: Callable[[], Path]
) -> None:
    workspace.remember("2026-11-01|you|the red kayak")
    sync(recall)
    recall.close()
    before = (state / INDEX).read_bytes()
    in_the_way = no_room()
    workspace.remember("2026-11-02|you|the blue kayak")
    for _ in range(2):
        assert texts(recall, "kayak") == ["the red kayak"]
    (told,) = recall.status().errors
    assert told.startswith(f"The search index in {state} cannot be written")
    with pytest.raises(AssistantError, match=r"cannot be written.* you may write there"):
        sync(recall)
    assert len(recall.file_states()) == 1
    assert (state / INDEX).read_bytes() == before
    in_the_way.unlink()
    assert {*texts(recall, "kayak")} == {"the red kayak", "the blue kayak"}
    assert not recall.status().errors


@pytest.mark.logs("search failed")
def test_without_an_index_and_a_place_for_one_it_says_so(
    workspace: SmallWorkspace, state: Path, by_words: Recall, no_room: Callable[[], Path]
) -> None:
    state.mkdir()
    no_room()
    workspace.remember("2026-11-01|you|the red kayak")
    answer = by_words.search(RecallQuery("kayak"))
    assert answer.abstained and answer.by_words == BROKEN
    with pytest.raises(AssistantError, match=str(state)):
        by_words.status()
