"""Whatever befalls the engine's worker is one clear message, and the next message is answered. The real worker."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.values import Delta, Done, EngineSettings, GenerateOptions, Message, ModelInfo, PromptRead, Role
from assistant.runtime.engine_client import WorkerEngine
from assistant.runtime.engine_end import read_death
from assistant.runtime.memory_kills import MemoryKills
from assistant.runtime.pulse import Patience
from tests.real_models import starter_model_path

SETTINGS = EngineSettings(window=2048, threads=1)
FRANCE = [Message(Role.USER, "Hello, what is the capital of France?")]
STORY = [Message(Role.USER, "Write a long story.")]
LONG = [Message(Role.USER, "The river runs past the old mill. " * 200)]

pytestmark = [pytest.mark.real, pytest.mark.logs("started anew")]


class Hand:
    """A clock moved by hand."""

    seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def hand() -> Hand:
    return Hand()


@pytest.fixture
def kills(tmp_path: Path) -> Path:
    """The system's counter of processes that it ended for want of memory."""
    counter = tmp_path / "memory.events"
    counter.write_text("low 0\nmax 12\noom 3\noom_kill 2\n")
    return counter


@pytest.fixture
def engine(tmp_path: Path, hand: Hand, kills: Path) -> Iterator[WorkerEngine]:
    patience = Patience(silent=5, hurried=4)
    engine = WorkerEngine(tmp_path / "logs" / "engine.log", hand, patience, MemoryKills([kills, tmp_path / "none"]))
    yield engine
    engine.close()


def load(engine: WorkerEngine, path: Path | None = None) -> ModelInfo:
    return engine.load(path or starter_model_path(), SETTINGS, CancelToken(), lambda _done, _total, _what: None)


def wake(engine: WorkerEngine) -> ModelInfo:
    return engine.wake(CancelToken(), lambda _done, _total, _what: None)


def text_of(engine: WorkerEngine, messages: list[Message] = FRANCE) -> str:
    *_, done = engine.chat(messages, GenerateOptions(temperature=0, max_tokens=24), CancelToken())
    assert isinstance(done, Done)
    return done.text


def harmed(engine: WorkerEngine, harm: Callable[[int], object], messages: list[Message] = STORY) -> AssistantError:
    """What a chat ends with, whose worker (by its process id) is harmed as soon as it works."""
    begun = False
    with pytest.raises(AssistantError) as caught:
        for event in engine.chat(messages, GenerateOptions(max_tokens=0), CancelToken()):
            if not begun and (isinstance(event, Delta) or (isinstance(event, PromptRead) and event.read)):
                begun = True
                assert engine.pid
                harm(engine.pid)
    assert caught.value.hint
    return caught.value


def test_a_worker_that_hangs_is_ended_and_says_so(engine: WorkerEngine, tmp_path: Path) -> None:
    load(engine)
    hanging = engine.pid
    error = harmed(engine, lambda pid: os.kill(pid, signal.SIGSTOP))
    assert (error.code, str(error)) == (
        "engine.hung",
        "The engine did not answer any more and was ended. Try again.",
    )
    assert engine.asleep and engine.info
    assert "Paris" in text_of(engine)
    assert engine.pid != hanging and not engine.asleep
    death = read_death(tmp_path / "logs" / "engine.log")
    assert death and (death.code, death.how, death.model) == ("engine.hung", "SIGKILL", starter_model_path().name)


def test_long_work_is_no_hang(engine: WorkerEngine) -> None:
    """One operation of the library after another without an answer for longer than a worker may be silent."""
    engine.load(starter_model_path(), EngineSettings(window=8192, threads=1), CancelToken(), lambda *_: None)
    cancel = CancelToken()
    events = []
    for event in engine.chat([Message(Role.USER, "river " * 6000)], GenerateOptions(max_tokens=1), cancel):
        events.append(event)
        if isinstance(event, PromptRead) and event.read >= 1024:
            cancel.cancel()
    assert isinstance(events[-1], Done) and not engine.asleep


