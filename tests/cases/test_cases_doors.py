"""CASES 24, 26, 28, 30 through the doors beside remembering: undo, tidying up, the inbox, imports, batches, drafts."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.runtime.composition import Places, compose
from assistant.runtime.services import Services
from tests import imported
from tests.cases.conftest import Keepsake

OpenServices = Callable[..., Services]
PHONE = "my phone number is"


@pytest.fixture
def at(tmp_path: Path) -> Iterator[OpenServices]:
    """Opens the services of the workspace at a time."""
    made: list[Services] = []

    def open_at(time: str = "2026-11-29T15:30:22+08:00") -> Services:
        places = Places(tmp_path / "ws", tmp_path / "config", tmp_path / "st", datetime.fromisoformat(time))
        made.append(compose(places, {}))
        return made[-1]

    yield open_at
    for each in made:
        each.close()


def memory(tmp_path: Path) -> Path:
    return tmp_path / "ws" / "MEMORY.md"


def in_vim(path: Path, change: Callable[[str], str]) -> None:
    """Saved by renaming, as vim and Obsidian do."""
    swap = path.with_name(f".{path.name}.swp")
    swap.write_text(change(path.read_text()))
    swap.replace(path)


# --- 24: what another program wrote meanwhile survives every door ---


def test_an_undo_keeps_what_was_written_in_vim_since(keepsake: Keepsake, tmp_path: Path) -> None:
    keepsake("remember", "likes tea")
    entry = keepsake("--json", "memory", "journal").json["entries"][0]["id"]
    in_vim(memory(tmp_path), lambda text: f"# Written in vim\n\n{text}and below\n")
    assert keepsake("memory", "undo", entry).code == 0
    assert memory(tmp_path).read_text() == "# Written in vim\n\nand below\n"


def test_an_undo_of_a_line_that_vim_changed_gives_both_texts_and_changes_nothing(
    keepsake: Keepsake, tmp_path: Path
) -> None:
    keepsake("remember", "owns a boat")
    entry = keepsake("--json", "memory", "journal").json["entries"][0]["id"]
    in_vim(memory(tmp_path), lambda text: text.replace("a boat", "two boats"))
    refused = keepsake("--json", "memory", "undo", entry)
    assert (refused.code, refused.json["error"]["code"]) == (1, "memory.conflict")
    assert "two boats" in refused.json["theirs"]
    assert "boat" not in refused.json["mine"]
    assert "two boats" in memory(tmp_path).read_text()


def test_tidying_up_does_not_write_over_what_vim_wrote_since_it_was_planned(at: OpenServices, tmp_path: Path) -> None:
    services = at()
    for text in ("the same", "the very same"):
        services.remember(text)
    in_vim(memory(tmp_path), lambda text: text + "2026-01-01|you|over · until 2026-01-02\n2026-01-03|you|the same\n")
    plan = services.tidying.plan()
    in_vim(memory(tmp_path), lambda text: f"# Written in vim\n{text}")
    with pytest.raises(AssistantError) as refused:
        services.tidying.apply(plan)
    assert refused.value.code == "memory.changed"
    assert not (tmp_path / "ws" / "memory" / "archive.md").exists()
    services.tidying.apply(services.tidying.plan())
    text = memory(tmp_path).read_text()
    assert text.startswith("# Written in vim\n")
    assert "over" not in text
    assert "over" in (tmp_path / "ws" / "memory" / "archive.md").read_text()


def test_a_yes_in_the_inbox_keeps_what_vim_wrote_since_it_was_proposed(at: OpenServices, tmp_path: Path) -> None:
    services = at()
    services.remember("likes tea")
    proposal = services.workspace.inbox.propose(["owns a boat"], source="tool", actor="assistant")
    assert proposal is not None
    in_vim(memory(tmp_path), lambda text: f"# Written in vim\n{text}no final newline")
    services.review.accept(proposal.id)
    lines = memory(tmp_path).read_text().splitlines()
    assert lines == [
        "# Written in vim",
        "2026-11-29|you|likes tea",
        "no final newline",
        "2026-11-29|tool|owns a boat",
    ]


def test_an_import_and_its_undo_keep_what_vim_wrote_between(keepsake: Keepsake, tmp_path: Path) -> None:
    keepsake("remember", "likes tea")
    done = keepsake("--json", "import", "countbot", str(imported.countbot(tmp_path / "other"))).json
    in_vim(memory(tmp_path), lambda text: f"# Written in vim\n\n{text}and below\n")
    assert keepsake("import", "--undo", done["id"]).code == 0
    text = memory(tmp_path).read_text()
    assert text.startswith("# Written in vim\n\n")
    assert text.endswith("and below\n")
    assert "likes tea" in text
    assert "OpenWeatherMap" not in text


# --- 26: the same and the contrary ---


@pytest.mark.parametrize("source", ["tool", "chat:20261129_153022#1-3", "import:atoms"])
def test_the_same_twice_in_one_batch_is_remembered_once(at: OpenServices, tmp_path: Path, source: str) -> None:
    services = at()
    services.workspace.memory.append_entry(
        ["likes tea", "owns a boat", "Likes  tea."], source=source, actor="assistant"
    )
    assert memory(tmp_path).read_text() == f"2026-11-29|{source}|likes tea；owns a boat\n"


def test_a_yes_in_the_inbox_makes_no_duplicate_and_strikes_the_contrary(at: OpenServices, tmp_path: Path) -> None:
    services = at()
    services.remember(f"{PHONE} 12345")
    services.remember("likes tea")
    proposal = services.workspace.inbox.propose(
        [f"{PHONE} 67890", "Likes tea.", "owns a boat", "Owns a boat"], source="tool", actor="assistant"
    )
    assert proposal is not None
    services.review.accept_all()
    assert memory(tmp_path).read_text().splitlines() == [
        f"2026-11-29|you|~~{PHONE} 12345~~ · superseded 2026-11-29",
        "2026-11-29|you|likes tea",
        f"2026-11-29|tool|{PHONE} 67890；owns a boat",
    ]


@pytest.mark.parametrize(("day", "struck"), [("2026-02-15", "11111"), ("2026-12-15", "12345")])
def test_of_an_import_the_newer_one_holds(keepsake: Keepsake, tmp_path: Path, day: str, struck: str) -> None:
    keepsake("remember", f"{PHONE} 12345", "--now", "2026-11-29T10:00:00")
    keepsake("remember", "likes tea", "--now", "2026-11-29T10:00:00")
    other = tmp_path / "other"
    other.mkdir()
    (other / "MEMORY.md").write_text(f"{day}|web|{PHONE} 11111；Likes tea\n")
    assert keepsake("import", "countbot", str(other), "--now", "2026-12-20T10:00:00").code == 0
    text = memory(tmp_path).read_text()
    assert text.casefold().count("likes tea") == 1
    assert f"~~{PHONE} {struck}~~ · superseded" in text
    assert text.count("~~") == 2
    assert keepsake("--json", "memory", "conflicts").json["conflicts"] == []


def test_the_persons_word_on_a_conflict_strikes_one_and_shows_both(keepsake: Keepsake, tmp_path: Path) -> None:
    keepsake("remember", "I live in Graz", "--now", "2026-05-03T10:00:00")
    keepsake("remember", "I live in Linz", "--now", "2026-09-09T10:00:00")
    (conflict,) = keepsake("--json", "memory", "conflicts").json["conflicts"]
    kept = keepsake("--json", "memory", "conflicts", "--keep", conflict["id"], "newer", "--now", "2026-11-29T10:00:00")
    text = memory(tmp_path).read_text()
    assert "2026-05-03|you|~~I live in Graz~~ · superseded 2026-11-29" in text
    assert "2026-09-09|you|I live in Linz" in text
    assert keepsake("--json", "memory", "conflicts").json["conflicts"] == []
    assert keepsake("memory", "undo", kept.json["journal_id"]).code == 0
    assert "~~" not in memory(tmp_path).read_text()


# --- 28: at once, and over midnight ---

_BATCHES = """
import sys
from pathlib import Path
from assistant.runtime.composition import Places, compose
from assistant.workspace.memory_values import Edit
from assistant.core.errors import AssistantError

