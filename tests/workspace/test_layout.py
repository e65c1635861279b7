"""Names stay inside the workspace, and work on every system."""

from __future__ import annotations

from datetime import date

import pytest

from assistant.core.errors import AssistantError
from assistant.workspace import layout

GOOD = ["travel", "旅行", "हिन्दी", "_x", "2026 plans", "a.b-c", "x" * 200, "é", "console", "连续 测试"]
BAD = [
    *("", ".hidden", " x", "-x", "a/b", "a\\b", "..", "../x", "con", "NUL", "com1", "Aux.txt", "x" * 201, "旅" * 100),
    *("a\0b", "a\nb", "a:b", "a*b", "🐘", "a[1]", "archive", "lpt9", "con .x"),
]


@pytest.mark.parametrize("name", GOOD)
def test_good_names(tmp_path, name):
    file = layout.topic_file(name)
    assert layout.resolve(tmp_path, file) == tmp_path / "memory" / f"{name}.md"


@pytest.mark.parametrize("name", BAD)
def test_bad_names_are_refused_in_words(name):
    with pytest.raises(AssistantError) as refused:
        layout.topic_file(name)
    assert refused.value.code == "workspace.path"
    assert refused.value.message.endswith(".")


@pytest.mark.parametrize(
    "file",
    [
        *("/etc/passwd", "../../etc/passwd.md", "memory/../MEMORY.md", "memory/log/2026-02-30.md", "memory/log/x.md"),
        *(
            "memory.md",
            "chats/2026-11/x.md",
            "memory/x.txt",
            "memory//x.md",
            "MEMORY.md/x.md",
            "memory/con.md",
            "./MEMORY.md",
        ),
    ],
)
def test_other_files_cannot_be_named(tmp_path, file):
    for how in (layout.resolve, layout.resolve_existing):
        with pytest.raises(AssistantError) as refused:
            how(tmp_path, file)
        assert refused.value.code == "workspace.path"


def test_the_known_files_can_be_named(tmp_path):
    for file in (layout.MEMORY, layout.ARCHIVE, layout.log_file(date(2026, 11, 29))):
        assert layout.resolve(tmp_path, file) == tmp_path / file


def test_links_are_not_followed_out(tmp_path):
    root, outside = tmp_path / "ws", tmp_path / "outside"
    (root / "memory").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret.md").write_text("s")
    (root / "memory" / "x").symlink_to(outside)
    (root / "memory" / "y.md").symlink_to(outside / "secret.md")
    (root / "memory" / "z.md").symlink_to(root / "memory" / "real.md")
    (root / "memory" / "real.md").write_text("r")
    for file in ("memory/y.md", "memory/x/secret.md"):
        with pytest.raises(AssistantError):
            layout.resolve_existing(root, file)
    assert layout.resolve(root, "memory/z.md").read_text() == "r"
    assert layout.memory_files(root) == ["memory/real.md", "memory/z.md"]


def test_a_memory_folder_that_is_a_link_out_is_refused(tmp_path):
    root, outside = tmp_path / "ws", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / "memory").symlink_to(outside)
    with pytest.raises(AssistantError):
        layout.resolve(root, "memory/new.md")
    assert layout.memory_files(root) == []


def test_files_a_person_put_there_are_listed_and_can_be_read(tmp_path):
    (tmp_path / "memory" / "deep").mkdir(parents=True)
    (tmp_path / "memory" / "log").mkdir()
    for file in ("MEMORY.md", "memory/🐘.md", "memory/a[1].md", "memory/deep/b.md", "memory/archive.md"):
        (tmp_path / file).write_text("x")
    for hidden in ("memory/.hidden.md", "memory/.~keepsake-1.md", "memory/log/2026-11-29.md", "memory/x.txt"):
        (tmp_path / hidden).write_text("x")
    files = layout.memory_files(tmp_path)
    assert files == ["MEMORY.md", "memory/a[1].md", "memory/deep/b.md", "memory/🐘.md", "memory/archive.md"]
    assert all(layout.resolve_existing(tmp_path, file).read_text() == "x" for file in files)
    assert layout.log_files(tmp_path) == ["memory/log/2026-11-29.md"]


def test_conflict_copies_are_noticed(tmp_path):
    (tmp_path / "memory").mkdir()
    for file in ("MEMORY.md", "MEMORY (conflict).md", "memory/x.sync-conflict-20261129.md", "memory/ok.md"):
        (tmp_path / file).write_text("x")
    assert layout.conflict_copies(tmp_path) == ["MEMORY (conflict).md", "memory/x.sync-conflict-20261129.md"]
