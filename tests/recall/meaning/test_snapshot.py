"""What is in memory of the index: true to it after any change, and as good as comparing with every vector."""

from __future__ import annotations

import hashlib
import math
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assistant.recall.index.database import IndexFile, writing
from assistant.recall.index.unit_rows import delete_units
from assistant.recall.meaning import following
from assistant.recall.meaning import snapshot as sieves
from assistant.recall.meaning.codes import Codes, edge
from assistant.recall.meaning.following import followed, load_snapshot
from assistant.recall.meaning.models import model_number
from assistant.recall.meaning.snapshot import UNIT_ARRAYS, Snapshot
from assistant.recall.meaning.vectors import store_vectors

DIMENSIONS = 70  # no multiple of 64, as some models have it
MANY = 100_000


class Shelf:
    """An index file into which units are put by hand, and what there should be of them."""

    def __init__(self, folder: Path) -> None:
        self.connection = IndexFile(folder / "index.sqlite3").connect()
        self.model = model_number(self.connection, "made up", DIMENSIONS)
        self.windows: dict[bytes, np.ndarray] = {}
        self.random = np.random.default_rng(1)

    def put(self, said: str, chat: str = "", language: str = "en") -> None:
        with writing(self.connection):
            self.connection.execute(
                "INSERT INTO units(file, uid, kind, day, until, struck, chat, number, lang, renews, "
                "hash, title, text, head, body) VALUES (1, ?, 'note', ?, 0, ?, ?, 1, ?, 0, ?, '', '', '', '')",
                [said, len(said), said.startswith("~"), chat, language, key(said)],
            )

    def take(self, number: int) -> None:
        rows = [row for (row,) in self.connection.execute("SELECT id FROM units ORDER BY id")]
        if rows:
            with writing(self.connection):
                delete_units(self.connection, [rows[number % len(rows)]])

    def embed(self, said: str, windows: int) -> None:
        if key(said) not in self.windows:
            vectors = self.random.normal(size=(windows, DIMENSIONS)).astype(np.float32)
            vectors += 0.5
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            store_vectors(self.connection, self.model, [key(said)], [vectors])
            self.windows[key(said)] = vectors.astype(np.float16).astype(np.float32)

    def forget_vectors(self, said: str) -> None:
        """As after the last unit with that text is gone; units that stay lose theirs at the next reading only."""
        if not self.connection.execute("SELECT 1 FROM units WHERE hash = ?", [key(said)]).fetchone():
            self.connection.execute("DELETE FROM vectors WHERE hash = ?", [key(said)])
            self.windows.pop(key(said), None)

    def load(self) -> Snapshot:
        return load_snapshot(self.connection, self.model, DIMENSIONS)

    def hashes(self) -> list[bytes]:
        return [digest for (digest,) in self.connection.execute("SELECT hash FROM units ORDER BY id")]


def key(said: str) -> bytes:
    return hashlib.sha256(said.encode()).digest()[:16]


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path)
    yield shelf
    shelf.connection.close()


SAID = st.sampled_from(["kayak", "paddle", "~oar", "茶", "rudder", "tiller", "keel"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), SAID, st.sampled_from(["", "20261101_100000", "b"]), st.sampled_from(["en", "zh"])),
        st.tuples(st.just("take"), st.integers(0, 20)),
        st.tuples(st.just("embed"), SAID, st.integers(1, 3)),
        st.tuples(st.just("forget_vectors"), SAID),
        st.tuples(st.just("look")),
    ),
    max_size=30,
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_following_changes_comes_to_the_same_as_reading_all(
    tmp_path_factory: pytest.TempPathFactory, steps: list
) -> None:
    shelf = Shelf(tmp_path_factory.mktemp("shelf"))
    snapshot = shelf.load()
    for name, *arguments in [*steps, ("look",)]:
        if name != "look":
            getattr(shelf, name)(*arguments)
            continue
        with pytest.MonkeyPatch.context() as never_worn:
            never_worn.setattr(following, "_MOST_LOST", math.inf)
            after = followed(shelf.connection, shelf.model, DIMENSIONS, snapshot)
        assert after is not None
        whole = shelf.load()
        for array in set(UNIT_ARRAYS) - {"chat", "first"}:
            assert getattr(after, array).tolist() == getattr(whole, array).tolist(), array
        assert _chats(after) == _chats(whole)
        if not after.middles.lost:
            np.testing.assert_allclose(after.centres, whole.centres, atol=1e-5)
        _check_cosines(shelf, after)
        snapshot = after
    shelf.connection.close()


