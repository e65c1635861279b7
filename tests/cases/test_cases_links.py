"""CASES 29, 30: links out of the workspace and conflict copies, through every door of memory, chats and assistants."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel

from assistant.ui.errors import ErrorDialog
from tests import imported
from tests.cases.conftest import Keepsake, OpenHouse

WORD = "zorblax"
CHAT = (
    "# Chat: Trip\n\n## Metadata\n\n- **Session ID**: {id}\n- **Created**: 2026-11-03T15:30:22+08:00\n\n"
    f"## Conversation\n\n### 2026-11-03T15:30:25+08:00 · #1\n\n**User**:\n\n> {WORD} hotel\n"
)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder that is none of ours, with things in it that look like ours."""
    folder = tmp_path / "outside"
    (folder / "log").mkdir(parents=True)
    (folder / "plans.md").write_text(f"{WORD} is outside\n")
    (folder / "MEMORY.md").write_text(f"{WORD} is outside\n")
    (folder / "log" / "2026-11-01.md").write_text(f'- 10:00 · chat "Trip" · {WORD}\n')
    (folder / "20261103_153022.md").write_text(CHAT.format(id="20261103_153022"))
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def broken(keepsake: Keepsake) -> set[str]:
    """What the doctor names."""
    checks = keepsake("--json", "doctor").json["checks"]
    return {check["name"].removeprefix("file ") for check in checks if not check["ok"]}


DOORS = [
    ("memory", "show", "memory/y.md"),
    ("memory", "show", "memory/x/plans.md"),
    ("memory", "write", "memory/y.md"),
    ("memory", "write", "memory/x/new.md"),
    ("memory", "new", "y"),
    ("memory", "rename", "y", "z"),
    ("memory", "rename", "memory/x/plans.md", "z"),
    ("memory", "rename", "real", "y"),
    ("memory", "delete", "y"),
    ("memory", "delete", "memory/x/plans.md"),
    ("memory", "link", "plans"),
    ("remember", "a plan", "--topic", "y"),
    ("forget", WORD, "--yes"),
    ("chats", "show", "20261103_153022"),
    ("chats", "rename", "20261103_153022", "Mine now"),
    ("chats", "delete", "20261103_153022"),
    ("--assistant", "Anna", "memory", "show"),
    ("assistants", "rename", "Anna", "Ben"),
    ("assistants", "delete", "Anna", "--yes"),
    ("assistants", "prompt", "Anna", "a pirate"),
]


def test_no_door_leads_out_through_a_link(keepsake: Keepsake, tmp_path: Path, outside: Path) -> None:
    """Case 29: files, lines, chats, day logs, assistants; and the doctor names every link."""
    keepsake("memory", "new", "real")
    ws = tmp_path / "ws"
    month = ws / "chats" / "2026-11"
    month.mkdir(parents=True)
    (ws / "assistants").mkdir()
    links = {
        "memory/x": outside,
        "memory/y.md": outside / "plans.md",
        "memory/log": outside / "log",
        "chats/2026-11/20261103_153022.md": outside / "20261103_153022.md",
        "chats/2026-10": outside,
        "assistants/Anna": outside,
    }
    for name, target in links.items():
        (ws / name).symlink_to(target)
    before = contents(outside)
    for words in DOORS:
        done = keepsake(*words, stdin="written through it")
        assert (done.code, done.err.count("\n")) == (1, 1), (words, done.err)
        assert WORD not in done.out, words
    for words in (
        ("memory", "files"),
        ("memory", "timeline"),
        ("memory", "tidy", "--apply"),
        ("memory", "conflicts"),
        ("chats", "list"),
        ("recall", WORD),
        ("prompt", "which plans?"),
        ("assistants", "list"),
    ):
        assert WORD not in keepsake("--json", *words).out.replace(f'"{WORD}"', ""), words
    assert keepsake("--json", "chats", "list").json["chats"] == []
    assert set(links) <= broken(keepsake)
    assert contents(outside) == before


@pytest.mark.parametrize("name", ["MEMORY.md", "memory", "chats"])
def test_what_is_itself_a_link_out_is_refused_by_name_and_the_rest_goes_on(
    keepsake: Keepsake, tmp_path: Path, outside: Path, name: str
) -> None:
    """Case 29: a whole folder, or MEMORY.md itself."""
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / name).symlink_to(outside / ("MEMORY.md" if name == "MEMORY.md" else ""))
    before = contents(outside)
    assert keepsake("--json", "recall", WORD).json["hits"] == []
    assert keepsake("--json", "chats", "list").json["chats"] == []
    assert keepsake("--json", "memory", "files").json["files"] == []
    assert name in broken(keepsake)
    topic = keepsake("remember", "tea", "--topic", "Drinks")
    assert topic.code == (name == "memory")
    assert contents(outside) == before


