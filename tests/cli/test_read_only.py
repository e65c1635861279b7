"""Where Keepsake may not write into its own folders: what only shows goes on and says why, what writes is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Keepsake

CHAT = "20261124_090000"
READING = [
    (["recall", "kayak"], "the kayak is red"),
    (["memory", "show"], "the kayak is red"),
    (["memory", "files"], "MEMORY.md"),
    (["memory", "budget"], "lines"),
    (["memory", "journal"], ""),
    (["chats", "list"], CHAT),
    (["chats", "show", CHAT], "the kayak leaks"),
    (["chats", "search", "kayak"], "the kayak leaks"),
    (["index", "status"], "MEMORY.md"),
    (["prompt", "where is my kayak?"], "the kayak is red"),
]
OF_THE_INDEX = (["recall", "kayak"], ["chats", "search", "kayak"], ["index", "status"])
WRITING = [["remember", "the tent is blue"], ["chats", "rename", CHAT, "Boats"], ["index", "sync"], ["memory", "tidy"]]


@pytest.fixture
def used(keepsake: Keepsake, tmp_path: Path) -> Keepsake:
    """There is a line of memory, a chat and an index of both."""
    chats = tmp_path / "ws" / "chats" / "2026-11"
    chats.mkdir(parents=True)
    lines = ["# Chat: Stand-up", "", "## Metadata", "", f"- **Session ID**: {CHAT}", "", "## Conversation", ""]
    lines += ["### 2026-11-24T10:00:00+01:00 · #1", "", "**User**:", "", "> the kayak leaks", ""]
    (chats / f"{CHAT}.md").write_text("\n".join([*lines, "**Assistant**:", "", "> Noted.", ""]))
    keepsake("remember", "the kayak is red")
    keepsake("index", "sync")
    return keepsake


@pytest.fixture
def closed(used: Keepsake, tmp_path: Path) -> Path:
    """What even root cannot write: folders stand where the lock of the registry and the log of the index should."""
    lock = tmp_path / "st" / "data" / "workspaces.lock"
    lock.unlink()
    lock.mkdir()
    (index,) = (tmp_path / "st").rglob("index.sqlite3")
    index.with_name("index.sqlite3-shm").symlink_to(tmp_path / "nowhere" / "at all")
    return tmp_path


def kept(folder: Path) -> dict[Path, bytes]:
    """The person's files, and ours that no one could make again."""
    paths = [*(folder / "ws").rglob("*"), *(folder / "st" / "data").rglob("*")]
    return {path: path.read_bytes() for path in paths if path.is_file()}


@pytest.mark.parametrize(("command", "shown"), READING)
def test_reading_goes_on_and_says_why_it_only_reads(
    used: Keepsake, closed: Path, command: list[str], shown: str
) -> None:
    before = kept(closed)
    result = used(*command)
    assert result.code == 0 and shown in result.out
    assert f"cannot write into its own folder {closed / 'st' / 'data'}" in result.err and "--state" in result.err
    assert kept(closed) == before


@pytest.mark.parametrize("command", WRITING)
def test_writing_is_one_error_that_names_the_folder(used: Keepsake, closed: Path, command: list[str]) -> None:
    before = kept(closed)
    result = used(*command)
    assert result.code == 1 and not result.out and len(result.err.splitlines()) == 1
    assert f"cannot write into its own folder {closed / 'st' / 'data'}" in result.err and "--state" in result.err
    assert kept(closed) == before


@pytest.mark.logs("search failed")
@pytest.mark.parametrize(("command", "shown"), READING)
def test_with_a_file_in_the_place_of_the_state_folder_all_but_the_index_can_be_read(
    used: Keepsake, tmp_path: Path, command: list[str], shown: str
) -> None:
    (tmp_path / "st").rename(tmp_path / "old")
    (tmp_path / "st").write_text("in the way")
    result = used(*command)
    assert f"cannot write into its own folder {tmp_path / 'st' / 'data'}" in result.err
    if command in OF_THE_INDEX:
        assert result.code == 1 and "index cannot be used" in result.err and not result.out
    else:
        assert result.code == 0 and shown in result.out
    assert (tmp_path / "st").read_text() == "in the way"


@pytest.mark.parametrize("below", ["data", "data/workspaces/*", "state/derived/*"])
def test_a_folder_that_takes_no_new_file_is_found_before_anything_is_half_done(
    used: Keepsake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, below: str
) -> None:
    """Its journal and locks may well take more, for whom it belongs to; to root it never says no."""
    (closed,) = (tmp_path / "st").glob(below)
    really = os.access
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != closed and really(path, mode))
    before = kept(tmp_path)
    result = used("remember", "the tent is blue")
    assert result.code == 1 and f"own folder {closed}: Permission denied" in result.err
    assert kept(tmp_path) == before
    shown = used("recall", "kayak")
    assert "the kayak is red" in shown.out and f"own folder {closed}" in shown.err


def test_the_doctor_names_the_folder(used: Keepsake, closed: Path) -> None:
    assert {c["name"]: c["ok"] for c in used("doctor", "--json").json["checks"]}["own folders"]
    (closed / "st").rename(closed / "old")
    (closed / "st").write_text("in the way")
    checks = {check["name"]: check for check in used("doctor", "--json").json["checks"]}
    assert not checks["own folders"]["ok"] and str(closed / "st") in checks["own folders"]["detail"]
    assert not checks["backup"]["ok"]


def test_nothing_is_made_of_a_workspace_that_is_not_there(keepsake: Keepsake, tmp_path: Path) -> None:
    (tmp_path / "st").write_text("in the way")
    result = keepsake("memory", "show")
    assert result.code == 1 and "There is no folder" in result.err
    assert not (tmp_path / "ws").exists()


def test_the_doctor_goes_on_past_a_damaged_list_of_models(used: Keepsake, tmp_path: Path) -> None:
    (tmp_path / "st" / "models").mkdir()
    (tmp_path / "st" / "models" / "models.json").write_text("{")
    checks = {check["name"]: check for check in used("doctor", "--json").json["checks"]}
    assert "models.json" in checks["models"]["detail"] and "history" in checks
