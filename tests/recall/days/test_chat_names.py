"""A chat is meant by what it is called, or by how it began."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant.recall.days.chat_names import named_chats
from assistant.recall.search import Recall
from tests.recall.helpers import SmallWorkspace, found


@pytest.fixture
def connection(workspace: SmallWorkspace, by_words: Recall, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    workspace.chat("20261101_100000", ("Shall we begin?", "Yes."), ("Lisbon is far", "It is."), title="Stand-up")
    workspace.chat("20261102_100000", ("Hotels?", "Two."), ("And a tram", "Line 28."), title="Trip to Lisbon")
    workspace.chat("20261103_100000", ("Help me pick a violin bow", "Sure."), ("Carbon?", "Light."))
    workspace.chat("20261104_100000", ("今天站会聊什么", "好。"), title="周一站会")
    workspace.remember("2026-11-05|you|Lisbon has many trams")
    assert found(by_words, "tram")
    (index,) = tmp_path.rglob("index.sqlite3")
    with contextlib.closing(sqlite3.connect(index, isolation_level=None)) as connection:
        yield connection


@pytest.mark.parametrize(
    ("name", "chats"),
    [
        ("stand-up", ["20261101_100000"]),
        ("the trip to lisbon", ["20261102_100000"]),
        ("lisbon", ["20261102_100000"]),
        ("violin bow", ["20261103_100000"]),
        ("站会", ["20261104_100000"]),
        ("tram", []),
        ("moon landing", []),
        ("", []),
        ("the", []),
    ],
)
def test_a_chat_is_found_by_its_name(connection: sqlite3.Connection, name: str, chats: list[str]) -> None:
    assert named_chats(connection, name) == chats
