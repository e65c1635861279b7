"""Nothing is read twice: the real model over turns, branches, other chats, summaries in between and restarts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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

FRANCE = "What is the capital of France? Answer with one word."
"""The model is sure of it: reading in other steps differs in the last bits, which decides where it is not."""

pytestmark = pytest.mark.real


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


Start = Callable[[Place | None], WorkerEngine]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts engines that have read nothing."""
    engines: list[WorkerEngine] = []

    def started(place: Place | None = None) -> WorkerEngine:
        engines.append(WorkerEngine())
        engines[-1].keep_at(lambda: place)
        engines[-1].load(starter_model_path(), SETTINGS, CancelToken(), lambda *_: None)
        return engines[-1]

    yield started
    for engine in engines:
        engine.close()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "snapshots", 10**9)


def test_a_summary_between_two_turns_costs_the_second_nothing(start: Start) -> None:
    undisturbed, disturbed = Talk("talk"), Talk("talk")
    engine, other = start(None), start(None)
    undisturbed.say(other, "Tell me of the river.")
    disturbed.say(engine, "Tell me of the river.")
    for _ in range(2):
        expected = undisturbed.say(other, "And what of the town at it?")
        assert reply(engine, SUMMARY).text
        done = disturbed.say(engine, "And what of the town at it?")
        assert (read(done), done.text) == (read(expected), expected.text)
    assert read(done) < 25
    last = disturbed.say(engine, FRANCE)
    again = reply(other, disturbed.said[:-1])
    assert last.text == again.text and "Paris" in last.text


def test_other_chats_and_other_branches_come_back(start: Start) -> None:
    engine = start(None)
    one, two = Talk("one"), Talk("two")
    one.say(engine, "Tell me of apples. " + "I grow many kinds of them in my garden, red and green. " * 20)
    two.say(engine, "What is a boat made of?")
    assert read(one.say(engine, "Which is the best?")) < 25
    branch = Talk("one")
    first = branch.say(engine, "No, tell me of pears. " + "I grow many kinds of them in my orchard, in rows. " * 20)
    assert first.reused_tokens > 150
    back = one.say(engine, FRANCE)
    assert read(back) < 25
    assert read(two.say(engine, "And a ship?")) < 25
    assert read(branch.say(engine, FRANCE)) < 25
    fresh = reply(start(None), one.said[:-1])
    assert fresh.reused_tokens == 0 and fresh.text == back.text and "Paris" in back.text


def test_a_restart_reads_only_what_is_new_and_says_the_same(start: Start, place: Place) -> None:
    before, after = start(place), start(place)
    talk, private = Talk("kept"), Talk("private")
    talk.say(before, "I like towns, the larger the better. What is the capital of Spain? Answer with one word.")
    talk.say(before, "I also like the sea and the mountains. What is the capital of Italy? Answer with one word.")
    before.keep([talk.name], CancelToken())
    said = list(talk.said)
    expected = talk.say(before, "Is it old?")
    talk.said = said
    restored = talk.say(after, "Is it old?")
    assert (read(restored), restored.text) == (read(expected), expected.text)
    assert read(restored) < 25
    last = talk.say(after, FRANCE)
    fresh = reply(start(None), talk.said[:-1])
    assert fresh.reused_tokens == 0 and fresh.text == last.text and "Paris" in last.text
    private.say(after, "Between us: where is the key? I mean that of the cellar.")
    after.keep([talk.name], CancelToken())
    again = start(place)
    left = reply(again, private.said[:2], private.name)
    assert 10 < read(left) < 30  # nothing of it is kept but what all chats begin with


def test_a_spoilt_snapshot_is_read_instead(start: Start, place: Place) -> None:
    talk, before = Talk("spoilt"), start(place)
    talk.say(before, "Tell me about the mill.")
    before.keep([talk.name], CancelToken())
    files = left_in(place.folder)
    assert len(files) == 2
    for path in files:
        raw = bytearray(path.read_bytes())
        raw[-1000] ^= 1
        path.write_bytes(raw)
    done = reply(start(place), talk.asks(FRANCE), talk.name)
    assert done.reused_tokens == 0
    assert "Paris" in done.text
    assert left_in(place.folder) == []
