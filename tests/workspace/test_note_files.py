"""Notes as whole files: links resolve, a rename keeps what is in them, and both ways are one entry of the journal."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.clock import fixed_clock
from assistant.core.errors import AssistantError
from assistant.workspace.links import link_target, resolve_link
from assistant.workspace.note_files import delete_note, rename_note, with_alias
from assistant.workspace.notes import parse_note
from assistant.workspace.workspace import Workspace

NOW = datetime.fromisoformat("2026-11-29T15:30:00+01:00")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made = Workspace(tmp_path / "ws", tmp_path / "data", tmp_path / "state", fixed_clock(NOW))
    made.prepare()
    return made


def put(workspace: Workspace, name: str, text: str) -> Path:
    path = workspace.root / "memory" / f"{name}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(
    ("target", "file"),
    [
        ("Travel", "memory/Travel.md"),
        ("travel.md", "memory/Travel.md"),
        ("Hotels of the world", "memory/hotels.md"),
        ("Pensions", "memory/hotels.md"),
        ("MEMORY", "MEMORY.md"),
        ("2026-11-20", "memory/log/2026-11-20.md"),
        ("archive", "memory/archive.md"),
        ("家庭", "memory/家庭.md"),
        ("nothing", None),
        ("", None),
        ("../../etc/passwd", None),
    ],
)
def test_links_lead_by_name_title_or_alias(workspace: Workspace, target: str, file: str | None) -> None:
    put(workspace, "Travel", "hotels")
    put(workspace, "hotels", "---\naliases: [Pensions, Travel]\n---\n# Hotels of the world\n")
    put(workspace, "archive", "old")
    put(workspace, "家庭", "x")
    put(workspace, "log/2026-11-20", "- 10:00\n")
    (workspace.root / "MEMORY.md").write_text("x")
    assert resolve_link(workspace.root, target) == file


def test_what_a_link_names() -> None:
    assert [link_target(inner) for inner in ("A", "A#B", "A|shown", " A #B|c")] == ["A"] * 4


def test_a_renamed_note_is_the_same_note_and_comes_back(workspace: Workspace) -> None:
    old = put(workspace, "Travel", "# Journeys\r\nhotels\r\n")
    workspace.memory.note_disk_changes()
    ident = rename_note(workspace.memory, "memory/Travel.md", "Trips", keep_links=False)
    assert not old.exists()
    assert (workspace.root / "memory" / "Trips.md").read_bytes() == b"# Journeys\r\nhotels\r\n"
    workspace.memory.undo(ident)
    assert old.read_bytes() == b"# Journeys\r\nhotels\r\n"
    assert not (workspace.root / "memory" / "Trips.md").exists()


def test_links_to_the_old_name_keep_working(workspace: Workspace) -> None:
    put(workspace, "Travel", "hotels\n")
    rename_note(workspace.memory, "memory/Travel.md", "memory/Trips.md", keep_links=True)
    assert resolve_link(workspace.root, "Travel") == "memory/Trips.md"
    text = (workspace.root / "memory" / "Trips.md").read_text()
    assert text == '---\naliases: ["Travel"]\n---\n\nhotels\n'


def test_a_note_whose_title_says_the_old_name_is_not_touched(workspace: Workspace) -> None:
    put(workspace, "Travel", "# Travel\n\nhotels\n")
    rename_note(workspace.memory, "memory/Travel.md", "Trips", keep_links=True)
    assert (workspace.root / "memory" / "Trips.md").read_text() == "# Travel\n\nhotels\n"
    assert resolve_link(workspace.root, "Travel") == "memory/Trips.md"


def test_a_deleted_note_comes_back(workspace: Workspace) -> None:
    path = put(workspace, "Travel", "hotels\n")
    ident = delete_note(workspace.memory, "memory/Travel.md")
    assert not path.exists()
    workspace.memory.undo(ident)
    assert path.read_text() == "hotels\n"


@pytest.mark.parametrize("file", ["MEMORY.md", "memory/archive.md", "memory/log/2026-11-20.md", "memory/none.md"])
def test_only_notes_that_are_there_are_renamed_and_deleted(workspace: Workspace, file: str) -> None:
    for act in (lambda: delete_note(workspace.memory, file), lambda: rename_note(workspace.memory, file, "x", True)):
        with pytest.raises(AssistantError) as caught:
            act()
        assert caught.value.code == "memory.note"


def test_a_name_that_is_taken_or_cannot_be_is_refused(workspace: Workspace) -> None:
    put(workspace, "a", "a")
    put(workspace, "b", "b")
    for name, code in (("b", "memory.taken"), ("con", "workspace.path"), ("../x", "workspace.path")):
        with pytest.raises(AssistantError) as caught:
            rename_note(workspace.memory, "memory/a.md", name, keep_links=False)
        assert caught.value.code == code
    assert (workspace.root / "memory" / "b.md").read_text() == "b"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("x", "x"),
        ("---\ntitle: A\n---\nx", "title: A"),
        ("---\naliases: [One, 'Two, three']\n---\nx", "'Two, three'"),
        ("---\naliases: []\n---\nx", "---\nx"),
        ("---\naliases:\n- One\ntags: [a]\n---\nx", "- One\ntags: [a]"),
        ("---\r\naliases:\r\n  - One\r\n---\r\nx", "  - One\r\n---\r\nx"),
        ("\ufeff---\ntitle: A\n---\nx", "title: A"),
    ],
)
def test_an_alias_is_added_and_the_rest_stays(text: str, kept: str) -> None:
    made = with_alias(text, 'Old "name"')
    assert 'Old "name"' in parse_note(made).aliases
    assert set(parse_note(text).aliases) <= set(parse_note(made).aliases)
    assert kept in made
    assert parse_note(made).problem == ""


@pytest.mark.parametrize(
    "text", ['---\ndescription: "abc "def" ghi"\n---\nx', "---\naliases: One\n---\nx", "---\nno end"]
)
def test_front_matter_that_cannot_be_changed_safely_stays(text: str) -> None:
    assert with_alias(text, "Old") == text


@given(body=st.text("ab-: #[]\n", max_size=40), alias=st.text("aB 中\"'\\:#", min_size=1, max_size=8))
def test_whatever_the_note_the_body_stays(body: str, alias: str) -> None:
    made = with_alias(body, alias.strip() or "a")
    assert made.endswith(body) or parse_note(body).body_line > 1
    assert made == body or (alias.strip() or "a") in parse_note(made).aliases
