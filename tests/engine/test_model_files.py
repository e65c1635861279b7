"""What models a person has, where they are, and what is wrong with them."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.resources import resource
from assistant.engine.catalogue import CatalogueModel, find_in_catalogue, load_catalogue
from assistant.engine.model_files import ModelStore
from tests.engine.gguf_files import chat_facts, gguf_bytes
from tests.real_models import starter_model_path

WHOLE = gguf_bytes(chat_facts(), {"a": (8, 4)})


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path / "models")


def put(path: Path, data: bytes = WHOLE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_no_folder_is_no_models(store: ModelStore) -> None:
    assert store.list() == []


def test_good_and_broken_files_are_listed_two_levels_deep(store: ModelStore, tmp_path: Path) -> None:
    put(tmp_path / "models" / "good.gguf")
    put(tmp_path / "models" / "maker" / "model" / "deep.GGUF")
    put(tmp_path / "models" / "empty.gguf", b"")
    put(tmp_path / "models" / "page.gguf", b"<html>not found</html>")
    put(tmp_path / "models" / "cut.gguf", WHOLE[:-50])
    put(tmp_path / "models" / "notes.txt", b"no model")
    put(tmp_path / "models" / ".half.gguf", WHOLE)
    put(tmp_path / "models" / "mmproj.gguf", gguf_bytes({"general.architecture": "clip"}))
    files = {file.name: file for file in store.list()}
    assert sorted(files) == ["cut", "deep", "empty", "good", "mmproj", "page"]
    assert files["good"].problem == files["deep"].problem == ""
    assert "empty" in files["empty"].problem
    assert "no GGUF" in files["page"].problem
    assert "cut" in files["cut"].problem
    assert "no chat model" in files["mmproj"].problem
    assert (files["good"].architecture, files["good"].quantisation, files["good"].window_trained) == (
        "llama",
        "Q4_K_M",
        2048,
    )


def test_a_file_from_elsewhere_is_there_after_a_restart_and_is_not_copied(store: ModelStore, tmp_path: Path) -> None:
    outside = put(tmp_path / "張 庭 綱　Абв" / "my model.gguf")
    added = store.add(outside)
    assert added.path == outside
    assert ModelStore(tmp_path / "models").list() == [added]
    assert store.add(outside) == added
    assert len(store.list()) == 1
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["models.json"]


def test_an_added_file_that_is_gone_says_so(store: ModelStore, tmp_path: Path) -> None:
    outside = put(tmp_path / "usb" / "m.gguf")
    store.add(outside)
    outside.unlink()
    assert "is not there" in store.list()[0].problem


def test_a_broken_file_is_not_added(store: ModelStore, tmp_path: Path) -> None:
    with pytest.raises(AssistantError, match="cut"):
        store.add(put(tmp_path / "cut.gguf", WHOLE[:100]))
    assert store.list() == []


def test_models_are_found_by_name_file_name_and_path(store: ModelStore, tmp_path: Path) -> None:
    path = put(tmp_path / "models" / "Tiny-Q4.gguf")
    outside = put(tmp_path / "elsewhere" / "other.gguf")
    for name in ("Tiny-Q4", "tiny-q4", "Tiny-Q4.gguf", str(path)):
        assert store.find(name).path == path
    assert store.find(str(outside)).path == outside
    for name in ("nothing", "", "tiny", "\0", "~nobody-is-called-so/x", "a" * 5_000):
        with pytest.raises(AssistantError) as caught:
            store.find(name)
        assert caught.value.code == "model.missing"


def test_two_files_of_one_name_have_two_names(store: ModelStore, tmp_path: Path) -> None:
    one, two = put(tmp_path / "models" / "a" / "m.gguf"), put(tmp_path / "models" / "b" / "m.gguf")
    assert [file.name for file in store.list()] == ["a/m", "b/m"]
    assert (store.find("a/m").path, store.find("b/m").path) == (one, two)


def test_each_name_of_one_file_is_found_by_its_own_path(store: ModelStore, tmp_path: Path) -> None:
    file = put(tmp_path / "models" / "a" / "model.gguf")
    for name in ("b", "c"):
        (tmp_path / "models" / name).mkdir()
        (tmp_path / "models" / name / "model.gguf").symlink_to(file)
    put(tmp_path / "models" / "z" / "c.gguf")
    for found in store.list():
        assert store.find(str(found.path)) == store.find(found.name) == store.add(found.path) == found


def test_a_model_in_parts_is_one_model(store: ModelStore, tmp_path: Path) -> None:
    for part in range(2):
        put(tmp_path / "models" / f"big-{part + 1:05d}-of-00002.gguf", _part(part))
    (file,) = store.list()
    assert (file.name, file.problem) == ("big", "")
    assert file.size_bytes == len(_part(0)) + len(_part(1))
    (tmp_path / "models" / "big-00002-of-00002.gguf").unlink()
    assert "big-00002-of-00002.gguf is not there" in store.list()[0].problem


def _part(number: int, count: int = 2) -> bytes:
    facts = chat_facts() if number == 0 else {}
    return gguf_bytes({**facts, "split.count": count, "split.no": number}, {f"t{number}": (8,)})


def put_parts(folder: Path, count: int) -> list[Path]:
    return [put(folder / f"big-{n + 1:05d}-of-{count:05d}.gguf", _part(n, count)) for n in range(count)]


def test_any_part_stands_for_its_model_when_it_is_added(store: ModelStore, tmp_path: Path) -> None:
    parts = put_parts(tmp_path / "elsewhere", 3)
    assert store.add(parts[2]) == store.add(parts[0]) == store.list()[0]
    assert (store.list()[0].path, len(store.list())) == (parts[0], 1)


def test_parts_whose_first_is_not_there_are_listed_and_can_be_removed(store: ModelStore, tmp_path: Path) -> None:
    parts = put_parts(tmp_path / "models", 3)
    parts[0].unlink()
    (file,) = store.list()
    assert (file.name, file.path) == ("big", parts[1])
    assert "big-00001-of-00003.gguf is not there" in file.problem
    store.remove("big")
    assert not any(part.exists() for part in parts)


def test_a_model_of_which_a_part_is_missing_is_removed_as_a_whole(store: ModelStore, tmp_path: Path) -> None:
    parts = put_parts(tmp_path / "models", 3)
    parts[1].unlink()
    store.remove("big")
    assert not any(part.exists() for part in parts)


def test_a_later_part_that_is_cut_is_told_of(store: ModelStore, tmp_path: Path) -> None:
    _first, second = put_parts(tmp_path / "models", 2)
    assert store.verify("big").ok
    second.write_bytes(second.read_bytes()[:-9])
    assert "big-00002-of-00002.gguf is cut off" in store.list()[0].problem
    with pytest.raises(AssistantError, match=r"big-00002-of-00002\.gguf is cut off"):
        store.verify("big")


def test_only_what_lies_in_the_models_folder_itself_is_deleted(store: ModelStore, tmp_path: Path) -> None:
    theirs, own = put(tmp_path / "LM Studio" / "theirs.gguf"), put(tmp_path / "models" / "own.gguf")
    (tmp_path / "models" / "linked").symlink_to(tmp_path / "LM Studio")
    (tmp_path / "models" / "second.gguf").symlink_to(theirs)
    assert {file.name: file.own for file in store.list()} == {"own": True, "second": True, "theirs": False}
    for name in ("own", "second", "theirs"):
        store.remove(name)
    assert store.list() == [] and theirs.exists() and not own.exists()
    assert store.add(theirs).name == "theirs"
    store.remove(str(tmp_path / "models" / ".." / "LM Studio" / "theirs.gguf"))
    assert store.list() == [] and theirs.exists()
    store.remove(str(tmp_path / "models" / ".." / "LM Studio" / "theirs.gguf"))
    assert theirs.exists()


def test_tools_are_promised_where_the_form_of_calls_is_known(store: ModelStore, tmp_path: Path) -> None:
    hermes, unknown = "{{ tools }}<tool_call>", "{{ tools }} in a form of its own"
    for name, template in (("hermes", hermes), ("unknown", unknown), ("none", "{{ messages }}")):
        put(tmp_path / "models" / f"{name}.gguf", gguf_bytes(chat_facts(**{"tokenizer.chat_template": template})))
    assert {file.name: file.tools for file in store.list()} == {"hermes": True, "unknown": False, "none": False}


def test_removing_forgets_a_file_from_elsewhere_and_deletes_an_own_one(store: ModelStore, tmp_path: Path) -> None:
    outside, own = put(tmp_path / "mine" / "x.gguf"), put(tmp_path / "models" / "own.gguf")
    store.add(outside)
    store.remove("x")
    store.remove("own")
    assert store.list() == []
    assert outside.exists() and not own.exists()


def test_the_published_hash_is_checked(tmp_path: Path) -> None:
    put(tmp_path / "known.gguf")
    put(tmp_path / "free.gguf", gguf_bytes(chat_facts(), {"other": (16, 4)}))
    digest = hashlib.sha256(WHOLE).hexdigest()
    known = CatalogueModel("k", "K", ("en",), 0, "o/r", "", "known.gguf", len(WHOLE), digest, "MIT")
    store = ModelStore(tmp_path, [known])
    assert (store.verify("known").ok, store.verify("known").how) == (True, "sha256")
    assert (store.verify("free").ok, store.verify("free").how) == (True, "structure")
    put(tmp_path / "known.gguf", WHOLE[:-1] + b"\1")
    assert (store.verify("known").ok, store.verify("known").how) == (False, "sha256")
    assert store.find("known").licence == "MIT"


def test_verifying_can_be_stopped_and_names_broken_files(store: ModelStore, tmp_path: Path) -> None:
    put(tmp_path / "models" / "good.gguf")
    put(tmp_path / "models" / "cut.gguf", WHOLE[:-9])
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        store.verify("good", cancel)
    with pytest.raises(AssistantError, match="cut"):
        store.verify("cut")


def test_the_starter_model_is_known_whatever_its_name(tmp_path: Path) -> None:
    store = ModelStore(tmp_path)
    added = store.add(starter_model_path())
    assert (added.problem, added.licence) == ("", "Apache-2.0")
    verified = store.verify(added.name)
    assert (verified.ok, verified.how) == (True, "sha256")


def test_a_file_whose_name_is_no_text_is_there_after_a_restart(store: ModelStore, tmp_path: Path) -> None:
    outside = put(tmp_path / os.fsdecode(b"caf\xe9") / "m.gguf")
    assert store.add(outside).path == outside
    assert ModelStore(tmp_path / "models").find("m").path == outside


def test_names_that_no_file_can_have_are_passed_over(store: ModelStore, tmp_path: Path) -> None:
    good = put(tmp_path / "good.gguf")
    bad = ["a\0b", "\ud800", 1, "", ".", "/"]
    listed = {"files": [*bad, str(good)], "folders": [*bad, "x" * 5_000], "hidden": bad}
    put(tmp_path / "models" / "models.json", json.dumps(listed).encode())
    assert [file.path for file in store.list()] == [good]


def test_a_damaged_registry_is_named(store: ModelStore, tmp_path: Path) -> None:
    put(tmp_path / "models" / "models.json", b"{")
    with pytest.raises(AssistantError, match=r"models\.json"):
        store.list()


def test_the_catalogue_is_complete_and_shipped() -> None:
    models = load_catalogue()
    assert resource("catalogue.json").exists()
    assert len({model.name for model in models}) == len(models) == 11
    for model in models:
        assert len(model.sha256) in (0, 64) and model.licence and model.languages
        assert bool(model.repository) == bool(model.file)
    with pytest.raises(FileNotFoundError, match="install"):
        resource("no such thing")


@pytest.mark.parametrize("name", ["", " ", ".gguf"])
def test_no_name_is_no_model_of_the_catalogue(name: str) -> None:
    with pytest.raises(AssistantError) as caught:
        find_in_catalogue(load_catalogue(), name)
    assert caught.value.code == "model.not_in_catalogue"


def test_the_shared_folder_stands_in_where_there_is_no_model(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "Starter.gguf").symlink_to(starter_model_path())
    store = ModelStore(tmp_path / "own", shared=shared)
    assert [model.name for model in store.list()] == ["Starter"]
    store.remove("Starter")
    assert store.list() == [] and (shared / "Starter.gguf").exists()
    store.add(shared / "Starter.gguf")
    assert [model.name for model in store.list()] == ["Starter"]
    store.remove("Starter")
    other = tmp_path / "Other.gguf"
    other.write_bytes(gguf_bytes(chat_facts()))
    store.add(other)
    assert [model.name for model in store.list()] == ["Other"]
