"""The parsers: whatever the bytes are nothing is raised, nothing well-formed is lost, what is left is named."""

from __future__ import annotations

import io
import json
import os
import stat
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from assistant.workspace.imports import json_stream, reading
from assistant.workspace.imports.chatgpt_tree import Tree
from assistant.workspace.imports.json_stream import CutOff, TooLarge, json_objects
from assistant.workspace.imports.systems import read_system, recognise
from assistant.workspace.imports.times import day_in, local_iso
from assistant.workspace.imports.values import REASONS, SYSTEMS, Found, FoundChat, FoundEntry, FoundFacts, Skipped
from tests import imported

_NAMES = (
    "mapping message author role content parts parent children content_type id timestamp tags create_time user "
    "current_node metadata _type key title weight"
).split()
_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(_NAMES),
            inner,
            max_size=6,
        )
    ),
    max_leaves=25,
)
_ANY_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)


def read(system: str, path: Path) -> list[Found]:
    found = list(read_system(system, path))
    assert all(each.reason in REASONS for each in found if isinstance(each, Skipped))
    return found


def said(found: list[Found]) -> str:
    return repr([each for each in found if not isinstance(each, Skipped)])


@pytest.mark.parametrize("system", SYSTEMS)
@_ANY_FOLDER
@given(data=st.binary(max_size=400), name=st.sampled_from(["conversations.json", "MEMORY.md", "a.jsonl", "x.zip"]))
def test_any_bytes_are_read_without_harm(tmp_path: Path, system: str, data: bytes, name: str) -> None:
    path = imported.write(tmp_path / "any" / name, data)
    read(system, path)
    read(system, path.parent)
    path.unlink()


@pytest.mark.parametrize("system", ["nanobot", "atoms", "chatgpt"])
@_ANY_FOLDER
@given(value=_JSON, lines=st.lists(_JSON, max_size=4))
def test_any_json_is_read_without_harm(tmp_path: Path, system: str, value: object, lines: list[object]) -> None:
    folder = tmp_path / "any"
    imported.write(folder / "conversations.json", json.dumps(value))
    imported.write(folder / "memory" / "history.jsonl", "\n".join(json.dumps(line) for line in lines))
    imported.write(folder / "sessions" / "s.jsonl", "\n".join(json.dumps(line) for line in lines))
    read(system, folder)


@_ANY_FOLDER
@given(others=st.lists(_JSON.map(json.dumps) | st.sampled_from(["{", "nope", "{]}", '{"a": 01}', '{"mapping": {}}'])))
def test_a_well_formed_conversation_is_never_lost_to_its_siblings(tmp_path: Path, others: list[str]) -> None:
    text = "[" + ",".join([json.dumps(imported.conversation()), *others]) + "]"
    found = read("chatgpt", imported.write(tmp_path / "conversations.json", text))
    assert next(chat.title for chat in found if isinstance(chat, FoundChat)) == "Lisbon in March"


@_ANY_FOLDER
@example(others=["\ud800", "\ud800"], at=0)
@given(
    others=st.lists(st.text(st.characters(exclude_characters="\n\r"), max_size=60), max_size=6), at=st.integers(0, 6)
)
def test_a_line_of_memory_is_never_lost_to_its_siblings(tmp_path: Path, others: list[str], at: int) -> None:
    lines = [*others[:at], "2026-02-15|web-chat|决定使用OpenWeatherMap；cache it", *others[at:]]
    path = imported.write(tmp_path / "MEMORY.md", "\n".join(lines).encode("utf-8", "surrogatepass"))
    found = read("countbot", path)
    if not any(isinstance(each, Skipped) and each.reason == "binary" for each in found):
        assert "决定使用OpenWeatherMap" in said(found)
        kept = "".join(each.text for each in found if isinstance(each, FoundFacts)).split("\n")
        elsewhere = [each for each in found if isinstance(each, FoundEntry | Skipped)]
        wanted = [line for line in lines if line.strip()]
        assert len(elsewhere) + len([line for line in kept if line.strip()]) >= len(wanted)


_GOOD = {"cursor": 7, "timestamp": "2026-04-03 00:02", "role": "user", "content": "the well-formed one"}
_ROWS = st.lists(_JSON.map(json.dumps) | st.text(st.characters(exclude_characters="\n\r"), max_size=40), max_size=5)


@pytest.mark.parametrize(
    ("system", "file"), [("nanobot", "memory/history.jsonl"), ("nanobot", "sessions/s.jsonl"), ("atoms", "a.jsonl")]
)
@_ANY_FOLDER
@given(rows=_ROWS, at=st.integers(0, 5))
def test_a_row_is_never_lost_to_its_siblings(tmp_path: Path, system: str, file: str, rows: list[str], at: int) -> None:
    good = {key: value for key, value in _GOOD.items() if system == "nanobot" or key != "role"}
    text = "\n".join([*rows[:at], json.dumps(good), *rows[at:]])
    root = tmp_path / "any"
    imported.write(root / file, text.encode("utf-8", "surrogatepass"))
    assert "the well-formed one" in said(read(system, root))


