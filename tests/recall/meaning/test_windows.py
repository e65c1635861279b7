"""Passages cut into windows, with the tokenizer of the real embedding model."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.core.values import Passage
from assistant.recall.meaning.graphemes import cluster_border
from assistant.recall.meaning.windows import MOST_WINDOWS, PART, Windows, border, plain, token_ends
from tests.real_embeddings import embedding_model_path

PREFIX = "query: "
# Words, sentences, Chinese, emoji with joiners, flags, marks, NULs, lone surrogates, long runs without a space.
_PIECES = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        [
            "Hello there. ",
            "会议改到周五。",
            "👩‍👩‍👧‍👦",
            "🇩🇪🇫🇷",
            "e\u0301\u0323",
            "\0",
            "\ud800",
            "각",
            "\n\n",
            "x" * 300,
        ]
    ),
    st.text(st.characters(categories=("Lo", "So", "Mn", "Cs")), max_size=30),
)
_TEXTS = st.lists(_PIECES, max_size=30).map("".join)


@cache
def tokenizer() -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(embedding_model_path() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def windows(limit: int) -> Windows:
    return Windows(token_ends(tokenizer()), PREFIX, limit - 2)


def length(text: str) -> int:
    """In tokens as the model gets them."""
    return len(tokenizer().encode(text).ids)


@settings(max_examples=150, deadline=None)
@given(head=st.one_of(st.just(""), _TEXTS), body=_TEXTS, limit=st.integers(24, 96))
def test_every_window_fits_and_says_something(head: str, body: str, limit: int) -> None:
    cut = windows(limit).cut(Passage(head, body))
    assert 1 <= len(cut) <= MOST_WINDOWS
    assert all(length(window) <= limit and window.startswith(PREFIX) for window in cut)
    assert len(cut) == 1 or all(window.removeprefix(PREFIX).strip() for window in cut)


@settings(max_examples=150, deadline=None)
@given(body=_TEXTS.map(lambda text: plain(text).strip()), limit=st.integers(24, 96))
def test_windows_overlap_in_order_and_cover_the_text(body: str, limit: int) -> None:
    spans = windows(limit).spans(PREFIX, body)
    assert all(start < end for start, end in spans)
    assert all(one[0] < next_[0] and one[1] <= next_[1] for one, next_ in pairwise(spans))
    if len(spans) < MOST_WINDOWS and body:
        assert (spans[0][0], spans[-1][1]) == (0, len(body))
        assert not any(body[one[1] : next_[0]].strip() for one, next_ in pairwise(spans))


def test_a_short_text_is_one_window_as_it_stands() -> None:
    assert windows(512).cut(Passage("Kitchen: ", " the oven is a Bosch \n")) == ["query: Kitchen: the oven is a Bosch"]
    assert windows(512).cut(Passage("", "")) == [PREFIX]
    assert windows(512).cut(Passage("Kitchen: ", " \0\n")) == ["query: Kitchen: "]


def test_each_window_bears_the_head_and_begins_with_a_sentence() -> None:
    body = " ".join(f"Sentence number {n} speaks of something else." for n in range(60))
    cut = windows(64).cut(Passage("[2026-03-01] ", body))
    assert len(cut) > 10
    for window in cut:
        assert window.startswith("query: [2026-03-01] Sentence number ")
        assert window.rstrip().endswith("else.")
    assert cut[0].rstrip()[-40:] in cut[1]  # overlapping by a sentence


def test_blanks_take_no_windows() -> None:
    cut = windows(64).cut(Passage("", "first" + " \n" * 500_000 + "last"))
    assert [window.split() for window in cut] == [["query:", "first"], ["query:", "last"]]


def test_parts_have_windows_of_their_own_after_the_whole() -> None:
    cut = windows(64).cut(Passage("Lisbon: ", PART.join(["likes trams", " ", "flies on Friday"])))
    assert cut == [
        "query: Lisbon: likes trams; flies on Friday",
        "query: Lisbon: likes trams",
        "query: Lisbon: flies on Friday",
    ]
    assert len(windows(64).cut(Passage("", PART.join(f"item {n}" for n in range(100))))) < MOST_WINDOWS


def test_a_long_head_leaves_room_for_the_body() -> None:
    cut = windows(64).cut(Passage("Title › " * 200, "The oven is a Bosch."))
    assert len(cut) == 1 and cut[0].endswith(" The oven is a Bosch.") and length(cut[0]) <= 32


@pytest.mark.parametrize(
    "text", ["x" * 1_000_000, "字" * 1_000_000, "word " * 200_000, "🇩🇪" * 100_000, "a\n" * 500_000]
)
def test_a_text_of_a_million_characters_is_spread_over_few_windows(text: str) -> None:
    spans = windows(512).spans(PREFIX, text)
    assert len(spans) <= MOST_WINDOWS
    gaps = [next_[0] - one[0] for one, next_ in pairwise(spans)]
    assert spans[0][0] == 0 and spans[-1][1] > 0.99 * len(text) and max(gaps) < 1.1 * min(gaps) + 10


@pytest.mark.parametrize("cluster", ["👩‍👩‍👧‍👦", "🇩🇪", "e\u0301\u0323", "👍🏽", "❤️", "각", "\r\n", "🏴󠁧󠁢󠁳󠁣󠁴󠁿"])
def test_no_cut_falls_into_a_character(cluster: str) -> None:
    text = "a" + cluster * 3 + "b"
    allowed = {0, len(text), *(1 + n * len(cluster) for n in range(4))}
    for at in range(len(text) + 1):
        assert cluster_border(text, at) == max(place for place in allowed if place <= at)
        assert border(text, at, 0) in allowed | {at for at in range(len(text)) if text[at - 1] == "\n"}
