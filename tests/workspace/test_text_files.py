"""Any file a person's editor left: read, and written back with nothing changed but what was added."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.errors import AssistantError
from assistant.workspace.text_files import (
    check_writable,
    decode,
    encode_added,
    encode_edit,
    exact_bytes,
    exact_text,
    read_text,
)

RUINED = st.lists(
    st.sampled_from([b"a", b"\n", b"\r\n", b"\xe9", b"\xc4\xe3", "你".encode(), b"\xef\xbb\xbf", b"|"])
).map(b"".join)


@pytest.mark.parametrize(
    ("raw", "encoding", "text"),
    [
        (b"", "utf-8", ""),
        ("naïve 你好".encode(), "utf-8", "naïve 你好"),
        (codecs.BOM_UTF8 + b"a\r\nb\r\n", "utf-8", "a\r\nb\r\n"),
        ("我喜欢喝茶，不喝咖啡。\n".encode("gbk"), "gb18030", "我喜欢喝茶，不喝咖啡。\n"),
        ("café crème, résumé\n".encode("latin-1"), "cp1252", "café crème, résumé\n"),
        (codecs.BOM_UTF16_LE + "memo\n".encode("utf-16-le"), "utf-16-le", "memo\n"),
        ("好的，明天见。".encode() + b"\xe9", "utf-8", "好的，明天见。\ufffd"),
    ],
)
def test_encodings_are_told_apart(raw, encoding, text):
    file = decode(raw)
    assert (file.encoding, file.text) == (encoding, text)
    assert exact_bytes(exact_text(file), file) == raw


@pytest.mark.parametrize("raw", [b"\0" * 5000, bytes(range(256)) * 20, b"\x81\x8d\x8f\x90\x9d" * 50])
def test_what_is_no_text_is_never_written(raw):
    file = decode(raw, "MEMORY.md")
    assert "MEMORY.md" in file.problem
    with pytest.raises(AssistantError) as refused:
        check_writable(file, "MEMORY.md")
    assert refused.value.code == "workspace.undecodable"


@given(st.binary(max_size=200) | RUINED)
def test_exact_text_gives_the_bytes_back(raw):
    file = decode(raw)
    if file.writable:
        assert exact_bytes(exact_text(file), file) == raw
        assert encode_edit(file.text, file) == raw
        assert encode_edit(file.text.replace("\r\n", "\n"), file) == raw


@given(RUINED, st.integers(0, 20), st.text(alphabet="xyz", max_size=5))
def test_an_edit_keeps_every_other_line(raw, where, new):
    file = decode(raw)
    if not file.writable:
        return
    shown = [line.removesuffix("\r") for line in file.text.split("\n")]
    at = min(where, len(shown))
    edited = encode_edit("\n".join([*shown[:at], f"new{new}", *shown[at:]]), file)
    kept = [line.removesuffix(b"\r") for line in edited.split(b"\n")]
    kept[0] = kept[0].removeprefix(codecs.BOM_UTF8 if file.bom else b"")
    body = raw[3:] if file.bom else raw
    assert kept[:at] + kept[at + 1 :] == [line.removesuffix(b"\r") for line in body.split(b"\n")]


def test_text_that_does_not_fit_the_encoding_is_refused():
    file = decode("café crème\n".encode("latin-1"))
    with pytest.raises(AssistantError) as refused:
        encode_added("记住", file)
    assert refused.value.code == "workspace.encoding"
    assert encode_added("été\n", file) == b"\xe9t\xe9\n"


def test_a_missing_file_is_empty(tmp_path):
    file = read_text(tmp_path / "no.md")
    assert (file.text, file.sha256, file.writable) == ("", "", True)
    (tmp_path / "no.md").touch()
    assert read_text(tmp_path / "no.md").sha256


def test_broken_utf_16_is_read_only():
    file = decode(codecs.BOM_UTF16_LE + "memo".encode("utf-16-le") + b"\x00", "x.md")
    assert not file.writable
    assert file.problem