@_ANY_FOLDER
@given(others=st.dictionaries(st.sampled_from(["b", "c", "d"]), st.binary(max_size=80)))
def test_an_atom_is_never_lost_to_the_files_beside_it(tmp_path: Path, others: dict[str, bytes]) -> None:
    root = tmp_path / "any"
    for name, data in others.items():
        imported.write(root / f"{name}.json", data)
    imported.write(root / "2026" / "a.json", json.dumps({"content": "the well-formed one", "timestamp": 1_771_200_000}))
    assert "the well-formed one" in said(read("atoms", root))


@_ANY_FOLDER
@given(
    others=st.lists(st.text(st.characters(exclude_characters="\n\r"), max_size=60), max_size=6), at=st.integers(0, 6)
)
def test_a_bullet_is_never_lost_to_its_siblings(tmp_path: Path, others: list[str], at: int) -> None:
    good = '- 2026-09-10 · from chat "Follow-up" · the well-formed one'
    text = "\n".join([*others[:at], good, *others[at:]])
    root = tmp_path / "any"
    imported.write(root / "MEMORY.md", text.encode("utf-8", "surrogatepass"))
    found = read("openmausbot", root)
    if not any(isinstance(each, Skipped) and each.reason == "binary" for each in found):
        assert "the well-formed one" in said(found)


@given(
    objects=st.lists(st.dictionaries(st.text(max_size=6), _JSON, max_size=3), max_size=4),
    size=st.integers(1, 40),
    before=st.sampled_from(["[", '{"a": 1} ', "", "x ] } "]),
)
def test_objects_come_whole_whatever_the_chunks(objects: list[dict[str, Any]], size: int, before: str) -> None:
    text = before + ", ".join(json.dumps(each) for each in objects) + "]"

    class Slow(io.BytesIO):
        def read(self, _: int | None = -1, /) -> bytes:
            return super().read(size)

    # NaN is no JSON of ours to compare, so the texts are.
    got = [each for each in json_objects(Slow(text.encode())) if isinstance(each, bytes)]
    wanted = [json.dumps(each).encode() for each in objects]
    assert got[len(got) - len(wanted) :] == wanted


def test_a_long_object_is_passed_over_and_the_next_one_is_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "MOST_OBJECT", 1000)
    monkeypatch.setattr(json_stream, "_CHUNK", 64)
    text = json.dumps([{"a": '\\"{' * 5000}, {"b": 1}]) + '{"c": "cut'
    got = list(json_objects(io.BytesIO(text.encode())))
    assert isinstance(got[0], TooLarge) and got[1] == b'{"b": 1}' and isinstance(got[2], CutOff)


_LINKS = st.none() | st.sampled_from("abcdefx") | st.lists(st.sampled_from("abcdefx"))


@given(st.dictionaries(st.sampled_from("abcdef"), st.dictionaries(st.sampled_from(["parent", "children"]), _LINKS)))
def test_any_tree_keeps_every_message(links: dict[str, dict[str, Any]]) -> None:
    mapping = {key: {**node, "message": imported.message("user", f"<{key}>")} for key, node in links.items()}
    turns = list(Tree(mapping, "a", "2026-01-01T00:00:00+00:00").turns())
    assert sorted(turn.user for turn in turns) == sorted(f"<{key}>" for key in links)
    assert all(turn.after is None or turn.after < at for at, turn in enumerate(turns))


def test_a_very_deep_conversation_is_read() -> None:
    mapping = {
        str(n): imported.node(str(n), str(n - 1) if n else None, imported.message("user", str(n)), str(n + 1))
        for n in range(20_000)
    }
    assert len(list(Tree(mapping, "19999", "").turns())) == 20_000


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"content_type": "text", "parts": ["a", "", "b"]}, "a\n\nb"),
        ({"content_type": "code", "language": "python", "text": "x = 1"}, "```python\nx = 1\n```"),
        ({"content_type": "multimodal_text", "parts": [{"content_type": "audio_transcription", "text": "hi"}]}, "hi"),
        ({"content_type": "multimodal_text", "parts": [{"content_type": "audio_asset_pointer"}, "b"]}, "[sound]\n\nb"),
        ({"content_type": "multimodal_text", "parts": [{"content_type": "new_kind"}]}, "[new_kind]"),
        ({"content_type": "thoughts", "thoughts": []}, None),
        ({"content_type": "user_editable_context", "user_profile": "x"}, None),
        ({"content_type": "text", "parts": None}, None),
        ("text", None),
    ],
)
def test_kinds_of_content(content: object, words: str | None) -> None:
    mapping = {"a": imported.node("a", None, {"author": {"role": "assistant"}, "content": content})}
    turns = list(Tree(mapping, "a", "2026-01-01T00:00:00+00:00").turns())
    assert [turn.reply for turn in turns] == ([] if words is None else [words])


def test_files_are_named_and_marks_of_pages_are_not_kept() -> None:
    files = [{"name": "plan.pdf"}, {"name": "x.png", "mime_type": "image/png"}, {}, 7]
    said = imported.message("user", "Read \ue200cite\ue202turn0search1\ue201this", metadata={"attachments": files})
    turns = list(Tree({"a": imported.node("a", None, said)}, "a", "").turns())
    assert turns[0].user == "Read this\n\n[plan.pdf]"


