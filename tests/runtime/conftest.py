"""The services over a real workspace, with an engine that says what it is told to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assistant.core.events import Event, TurnFailed, TurnFinished
from assistant.runtime.composition import Places, compose
from assistant.runtime.services import Services
from tests.fakes import FakeEngine

_PATIENCE_SECONDS = 30.0


class Stage:
    """Services with a scripted engine, and every event they sent."""

    def __init__(self, folder: Path, assistant: str = "") -> None:
        self.folder = folder
        places = Places(folder / "ws", folder / "config", folder / "state", assistant=assistant)
        self.services: Services = compose(places, {})
        self.engine = FakeEngine()
        self._told = threading.Condition()
        self.events: list[Event] = []
        self.services.subscribe(self._note)
        self.use(self.engine)

    def use(self, engine: FakeEngine) -> None:
        """Put this engine in the place of the real one."""
        self.engine = engine
        services = self.services
        hidden = services.temporary
        hidden.prompts.engine = hidden.turns._runner._engine = engine
        services.prompts.engine = services.model_service.engine = services.turns._runner._engine = engine

    def _note(self, event: Event) -> None:
        with self._told:
            self.events.append(event)
            self._told.notify_all()

    def wait(self, condition: Callable[[], bool]) -> None:
        """Until the condition holds; it is looked at again after each event."""
        with self._told:
            assert self._told.wait_for(condition, _PATIENCE_SECONDS), self.events

    def of(self, kind: type) -> list[Any]:
        return [event for event in list(self.events) if isinstance(event, kind)]

    def ends(self) -> list[Any]:
        return [event for event in list(self.events) if isinstance(event, TurnFinished | TurnFailed)]

    def wait_for_end(self, count: int = 1) -> Any:
        self.wait(lambda: len(self.ends()) >= count)
        return self.ends()[count - 1]

    def settle(self) -> None:
        """Until the lanes have done what was submitted so far."""
        for _ in range(2):
            self.services.lanes.files.submit(lambda: None).result(_PATIENCE_SECONDS)
            self.services.lanes.chat.submit(lambda: None).result(_PATIENCE_SECONDS)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path)
    yield made
    made.services.close()
