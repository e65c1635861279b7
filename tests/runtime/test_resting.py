"""A model that is lost or rests, as the services tell of it: one message, and the next turn is answered."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from assistant.chat.tokens import EstimatedTokens
from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.events import (
    Event,
    ModelFailed,
    ModelLoading,
    ModelReady,
    ModelResting,
    Notice,
    PromptProgress,
    TextArrived,
    TurnFailed,
    TurnFinished,
)
from assistant.core.ports import Progress
from assistant.core.values import GenerateOptions, ModelInfo
from assistant.runtime.checks import run_checks
from assistant.runtime.composition import Places, compose
from assistant.runtime.prompts import TurnPlan
from assistant.runtime.services import Services
from tests.fakes import FakeEngine
from tests.real_models import starter_model_path
from tests.runtime.conftest import Stage

SHORT = TurnPlan(options=GenerateOptions(max_tokens=8, temperature=0.0))
LONG = TurnPlan(options=GenerateOptions(max_tokens=0, temperature=0.0))
STORY = "Write a long story about the river, the old mill and the children who count boats."


class Hand:
    """A clock moved by hand."""

    seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@dataclass
class Real:
    """Services with the real engine, and every event they sent. ``harm`` is done once, when a reply has begun."""

    services: Services
    models: Path
    hand: Hand = field(default_factory=Hand)
    events: list[Event] = field(default_factory=list)
    harm: Any = None

    def __post_init__(self) -> None:
        self.services.engine._clock = self.hand
        self.services.subscribe(self._note)

    def _note(self, event: Event) -> None:
        self.events.append(event)
        begun = isinstance(event, TextArrived) or (isinstance(event, PromptProgress) and event.read)
        if begun and self.harm:
            harm, self.harm = self.harm, None
            harm(self.services.engine.pid)

    def of(self, *kinds: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kinds)]

    def ask(self, text: str, plan: TurnPlan = SHORT) -> str:
        """The reply; what was told before is forgotten."""
        self.events.clear()
        chat = self.services.new_chat()
        return self.services.turns.send_now(chat, text, CancelToken(), plan).done.text

    def ask_and_fail(self, text: str) -> AssistantError:
        """The one error that a turn ends with; its words are kept."""
        with pytest.raises(AssistantError) as caught:
            self.ask(text, LONG)
        failed = self.of(TurnFailed, TurnFinished)
        assert [event.error for event in failed] == [caught.value]
        assert self.of(Notice) == []
        turn = self.services.read_chat(failed[0].chat).turns[0]
        assert turn.user == text
        assert (turn.reply or "") == "".join(event.text for event in self.of(TextArrived))
        return caught.value


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Real]:
    models = tmp_path / "state" / "models"
    models.mkdir(parents=True)
    (models / "starter.gguf").symlink_to(starter_model_path())
    services = compose(Places(tmp_path / "ws", tmp_path / "config", tmp_path / "state"), {})
    services.settings.update("model", window=1024, threads=1)
    yield Real(services, models)
    services.close()


@pytest.mark.real
def test_a_model_that_rests_is_woken_by_a_message(real: Real) -> None:
    assert real.ask("Hello")
    counted = real.services.prompts.counter()
    pid = real.services.engine.pid
    real.hand.seconds += 61
    real.services.model_service.rest(60)
    assert [event.info.name for event in real.of(ModelResting)] == ["starter"]
    assert pid and not Path(f"/proc/{pid}").exists()
    assert isinstance(real.services.prompts.counter(), EstimatedTokens)  # showing a budget wakes nobody
    assert real.services.prompts.rules().window == 1024
    assert real.ask("Hello again")
    assert [type(event) for event in real.of(ModelLoading, ModelReady, ModelFailed, TurnFinished)][-2:] == [
        ModelReady,
        TurnFinished,
    ]
    assert real.of(ModelLoading)
    assert real.services.prompts.counter() is counted


@pytest.mark.real
def test_what_it_had_read_is_not_read_again_after_a_rest(real: Real) -> None:
    services = real.services
    chat = services.new_chat()
    first = services.turns.send_now(chat, "Hello", CancelToken(), SHORT).done
    services.snapshots.look()
    services.lanes.chat.submit(lambda: None).result(60)
    real.hand.seconds += 61
    services.model_service.rest(60)
    assert services.engine.asleep
    again = services.turns.send_now(chat, "Hello again", CancelToken(), SHORT).done
    assert again.reused_tokens > 0.9 * first.prompt_tokens


@pytest.mark.real
@pytest.mark.logs("started anew")
def test_a_kill_in_mid_reply_is_one_message_and_the_next_turn_is_answered(real: Real) -> None:
    real.harm = lambda pid: os.kill(pid, signal.SIGKILL)
    assert real.ask_and_fail(STORY).code == "engine.died"
    assert real.ask("Hello")
    worker = next(check for check in run_checks(real.services) if check.name == "engine worker")
    assert worker.ok and "SIGKILL" in worker.detail and "starter" in worker.detail
    assert str(real.services.engine.pid) in worker.detail


@pytest.mark.real
@pytest.mark.logs("started anew")
def test_a_file_cut_while_it_is_used_is_one_message_and_another_model_answers(real: Real) -> None:
    copy = real.models / "a copy.gguf"
    shutil.copyfile(starter_model_path(), copy)
    assert real.ask("Hello") and real.services.engine.info and real.services.engine.info.name == "a copy"
    real.harm = lambda _pid: os.truncate(copy, 5_000_000)
    error = real.ask_and_fail(STORY)
    assert error.code == "model.changed" and "a copy.gguf" in error.message
    assert [event.error for event in real.of(ModelFailed)] == [error]
    assert real.ask("Hello")
    assert real.services.engine.info and real.services.engine.info.name == "starter"


@pytest.mark.real
def test_a_file_removed_while_it_is_used_is_one_message(real: Real) -> None:
    copy = real.models / "a copy.gguf"
    shutil.copyfile(starter_model_path(), copy)
    assert real.ask("Hello")
    copy.unlink()
    assert real.ask("Hello")
    assert ["a copy.gguf was removed" in event.text for event in real.of(Notice)] == [True]
    assert real.ask("Hello") and real.of(Notice) == []
    real.hand.seconds += 3600
    real.services.model_service.rest(60)
    assert not real.services.engine.asleep  # it could not be loaded again


class Resting(FakeEngine):
    """One that rests as soon as it may."""

    def __init__(self) -> None:
        super().__init__(["Fine."])
        self.asleep = self.file_gone = False
        self.rested: list[float] = []

    def rest(self, idle_seconds: float) -> bool:
        self.rested.append(idle_seconds)
        self.asleep = True
        return True

    def wake(self, cancel: CancelToken, progress: Progress) -> ModelInfo:
        raise AssistantError("engine.no_memory", "The engine ran out of memory.", "Choose a smaller model.")


def test_it_rests_in_a_quiet_moment_after_the_time_of_the_settings(stage: Stage) -> None:
    engine, services = Resting(), stage.services
    stage.use(engine)
    services._look()
    assert engine.rested == []  # something was asked just now
    services.distilling._quiet_since -= 3600
    services.settings.update("model", idle_minutes=0)
    services._look()
    assert engine.rested == []
    services.settings.update("model", idle_minutes=5)
    services._look()
    assert engine.rested == [300.0]
    assert len(stage.of(ModelResting)) == 1


def test_a_model_that_cannot_be_woken_is_told_once(stage: Stage) -> None:
    engine = Resting()
    stage.use(engine)
    engine.asleep = True
    chat = stage.services.new_chat()
    stage.services.send(chat, "Hello")
    assert stage.wait_for_end().error.code == "engine.no_memory"
    assert [event.error.code for event in stage.of(ModelFailed)] == ["engine.no_memory"]
    assert stage.of(ModelReady) == []
