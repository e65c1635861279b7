"""The keyword index holds exactly what is in the units: through blocks, additions and deletions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.recall.words import postings
from assistant.recall.words.keywords import KeywordHits, query_terms, search_words, units_with_all
from assistant.recall.words.postings import BLOCK, SCHEMA, add_words, delete_words, fold_blocks, word_hash
from assistant.recall.words.word_index import WordIndex

WORDS = ("tea", "boiler", "violin", "ADR-016", "会议", "harbour", "MU5102")


def empty() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statement in SCHEMA.split(";\n"):
        connection.execute(statement)
    return connection


def fill(units: Mapping[int, str]) -> sqlite3.Connection:
    connection = empty()
    connection.execute("BEGIN")
    for unit, text in units.items():
        add_words(connection, unit, text, "")
    fold_blocks(connection)
    connection.execute("COMMIT")
    return connection


@pytest.fixture(scope="module")
def many() -> Iterator[sqlite3.Connection]:
    """Ten thousand units: two blocks and a tail, with one rare token in an old unit and common words everywhere."""
    chance = np.random.default_rng(1)
    vocabulary = [f"word{n}" for n in range(2_000)]
    units = {n: " ".join(chance.choice(vocabulary, 12)) + " tea" for n in range(1, 10_001)}
    units[777] += " quixotonality at KX-93117"
    units[5_000] += " violin"
    connection = fill(units)
    yield connection
    connection.close()


def search(connection: sqlite3.Connection, text: str, allowed: np.ndarray | None = None) -> KeywordHits:
    return search_words(connection, query_terms(text), allowed, 200)


@pytest.mark.parametrize(
    "query", ["quixotonality", "what is the quixotonality of tea", "KX-93117", "word1 word2 KX-93117"]
)
def test_a_rare_token_among_ten_thousand_is_exact_or_best(many: sqlite3.Connection, query: str) -> None:
    hits = search(many, query)
    assert max(hits.scores, key=lambda unit: (unit in hits.exact, hits.scores[unit])) == 777


def test_a_rare_word_that_is_one_of_many_is_left_to_the_score(many: sqlite3.Connection) -> None:
    hits = search(many, "which word7 violin did word8 and word9 keep near word10")
    assert hits.exact == frozenset()
    assert 5_000 in hits.scores


def test_only_allowed_units_are_found_however_many_others_are_better(many: sqlite3.Connection) -> None:
    allowed = np.array([9, 4_100, 9_999])
    assert set(search(many, "tea", allowed).scores) == {9, 4_100, 9_999}
    assert search(many, "KX-93117", allowed).exact == frozenset()


def test_coverage_and_known_tell_how_much_of_a_question_stands_there(many: sqlite3.Connection) -> None:
    whole = search(many, "quixotonality KX-93117")
    assert whole.coverage == pytest.approx(1.0) and whole.known == pytest.approx(1.0)
    half = search(many, "quixotonality zebra")
    assert 0.3 < half.known < 0.7 and half.coverage == pytest.approx(half.known)
    scattered = search(many, "quixotonality violin")
    assert scattered.known == pytest.approx(1.0) and 0.3 < scattered.coverage < 0.7
    nothing = search(many, "zebra")
    assert (nothing.coverage, nothing.known, nothing.scores) == (0.0, 0.0, {})


def test_a_code_at_the_end_of_a_very_long_query_is_found(many: sqlite3.Connection) -> None:
    long = " ".join(f"other{n}" for n in range(1_000))
    assert search(many, f"{long} KX-93117").exact == {777}


@settings(max_examples=60, deadline=None)
@given(
    units=st.dictionaries(
        st.integers(1, 3 * BLOCK), st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), max_size=30
    ),
    gone=st.sets(st.integers(0, 29)),
    word=st.sampled_from(WORDS),
)
def test_what_is_found_is_what_is_there(units: dict[int, str], gone: set[int], word: str) -> None:
    connection = fill(dict(sorted(units.items())))
    ids = sorted(units)
    for n in gone & set(range(len(ids))):
        delete_words(connection, [ids[n]])
        del units[ids[n]]
    wanted = [unit for unit in sorted(units) if word in units[unit].split()]
    assert sorted(units_with_all(connection, query_terms(word), 100)) == wanted
    assert sorted(search(connection, word).scores) == wanted
    index = WordIndex(connection)
    assert index.units == len(units)
    every = np.arange(index.places)
    assert index.mask(np.array(sorted(units), np.int64)).sum() == len(units)
    assert set(index.ids(every).tolist()) >= set(units)
    connection.close()


def test_nothing_of_a_deleted_unit_stays_in_the_tables() -> None:
    connection = fill(
        {1: "tea", 2: "the quixotonality of tea", 3: "boiler", BLOCK: "violin", BLOCK + 1: "quixotonality"}
    )
    assert connection.execute("SELECT count(*) FROM word_blocks").fetchone() == (1,)
    delete_words(connection, [2, BLOCK + 1])
    key = word_hash("quixotonaliti")
    assert (
        connection.execute("SELECT 1 FROM postings WHERE word = ?", [postings.word_key("quixotonaliti")]).fetchone()
        is None
    )
    assert all(key not in text for (text,) in connection.execute("SELECT text FROM unit_words"))
    delete_words(connection, [1, 3, BLOCK])
    for table in ("unit_words", "word_blocks", "postings"):
        assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


def test_a_block_is_turned_round_once_all_its_ids_are_given_and_never_again() -> None:
    connection = fill({BLOCK - 1: "tea"})
    assert connection.execute("SELECT block FROM word_blocks").fetchall() == [(0,)]
    add_words(connection, BLOCK + 5, "tea", "")
    fold_blocks(connection)
    assert connection.execute("SELECT block FROM word_blocks").fetchall() == [(0,)]
    assert sorted(search(connection, "tea").scores) == [BLOCK - 1, BLOCK + 5]


def test_what_stands_around_a_unit_counts_less_than_its_own_text() -> None:
    connection = empty()
    for unit in range(1, 9):
        add_words(connection, unit, "violin bow" if unit == 3 else "other words", "violin" if unit == 4 else "")
    scores = search(connection, "violin").scores
    assert sorted(scores) == [3, 4] and scores[3] > scores[4]
    assert search(connection, "violin").exact == {3}


def test_pairs_of_characters_that_lie_across_two_words_say_little_of_what_is_unknown() -> None:
    connection = fill(dict.fromkeys(range(1, 9), "别的事情") | {9: "降压药早饭后吃"})
    hits = search(connection, "妈妈降压药")
    assert hits.known > 0.5 and hits.coverage == pytest.approx(hits.known)


def test_taking_a_unit_out_for_one_search_leaves_the_index_as_it_was() -> None:
    connection = fill({n: f"tea {'violin' if n == 7 else 'cup'}" for n in range(1, BLOCK + 3)})
    before = list(connection.iterdump())
    connection.execute("BEGIN")
    delete_words(connection, [7, BLOCK + 1])
    assert search(connection, "violin").scores == {}
    connection.execute("ROLLBACK")
    assert list(connection.iterdump()) == before
    assert set(search(connection, "violin").scores) == {7}


def test_a_word_that_is_not_listed_tells_of_damage() -> None:
    """So that the index is built anew, and no search fails again and again over the unit that cannot be taken out."""
    connection = fill({1: "tea", BLOCK - 1: "boiler"})
    connection.execute("DELETE FROM postings WHERE units != ?", [b""])
    with pytest.raises(sqlite3.DatabaseError, match="not listed"):
        delete_words(connection, [1])
    connection.close()