@pytest.mark.parametrize(
    ("value", "starts"),
    [
        (1_709_654_400, "2024-03-05"),
        (1_709_654_400_000, "2024-03-05"),
        ("2026-03-04T08:00:01.5", "2026-03-04T08:00:01"),
        ("2026-04-03 00:02", "2026-04-03T00:02:00"),
        (float("nan"), ""), (float("inf"), ""), (10**400, ""), (-5, ""), (True, ""), (None, ""), ("soon", ""),
        ("0001-01-01T00:00:00+14:00", ""), ("9999-12-31T23:59:59-14:00", ""), ({}, ""),
    ],
)  # fmt: skip
def test_times(value: object, starts: str) -> None:
    assert local_iso(value).startswith(starts) and bool(local_iso(value)) == bool(starts)


def test_days_in_names() -> None:
    assert str(day_in("2026/02/15/a.json")) == "2026-02-15"
    assert str(day_in("notes-20260215")) == "2026-02-15"
    assert day_in("2026-02-30") is None and day_in("x") is None


# --- hostile folders ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", SYSTEMS)
def test_links_and_devices_are_named_and_not_followed(tmp_path: Path, system: str) -> None:
    outside = imported.write(tmp_path / "outside" / "secret.md", "2026-01-01|x|outside the folder\n")
    imported.write(tmp_path / "outside" / "conversations.json", json.dumps([imported.conversation("outside")]))
    root = tmp_path / "bot"
    (root / "memory").mkdir(parents=True)
    for name in ("MEMORY.md", "memory/MEMORY.md", "a.jsonl", "a.json", "conversations.json"):
        (root / name).symlink_to(outside)
    (root / "linked").symlink_to(outside.parent)
    (root / "again").symlink_to(root)
    os.mkfifo(root / "pipe.md")
    os.mkfifo(root / "pipe.json")
    found = read(system, root)
    assert "outside" not in said(found)
    assert {each.reason for each in found if isinstance(each, Skipped)} >= {"link"}
    assert not any(stat.S_ISLNK(path.lstat().st_mode) for path in outside.parent.iterdir())


def test_a_bomb_and_a_broken_archive(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", b"[" + b" " * 30_000_000 + b"]")
    assert [each.reason for each in read("chatgpt", bomb) if isinstance(each, Skipped)] == ["packed"]
    whole = imported.chatgpt_zip(tmp_path / "whole.zip").read_bytes()
    for cut in (len(whole) // 3, len(whole) - 30):
        assert read("chatgpt", imported.write(tmp_path / "cut.zip", whole[:cut]))
    flipped = bytearray(whole)
    flipped[60] ^= 0xFF
    assert read("chatgpt", imported.write(tmp_path / "flipped.zip", bytes(flipped)))


def test_odd_encodings_and_endings(tmp_path: Path) -> None:
    text = "2026-02-15|web-chat|用户偏好Python而非Java；常用Flask框架\r\n"
    for raw in (text.encode("gb18030"), b"\xef\xbb\xbf" + text.encode(), text.encode("utf-16"), text.encode()[:-1]):
        found = read("countbot", imported.write(tmp_path / "MEMORY.md", raw))
        assert found == [
            FoundEntry(found[0].day, "web-chat", ("用户偏好Python而非Java", "常用Flask框架"), "MEMORY.md:1")
        ]  # type: ignore[union-attr]
    assert [each.reason for each in read("countbot", imported.write(tmp_path / "MEMORY.md", b"\0" * 65_536))] == [
        "binary"
    ]  # type: ignore[union-attr]


def test_a_long_line_is_named_and_the_next_one_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_LINE", 500)
    good = {"cursor": 1, "timestamp": "2026-01-02 10:00", "content": "kept"}
    path = imported.write(tmp_path / "history.jsonl", imported.lines({"content": "x" * 5000}, good))
    found = read("nanobot", path)
    assert [each.reason for each in found if isinstance(each, Skipped)] == ["large"]
    assert "kept" in said(found)


def test_a_file_that_is_too_large_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_TEXT", 10)
    assert read("countbot", imported.write(tmp_path / "MEMORY.md", "x" * 11)) == [Skipped("large", "MEMORY.md")]


@pytest.mark.parametrize(("system", "make"), [(name, getattr(imported, name)) for name in SYSTEMS])
def test_samples_are_recognised(tmp_path: Path, system: str, make: Callable[[Path], Path]) -> None:
    path = make(tmp_path / ("conversations.json" if system == "chatgpt" else "bot"))
    assert recognise(path) == system
    assert said(read(system, path)) != "[]"


def test_a_folder_of_sessions_in_markdown_is_nanobots(tmp_path: Path) -> None:
    imported.write(tmp_path / "session_1.md", imported.CHINESE_SESSION)
    assert recognise(tmp_path) == "nanobot"


def test_parsers_are_lazy(tmp_path: Path) -> None:
    found: Iterator[Found] = read_system("chatgpt", imported.chatgpt(tmp_path / "conversations.json"))
    assert isinstance(next(found), Skipped)