base, name = Path(sys.argv[1]), sys.argv[2]
services = compose(Places(base / "ws", base / "config", base / "st"), {})
memory = services.workspace.memory
for n in range(8):
    while True:
        reads = [(file, memory.read(file)) for file in ("MEMORY.md", "memory/Shared.md")]
        edits = [Edit(file, read.text + f"- {name} wrote {n}\\n", read.sha256) for file, read in reads]
        try:
            memory.change_many(edits, "you", f"{name} {n}")
            break
        except AssistantError as error:
            if error.code not in ("memory.changed", "workspace.busy"):
                raise
    memory.remember(f"{name} remembers {n}")
services.close()
"""


def test_batches_and_appends_of_three_processes_are_all_there(tmp_path: Path) -> None:
    """Case 28: each batch is in both files or in none, and no line of another is lost."""
    (tmp_path / "ws" / "memory").mkdir(parents=True)
    command = [sys.executable, "-c", textwrap.dedent(_BATCHES), str(tmp_path)]
    root = Path(__file__).parents[2]
    running = [subprocess.Popen([*command, name], stderr=subprocess.PIPE, cwd=root) for name in ("anna", "ben", "cleo")]
    for process in running:
        errors = process.communicate()[1]
        assert process.returncode == 0, errors.decode()
    wanted = sorted(f"- {name} wrote {n}" for name in ("anna", "ben", "cleo") for n in range(8))
    lines = memory(tmp_path).read_text().splitlines()
    assert sorted(line for line in lines if " wrote " in line) == wanted
    assert sorted((tmp_path / "ws" / "memory" / "Shared.md").read_text().splitlines()) == wanted
    assert len([line for line in lines if " remembers " in line]) == 24


def test_what_waits_over_midnight_keeps_the_day_it_was_said_on(at: OpenServices, tmp_path: Path) -> None:
    evening = at("2026-11-29T23:58:00+08:00")
    proposal = evening.workspace.inbox.propose(["likes tea"], source="tool", actor="assistant")
    assert proposal is not None
    evening.close()
    night = at("2026-11-30T03:53:00+08:00")
    night.review.accept(proposal.id)
    night.remember("owns a boat")
    assert memory(tmp_path).read_text() == "2026-11-29|tool|likes tea\n2026-11-30|you|owns a boat\n"


def test_what_holds_until_a_day_is_tidied_away_the_local_day_after(keepsake: Keepsake, tmp_path: Path) -> None:
    keepsake("remember", "the key is with Mei", "--until", "2026-11-30", "--now", "2026-11-29T10:00:00+08:00")
    keepsake("memory", "tidy", "--apply", "--now", "2026-11-30T23:59:00+08:00")
    assert "the key" in memory(tmp_path).read_text()
    keepsake("memory", "tidy", "--apply", "--now", "2026-12-01T03:53:00+08:00")
    assert "the key" not in memory(tmp_path).read_text()
    assert "the key" in (tmp_path / "ws" / "memory" / "archive.md").read_text()


# --- 30: a workspace that is gone ---


def test_no_door_makes_a_workspace_anew_that_is_gone(at: OpenServices, tmp_path: Path) -> None:
    services = at()
    services.remember("likes tea")
    services.workspace.memory.save("memory/Boats.md", "# Boats\n", "")
    services.remember("likes tea too · until 2026-01-01")
    proposal = services.workspace.inbox.propose(["owns a boat"], source="tool", actor="assistant")
    assert proposal is not None
    plan = services.tidying.plan()
    entry = services.workspace.journal.entries(1)[0].id
    other = imported.countbot(tmp_path / "other")
    (tmp_path / "ws").rename(tmp_path / "away")
    acts: list[Callable[[], object]] = [
        lambda: services.review.accept(proposal.id),
        lambda: services.tidying.apply(plan),
        lambda: services.workspace.memory.undo(entry),
        services.workspace.memory.note_disk_changes,
        lambda: services.workspace.memory.save("memory/New.md", "x", ""),
        lambda: services.importing.run("countbot", other, CancelToken(), lambda *_: None),
        lambda: services.assistants.add("Anna"),
        lambda: services.new_chat("x", private=True),
    ]
    for number, act in enumerate(acts):
        with pytest.raises(AssistantError):
            act()
        assert not (tmp_path / "ws").exists(), number
    (tmp_path / "away").rename(tmp_path / "ws")
    services.review.accept(proposal.id)
    assert "owns a boat" in memory(tmp_path).read_text()
    assert "likes tea" in memory(tmp_path).read_text()
    services.workspace.memory.note_disk_changes()
    assert "disk" not in {each.actor for each in services.workspace.journal.entries(100)}
