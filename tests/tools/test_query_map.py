"""The query map: what it learns from pairs, and that the pairs can be learned from."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from assistant.core.cancel import CancelToken
from assistant.recall.meaning.embedders import QUERY_MAP, read_query_map
from assistant.recall.meaning.questions import bank_texts, questions_from
from tests.recall.helpers import FakeEmbedder
from tools.embedding.query_map import build_query_map, learn, read_pairs


def _unit(rows: np.ndarray) -> np.ndarray:
    unit: np.ndarray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def test_questions_are_turned_towards_facts_that_answer_them() -> None:
    chance = np.random.default_rng(1)
    facts = _unit(chance.standard_normal((300, 24)))
    askew = np.linalg.qr(chance.standard_normal((24, 24)))[0]
    questions = _unit(facts + 1.2 * facts @ askew)  # as a model would: near, and all off in the same way
    turn = learn(questions[:200], facts, np.arange(200))
    turned = _unit(questions + questions @ turn)
    others = np.arange(200, 300)  # not learned from
    assert ((turned @ facts.T).argmax(1) == np.arange(300))[others].mean() > (
        (questions @ facts.T).argmax(1) == np.arange(300)
    )[others].mean()
    assert (turned * facts).sum(1)[others].mean() > (questions * facts).sum(1)[others].mean()


def test_the_pairs_are_whole_and_in_both_languages() -> None:
    pairs = read_pairs()
    assert len(pairs) == 1610 and len({pair.fact for pair in pairs}) == 1610
    assert all(pair.fact.strip() and all(question.strip() for question in pair.questions) for pair in pairs)
    assert sum(pair.said for pair in pairs) > 300


def test_a_map_is_built_for_any_model_and_read_back(tmp_path: Path) -> None:
    embedder = FakeEmbedder(dimensions=16)
    turn = build_query_map(lambda texts: embedder.embed(texts, CancelToken()), read_pairs()[::40])
    assert turn.shape == (16, 16) and np.isfinite(turn).all() and np.abs(turn).max() > 0
    np.save(tmp_path / QUERY_MAP, turn.astype(np.float16))
    read = read_query_map(tmp_path)
    assert read is not None and np.allclose(read, turn, atol=1e-3)


def test_what_is_no_map_is_none(tmp_path: Path) -> None:
    assert read_query_map(tmp_path) is None
    (tmp_path / QUERY_MAP).write_bytes(b"\x93NUMPY garbage")
    assert read_query_map(tmp_path) is None
    np.save(tmp_path / QUERY_MAP, np.full((4, 4), np.nan))
    assert read_query_map(tmp_path) is None
    np.save(tmp_path / QUERY_MAP, np.zeros((4, 5)))
    assert read_query_map(tmp_path) is None
    np.save(tmp_path / QUERY_MAP, np.full((4, 4), 1e9))  # finite, but not as the index keeps it
    assert read_query_map(tmp_path) is None


def test_a_damaged_map_is_none(tmp_path: Path) -> None:
    np.save(tmp_path / QUERY_MAP, np.eye(64, dtype=np.float16))
    whole = (tmp_path / QUERY_MAP).read_bytes()
    vast = whole.replace(b"(64, 64), }" + 12 * b" ", b"(99999999, 99999999), }")
    assert len(vast) == len(whole) and vast != whole
    with (tmp_path / "several.npz").open("wb") as file:
        np.savez(file, one=np.eye(4))
    for damaged in (
        b"",
        whole[:3],
        whole[:60],
        whole[:-1],
        b"PK\x03\x04",
        vast,
        (tmp_path / "several.npz").read_bytes(),
    ):
        (tmp_path / QUERY_MAP).write_bytes(damaged)
        assert read_query_map(tmp_path) is None


def test_a_direction_is_turned_and_what_questions_share_is_gone() -> None:
    chance = np.random.default_rng(2)
    shared = chance.standard_normal(16)
    bank = _unit(chance.standard_normal((len(bank_texts()), 16)) + 5 * shared)
    turn = 0.1 * chance.standard_normal((16, 16)).astype(np.float32)
    plain, turned = questions_from(bank.astype(np.float32)), questions_from(bank.astype(np.float32), turn)
    query, units = bank[0].astype(np.float32), np.zeros(16, np.float32)
    straight = plain.direction(query, "en", units + plain.centres[0])
    assert abs(float(straight @ _unit(shared[None])[0])) < 0.6 < abs(float(query @ _unit(shared[None])[0]))
    assert np.allclose(
        turned.direction(query, "en", units + plain.centres[0]), _unit((straight + straight @ turn)[None])[0], atol=1e-5
    )
