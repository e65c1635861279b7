"""The workspace as a whole: folders, identity, the day log, and what the doctor is told."""

from __future__ import annotations

import os
import shutil

import pytest

from assistant.core.errors import AssistantError
from assistant.workspace import layout
from assistant.workspace.identity import workspace_id
from assistant.workspace.ids import line_id


def test_folders_are_for_their_owner_only(ws):
    for folder in (ws.root, ws.root / "memory", ws.root / "chats", ws.data, ws.state):
        assert folder.stat().st_mode & 0o777 == 0o700
    assert sorted(p.name for p in ws.root.iterdir()) == ["chats", "memory"]


def test_what_a_killed_program_left_is_removed_in_time(make):
    ws = make()
    (ws.state / "pending").mkdir()
    old = [folder / ".~keepsake-1-a" for folder in (ws.root, ws.state, ws.state / "pending", ws.data)]
    new = ws.root / "memory" / ".~keepsake-2-b"
    for path in (*old, new):
        path.write_text("x")
    for path in old:
        os.utime(path, (0, 0))
    make()
    assert not any(path.exists() for path in old)
    assert new.exists()


def test_problems_name_the_file(ws):
    ws.memory.remember("fine")
    (ws.root / "MEMORY (conflict).md").write_text("x")
    (ws.root / "memory" / "bad.md").write_text("---\na: [\n---\n")
    (ws.root / "memory" / "zero.md").write_bytes(b"\0" * 100)
    assert [file for file, _ in ws.problems()] == ["MEMORY (conflict).md", "memory/bad.md", "memory/zero.md"]


def test_a_root_that_is_a_file_is_an_error_in_words(make, tmp_path):
    (tmp_path / "ws").write_text("x")
    with pytest.raises(AssistantError):
        make()


def test_the_day_log_is_one_line_a_turn(ws):
    ws.log.add(ws.clock(), 'My "trip"', "so we go\nby train, password: hunter2", tools=("search", "read"))
    ws.log.add(ws.clock(), "T", "x" * 1000, failed="no model")
    first, second = (ws.root / layout.log_file(ws.clock().date())).read_text().splitlines()
    assert first == (
        "- 15:30 · chat \"My 'trip'\" · so we go by train, password: «redacted 7 chars» · tools: search, read"
    )
    assert second.endswith("… · failed: no model")
    assert len(second) < 400


def test_the_log_of_0353_belongs_to_the_local_day(make):
    ws = make("2026-11-29T03:53:00+08:00")
    ws.log.add(ws.clock(), "T", "late")
    ws.memory.remember("late fact")
    assert layout.log_files(ws.root) == ["memory/log/2026-11-29.md"]
    assert (ws.root / "MEMORY.md").read_text().startswith("2026-11-29|")


def test_a_workspace_keeps_its_id_when_it_moves(tmp_path):
    data = tmp_path / "data"
    first, second = tmp_path / "one", tmp_path / "two"
    for root in (first, second):
        (root / "chats").mkdir(parents=True)
    ident = workspace_id(first, data)
    assert workspace_id(first, data) == ident
    assert workspace_id(second, data) != ident
    first.rename(tmp_path / "moved")
    assert workspace_id(tmp_path / "moved", data) == ident
    first.mkdir()
    assert workspace_id(first, data) != ident
    assert workspace_id(tmp_path / "moved", data) == ident


def test_a_copy_of_a_workspace_is_another_one(tmp_path):
    (tmp_path / "one" / "chats").mkdir(parents=True)
    ident = workspace_id(tmp_path / "one", tmp_path / "data")
    shutil.copytree(tmp_path / "one", tmp_path / "copy")
    assert workspace_id(tmp_path / "copy", tmp_path / "data") != ident


def test_a_broken_registry_is_an_error_in_words(tmp_path):
    (tmp_path / "workspaces.json").write_text("{")
    with pytest.raises(AssistantError) as failed:
        workspace_id(tmp_path, tmp_path)
    assert failed.value.code == "workspace.registry"


def test_ids_of_lines_do_not_mind_space_around_them():
    assert line_id("MEMORY.md", " a \r") == line_id("MEMORY.md", "a")
    assert line_id("MEMORY.md", "a") != line_id("memory/x.md", "a")
    assert line_id("MEMORY.md", "\ud800").startswith("MEMORY.md:")
    assert len(line_id("f", "x")) == len("f:") + 10
