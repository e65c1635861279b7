"""The embedding worker as its client sees it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.values import Passage
from assistant.recall.embedders import PatientEmbedder
from assistant.runtime.embedding import WorkerEmbedder
from tests.real_embeddings import embedding_model_path


class Hand:
    """A clock moved by hand."""

    seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def hand() -> Hand:
    return Hand()


@pytest.fixture
def embedder(tmp_path: Path, hand: Hand) -> Iterator[WorkerEmbedder]:
    embedder = WorkerEmbedder(embedding_model_path(), tmp_path / "embedding.log", clock=hand)
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
    passages = [Passage("", "coffee"), Passage("\ud800", "tea " * 9_000), Passage("", "")]
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