def test_a_chat_does_not_begin_in_a_folder_that_leads_out(scripted: OpenHouse, tmp_path: Path, outside: Path) -> None:
    """Case 29: the words stay in the composer, and are nowhere outside."""
    house = scripted()
    house.services.workspace.chats.create("first")
    (tmp_path / "ws" / "chats").rename(tmp_path / "moved")
    (tmp_path / "ws" / "chats").symlink_to(outside)
    before = contents(outside)
    house.write("a quiet word")
    house.wait(lambda: house.window.findChild(ErrorDialog))
    house.wait(lambda: house.window.page.composer.text() == "a quiet word")
    dialog = house.window.findChild(ErrorDialog)
    assert dialog is not None
    assert "leads out of the workspace" in " ".join(label.text() for label in dialog.findChildren(QLabel))
    dialog.accept()
    assert contents(outside) == before


def test_a_day_log_that_leads_out_costs_the_diary_alone(scripted: OpenHouse, tmp_path: Path, outside: Path) -> None:
    """Case 29: the turn is answered and kept, the chat can be deleted, and nothing is written out there."""
    (tmp_path / "ws" / "memory").mkdir(parents=True)
    (tmp_path / "ws" / "memory" / "log").symlink_to(outside / "log")
    before = contents(outside)
    house = scripted()
    chat = house.say("hello").chat
    assert [(turn.user, turn.reply) for turn in house.turns(chat)] == [("hello", "Fine.")]
    house.services.deletion.purge(chat)
    assert house.services.list_chats() == []
    assert contents(outside) == before


def test_a_file_in_the_place_of_a_folder_is_named_and_the_rest_goes_on(keepsake: Keepsake, tmp_path: Path) -> None:
    ws = tmp_path / "ws"
    ws.mkdir()
    for name in ("memory", "chats", "assistants"):
        (ws / name).write_text("a file of the person's")
    assert keepsake("remember", "likes tea").code == 0
    assert keepsake("--json", "recall", "tea").json["hits"]
    assert keepsake("--json", "chats", "list").json["chats"] == []
    for words in (("memory", "new", "x"), ("remember", "x", "--topic", "y"), ("assistants", "add", "x")):
        failed = keepsake(*words)
        assert (failed.code, failed.err.count("\n")) == (1, 1), words
    assert {"memory", "chats", "assistants"} <= broken(keepsake)
    assert {(ws / name).read_text() for name in ("memory", "chats", "assistants")} == {"a file of the person's"}


def test_a_folder_in_the_place_of_memory_is_named(keepsake: Keepsake, tmp_path: Path) -> None:
    (tmp_path / "ws" / "MEMORY.md").mkdir(parents=True)
    assert keepsake("remember", "likes tea").code == 1
    assert "MEMORY.md" in broken(keepsake)


COPIES = [
    "MEMORY (conflict).md",
    "memory/Tea (Mei's conflicted copy 2026-11-30).md",
    "memory/Tea.sync-conflict-20261130-101010-ABCDEFG.md",
    "memory/Tea (SFConflict mei@example.org 2026-11-30).md",
    "memory/Tea_conflict-20261130-101010.md",
    "memory/Tea（冲突副本）.md",
    "chats/2026-11/20261103_153022 (Mei's conflicted copy).md",
]


def test_copies_of_a_conflict_are_named_and_never_told(keepsake: Keepsake, tmp_path: Path) -> None:
    """Case 30: they are another state of a file that is there. A note about a conflict is a note."""
    keepsake("remember", "tea is oolong", "--topic", "Tea")
    keepsake("remember", f"the {WORD} conflict of 1848", "--topic", "Conflict resolution")
    for name in COPIES:
        path = tmp_path / "ws" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CHAT.format(id=path.stem) if "chats" in name else f"tea is {WORD}\n")
    assert set(COPIES) <= broken(keepsake)
    assert "memory/Conflict resolution.md" not in broken(keepsake)
    hits = keepsake("--json", "recall", WORD).json["hits"]
    assert [hit["file"] for hit in hits] == ["memory/Conflict resolution.md"]
    assert keepsake("--json", "memory", "conflicts").json == {"conflicts": [], "same": []}


