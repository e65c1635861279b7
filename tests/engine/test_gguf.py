"""The header reader tells what a file is, and says in words what is wrong with a broken one."""

from __future__ import annotations

import struct
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assistant.core.errors import AssistantError
from assistant.engine import gguf
from assistant.engine.gguf import read_gguf_info
from tests.engine.gguf_files import chat_facts, gguf_bytes
from tests.real_models import starter_model_path

WHOLE = gguf_bytes(chat_facts(), {"a": (8, 4), "b": (64,)})


def code_of(path: Path) -> str:
    with pytest.raises(AssistantError) as caught:
        read_gguf_info(path)
    assert caught.value.message and caught.value.hint
    return caught.value.code


def test_the_starter_model_is_described() -> None:
    info = read_gguf_info(starter_model_path())
    assert (info.architecture, info.quantisation, info.window_trained) == ("llama", "Q4_1", 8192)
    assert (info.vocabulary, info.embedding, info.licence) == (49152, 576, "apache-2.0")
    assert 2 * (info.cache_keys + info.cache_values) == 90 * 2**20 // 4096  # what llama.cpp allots for 4096 tokens
    assert "<|im_start|>" in info.template


def test_a_small_file_is_described(tmp_path: Path) -> None:
    path = tmp_path / "張 庭 綱　Абв.gguf"
    path.write_bytes(WHOLE)
    info = read_gguf_info(path)
    assert (info.name, info.quantisation, info.vocabulary, info.licence) == ("Tiny", "Q4_K_M", 600, "mit")
    assert info.cache_keys == info.cache_values == 2 * 2 * 16


def test_broken_files_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    assert code_of(path) == "model.missing"
    assert code_of(tmp_path) == "model.not_gguf"
    path.write_bytes(b"")
    assert code_of(path) == "model.empty"
    path.write_bytes(b"PK\x03\x04 a zip archive, renamed")
    assert code_of(path) == "model.not_gguf"
    path.write_bytes(b"GG")
    assert code_of(path) == "model.not_gguf"
    path.write_bytes(b"GGUF" + struct.pack("<I", 1) + bytes(40))
    assert code_of(path) == "model.unsupported"
    path.write_bytes(b"GGUF" + struct.pack(">I", 3) + bytes(40))
    assert code_of(path) == "model.unsupported"


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"<!DOCTYPE html><html>", "a web page"),
        (b"\n<html>", "a web page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:aa", "a pointer"),
        (b"tjgg\3\0\0\0", "old GGML"),
        (b"PK\3\4", "PyTorch"),
        (struct.pack("<Q", 40) + b'{"__metadata__":{}}', "safetensors"),
        (b"\x1f\x8b\x08\0\0", "compressed"),
    ],
)
def test_what_people_take_for_a_model_is_called_by_its_name(tmp_path: Path, data: bytes, word: str) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(data)
    with pytest.raises(AssistantError, match="is no GGUF model file but .*" + word) as caught:
        read_gguf_info(path)
    assert caught.value.code == "model.not_gguf"


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(5, len(WHOLE) - 1))
def test_a_file_cut_anywhere_is_cut(tmp_path: Path, at: int) -> None:
    path = tmp_path / "cut.gguf"
    path.write_bytes(WHOLE[:at])
    assert code_of(path) == "model.cut"


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, len(WHOLE) - 1), st.binary(min_size=1, max_size=9))
def test_damage_is_an_error_in_words_or_no_harm(tmp_path: Path, at: int, damage: bytes) -> None:
    path = tmp_path / "damaged.gguf"
    path.write_bytes(WHOLE[:at] + damage + WHOLE[at + len(damage) :])
    try:
        read_gguf_info(path)
    except AssistantError as error:
        assert error.code.startswith("model.")


def test_the_real_model_cut_in_its_tensors_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "cut.gguf"
    with starter_model_path().open("rb") as whole:
        path.write_bytes(whole.read(60_000_000))
    assert code_of(path) == "model.cut"


def test_sizes_of_tensor_types_are_the_librarys_own() -> None:
    import ctypes

    from llama_cpp._ggml import libggml as library

    library.ggml_blck_size.restype = ctypes.c_int64
    library.ggml_type_size.restype = ctypes.c_size_t
    for kind, sizes in gguf._TYPES.items():
        assert (library.ggml_blck_size(kind), library.ggml_type_size(kind)) == sizes, kind


def test_what_the_memory_follows_from_is_read(tmp_path: Path) -> None:
    info = read_gguf_info(starter_model_path())
    assert (info.parameters, info.heads, info.feed_forward) == (134_515_008, 9, 1536)
    assert (info.cache_keys, info.cache_values, info.languages) == (30 * 3 * 64, 30 * 3 * 64, ("en",))
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf_bytes(chat_facts(**{"llama.attention.head_count_kv": [2, 0], "general.languages": ["zh"]})))
    info = read_gguf_info(path)
    assert (info.cache_keys, info.languages) == (2 * 16, ("zh",))


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300))
def test_any_bytes_are_a_model_or_an_error_in_words(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "any.gguf"
    for whole in (data, b"GGUF\3\0\0\0" + data, WHOLE[:24] + data):
        path.write_bytes(whole)
        try:
            read_gguf_info(path)
        except AssistantError as error:
            assert error.code.startswith("model.") and error.hint


@pytest.mark.parametrize(
    "head",
    [
        struct.pack("<QQ", 0, 2**63),  # so many pairs
        struct.pack("<QQ", 2**63, 0),  # so many tensors
        struct.pack("<QQ", 0, 1) + struct.pack("<Q", 2**62),  # a key as long as that
        struct.pack("<QQQ", 0, 1, 0) + struct.pack("<IIQ", 9, 8, 2**40),  # an array of so many strings
        struct.pack("<QQQ", 0, 1, 0) + struct.pack("<IIQ", 9, 9, 1) * 50,  # arrays in arrays
    ],
)
def test_a_header_that_promises_too_much_is_not_believed(tmp_path: Path, head: bytes) -> None:
    """The file is large enough for each promise to be tried; it has holes, and takes no room."""
    path = tmp_path / "huge.gguf"
    with path.open("wb") as file:
        file.write(b"GGUF" + struct.pack("<I", 3) + head)
        file.truncate(2**40)
    tracemalloc.start()
    try:
        assert code_of(path) == "model.cut"
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()
