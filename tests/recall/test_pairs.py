"""Pairs of memory units that are near in meaning."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from assistant.core.cancel import CancelToken
from assistant.recall import pairs
from assistant.recall.search import Recall
from tests.recall.helpers import SmallWorkspace


def test_memory_that_means_the_same_is_near(recall: Recall, workspace: SmallWorkspace) -> None:
    workspace.remember(
        "- espresso is what wakes me",
        "",
        "2026-05-03|you|coffee is what wakes me",
        "2026-05-04|you|the bicycle stands in the yard",
        "2026-05-05|you|~~coffee is what woke me~~ · superseded 2026-06-01",
    )
    workspace.write("memory/archive.md", "2025-05-03|you|coffee is what wakes me\n")
    workspace.chat("20261129_153022", ("coffee is what wakes me", "I see."))
    recall.sync(CancelToken())
    found = recall.near_pairs(0.6, 100)
    assert len(found) == 1
    assert {found[0].one.split(":")[0], found[0].other.split(":")[0]} == {"MEMORY.md"}
    assert found[0].nearness > 0.8


def test_without_vectors_nothing_is_near(by_words: Recall, workspace: SmallWorkspace) -> None:
    workspace.remember("2026-05-03|you|coffee", "2026-05-04|you|coffee again")
    by_words.sync(CancelToken())
    assert by_words.near_pairs(0.1, 100) == []


def test_the_nearest_come_first_and_no_more_than_asked_for(recall: Recall, workspace: SmallWorkspace) -> None:
    workspace.remember(*[f"2026-05-03|you|my cat sleeps in the red chair {n}" for n in range(6)])
    recall.sync(CancelToken())
    found = recall.near_pairs(-1.0, 4)
    assert len(found) == 4
    assert [pair.nearness for pair in found] == sorted((pair.nearness for pair in found), reverse=True)


def test_many_units_are_parted_into_cells_that_find_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "_ALL_WITH_ALL", 100)
    random = np.random.default_rng(3)
    themes = random.normal(size=(20, 32))
    ideas = (themes[:, None, :] + 0.6 * random.normal(size=(20, 50, 32))).reshape(-1, 32)
    vectors = np.concatenate([ideas, ideas[:200] + 0.05 * random.normal(size=(200, 32))]).astype(np.float32)
    places = np.arange(len(vectors))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    found = {pair[:2] for pair in pairs.near_places(vectors, places, 0.97, 10_000)}
    twins = {(n, 1000 + n) for n in range(200)}
    assert len(twins & found) >= 195


def test_thousands_of_like_lines_take_no_memory_for_all_their_pairs() -> None:
    """A reading a day: each is near to every other."""
    vectors = np.ones((1_500, 8), np.float32) / np.float32(np.sqrt(8))
    tracemalloc.start()
    try:
        found = pairs.near_places(vectors, np.arange(1_500) + 7, 0.5, 20)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len({pair[:2] for pair in found}) == 20 and all(7 <= one < other for one, other, _ in found)
    assert peak < 100_000_000
