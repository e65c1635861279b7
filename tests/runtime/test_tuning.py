"""Measuring the starter model's speed settings, and that they change no text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.clock import fixed_clock
from assistant.core.errors import Cancelled
from assistant.core.events import Event, ModelReady
from assistant.core.values import Delta, Done, EngineSettings, GenerateOptions, Message, Role
from assistant.core.wire import Json
from assistant.engine.model_files import ModelStore
from assistant.engine.tuning import FILE, TuningStore
from assistant.runtime.engine_client import WorkerEngine
from assistant.runtime.lanes import Lane
from assistant.runtime.models import ModelService
from assistant.runtime.tuner import Effort, thread_counts
from assistant.runtime.tuning import TuningService
from assistant.runtime.worker_end import WorkerEnd
from assistant.runtime.worker_process import WorkerLost, WorkerProcess
from assistant.settings.schema import ModelSettings, Settings
from tests.real_models import starter_model_path

pytestmark = pytest.mark.real
LITTLE = Effort(waits=("passive",), read=16, decode=3, chunk=16, seconds=0.1)
NOTE = (
    "Anna Keller lives in Lisbon, in the Rua das Flores 12, on the third floor. Her sister Mia works as a nurse in the "
    "hospital of Porto and comes every second Sunday at noon. They walk along the river to the old mill."
)
QUOTE = [Message(Role.USER, f"Here is a note:\n\n{NOTE}\n\n{NOTE}\n\nRepeat the note word for word.")]


class Rig:
    """The services that tuning needs, with the starter model as the only one."""

    def __init__(self, folder: Path) -> None:
        self.values = Settings(model=ModelSettings(window=1024, max_tokens=16))
        self.events: list[Event] = []
        self.state = folder / "state"
        self.tunings = TuningStore(self.state)
        self.engine = WorkerEngine(folder / "log")
        self.lane = Lane("chat")
        store = ModelStore(folder / "models")
        store.add(starter_model_path())
        self.models = ModelService(store, self.engine, lambda: self.values, self.lane, self.events.append, self.tunings)
        self.tuning = TuningService(
            self.models, self.engine, self.tunings, fixed_clock(datetime(2026, 11, 30, 12)), lambda _size: LITTLE
        )

    def close(self) -> None:
        self.engine.close()
        self.lane.close()


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    rig = Rig(tmp_path)
    yield rig
    rig.close()


def nothing(_done: int, _total: int, _what: str) -> None: ...


def test_what_was_measured_is_shown_and_used_at_the_next_load(rig: Rig) -> None:
    assert rig.tuning.of() is None
    rig.models.load()
    steps: list[tuple[int, int]] = []
    tuning = rig.tuning.measure("", CancelToken(), lambda done, total, _what: steps.append((done, total)))
    assert steps == [(0, 3), (1, 3), (2, 3)]
    assert rig.tuning.of() == tuning
    assert all(speed > 0 for figures in tuning.policies for speed in (figures.quiet.decode, figures.busy.read))
    assert {figures.threads for figures in tuning.policies} >= {1}
    assert min(tuning.reaches) > 0
    settings = rig.models.engine_settings(rig.models.chosen())
    assert {name: getattr(settings, name) for name in tuning.chosen} == tuning.chosen
    ready = [event for event in rig.events if isinstance(event, ModelReady)]
    assert len(ready) == 2 and rig.engine.info  # it was loaded, and is again
    done = [*rig.engine.chat([Message(Role.USER, "Hello!")], GenerateOptions(max_tokens=5), CancelToken())][-1]
    assert isinstance(done, Done) and done.tokens


def test_a_way_to_open_the_model_that_ends_its_process_is_passed_over(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a file that is copied does where only a mapped one has room."""
    call = WorkerProcess.call

    def too_little_memory(worker: WorkerProcess, op: str, args: Mapping[str, Any], cancel: CancelToken) -> Json:
        if op == "load" and not args["settings"]["mmap"]:
            raise WorkerLost(WorkerEnd("worker.no_memory", -9), worker.starts)
        return call(worker, op, args, cancel)

    monkeypatch.setattr(WorkerProcess, "call", too_little_memory)
    tuning = rig.tuning.measure("", CancelToken(), nothing)
    assert "file copied, not mapped" not in [option.name for option in tuning.options]
    assert "steps of 64 tokens" in [option.name for option in tuning.options]


def test_the_model_that_was_loaded_is_loaded_again_among_others_of_the_same_file_name(rig: Rig, tmp_path: Path) -> None:
    for name in ("A", "B"):
        (tmp_path / "models" / name).mkdir()
        (tmp_path / "models" / name / "model.gguf").symlink_to(starter_model_path())
    loaded = rig.models.load("B")
    rig.tuning.measure("A", CancelToken(), nothing)
    assert rig.engine.info and rig.engine.info.path == loaded.path


def test_a_person_s_own_threads_stand(rig: Rig) -> None:
    rig.values = Settings(model=ModelSettings(window=512, threads=1, flash_attention="on", kv_type="q8_0"))
    rig.tuning.measure("", CancelToken(), nothing)
    settings = rig.models.engine_settings(rig.models.chosen())
    assert (settings.threads, settings.threads_batch, settings.flash_attention) == (1, 1, "on")
    assert (settings.kv_type, settings.draft) == ("q8_0", 0)


def test_measuring_can_be_stopped_and_leaves_all_as_it_was(rig: Rig) -> None:
    rig.models.load()
    cancel = CancelToken()

    def stop_at_the_second_step(done: int, _total: int, _what: str) -> None:
        if done:
            cancel.cancel()

    with pytest.raises(Cancelled):
        rig.tuning.measure("", cancel, stop_at_the_second_step)
    assert not (rig.state / FILE).exists()
    assert rig.engine.info and rig.tuning.of() is None


def test_closing_stops_measuring_and_loads_nothing_more(rig: Rig) -> None:
    rig.models.load()
    measured = rig.lane.submit(rig.tuning.measure, "", CancelToken(), lambda _done, _total, _what: rig.tuning.close())
    with pytest.raises(Cancelled):
        measured.result()
    assert rig.engine.info is None


def test_each_number_of_threads_is_measured_once() -> None:
    assert thread_counts(1) == [1]
    assert thread_counts(2) == [1, 2]
    assert thread_counts(8) == [1, 4, 7, 8]


@pytest.mark.parametrize(
    "options",
    [
        GenerateOptions(temperature=0, max_tokens=70, repeat_penalty=1.0),
        GenerateOptions(temperature=0, max_tokens=70, repeat_penalty=1.1),
        GenerateOptions(temperature=0.8, max_tokens=70, seed=7),
    ],
)
def test_guessing_ahead_changes_no_token(options: GenerateOptions, tmp_path: Path) -> None:
    settings = EngineSettings(window=1024, threads=1, threads_batch=2, flash_attention="on")
    said = []
    for draft in (0, 16):
        engine = WorkerEngine(tmp_path / "log")
        try:
            engine.load(starter_model_path(), replace(settings, draft=draft), CancelToken(), nothing)
            events = [*engine.chat(QUOTE, options, CancelToken())]
            last = Message(Role.ASSISTANT, "".join(event.text for event in events if isinstance(event, Delta)))
            again = [*engine.chat([*QUOTE, last, Message(Role.USER, "Once more.")], options, CancelToken())]
        finally:
            engine.close()
        ends = [event for event in (events[-1], again[-1]) if isinstance(event, Done)]
        said.append([(end.text, end.tokens, end.prompt_tokens, end.reused_tokens) for end in ends])
    assert said[0] == said[1]
