"""The inside of a backup: what is written comes back, and nothing that is read can do harm."""

from __future__ import annotations

import contextlib
import gzip
import io
import tarfile

from hypothesis import given
from hypothesis import strategies as st

from assistant.core.errors import AssistantError
from assistant.workspace.backup_tar import read_tar, write_contents

PART = st.text(st.characters(blacklist_characters="/\\\0", blacklist_categories=("Cs",)), min_size=1, max_size=80)
PART = PART.filter(lambda part: part not in (".", "..") and len(part.encode()) < 250)
NAMES = st.builds(
    lambda top, parts: "/".join([top, *parts]),
    st.sampled_from(["workspace", "data"]),
    st.lists(PART, min_size=1, max_size=4),
)
FILES = st.dictionaries(NAMES, st.binary(max_size=2000), max_size=8)


def packed(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    write_contents(stream, [(name, data, 0o600) for name, data in files.items()], "ws", "now", "1")
    return stream.getvalue()


@given(FILES)
def test_any_names_and_bytes_come_back_and_tar_itself_reads_them(files: dict[str, bytes]) -> None:
    raw, found = packed(files), dict[str, bytes]()
    manifest = read_tar(io.BytesIO(raw), lambda name, _, data: found.update({name: data}))
    assert found == files and manifest.files.keys() == files.keys()
    with tarfile.open(fileobj=io.BytesIO(raw), mode="r:gz") as tar:
        assert set(tar.getnames()) == {*files, "README.txt", "manifest.json"}


@given(st.binary(max_size=3000), st.booleans())
def test_any_bytes_are_refused_in_words(data: bytes, zipped: bool) -> None:
    try:
        read_tar(io.BytesIO(gzip.compress(data) if zipped else data), lambda *_: None)
        raise AssertionError("that is no backup")
    except AssistantError as error:
        assert error.code.startswith("backup.")


@given(st.data())
def test_a_byte_changed_inside_is_found_or_matters_not(data: st.DataObject) -> None:
    files = {"workspace/MEMORY.md": b"tea\n" * 100, "workspace/" + "x" * 120: b"long name"}
    plain = bytearray(gzip.decompress(packed(files)))
    at = data.draw(st.integers(0, len(plain) - 1))
    plain[at] = data.draw(st.integers(0, 255))
    found = dict[str, bytes]()
    with contextlib.suppress(AssistantError):
        read_tar(io.BytesIO(gzip.compress(bytes(plain), 1)), lambda name, _, raw: found.update({name: raw}))
        assert found == files
