"""Folders of other programs are looked into as they are laid out, and nothing in them is changed or copied."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from assistant.core.errors import AssistantError
from assistant.engine.model_files import ModelStore
from tests.engine.gguf_files import chat_facts, gguf_bytes

OTHER_MODEL = gguf_bytes(chat_facts(), {"b": (8, 8)})
MODEL = gguf_bytes(chat_facts(), {"a": (8, 4)})


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path / "models")


def put(path: Path, data: bytes = MODEL) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def names(store: ModelStore) -> list[str]:
    return [file.name for file in store.list()]


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def ollama(root: Path, manifests: dict[str, str], blobs: dict[str, bytes]) -> Path:
    for name, digest in manifests.items():
        layers = [
            {"mediaType": "application/vnd.ollama.image.license", "digest": "sha256:11"},
            {"mediaType": "application/vnd.ollama.image.model", "digest": digest},
        ]
        put(root / "manifests" / "registry.ollama.ai" / name, json.dumps({"layers": layers}).encode())
    for name, data in blobs.items():
        put(root / "blobs" / name, data)
    return root


def test_lm_studio(store: ModelStore, tmp_path: Path) -> None:
    root = tmp_path / ".lmstudio" / "models"
    put(root / "Qwen" / "Qwen2.5-1.5B-Instruct-GGUF" / "qwen2.5-1.5b.gguf")
    put(root / "Qwen" / "Qwen2.5-1.5B-Instruct-GGUF" / "downloading_x.gguf.part", b"half")
    before = everything(root)
    (added,) = store.add_folder(root)
    assert (added.name, added.problem, added.own) == ("qwen2.5-1.5b", "", False)
    assert everything(root) == before
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["models.json"]


def test_what_comes_into_the_folder_later_is_there_too(store: ModelStore, tmp_path: Path) -> None:
    put(tmp_path / "GPT4All" / "one.gguf")
    store.add_folder(tmp_path / "GPT4All")
    put(tmp_path / "GPT4All" / "two.gguf", OTHER_MODEL)
    assert names(ModelStore(tmp_path / "models")) == ["one", "two"]


def test_jan_names_every_file_alike(store: ModelStore, tmp_path: Path) -> None:
    put(tmp_path / "Jan" / "data" / "llamacpp" / "models" / "Qwen3-4B" / "model.gguf")
    put(tmp_path / "Jan" / "data" / "llamacpp" / "models" / "Llama-3.2-1B" / "model.gguf", OTHER_MODEL)
    store.add_folder(tmp_path / "Jan")
    assert names(store) == ["Llama-3.2-1B", "Qwen3-4B"]


@pytest.mark.parametrize("inside", ["", "models", "models/blobs"])
def test_ollama_by_the_names_of_its_manifests(store: ModelStore, tmp_path: Path, inside: str) -> None:
    manifests = {"library/qwen2.5/0.5b": "sha256:aa", "someone/tiny/latest": "sha256:bb", "library/gone/1": "sha256:cc"}
    ollama(
        tmp_path / ".ollama" / "models",
        manifests,
        {"sha256-aa": MODEL, "sha256-bb": OTHER_MODEL, "sha256-11": b"MIT License", "sha256-dd": b""},
    )
    added = store.add_folder(tmp_path / ".ollama" / inside)
    assert [file.name for file in added] == ["qwen2.5:0.5b", "someone/tiny:latest"]
    assert all(not file.problem for file in added)
    assert store.find("qwen2.5:0.5b").path.name == "sha256-aa"


def test_ollamas_blobs_alone_and_damaged_manifests(store: ModelStore, tmp_path: Path) -> None:
    put(tmp_path / "blobs" / ("sha256-" + "ab" * 32))
    (added,) = store.add_folder(tmp_path / "blobs")
    assert added.name == "sha256-abababababab"
    for number, text in enumerate((b"", b"{", b"[]", b'{"layers": [1]}', b'{"layers": [{"mediaType": 1}]}')):
        put(tmp_path / "o" / "manifests" / "h" / "library" / "m" / str(number), text)
    put(tmp_path / "o" / "blobs" / "sha256-cd", b"no model")
    with pytest.raises(AssistantError) as caught:
        store.add_folder(tmp_path / "o")
    assert caught.value.code == "model.none_in_folder"


def test_a_manifest_cannot_lead_out_of_its_folder(store: ModelStore, tmp_path: Path) -> None:
    put(tmp_path / "secret.gguf")
    ollama(tmp_path / "o", {"library/evil/1": "sha256:../../secret.gguf"}, {})
    (tmp_path / "o" / "blobs").mkdir(exist_ok=True)
    with pytest.raises(AssistantError):
        store.add_folder(tmp_path / "o")


def test_the_cache_of_hugging_face_has_each_file_once(store: ModelStore, tmp_path: Path) -> None:
    repo = tmp_path / "huggingface" / "hub" / "models--Qwen--Qwen3-4B-GGUF"
    blob = put(repo / "blobs" / "7485fe")
    for commit in ("aaa", "bbb"):
        link = repo / "snapshots" / commit / "Qwen3-4B-Q4_K_M.gguf"
        link.parent.mkdir(parents=True)
        link.symlink_to(blob)
    (added,) = store.add_folder(tmp_path / "huggingface")
    assert added.name == "Qwen3-4B-Q4_K_M"


def test_text_generation_webui_and_broken_files(store: ModelStore, tmp_path: Path) -> None:
    root = tmp_path / "text-generation-webui" / "user_data" / "models"
    put(root / "good.gguf")
    put(root / "folder" / "cut.gguf", MODEL[:-9])
    put(root / "bert.gguf", gguf_bytes(chat_facts(**{"llama.pooling_type": 2})))
    store.add_folder(root.parent.parent)
    problems = {file.name: file.problem for file in store.list()}
    assert problems["good"] == "" and "cut" in problems["cut"] and "no chat model" in problems["bert"]


def test_a_file_of_an_added_folder_can_be_left_out_and_taken_in_again(store: ModelStore, tmp_path: Path) -> None:
    one = put(tmp_path / "lm" / "one.gguf")
    put(tmp_path / "lm" / "two.gguf", OTHER_MODEL)
    store.add_folder(tmp_path / "lm")
    store.remove("one")
    assert one.exists() and names(store) == ["two"]
    store.add(one)
    assert names(store) == ["one", "two"]
    store.remove("one")
    store.add_folder(tmp_path / "lm")
    assert names(store) == ["one", "two"]


def test_a_folder_that_is_gone_or_empty(store: ModelStore, tmp_path: Path) -> None:
    with pytest.raises(AssistantError) as caught:
        store.add_folder(tmp_path / "nothing")
    assert caught.value.code == "model.none_in_folder"
    put(tmp_path / "usb" / "m.gguf")
    store.add_folder(tmp_path / "usb")
    (tmp_path / "usb").rename(tmp_path / "away")
    assert names(store) == []


def test_a_pipe_among_the_files_is_waited_for_by_nobody(store: ModelStore, tmp_path: Path) -> None:
    root = ollama(tmp_path / "o", {"library/m/1": "sha256:aa"}, {"sha256-aa": MODEL})
    os.mkfifo(root / "manifests" / "registry.ollama.ai" / "library" / "m" / "2")
    put(tmp_path / "lm" / "m.gguf", OTHER_MODEL)
    for name in ("sha256-bb", "pipe.gguf"):
        os.mkfifo(tmp_path / "lm" / name)
    assert [file.name for file in store.add_folder(root)] == ["m:1"]
    assert {file.name: bool(file.problem) for file in store.add_folder(tmp_path / "lm")} == {"m": False, "pipe": True}


def test_a_folder_beyond_all_measure_is_refused(
    store: ModelStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.engine.model_folders._MOST_ENTRIES", 10)
    for number in range(12):
        put(tmp_path / "home" / str(number), b"")
    with pytest.raises(AssistantError) as caught:
        store.add_folder(tmp_path / "home")
    assert caught.value.code == "model.folder_large"


def test_names_that_are_alike_in_two_folders_deep(store: ModelStore, tmp_path: Path) -> None:
    put(tmp_path / "lm" / "a" / "x" / "m.gguf")
    put(tmp_path / "lm" / "b" / "x" / "m.gguf", OTHER_MODEL)
    store.add_folder(tmp_path / "lm")
    assert names(store) == ["a/x/m", "b/x/m"]