def test_what_is_forgotten_goes_from_copies_of_a_conflict_too(keepsake: Keepsake, tmp_path: Path) -> None:
    """Cases 8 and 30: none of them keeps what memory was told to forget."""
    keepsake("remember", f"my secret is {WORD}")
    for name in COPIES:
        path = tmp_path / "ws" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CHAT.format(id=path.stem) if "chats" in name else f"my secret is {WORD}\nkept\n")
    done = keepsake("--json", "forget", WORD, "--yes")
    assert [place for place in done.json["searched"] if place["remaining"]] == []
    assert [path for path in tmp_path.rglob("*") if path.is_file() and WORD.encode() in path.read_bytes()] == []
    assert "kept" in (tmp_path / "ws" / COPIES[0]).read_text()


@pytest.mark.parametrize("system", ["openmausbot", "nanobot", "atoms"])
def test_an_import_follows_no_link_out_and_gives_no_impossible_name(
    keepsake: Keepsake, tmp_path: Path, outside: Path, system: str
) -> None:
    """Case 29: what is skipped is named; a note that no name of ours can bear comes under another."""
    source = tmp_path / "source"
    given = getattr(imported, system)(source)
    notes = source / "memory" if (source / "memory").is_dir() else source
    (notes / "x.md").symlink_to(outside / "plans.md")
    (notes / "y").symlink_to(outside)
    (notes / "con.md").write_text("- a device\n")
    (notes / f"{'n' * 230}.md").write_text("- long\n")
    report = keepsake("--json", "import", system, str(given))
    assert report.code == 0
    skipped = {name for group in report.json["skipped"] for name in group["examples"] if group["reason"] == "link"}
    assert {Path(name).name for name in skipped} == {"x.md", "y"}
    files = [path for path in (tmp_path / "ws").rglob("*") if path.is_file()]
    assert not any(WORD.encode() in path.read_bytes() for path in files)
    assert not any(path.name == "con.md" or len(path.name) > 204 for path in files)


def test_a_backup_names_a_link_out_and_takes_nothing_from_behind_it(
    keepsake: Keepsake, tmp_path: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 29."""
    monkeypatch.setenv("KEEPSAKE_PASSPHRASE", "four words are enough")
    keepsake("remember", "likes tea")
    (tmp_path / "ws" / "memory" / "y.md").symlink_to(outside / "plans.md")
    made = keepsake("--json", "backup", str(tmp_path / "b.age"), "--passphrase").json
    assert made["skipped"] == ["workspace/memory/y.md"]
    assert keepsake("restore", str(tmp_path / "b.age"), "--workspace", str(tmp_path / "again")).code == 0
    assert (tmp_path / "again" / "MEMORY.md").read_text().endswith("likes tea\n")
    assert not (tmp_path / "again" / "memory" / "y.md").exists()


def test_a_day_log_of_no_day_keeps_no_chat_from_being_deleted(keepsake: Keepsake, tmp_path: Path) -> None:
    """Cases 8 and 23: the doctor names what no day log can be called; it stays as it is."""
    month, logs = tmp_path / "ws" / "chats" / "2026-11", tmp_path / "ws" / "memory" / "log"
    month.mkdir(parents=True)
    logs.mkdir(parents=True)
    (month / "20261103_153022.md").write_text(CHAT.format(id="20261103_153022"))
    for name in ("2026-13-45.md", "hello.md"):
        (logs / name).write_text("by hand\n")
    assert {"memory/log/2026-13-45.md", "memory/log/hello.md"} <= broken(keepsake)
    deleted = keepsake("chats", "delete", "20261103_153022")
    assert (deleted.code, deleted.err) == (0, "")
    assert keepsake("forget", "hand", "--yes").code in (0, 1)
    assert not (month / "20261103_153022.md").exists()


def test_the_doctor_names_folders_that_are_no_assistants(keepsake: Keepsake, tmp_path: Path) -> None:
    keepsake("assistants", "add", "Anna")
    for name in ("con", ".hidden"):
        (tmp_path / "ws" / "assistants" / name).mkdir()
    (tmp_path / "ws" / "assistants" / "note.md").write_text("x")
    named = {name for name in broken(keepsake) if name.startswith("assistants/")}
    assert named == {"assistants/con", "assistants/note.md"}
