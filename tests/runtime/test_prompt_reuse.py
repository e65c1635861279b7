"""Nothing is read twice: the real model over turns, branches, other chats, summaries in between and restarts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.values import Done, EngineSettings, GenerateOptions, Message, Role
from assistant.engine.snapshots import Place, left_in
from assistant.runtime.engine_client import WorkerEngine
from tests.real_models import starter_model_path

S, U, A = Role.SYSTEM, Role.USER, Role.ASSISTANT
SETTINGS = EngineSettings(window=1536, threads=1, threads_batch=2)
ROW = Message(S, "You are a kind assistant. " + "The river runs past the old mill, and the children count boats. " * 12)
SUMMARY = [Message(S, "You write notes."), Message(U, "Note what matters: Ines moved to Graz and builds violins.")]

pytestmark = pytest.mark.real


def started(place: Place | None) -> WorkerEngine:
    engine = WorkerEngine()
    engine.keep_at(lambda: place)
    engine.load(starter_model_path(), SETTINGS, CancelToken(), lambda *_: None)
    return engine


class Talk:
    """A conversation as chats have it: each prompt goes on from the one before."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.said = [ROW]

    def asks(self, text: str) -> list[Message]:
        return [*self.said, Message(U, text)]

    def say(self, engine: WorkerEngine, text: str) -> Done:
        done = reply(engine, self.asks(text), self.name)
        self.said = [*self.asks(text), Message(A, done.text)]
        return done


def reply(engine: WorkerEngine, messages: Sequence[Message], conversation: str = "") -> Done:
    options = GenerateOptions(temperature=0, max_tokens=16, conversation=conversation)
    *_, done = engine.chat(messages, options, CancelToken())
    assert isinstance(done, Done)
    return done


def read(done: Done) -> int:
    return done.prompt_tokens - done.reused_tokens


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("state") / "snapshots", 10**9)


@pytest.fixture(scope="module")
def engine(place: Place) -> Iterator[WorkerEngine]:
    engine = started(place)
    yield engine
    engine.close()


@pytest.fixture
def fresh() -> Iterator[WorkerEngine]:
    """One that has read nothing."""
    engine = started(None)
    yield engine
    engine.close()


def test_a_summary_between_two_turns_costs_the_second_nothing(engine: WorkerEngine, fresh: WorkerEngine) -> None:
    undisturbed, disturbed = Talk("undisturbed"), Talk("disturbed")
    undisturbed.say(engine, "Name a river.")
    expected = undisturbed.say(engine, "And a town at it?")
    disturbed.say(engine, "Name a river.")
    assert reply(engine, SUMMARY).text
    second = disturbed.say(engine, "And a town at it?")
    assert (read(second), second.text) == (read(expected), expected.text)
    assert read(second) < 25
    again = reply(fresh, disturbed.said[:-1])
    assert (again.text, again.reused_tokens) == (second.text, 0)


def test_other_chats_and_other_branches_come_back(engine: WorkerEngine, fresh: WorkerEngine) -> None:
    one, two = Talk("one"), Talk("two")
    one.say(engine, "Tell me of apples. " + "I grow many kinds of them in my garden, red and green. " * 20)
    two.say(engine, "What is a boat made of?")
    assert read(one.say(engine, "Which is the best?")) < 25
    branch = Talk("one")
    first = branch.say(engine, "No, tell me of pears. " + "I grow many kinds of them in my orchard, in rows. " * 20)
    assert first.reused_tokens > 150
    back = one.say(engine, "And the sourest?")
    assert read(back) < 25
    assert reply(fresh, one.said[:-1]).text == back.text
    assert read(two.say(engine, "And a ship?")) < 25


def test_a_restart_reads_only_what_is_new_and_says_the_same(
    engine: WorkerEngine, place: Place, fresh: WorkerEngine
) -> None:
    talk, private = Talk("kept"), Talk("private")
    talk.say(engine, "Tell me about the mill.")
    talk.say(engine, "Who lives in it?")
    private.say(engine, "Between us: where is the key?")
    engine.keep(["kept"], CancelToken())
    said = list(talk.said)
    expected = talk.say(engine, "Is it old?")
    again = started(place)
    try:
        talk.said = said
        restored = talk.say(again, "Is it old?")
        assert (read(restored), restored.text) == (read(expected), expected.text)
        assert read(restored) < 25
        assert reply(fresh, talk.said[:-1]).text == restored.text
        row = read(reply(again, Talk("private").asks("Between us: where is the key?"), "private"))
        assert 10 < row < 25  # nothing of it was kept but the row that all chats begin with
    finally:
        again.close()


def test_a_spoilt_snapshot_is_read_instead(tmp_path: Path, fresh: WorkerEngine) -> None:
    place = Place(tmp_path, 10**9)
    talk = Talk("spoilt")
    engine = started(place)
    talk.say(engine, "Tell me about the mill.")
    engine.keep([talk.name], CancelToken())
    engine.close()
    files = left_in(tmp_path)
    assert files
    for path in files:
        raw = bytearray(path.read_bytes())
        raw[-1000] ^= 1
        path.write_bytes(raw)
    again = started(place)
    try:
        second = reply(again, talk.asks("Who lives in it?"), talk.name)
    finally:
        again.close()
    assert second.reused_tokens == 0
    assert second.text == reply(fresh, talk.asks("Who lives in it?")).text
    assert left_in(tmp_path) == []
