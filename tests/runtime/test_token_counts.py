"""Counts that are kept: of one model, and asked for once."""

from __future__ import annotations

import pytest

from assistant.runtime import token_counts
from assistant.runtime.token_counts import TokenCounts


def lengths(texts: list[str]) -> list[int]:
    return [len(text) for text in texts]


def test_what_was_counted_is_not_asked_again() -> None:
    counts, asked = TokenCounts(), list[str]()

    def ask(texts: list[str]) -> list[int]:
        asked.extend(texts)
        return lengths(texts)

    assert counts.of(["a", "bb", "a"], ask) == [1, 2, 1]
    assert counts.of(["bb", "ccc"], ask) == [2, 3]
    assert asked == ["a", "bb", "ccc"]


def test_what_is_only_estimated_is_asked_again() -> None:
    counts = TokenCounts()
    assert counts.of(["a", "bb"], lambda _: [], lambda text: 10 * len(text)) == [10, 20]
    assert counts.of(["a"], lengths) == [1]


def test_a_count_that_comes_after_the_model_has_gone_is_not_kept_for_the_next_one() -> None:
    counts = TokenCounts()

    def slow(texts: list[str]) -> list[int]:
        counts.forget()  # on another thread, another model is loaded meanwhile
        return [99 for _ in texts]

    assert counts.of(["a"], slow) == [99]
    assert counts.of(["a"], lengths) == [1]


def test_long_texts_and_old_ones_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_counts, "_KEPT", 2)
    monkeypatch.setattr(token_counts, "_LONGEST", 3)
    counts = TokenCounts()
    counts.of(["a", "bb", "ccc", "dddd"], lengths)
    assert counts.of(["a", "bb", "ccc", "dddd"], lambda texts: [0 for _ in texts]) == [0, 2, 3, 0]