def test_a_kill_for_want_of_memory_is_told_from_any_other(engine: WorkerEngine, kills: Path) -> None:
    def kill_for_memory(pid: int) -> None:
        os.kill(pid, signal.SIGSTOP)
        kills.write_text("low 0\noom_kill 3\n")
        os.kill(pid, signal.SIGKILL)

    load(engine)
    error = harmed(engine, kill_for_memory, LONG)
    assert error.code == "engine.no_memory"
    assert "memory" in error.message and "smaller model" in error.hint
    assert "Paris" in text_of(engine)
    assert harmed(engine, lambda pid: os.kill(pid, signal.SIGKILL)).code == "engine.died"
    assert "Paris" in text_of(engine)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    copy = tmp_path / "my copy.gguf"
    shutil.copyfile(starter_model_path(), copy)
    return copy


def test_a_model_file_that_is_cut_while_it_is_loaded(engine: WorkerEngine, copy: Path, tmp_path: Path) -> None:
    load(engine, copy)
    error = harmed(engine, lambda _pid: os.truncate(copy, 5_000_000), LONG)
    assert error.code == "model.changed"
    assert "my copy.gguf was removed, cut or replaced while it was in use" in error.message
    assert engine.info is None
    death = read_death(tmp_path / "logs" / "engine.log")
    assert death and death.how == "SIGBUS"
    with pytest.raises(AssistantError) as caught:
        load(engine, copy)
    assert caught.value.code == "model.cut" and "my copy.gguf" in caught.value.message
    load(engine)
    assert "Paris" in text_of(engine)


def test_a_model_file_that_is_removed_serves_on_while_it_is_loaded(engine: WorkerEngine, copy: Path) -> None:
    load(engine, copy)
    copy.unlink()
    assert "Paris" in text_of(engine) and not engine.asleep
    assert harmed(engine, lambda pid: os.kill(pid, signal.SIGKILL)).code == "model.changed"
    assert engine.info is None
    load(engine)
    assert "Paris" in text_of(engine)


def test_a_model_file_that_is_replaced_is_loaded_anew(engine: WorkerEngine, copy: Path, tmp_path: Path) -> None:
    load(engine, copy)
    first = engine.pid
    other = tmp_path / "other.gguf"
    shutil.copyfile(starter_model_path(), other)
    other.replace(copy)
    assert engine.asleep
    assert wake(engine).path == copy
    assert not engine.asleep and engine.pid != first
    assert "Paris" in text_of(engine)


def test_an_unused_model_rests_and_wakes(engine: WorkerEngine, hand: Hand) -> None:
    info = load(engine)
    counted = engine.count(["a b c"])
    hand.seconds += 59
    assert not engine.rest(60)
    hand.seconds += 1
    pid = engine.pid
    assert engine.rest(60)
    assert not Path(f"/proc/{pid}").exists()
    assert engine.asleep and engine.info == info and engine.pid is None
    assert engine.count(["a b c"]) == counted and engine.pid is None  # what is known wakes nobody
    assert not engine.rest(60)
    assert wake(engine) == info
    assert not engine.asleep and "Paris" in text_of(engine)
    hand.seconds += 61
    assert engine.rest(60)
    assert "Paris" in text_of(engine)  # also without having been woken


def test_a_model_that_answers_does_not_rest(engine: WorkerEngine, hand: Hand) -> None:
    load(engine)
    cancel = CancelToken()
    for event in engine.chat(STORY, GenerateOptions(max_tokens=0), cancel):
        if isinstance(event, Delta) and not cancel.cancelled:
            hand.seconds += 3600
            assert not engine.rest(60)
            cancel.cancel()
    assert not engine.rest(60)  # it was used just now


def test_a_stop_of_a_worker_that_hangs_does_not_wait_for_long(engine: WorkerEngine) -> None:
    load(engine)
    cancel = CancelToken()
    text = ""
    with pytest.raises(AssistantError) as caught:
        for event in engine.chat(STORY, GenerateOptions(max_tokens=0), cancel):
            if isinstance(event, Delta):
                text += event.text
                os.kill(engine.pid or 0, signal.SIGSTOP)
                cancel.cancel()
    assert caught.value.code == "engine.hung" and text
