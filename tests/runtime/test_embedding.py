"""The embedding worker as its client sees it."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.values import Passage, RecallQuery
from assistant.recall.meaning.embedders import PatientEmbedder
from assistant.recall.search import Recall
from assistant.runtime.embedding import WorkerEmbedder
from assistant.runtime.pulse import Patience
from assistant.runtime.worker_process import WorkerLost
from tests.real_embeddings import embedding_model_path
from tests.recall.helpers import CLOCK, SmallWorkspace


class Hand:
    """A clock moved by hand."""

    seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def hand() -> Hand:
    return Hand()


@pytest.fixture
def embedder(tmp_path: Path, hand: Hand, request: pytest.FixtureRequest) -> Iterator[WorkerEmbedder]:
    """Its parameter, where it has one: its patience."""
    patience: Patience = getattr(request, "param", Patience())
    log = tmp_path / "embedding.log"
    embedder = WorkerEmbedder(embedding_model_path(), log, clock=hand, patience=patience)
    yield embedder
    embedder.close()


def wait_until_ready(embedder: WorkerEmbedder) -> None:
    waiting = embedder._waiting
    assert waiting is not None, "nothing was started in the background"
    waiting.result(60)
    assert embedder.ready


@pytest.mark.real
def test_it_starts_in_the_background_and_then_answers(embedder: WorkerEmbedder) -> None:
    assert isinstance(embedder, PatientEmbedder)
    assert embedder.dimensions == 384 and not embedder.ready  # known before it runs
    assert embedder.embed_query("coffee", 1.0) is None
    wait_until_ready(embedder)
    vector = embedder.embed_query("coffee", 30.0)
    assert vector is not None and vector.shape == (384,)
    many = embedder.embed(["coffee", "咖啡 " * 900, "tea " * 900, "rent"], CancelToken())
    assert many.shape == (4, 384)
    assert np.allclose(many[0], vector, atol=0.02)
    passages = [Passage("", "coffee"), Passage("\ud800", "tea " * 6_000), Passage("", "")]
    parts = embedder.embed_passages(passages, CancelToken())
    assert [len(part) for part in parts][::2] == [1, 1] and len(parts[1]) > 10
    assert np.array_equal(parts[0], many[:1])
    assert embedder.embed_passages([], CancelToken()) == []


@pytest.mark.real
def test_an_idle_worker_is_given_back_and_comes_again(embedder: WorkerEmbedder, hand: Hand) -> None:
    first = embedder.embed(["coffee"], CancelToken())
    assert not embedder.retire(idle_seconds=60)
    hand.seconds += 61
    assert embedder.retire(idle_seconds=60)
    assert not embedder.ready
    assert np.array_equal(embedder.embed(["coffee"], CancelToken()), first)


@pytest.mark.real
def test_one_that_a_question_started_is_there_for_the_next_one(embedder: WorkerEmbedder, hand: Hand) -> None:
    hand.seconds += 3600  # the window stood open all the time
    assert embedder.embed_query("coffee", 1.0) is None
    wait_until_ready(embedder)
    assert not embedder.retire(idle_seconds=600)
    assert embedder.embed_query("coffee", 30.0) is not None
    hand.seconds += 601
    assert embedder.retire(idle_seconds=600)


LONG = [Passage("", f"tea number {n} " * 900) for n in range(4)]
"""Seconds of work."""


class Learning:
    """Passages embedded on another thread, as the index lane does."""

    def __init__(self, embedder: WorkerEmbedder) -> None:
        self.vectors: list[np.ndarray] = []
        self.token = CancelToken()
        self._embedder = embedder
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        return self._thread.is_alive()

    def end(self) -> list[np.ndarray]:
        self._thread.join(120)
        assert not self.is_running
        return self.vectors

    def _run(self) -> None:
        with contextlib.suppress(Cancelled):
            self.vectors = self._embedder.embed_passages(LONG, self.token)


@pytest.mark.real
def test_a_query_is_answered_while_the_index_is_learnt(embedder: WorkerEmbedder) -> None:
    alone = embedder.embed(["coffee"], CancelToken())[0]
    learning = Learning(embedder)
    beside = embedder.embed_query("coffee", 30.0)
    assert beside is not None and np.array_equal(beside, alone)
    assert learning.is_running
    learning.token.cancel()
    assert learning.end() == []
    assert embedder.embed_query("tea", 30.0) is not None


@pytest.mark.real
def test_a_worker_that_learns_for_long_is_not_taken_away(embedder: WorkerEmbedder, hand: Hand) -> None:
    embedder.embed(["coffee"], CancelToken())
    learning = Learning(embedder)
    assert embedder.embed_query("coffee", 30.0) is not None
    hand.seconds += 3600
    assert not embedder.retire(idle_seconds=60) and learning.is_running
    assert len(learning.end()) == len(LONG)


@pytest.mark.real
@pytest.mark.logs("died and is started anew")
def test_learning_goes_on_when_the_worker_is_killed(embedder: WorkerEmbedder) -> None:
    embedder.embed(["coffee"], CancelToken())
    learning = Learning(embedder)
    assert embedder.embed_query("coffee", 30.0) is not None
    assert embedder._worker.pid and learning.is_running
    os.kill(embedder._worker.pid, signal.SIGKILL)
    vectors = learning.end()
    assert [len(one) for one in vectors] == [len(one) for one in embedder.embed_passages(LONG[:1], CancelToken()) * 4]


@pytest.fixture
def real_recall(tmp_path: Path, embedder: WorkerEmbedder) -> Iterator[Recall]:
    workspace = SmallWorkspace(tmp_path / "workspace")
    workspace.remember("2026-11-01|you|the bicycle has a puncture", "2026-11-02|you|rent is 1480 a month")
    recall = Recall(workspace, tmp_path / "state", embedder, CLOCK)
    recall.sync(CancelToken())
    assert recall.search(RecallQuery("flat tyre"), budget_ms=30_000).mode == "hybrid"
    yield recall
    recall.close()


@pytest.mark.real
def test_a_worker_that_died_costs_one_search_its_meaning(real_recall: Recall, embedder: WorkerEmbedder) -> None:
    assert embedder._worker.pid
    os.kill(embedder._worker.pid, signal.SIGKILL)
    embedder._worker._session.process.wait()  # type: ignore[union-attr]
    answer = real_recall.search(RecallQuery("a puncture"), budget_ms=30_000)
    assert answer.mode == "keyword" and "bicycle" in answer.hits[0].text
    wait_until_ready(embedder)
    assert real_recall.search(RecallQuery("a flat tyre"), budget_ms=30_000).mode == "hybrid"


@pytest.mark.real
@pytest.mark.logs("no vector for a query")
@pytest.mark.parametrize("embedder", [Patience(silent=5, hurried=5)], indirect=True)
def test_a_worker_that_hangs_is_started_anew(real_recall: Recall, embedder: WorkerEmbedder) -> None:
    hanging = embedder._worker.pid
    assert hanging
    os.kill(hanging, signal.SIGSTOP)
    for query in ("a puncture", "the puncture"):  # it may just be slow
        answer = real_recall.search(RecallQuery(query), budget_ms=100)
        assert answer.mode == "keyword" and "bicycle" in answer.hits[0].text
    assert embedder._waiting
    assert isinstance(embedder._waiting.exception(30), WorkerLost)
    assert real_recall.search(RecallQuery("one puncture"), budget_ms=100).mode == "keyword"
    wait_until_ready(embedder)
    assert real_recall.search(RecallQuery("a flat tyre"), budget_ms=30_000).mode == "hybrid"


@pytest.mark.logs("did not start")
def test_a_model_that_cannot_be_loaded(tmp_path: Path, hand: Hand) -> None:
    folder = tmp_path / "model"
    (folder / "onnx").mkdir(parents=True)
    (folder / "onnx" / "model.onnx").write_bytes(b"nothing of the kind")
    (folder / "config.json").write_text('{"hidden_size": 8}')
    embedder = WorkerEmbedder(folder, clock=hand)
    with pytest.raises(AssistantError) as caught:
        embedder.embed(["coffee"], CancelToken())
    assert caught.value.code == "embedding.model"
    assert embedder.embed_query("coffee", 1.0) is None
    embedder.close()


def test_a_folder_without_a_model_says_so(tmp_path: Path) -> None:
    embedder = WorkerEmbedder(tmp_path / "none")
    with pytest.raises(AssistantError) as caught:
        _ = embedder.identity
    assert caught.value.code == "embedding.model"
    embedder.close()


@pytest.mark.parametrize(
    ("config", "said"),
    [("{}", "There is no embedding model"), ('{"hidden_size": 8}', "cannot be read: Permission denied")],
)
def test_a_model_that_cannot_be_read_costs_no_search_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: str, said: str
) -> None:
    def refuse(folder: Path) -> str:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("assistant.runtime.embedding.model_identity", refuse)
    (tmp_path / "config.json").write_text(config)
    embedder = WorkerEmbedder(tmp_path)
    workspace = SmallWorkspace(tmp_path / "workspace")
    workspace.remember("2026-11-01|you|the bicycle has a puncture")
    recall = Recall(workspace, tmp_path / "state", embedder, CLOCK)
    answer = recall.search(RecallQuery("bicycle"))
    assert [hit.text for hit in answer.hits] == ["the bicycle has a puncture"]
    assert (answer.mode, answer.by_words) == ("keyword", "failing")
    assert said in recall.status().problem
    recall.close()
    embedder.close()


def test_a_question_that_comes_when_all_is_closed_goes_by_words(tmp_path: Path) -> None:
    embedder = WorkerEmbedder(tmp_path)
    embedder.close()
    assert embedder.embed_query("coffee", 1.0) is None
