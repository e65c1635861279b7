"""Tidying up by itself: once a day, only where the person wants it, with a word about it and a way back."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from assistant.core.clock import fixed_clock
from assistant.core.events import Event, Notice
from assistant.runtime.tidying import TidyService
from assistant.settings.schema import MemorySettings, Settings
from assistant.workspace.budget import Limits
from assistant.workspace.workspace import Workspace

OLD = "2026-01-01|you|visa · until 2026-02-01\n"


class Lane:
    """Does the work at once."""

    def submit(self, function, *args) -> Future:
        future: Future = Future()
        future.set_result(function(*args))
        return future


class House:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.events: list[Event] = []
        self.settings = Settings(memory=MemorySettings(tidy="nightly"))

    def open(self, now: str) -> tuple[Workspace, TidyService]:
        clock = fixed_clock(datetime.fromisoformat(now))
        workspace = Workspace(self.folder / "ws", self.folder / "data", self.folder / "state", clock)
        workspace.prepare()
        service = TidyService(workspace, workspace.state, lambda: self.settings, Limits, Lane(), self.events.append)
        return workspace, service


def test_once_a_day_in_a_quiet_moment(tmp_path):
    house = House(tmp_path)
    workspace, service = house.open("2026-11-29T10:00:00+08:00")
    file = workspace.root / "MEMORY.md"
    file.write_text(OLD)
    service.look()
    service.look()
    assert file.read_text() == ""
    (notice,) = house.events
    assert isinstance(notice, Notice)
    assert notice.text.startswith("Memory was tidied up: 1 moved to the archive, 0 merged.")
    entry = workspace.journal.entries(limit=1)[0]
    assert (entry.actor, bool(entry.batch)) == ("upkeep", True)
    file.write_text(OLD)
    house.open("2026-11-29T23:00:00+08:00")[1].look()
    assert file.read_text() == OLD, "once a day, also after a restart"
    house.open("2026-11-30T01:00:00+08:00")[1].look()
    assert file.read_text() == ""


def test_only_where_the_person_wants_it(tmp_path):
    house = House(tmp_path)
    house.settings = replace(house.settings, memory=MemorySettings())
    workspace, service = house.open("2026-11-29T10:00:00+08:00")
    (workspace.root / "MEMORY.md").write_text(OLD)
    service.look()
    assert (workspace.root / "MEMORY.md").read_text() == OLD
    assert house.events == []
