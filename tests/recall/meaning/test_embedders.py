"""The real embedding model through both adapters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.values import Passage
from assistant.recall.meaning.embedders import OnnxEmbedder, SentenceTransformerEmbedder, load_embedder, model_identity
from assistant.recall.search import Recall
from tests.real_embeddings import embedding_model_path
from tests.recall.helpers import CLOCK, SmallWorkspace, quiet, texts

TEXTS = ["coffee", "我喜欢喝什么咖啡 and what about Anna?", "", "a longer text " * 30, "🙂", "word " * 2_000]


@pytest.fixture(scope="module")
def small() -> OnnxEmbedder:
    return OnnxEmbedder(embedding_model_path())


def cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a * b).sum(axis=1)


@pytest.mark.real
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_adapters_agree(small: OnnxEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    from tqdm import tqdm

    monkeypatch.setattr(tqdm, "monitor_interval", 0)  # its progress bars start a thread that never ends
    folder = embedding_model_path()
    onnx = OnnxEmbedder(folder, folder / "onnx" / "model.onnx")
    full = onnx.embed(TEXTS, CancelToken())
    reference = SentenceTransformerEmbedder(folder)
    wanted = reference.embed(TEXTS, CancelToken())
    assert (reference.identity, reference.dimensions) == (small.identity, small.dimensions)
    assert cosines(full, wanted).min() >= 0.9999
    assert cosines(small.embed(TEXTS, CancelToken()), wanted).min() >= 0.99
    passages = [Passage("Diary: ", text) for text in TEXTS]
    for ours, theirs in zip(
        onnx.embed_passages(passages, CancelToken()), reference.embed_passages(passages, CancelToken()), strict=True
    ):
        assert ours.shape == theirs.shape and cosines(ours, theirs).min() >= 0.9999


@pytest.mark.real
def test_vectors_are_of_length_one_whatever_the_batch(small: OnnxEmbedder) -> None:
    together = small.embed(TEXTS * 5, CancelToken())
    alone = np.concatenate([small.embed([text], CancelToken()) for text in TEXTS])
    assert together.shape == (30, 384) and together.dtype == np.float32
    assert np.allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-5)
    assert cosines(together[:6], alone).min() > 0.99999
    assert small.embed([], CancelToken()).shape == (0, 384)


@pytest.mark.real
def test_a_long_passage_has_a_vector_a_window(small: OnnxEmbedder) -> None:
    long = " ".join(f"Paragraph {n} is about the weather." for n in range(300)) + " The cat is called Sesame."
    one, many, none = small.embed_passages(
        [Passage("", "coffee"), Passage("Diary: ", long), Passage("\0", "\ud800 \n")], CancelToken()
    )
    assert one.shape == none.shape == (1, 384) and len(many) > 3
    assert np.array_equal(one[0], small.embed(["coffee"], CancelToken())[0])
    near = many @ small.embed(["What is the cat's name?"], CancelToken())[0]
    assert near.argmax() == len(many) - 1  # said at the very end, beyond the model's limit


@pytest.fixture
def real_recall(workspace: SmallWorkspace, state: Path, small: OnnxEmbedder) -> Iterator[Recall]:
    recall = Recall(workspace, state, small, CLOCK)
    yield recall
    recall.close()


@pytest.mark.real
def test_other_words_and_other_languages_find_it(workspace: SmallWorkspace, real_recall: Recall) -> None:
    workspace.remember(
        "2026-01-03|you|早饭前喝一杯不加糖的黑咖啡",
        "2026-01-04|you|The bicycle has a slow puncture in the rear wheel",
        "2026-01-05|you|房租每月1480欧，每月28号自动扣",
        "2026-01-06|you|Birch pollen makes me sneeze every April",
        "2026-01-07|you|猫叫芝麻，怕吸尘器",
        "2026-01-08|you|The team meets on Thursdays in the small room",
        "2026-01-09|you|妈妈住在苏州的老房子里",
        "2026-01-10|you|Passwords are kept in the grey notebook",
    )
    real_recall.sync(CancelToken(), quiet)
    assert "房租" in texts(real_recall, "How much do I pay the landlord?", limit=3)[0]
    assert "Birch" in texts(real_recall, "我对什么过敏", limit=3)[0]
    assert "芝麻" in texts(real_recall, "What is my pet called?", limit=3)[0]
    assert "puncture" in texts(real_recall, "flat tyre", limit=3)[0]


def test_a_folder_without_a_model_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(AssistantError) as caught:
        load_embedder(tmp_path)
    assert caught.value.code == "embedding.model" and tmp_path.name in caught.value.message


@pytest.mark.parametrize("file", ["tokenizer.json", "onnx/model.onnx", "sentence_bert_config.json", "config.json"])
def test_a_file_that_was_replaced_makes_it_another_model(tmp_path: Path, file: str) -> None:
    (tmp_path / "onnx").mkdir()
    (tmp_path / "manifest.json").write_text('{"identity": "small-1@abc"}')
    for name in ("tokenizer.json", "onnx/model.onnx", "sentence_bert_config.json", "config.json"):
        (tmp_path / name).write_text("{}")
    first = model_identity(tmp_path)
    assert first.startswith("small-1@") and model_identity(tmp_path) == first
    (tmp_path / file).write_text("[]")  # as long as it was
    assert model_identity(tmp_path) != first
    (tmp_path / file).write_text("{}")
    assert model_identity(tmp_path) == first


def test_other_weights_without_onnx_are_another_model(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(b"one")
    first = model_identity(tmp_path)
    weights.write_bytes(b"two")
    assert model_identity(tmp_path) != first
    (tmp_path / "unused.txt").write_text("a note")
    weights.write_bytes(b"one")
    assert model_identity(tmp_path) == first
