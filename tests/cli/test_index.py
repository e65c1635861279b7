"""``keepsake index status``: what is indexed of each file, and what is not and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.cli.tables import shorten, table, width, wrap
from tests.cli.conftest import Keepsake


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    for folder in ("memory/log", "chats/2026-11"):
        (root / folder).mkdir(parents=True)
    (root / "MEMORY.md").write_text("2026-11-01|you|the kayak is red\n", encoding="utf-8")
    (root / "memory/茶 🐘.md").write_text("- 龙井\n- oolong\n", encoding="utf-8")
    (root / "memory/bad.md").write_bytes(b"\x00\x01\x02" * 5000)
    (root / "memory/MEMORY (conflict).md").write_text("- tea\n")
    (root / "memory/picture.png").write_bytes(b"x")
    (root / "memory/log/2026-11-01.md").write_text("- 10:00 · chat\n")
    (root / "stray.md").write_text("- tea\n")
    (root / "memory/link.md").symlink_to(root / "stray.md")
    turn = "## Conversation\n\n### 2026-11-01T10:00:00 · #1\n\n**User**:\n\n> secret tea\n\n**Assistant**:\n\n> Yes.\n"
    (root / "chats/2026-11/20261101_100000.md").write_text(
        f"# Chat: Tea\n\n## Metadata\n\n- **Private**: yes\n\n{turn}", encoding="utf-8"
    )
    return root


def test_each_file_is_told_with_its_state_and_the_reason(keepsake: Keepsake, workspace: Path) -> None:
    keepsake("index", "sync")
    value = keepsake("index", "status", "--json").json
    files = {file["path"]: file for file in value["per_file"]}
    assert set(files["MEMORY.md"]) == {"path", "kind", "units", "vectors", "state", "why", "fix"}
    assert {path: (file["kind"], file["units"], file["state"]) for path, file in files.items()} == {
        "MEMORY.md": ("memory", 1, "indexed"),
        "memory/茶 🐘.md": ("note", 2, "indexed"),
        "memory/bad.md": ("note", files["memory/bad.md"]["units"], files["memory/bad.md"]["state"]),
        "memory/MEMORY (conflict).md": ("file", 0, "ignored"),
        "memory/picture.png": ("file", 0, "ignored"),
        "memory/link.md": ("file", 0, "ignored"),
        "memory/log/": ("log", 0, "ignored"),
        "stray.md": ("file", 0, "ignored"),
        "chats/2026-11/20261101_100000.md": ("chat", 0, "private"),
    }
    assert "no text" in files["memory/bad.md"]["why"] and "UTF-8" in files["memory/bad.md"]["fix"]
    assert "link" in files["memory/link.md"]["why"] and "memory" in files["stray.md"]["fix"]
    assert value["meaning"]["state"] == "none"


def test_the_table_has_what_is_wrong_first_and_says_how_it_stands(keepsake: Keepsake, workspace: Path) -> None:
    keepsake("index", "sync")
    lines = keepsake("index", "status").out.splitlines()
    assert lines[0].split() == ["FILE", "KIND", "UNITS", "VECTORS", "STATE"]
    assert lines[1].startswith("memory/bad.md ")
    assert lines[2].strip().startswith("bad.md holds NUL bytes") and "UTF-8" in lines[3]
    assert "3 files" in lines[-2] or "4 files" in lines[-2]
    assert lines[-1] == "Meaning: there is no embedding model; search goes by words."
    assert "1 private" in "\n".join(lines)


def test_only_what_failed_and_only_some_files(keepsake: Keepsake, workspace: Path) -> None:
    keepsake("index", "sync")
    failed = keepsake("index", "status", "--failed", "--json").json["per_file"]
    assert [file["path"] for file in failed] == ["memory/bad.md"]
    some = keepsake("index", "status", "茶", "--json").json["per_file"]
    assert [file["path"] for file in some] == ["memory/茶 🐘.md"]
    assert "No file is like that." in keepsake("index", "status", "zzz").out


def test_many_files_that_are_fine_are_counted_not_listed(keepsake: Keepsake, workspace: Path) -> None:
    for n in range(60):
        (workspace / "memory" / f"note {n:02d}.md").write_text(f"- tea {n}\n")
    keepsake("index", "sync")
    shown = keepsake("index", "status").out
    assert len(shown.splitlines()) < 60 and "more that are as they should be" in shown
    assert len(keepsake("index", "status", "note").out.splitlines()) > 60


def test_a_new_file_is_said_to_be_new(keepsake: Keepsake, workspace: Path) -> None:
    keepsake("index", "sync")
    (workspace / "memory" / "new.md").write_text("- tea\n")
    (file,) = keepsake("index", "status", "new.md", "--json").json["per_file"]
    assert (file["state"], "not been read yet" in file["why"]) == ("partly", True)


def test_the_doctor_agrees(keepsake: Keepsake, workspace: Path) -> None:
    keepsake("index", "sync")
    checks = {check["name"]: check for check in keepsake("doctor", "--json").json["checks"]}
    assert not checks["index"]["ok"] and "memory/bad.md" in checks["index"]["detail"]
    assert checks["index"]["fix"] == "Run: keepsake index status --failed"
    (workspace / "memory/bad.md").unlink()
    keepsake("index", "sync")
    checks = {check["name"]: check for check in keepsake("doctor", "--json").json["checks"]}
    assert checks["index"]["ok"] and checks["watching"]["ok"]


def test_columns_are_as_wide_as_they_look() -> None:
    lines = table([("龙井", "1"), ("oolong", "23")], frozenset((1,)))
    assert [width(line) for line in lines] == [10, 10]
    assert shorten("龙井茶很好喝", 7) == "龙井茶…" and width(shorten("龙井茶很好喝", 7)) <= 7
    assert wrap("one two three", 8) == ["one two", "three"]
    assert all(width(line) <= 10 for line in wrap("龙井茶很好喝，泡三分钟。" * 5, 10))
    assert "".join(wrap("龙井茶很好喝，泡三分钟。" * 5, 10)) == "龙井茶很好喝，泡三分钟。" * 5
    assert wrap("a" * 30, 10, 2)[-1].endswith("…")
