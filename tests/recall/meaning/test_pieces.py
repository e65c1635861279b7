"""What a text says sentence by sentence: how it is cut, kept, found, and forgotten."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.cancel import CancelToken
from assistant.core.errors import Cancelled
from assistant.core.values import Passage
from assistant.recall.meaning.pieces import CONTEXT, MESSAGE, MOST, pieces_of
from assistant.recall.search import Recall
from tests.recall.helpers import CLOCK, FakeEmbedder, SmallWorkspace, found, quiet, texts

PART = "\x1e"
LONG_DAY = "We walked along the canal, ate soup, and the landlord promised to mend the boiler on Friday"


def test_a_turn_falls_into_its_messages_and_their_sentences() -> None:
    said = "The train was late again. I left the umbrella on it."
    body = f"{said}{MESSAGE}Ask at the lost property office in the morning.{CONTEXT}(Travels we had a nice trip)"
    assert pieces_of(body, PART) == [
        said,
        "Ask at the lost property office in the morning.",
        "The train was late again.",
        "I left the umbrella on it.",
    ]


def test_one_sentence_falls_into_clauses_and_short_ones_are_left_out() -> None:
    assert pieces_of("住店要高楼层、远离电梯，不要羽绒枕头", PART) == ["住店要高楼层", "不要羽绒枕头"]
    assert pieces_of("Tea, milk, and two spoons of brown sugar for Vera", PART) == [
        "and two spoons of brown sugar for Vera"
    ]
    assert pieces_of("The boiler is in the cellar", PART) == pieces_of("", PART) == []


def test_items_of_an_entry_are_taken_apart_each() -> None:
    body = f"Vera plays the cello, her brother plays the oboe{PART}the piano is out of tune"
    assert pieces_of(body, PART) == ["Vera plays the cello", "her brother plays the oboe"]


_SAID = st.text(st.characters(exclude_characters="\x1d\x1e\x1f"))


@given(_SAID, _SAID, st.integers(0, 200))
def test_pieces_are_of_the_text_and_never_too_many(one: str, other: str, sentences: int) -> None:
    body = f"{one}{MESSAGE}{other} " + "".join(f"Sentence number {n} says something. " for n in range(sentences))
    made = pieces_of(body, PART)
    assert len(made) <= 3 * MOST + 2 and len(set(made)) == len(made)
    plain = "".join(body.split())
    assert all("".join(piece.split()) in plain for piece in made)
    assert sentences < 2 or "Sentencenumber0sayssomething." in "".join("".join(made).split())


class _Sentences(FakeEmbedder):
    """Makes pieces as the real adapters do; stops in their midst when told to."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self.stops_after = 10_000

    def embed_pieces(self, passages: Sequence[Passage], cancel: CancelToken) -> list[np.ndarray]:
        if len(self.pieces) >= self.stops_after:
            raise Cancelled
        cut = [pieces_of(passage.body, PART) for passage in passages]
        self.pieces += [piece for one in cut for piece in one]
        return [self.embed(one, cancel) if one else np.zeros((0, self.dimensions), np.float32) for one in cut]


@pytest.fixture
def sentences() -> _Sentences:
    return _Sentences()


def test_a_long_line_is_found_by_one_thing_it_says(
    workspace: SmallWorkspace, state: Path, sentences: _Sentences
) -> None:
    workspace.remember(
        f"2026-11-01|you|{LONG_DAY}", *(f"2026-11-02|you|soup number {n} of the week" for n in range(12))
    )
    whole = Recall(workspace, state, FakeEmbedder(), CLOCK)
    whole.sync(CancelToken(), quiet)
    before = found(whole, "landlord promised mend boiler Friday", limit=1)[0].why["meaning"]
    whole.close()
    recall = Recall(workspace, state.with_name("other"), sentences, CLOCK)
    recall.sync(CancelToken(), quiet)
    best = found(recall, "landlord promised mend boiler Friday", limit=1)[0]
    assert best.text == LONG_DAY and best.why["meaning"] > before
    recall.close()


def test_making_pieces_goes_on_where_it_was_stopped(
    workspace: SmallWorkspace, state: Path, sentences: _Sentences
) -> None:
    workspace.remember(*(f"2026-11-01|you|kayak number {n} leaks, paddle number {n} is broken" for n in range(150)))
    recall = Recall(workspace, state, sentences, CLOCK)
    sentences.stops_after = 100
    with pytest.raises(Cancelled):
        recall.sync(CancelToken(), quiet)
    assert "kayak number 7 " in texts(recall, "kayak number 7", limit=1)[0]  # by wholes meanwhile
    once, sentences.stops_after = len(sentences.pieces), 10_000
    seen = []
    recall.sync(CancelToken(), lambda done, total, what: seen.append((done, total)) if what == "pieces" else None)
    assert 0 < once < 300 and len(sentences.pieces) == 300 and seen[0] == (0, 150 - once // 2)
    assert seen[-1][0] == seen[-1][1]
    recall.sync(CancelToken(), quiet)
    assert len(sentences.pieces) == 300
    recall.close()


def test_nothing_of_a_line_that_went_is_kept(workspace: SmallWorkspace, state: Path, sentences: _Sentences) -> None:
    recall = Recall(workspace, state, sentences, CLOCK)
    workspace.remember("2026-11-01|you|the kayak leaks, the paddle is broken", "2026-11-02|you|rudder")
    recall.sync(CancelToken(), quiet)
    assert _with_pieces(state) == 1
    workspace.write("MEMORY.md", "2026-11-02|you|rudder\n")
    recall.sync(CancelToken(), quiet)
    assert _with_pieces(state) == 0 and recall.lone_vectors() == 0
    recall.close()


def _with_pieces(state: Path) -> int:
    connection = sqlite3.connect(state / "index.sqlite3")
    try:
        return int(connection.execute("SELECT count(*) FROM vectors WHERE length(pieces) > 0").fetchone()[0])
    finally:
        connection.close()
