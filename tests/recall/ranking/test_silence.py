"""When nothing known answers: with the real model, in memories of one fact and of some."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from assistant.core.cancel import CancelToken
from assistant.core.values import RecallQuery
from assistant.recall.meaning.embedders import OnnxEmbedder
from assistant.recall.meaning.questions import bank_texts, questions_from
from assistant.recall.ranking.silence import SILENCE, is_known_by_words, scale_of, signs_of
from assistant.recall.search import Recall
from assistant.recall.words.keywords import KeywordHits
from tests.real_embeddings import embedding_model_path
from tests.recall.helpers import CLOCK, SmallWorkspace, found, quiet, texts

FACTS = (
    "2026-02-11|you|Passport renewed, valid until 3 May 2035",
    "2026-03-02|you|Nadia is allergic to shellfish",
    "2026-03-20|you|the allotment gate code is 4471",
    "2026-04-01|you|妈妈的生日是农历八月初三",
    "2026-05-09|you|Piano lessons on Tuesdays at 17:30 with Mr Hale",
    "2026-06-12|you|车停在地下二层 B 区 214",
)


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder(embedding_model_path())


@pytest.fixture
def real(embedder: OnnxEmbedder, workspace: SmallWorkspace, state: Path) -> Iterator[Recall]:
    recall = Recall(workspace, state, embedder, CLOCK, budget_ms=10_000)
    yield recall
    recall.close()


@pytest.mark.real
def test_a_few_facts_answer_what_they_answer_and_no_more(real: Recall, workspace: SmallWorkspace) -> None:
    workspace.remember(*FACTS)
    real.sync(CancelToken(), quiet)
    asked = {
        "When does my passport expire?": FACTS[0],
        "Which food must we not serve Nadia?": FACTS[1],
        "allotment gate code": FACTS[2],
        "妈妈哪天过生日": FACTS[3],
        "我的车停在哪里": FACTS[5],
    }
    assert {query: texts(real, query, limit=1) for query in asked} == {
        query: [line.split("|", 2)[2]] for query, line in asked.items()
    }
    for nonsense in (
        "zorblax",
        "flim qworp zandrel",
        "咕噜哔啵呜啦啦",
        "How deep is the Mariana trench?",
        "火星上有水吗",
    ):
        answer = real.search(RecallQuery(nonsense))
        assert (answer.hits, answer.abstained) == ((), True), nonsense


@pytest.mark.real
def test_the_only_fact_comes_when_it_is_asked_for(real: Recall, workspace: SmallWorkspace) -> None:
    workspace.remember(FACTS[1])
    real.sync(CancelToken(), quiet)
    assert texts(real, "What is Nadia allergic to?") == ["Nadia is allergic to shellfish"]
    assert found(real, "zorblax") == ()


def _hits(known: float, coverage: float, **more: object) -> KeywordHits:
    return KeywordHits({1: coverage}, frozenset(), coverage=coverage, known=known, **more)  # type: ignore[arg-type]


def test_a_line_that_holds_all_words_is_an_answer_however_far_its_meaning() -> None:
    flat = np.full(40, 0.01)
    assert SILENCE.is_known(signs_of(flat, _hits(1.0, 0.9), False, 430))
    assert not SILENCE.is_known(signs_of(flat, _hits(0.1, 0.1), False, 430))
    assert is_known_by_words(_hits(1.0, 0.3), False) and not is_known_by_words(_hits(0.1, 0.05), False)


def test_it_takes_more_among_many_and_from_a_model_that_tells_less_apart() -> None:
    meaning = np.concatenate([[0.12], np.full(60, 0.1)])
    words = _hits(0.0, 0.0)
    assert SILENCE.is_known(signs_of(meaning, words, False, 430))
    assert not SILENCE.is_known(signs_of(meaning, words, False, 1_000_000))
    assert not SILENCE.is_known(signs_of(meaning, words, False, 430, scale=0.3))


@pytest.mark.real
def test_the_default_model_is_its_own_scale(embedder: OnnxEmbedder) -> None:
    vectors = embedder.embed(bank_texts(), CancelToken())
    questions = questions_from(vectors, embedder.query_map)
    assert scale_of(questions, "en") == pytest.approx(1.0, abs=0.05)
    assert scale_of(questions, "zh") == pytest.approx(1.0, abs=0.05)
    blurred = questions_from((vectors + 3 * vectors[:1]).astype(np.float32) ** 3)
    assert scale_of(blurred, "en") != pytest.approx(1.0, abs=0.05)
