"""Whether something stands in the bytes of the index is seen without all of them in memory at once."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from assistant.core.cancel import CancelToken
from assistant.recall.index.forgotten_index import IndexPlace
from assistant.recall.search import Recall
from tests.recall.helpers import SmallWorkspace, quiet

LINES = [f"the number of the pump is {n:05d}, and its letter is {chr(97 + n % 26)}" for n in range(3_000)]


@pytest.fixture
def place(workspace: SmallWorkspace, by_words: Recall, monkeypatch: pytest.MonkeyPatch) -> IndexPlace:
    monkeypatch.setattr("assistant.recall.index.forgotten_index._PIECE", 2_000)
    workspace.write("memory/pumps.md", "".join(f"- {line}\n" for line in LINES))
    by_words.sync(CancelToken(), quiet)
    return IndexPlace(by_words)


def test_what_stands_there_is_seen_wherever_a_piece_ends(place: IndexPlace) -> None:
    assert all(place.remaining([line]) for line in LINES[::300])
    assert place.remaining(["the number of the pump is 99999"]) == 0


def test_a_part_of_a_word_is_not_taken_for_one_where_a_piece_begins(place: IndexPlace) -> None:
    assert place.remaining(["umber"]) == place.remaining(["ump"]) == place.remaining(["etter"]) == 0


def test_a_large_index_needs_little_memory(place: IndexPlace, state: Path) -> None:
    tracemalloc.start()
    try:
        place.remaining(["nothing of the kind"])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 200_000 < (state / "index.sqlite3").stat().st_size