def test_the_centres_of_a_small_index_do_not_drift_with_what_went(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    for said in ("kayak", "paddle", "rudder"):
        shelf.put(said, "", "en")
        shelf.embed(said, 1)
    snapshot = shelf.load()
    shelf.take(0)
    assert followed(shelf.connection, shelf.model, DIMENSIONS, snapshot) is None  # is read anew
    shelf.connection.close()


def _chats(snapshot: Snapshot) -> list[str]:
    names = {number: name for name, number in snapshot.chats.items()}
    return [names[number] for number in snapshot.chat.tolist()]


def _check_cosines(shelf: Shelf, snapshot: Snapshot) -> None:
    """Against the formula, unit by unit."""
    query = shelf.random.normal(size=DIMENSIONS).astype(np.float32)
    everywhere = np.arange(len(snapshot.ids))
    expected = _by_hand(shelf, snapshot, query)
    np.testing.assert_allclose(snapshot.cosines(shelf.connection, query, "en", everywhere), expected, atol=2e-3)
    allowed = everywhere % 3 != 1
    at, cosine = snapshot.nearest(shelf.connection, query, "en", allowed, 4)
    best = sorted(expected[allowed & snapshot.has_vector], reverse=True)[:4]
    np.testing.assert_allclose(sorted(cosine, reverse=True), best, atol=2e-3)
    assert allowed[at].all()
    lengths = np.linalg.norm(snapshot.vectors_of(shelf.connection, everywhere), axis=1)
    np.testing.assert_allclose(lengths, snapshot.has_vector, atol=1e-3)


def _by_hand(shelf: Shelf, snapshot: Snapshot, vector: np.ndarray) -> np.ndarray:
    query = vector - (snapshot.centres[0] + snapshot.centres[3]) / 2
    query /= np.linalg.norm(query)
    result = []
    for digest, group in zip(shelf.hashes(), snapshot.group, strict=True):
        windows = shelf.windows.get(digest, np.zeros((0, DIMENSIONS))) - snapshot.centres[group]
        result.append(max((float(one @ query / np.linalg.norm(one)) for one in windows), default=-1.0))
    return np.array(result)


def test_many_deletions_that_were_not_seen_are_read_anew(shelf: Shelf) -> None:
    shelf.put("kayak")
    snapshot = shelf.load()
    shelf.take(0)
    shelf.connection.execute("DELETE FROM gone")
    assert followed(shelf.connection, shelf.model, DIMENSIONS, snapshot) is None


def test_an_unpublished_or_other_model_is_read_anew(shelf: Shelf) -> None:
    shelf.put("kayak")
    shelf.embed("kayak", 1)
    snapshot = load_snapshot(shelf.connection, 0, 1)
    assert not snapshot.has_vector.any()
    assert followed(shelf.connection, shelf.model, DIMENSIONS, snapshot) is None


def test_texts_made_into_vectors_anew_count_by_the_new_ones(shelf: Shelf) -> None:
    for said in ("kayak", "paddle", "oar"):
        shelf.put(said)
        shelf.embed(said, 2)
    snapshot = shelf.load()
    shelf.connection.execute("DELETE FROM vectors WHERE hash = ?", [key("kayak")])
    shelf.windows.pop(key("kayak"))
    shelf.embed("kayak", 1)
    after = followed(shelf.connection, shelf.model, DIMENSIONS, snapshot)
    assert after is not None
    _check_cosines(shelf, after)


def test_what_passes_the_sieves_is_what_all_vectors_would_give(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sieves, "_SIFTED", 400)
    monkeypatch.setattr(sieves, "_FEWEST_SIFTED", 400)
    monkeypatch.setattr(sieves, "_WEIGHED", 100)
    for n in range(3_000):
        shelf.put(f"{n}", language=("en", "zh")[n % 2])
    themes = shelf.random.normal(size=(60, DIMENSIONS))
    vectors = (themes[np.arange(3_000) % 60] + shelf.random.normal(size=(3_000, DIMENSIONS))).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    store_vectors(shelf.connection, shelf.model, [key(f"{n}") for n in range(3_000)], vectors)
    shelf.windows = {key(f"{n}"): vectors[n : n + 1] for n in range(3_000)}
    snapshot = shelf.load()
    shares = []
    for n in range(20):
        query = (themes[n] + 0.3 * shelf.random.normal(size=DIMENSIONS)).astype(np.float32)
        best = np.argsort(-_by_hand(shelf, snapshot, query))[:20]
        at, _ = snapshot.nearest(shelf.connection, query, "en", np.ones(3_000, bool), 20)
        shares.append(len(set(at.tolist()) & set(best.tolist())) / 20)
    assert np.mean(shares) >= 0.98


def test_codes_in_several_blocks_are_numbered_through() -> None:
    random = np.random.default_rng(2)
    codes = Codes(64)
    vectors = random.normal(size=(MANY, 64)).astype(np.float32)
    for start in range(0, MANY, 30_000):
        codes.add(vectors[start : start + 30_000])
    query = random.normal(size=64).astype(np.float32)
    apart = codes.apart(query, MANY)
    assert (apart == ((vectors > 0) != (query > 0)).sum(axis=1)).all()
    at = np.flatnonzero(apart <= edge(apart, 5_000))
    assert len(at) >= 5_000 and np.sort(apart)[4_999] == apart[at].max()
    some = vectors[at] / np.linalg.norm(vectors[at], axis=1, keepdims=True)
    assert np.corrcoef(codes.likeness(query, at), some @ query)[0, 1] > 0.98


def test_adding_codes_that_came_to_nothing_is_undone() -> None:
    random = np.random.default_rng(2)
    codes, vectors = Codes(64), random.normal(size=(70_000, 64)).astype(np.float32)
    codes.add(vectors[:10])
    codes.add(vectors)
    codes.cut(10)
    codes.add(vectors[10:20])
    assert codes.count == 20
    assert (codes.apart(vectors[15], 20) == ((vectors[:20] > 0) != (vectors[15] > 0)).sum(axis=1)).all()


@pytest.mark.logs("index .* is no good")
def test_an_index_of_the_old_layout_is_built_anew(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "index.sqlite3") as old:
        old.execute("CREATE TABLE units(id INTEGER PRIMARY KEY, meaning TEXT)")
    old.close()
    file = IndexFile(tmp_path / "index.sqlite3")
    connection = file.connect()
    assert "built anew" in file.note
    assert connection.execute("SELECT count(*) FROM units").fetchone() == (0,)
    connection.close()
