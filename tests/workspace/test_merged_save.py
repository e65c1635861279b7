"""Saving a file that may have changed meanwhile: both changes are in it, or nothing is written."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assistant.core.clock import fixed_clock
from assistant.workspace.memory_values import Conflict, Saved
from assistant.workspace.merged_save import save_merged
from assistant.workspace.workspace import Workspace

NOW = datetime.fromisoformat("2026-11-29T15:30:00+01:00")


def open_workspace(folder: Path) -> Workspace:
    made = Workspace(folder / "ws", folder / "data", folder / "state", fixed_clock(NOW))
    made.prepare()
    return made


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return open_workspace(tmp_path)


def test_what_was_added_elsewhere_meanwhile_is_kept(workspace: Workspace) -> None:
    main, memory = workspace.root / "MEMORY.md", workspace.memory
    main.write_text("one\ntwo\nthree\n")
    base = memory.read("MEMORY.md")
    memory.note_disk_changes()
    main.write_text("one\ntwo\nthree\nfour\n")
    outcome = save_merged(memory, "MEMORY.md", "ONE\ntwo\nthree\n", base.sha256)
    assert outcome.merged and isinstance(outcome.result, Saved)
    assert main.read_text() == outcome.read.text == "ONE\ntwo\nthree\nfour\n"
    memory.undo(outcome.result.journal_id)
    assert main.read_text() == "one\ntwo\nthree\nfour\n", "only the save is taken back"


def test_the_same_line_is_a_conflict_and_nothing_is_written(workspace: Workspace) -> None:
    main, memory = workspace.root / "MEMORY.md", workspace.memory
    main.write_text("one\n")
    base = memory.read("MEMORY.md")
    memory.note_disk_changes()
    main.write_text("uno\n")
    outcome = save_merged(memory, "MEMORY.md", "eins\n", base.sha256, base.text)
    assert isinstance(outcome.result, Conflict) and not outcome.merged
    assert main.read_text() == outcome.read.text == "uno\n"


def test_a_file_that_is_gone_is_written_anew_whole(workspace: Workspace) -> None:
    main, memory = workspace.root / "MEMORY.md", workspace.memory
    main.write_text("one\ntwo\n")
    base = memory.read("MEMORY.md")
    memory.note_disk_changes()
    main.unlink()
    outcome = save_merged(memory, "MEMORY.md", "one\ntwo\nthree\n", base.sha256)
    assert isinstance(outcome.result, Saved) and not outcome.merged
    assert main.read_text() == "one\ntwo\nthree\n"


def test_a_text_that_the_journal_does_not_know_is_merged_by_what_it_was_made_from(workspace: Workspace) -> None:
    main, memory = workspace.root / "MEMORY.md", workspace.memory
    main.write_text("# Theirs\none\ntwo\n")
    assert isinstance(save_merged(memory, "MEMORY.md", "one\ntwo\nmine\n", "unknown").result, Conflict)
    outcome = save_merged(memory, "MEMORY.md", "one\ntwo\nmine\n", "unknown", "one\ntwo\n")
    assert outcome.merged
    assert main.read_text() == "# Theirs\none\ntwo\nmine\n"


LINES = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=5)


@given(base=LINES, mine=LINES, theirs=LINES)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_nothing_that_either_side_added_is_lost(
    tmp_path_factory: pytest.TempPathFactory, base: list[str], mine: list[str], theirs: list[str]
) -> None:
    """Every line that is new on a side is in the file after a save, or the save wrote nothing."""
    workspace = open_workspace(tmp_path_factory.mktemp("save"))
    main, memory = workspace.root / "MEMORY.md", workspace.memory
    own = [f"mine {n} {line}" for n, line in enumerate(mine) if line not in base] + [x for x in mine if x in base]
    others = [f"theirs {n} {line}" for n, line in enumerate(theirs) if line not in base]
    others += [line for line in theirs if line in base]
    main.write_text("\n".join(base))
    read = memory.read("MEMORY.md")
    main.write_text("\n".join(others))
    outcome = save_merged(memory, "MEMORY.md", "\n".join(own), read.sha256, read.text)
    now = main.read_text()
    if isinstance(outcome.result, Conflict):
        assert now == "\n".join(others)
        return
    for line in (line for line in [*own, *others] if " " in line):
        assert line in now.split("\n")
