"""A turn ends once, whatever happens to it: the window never waits for an end that does not come."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.events import DistillProgress, ModelFailed, Notice, TextArrived, TurnFailed, TurnFinished, TurnSaved
from assistant.core.values import ChatEvent, Delta, GenerateOptions, Message, StopReason
from assistant.workspace.chat_store import ChatStore
from assistant.workspace.day_log import DayLog
from tests.fakes import FakeEngine
from tests.runtime.conftest import Stage

FULL = AssistantError("disk.full", "The disk is full.", "Free some space.")


def fail(error: Exception) -> Any:
    def failing(*_args: Any, **_words: Any) -> Any:
        raise error

    return failing


class Gate(FakeEngine):
    """An engine whose replies wait until the test lets them go on."""

    def __init__(self, *answers: str) -> None:
        super().__init__(list(answers))
        self.reached, self.open = threading.Event(), threading.Event()
        self.before_reply = self._wait

    def _wait(self) -> None:
        self.reached.set()
        assert self.open.wait(30)


class UntilStopped(FakeEngine):
    """An engine that writes one line and then waits to be stopped."""

    def __init__(self) -> None:
        super().__init__(["one\ntwo\n"])
        self.reached = threading.Event()

    def chat(self, messages: Sequence[Message], options: GenerateOptions, cancel: CancelToken) -> Iterator[ChatEvent]:
        for event in super().chat(messages, options, cancel):
            yield event
            if isinstance(event, Delta):
                self.reached.set()
                assert cancel.wait(30)


def test_a_reply_that_cannot_be_written_fails_the_turn_and_is_kept(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = stage.services.new_chat()
    stage.use(FakeEngine(["All of it.\n"]))
    with monkeypatch.context() as full:
        full.setattr(ChatStore, "end_turn", fail(FULL))
        stage.services.send(chat, "Hello")
        assert stage.wait_for_end().error.code == "disk.full"
    stage.services.workspace.close()  # as when this process ends
    workspace = stage.services.workspace
    again = ChatStore(workspace.root, workspace.data, workspace.state, workspace.clock)
    assert again.recover() == [(chat, 1)]
    assert again.read(chat).turns[0].reply == "All of it.\n"


def test_a_day_log_that_cannot_be_written_is_told_and_costs_no_reply(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = stage.services.new_chat()
    monkeypatch.setattr(DayLog, "add", fail(FULL))
    stage.services.send(chat, "Hello")
    assert isinstance(stage.wait_for_end(), TurnFinished)
    assert any("disk is full" in notice.text for notice in stage.of(Notice))
    assert stage.services.read_chat(chat).turns[0].reply == "Fine."


@pytest.mark.logs("a background job failed")
def test_a_bug_while_the_words_are_saved_is_told(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    chat = stage.services.new_chat()
    monkeypatch.setattr(ChatStore, "begin_turn", fail(RuntimeError("a bug")))
    stage.services.send(chat, "Hello")
    end = stage.wait_for_end()
    assert (end.turn, end.error.code) == (0, "turn.bug")


def test_a_title_that_cannot_be_written_does_not_unsay_the_words(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    chat = stage.services.new_chat()
    monkeypatch.setattr(ChatStore, "rename", fail(FULL))
    stage.services.send(chat, "Hello")
    assert isinstance(stage.wait_for_end(), TurnFinished)
    assert [saved.turn for saved in stage.of(TurnSaved)] == [1]


def test_regenerating_in_a_chat_that_is_gone_fails_the_turn(stage: Stage) -> None:
    chat = stage.services.new_chat()
    stage.services.send(chat, "Hello")
    stage.wait_for_end()
    stage.services.delete_chat(chat)
    stage.services.regenerate(chat, 1)
    assert stage.wait_for_end(2).error.code == "chat.missing"


def test_a_turn_taken_out_of_the_file_while_it_waits_is_said_to_be_gone(stage: Stage) -> None:
    gate = Gate("one", "two")
    stage.use(gate)
    first, second = stage.services.new_chat(), stage.services.new_chat()
    stage.services.send(first, "Hello")
    stage.services.send(second, "Hello")
    stage.wait(lambda: len(stage.of(TurnSaved)) == 2)
    path = stage.services.workspace.chats.path(second)
    path.write_text(path.read_text().split("### ")[0])
    gate.open.set()
    stage.wait_for_end(2)
    assert [end.error.code for end in stage.of(TurnFailed)] == ["chat.no_turn"]


def test_a_turn_stopped_while_it_waits_ends_at_once(stage: Stage) -> None:
    gate = Gate("one")
    stage.use(gate)
    first, second = stage.services.new_chat(), stage.services.new_chat()
    stage.services.send(first, "Hello")
    stage.services.send(second, "And here")
    assert gate.reached.wait(30)
    stage.services.stop(second)
    end = stage.wait_for_end()
    assert (end.chat, end.done.stop) == (second, StopReason.STOPPED)
    assert stage.services.read_chat(second).turns[0].mark == "stopped"
    gate.open.set()
    assert stage.wait_for_end(2).chat == first
    stage.settle()
    assert len(stage.ends()) == 2
    assert len(gate.asked) == 1


def test_a_chat_deleted_while_it_streams_comes_back_with_the_text_so_far(stage: Stage) -> None:
    engine = UntilStopped()
    stage.use(engine)
    chat = stage.services.new_chat()
    stage.services.send(chat, "Hello")
    assert engine.reached.wait(30)
    gone = stage.services.lanes.files.submit(stage.services.delete_chat, chat)
    stage.services.restore_chat(gone.result(30))
    turn = stage.services.read_chat(chat).turns[0]
    assert (turn.reply, turn.mark) == ("one\n", "stopped")
    assert len(stage.ends()) == 1


def test_what_a_person_kept_by_choice_is_asked_again_as_it_stands(stage: Stage) -> None:
    chat = stage.services.new_chat()
    stage.services.send(chat, "The password: correct-horse-battery", keep_secrets=True)
    stage.wait_for_end()
    stage.services.regenerate(chat, 1)
    stage.wait_for_end(2)
    assert [turn.user for turn in stage.services.read_chat(chat).turns] == ["The password: correct-horse-battery"] * 2


def test_the_text_is_kept_when_whoever_is_told_fails(stage: Stage) -> None:
    stage.use(FakeEngine(["one\ntwo\n"]))
    chat = stage.services.new_chat()

    def broken(event: object) -> None:
        if isinstance(event, TextArrived):
            raise BrokenPipeError

    stage.services.subscribe(broken)
    with pytest.raises(BrokenPipeError):
        stage.services.turns.send_now(chat, "Hello", CancelToken())
    turn = stage.services.read_chat(chat).turns[0]
    assert (turn.reply, turn.mark) == ("one\n", "interrupted")


def test_nothing_of_a_private_chat_becomes_memory_by_itself(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(type(stage.services.distilling), "now", lambda _self, chat, _token: asked.append(chat) or [])
    private = stage.services.workspace.chats.create("Mine", private=True)
    open_one = stage.services.new_chat()
    stage.services.distil(private)
    stage.services.distil(open_one)
    stage.settle()
    assert asked == [open_one]


@pytest.mark.logs("a background job failed")
def test_distilling_is_over_for_the_window_however_it_ends(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    chat = stage.services.new_chat()
    monkeypatch.setattr(type(stage.services.distilling), "now", fail(RuntimeError("a bug")))
    stage.services.distil(chat)
    stage.settle()
    last = stage.of(DistillProgress)[-1]
    assert last.done == last.total


def test_a_turn_goes_before_everything_that_waits_to_be_distilled(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    gate = Gate("one", "two")
    stage.use(gate)
    chats = [stage.services.new_chat() for _ in range(3)]
    monkeypatch.setattr(type(stage.services.distilling), "now", lambda _self, chat, _token: order.append(chat) or [])
    stage.services.subscribe(lambda event: order.append("turn") if isinstance(event, TurnFinished) else None)
    stage.services.send(chats[0], "Hello")
    assert gate.reached.wait(30)
    stage.services.distil(chats[1])
    stage.services.distil(chats[2])
    stage.services.distil(chats[1])  # once is enough
    stage.services.send(chats[0], "Again")
    stage.wait(lambda: len(stage.of(TurnSaved)) == 2)
    stage.services.lanes.files.submit(lambda: None).result(30)
    gate.open.set()
    stage.wait_for_end(2)
    monkeypatch.setattr("assistant.runtime.distilling.QUIET_SECONDS", 0.0)
    stage.services.distilling.look()
    stage.settle()
    assert order == ["turn", "turn", chats[1], chats[2]]


def test_nothing_is_left_in_the_state_folder_of_a_process_that_ended_well(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    chat = stage.services.new_chat()
    stage.services.workspace.chats.keep_partial(chat, 1, "so far")
    stage.services.workspace.chats._pending.drop(chat, 1)
    stage.services.close()
    assert not list(stage.services.workspace.state.rglob("*.alive"))


def test_a_reply_goes_on_where_it_cannot_be_kept_meanwhile(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assistant.chat.growing_reply._PARTIAL_SECONDS", 0.0)
    monkeypatch.setattr(ChatStore, "keep_partial", fail(FULL))
    stage.use(FakeEngine(["one\ntwo\nthree\n"]))
    chat = stage.services.new_chat()
    stage.services.send(chat, "Hello")
    assert isinstance(stage.wait_for_end(), TurnFinished)
    assert stage.services.read_chat(chat).turns[0].reply == "one\ntwo\nthree\n"
    assert len(stage.of(Notice)) == 1


class Mortal(FakeEngine):
    """An engine that has no model any more once a reply failed."""

    loaded = True

    @property
    def info(self) -> Any:
        return super().info if self.loaded else None

    def chat(self, messages: Sequence[Message], options: GenerateOptions, cancel: CancelToken) -> Iterator[ChatEvent]:
        try:
            yield from super().chat(messages, options, cancel)
        except AssistantError as error:
            self.loaded = error.code == "engine.window"
            raise


@pytest.mark.parametrize(
    ("code", "told"),
    [("engine.died", 1), ("model.missing", 1), ("engine.window", 0)],
)
def test_a_turn_that_leaves_no_model_says_so_of_the_model_too(stage: Stage, code: str, told: int) -> None:
    """The window must not show as ready what cannot answer; a model that only failed this once stays ready."""
    lost = AssistantError(code, "It cannot be read.", "Choose another.")
    stage.use(Mortal([lost]))
    chat = stage.services.new_chat()
    stage.services.send(chat, "hello")
    end = stage.wait_for_end()
    assert isinstance(end, TurnFailed) and end.error is lost
    assert [event.error for event in stage.of(ModelFailed)] == [lost] * told
