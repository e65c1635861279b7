"""A turn with a real workspace: what is on disk, and when."""

from __future__ import annotations

import pytest

from assistant.chat.growing_reply import GrowingReply
from assistant.chat.prompt import PromptBuilder, PromptRules
from assistant.chat.receipts import ReceiptStore
from assistant.chat.tool_use import Toolbox
from assistant.chat.turn import TurnOutcome, TurnRunner
from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.events import Event, Notice, Recalled, TextArrived, TurnFinished
from assistant.core.values import GenerateOptions
from assistant.recall.search import Recall
from assistant.workspace.chats import Turn
from assistant.workspace.workspace import Workspace
from tests.fakes import FakeEngine, Reply


class Bench:
    def __init__(self, workspace: Workspace, recall: Recall, receipts: ReceiptStore, engine: FakeEngine) -> None:
        self.workspace, self.recall, self.receipts, self.engine = workspace, recall, receipts, engine
        self.events: list[Event] = []
        self.id = workspace.chats.create("Talk")

    def say(self, text: str, cancel: CancelToken | None = None) -> TurnOutcome:
        start = self.workspace.chats.begin_turn(self.id, text, None)
        chat = self.workspace.chats.read(self.id)
        turn = next(t for t in chat.turns if t.n == start.n)
        builder = PromptBuilder(self.workspace, self.recall, self.receipts, self.engine, PromptRules(4096, 256))
        toolbox = Toolbox(self.workspace, self.recall, self.receipts, lambda _: True, lambda: False)
        runner = TurnRunner(self.workspace, self.receipts, self.engine, self.events.append, toolbox)
        return runner.run(chat, turn, builder, GenerateOptions(), cancel or CancelToken())

    @property
    def turns(self) -> tuple[Turn, ...]:
        return self.workspace.chats.read(self.id).turns


@pytest.fixture
def bench(workspace: Workspace, recall: Recall, receipts: ReceiptStore) -> Bench:
    return Bench(workspace, recall, receipts, FakeEngine(["Hello!\nHow are you?"]))


def test_words_are_on_disk_before_the_model_starts_and_the_reply_after(bench: Bench) -> None:
    seen: list[str] = []
    bench.engine.before_reply = lambda: seen.append(bench.workspace.chats.path(bench.id).read_text())
    bench.say("Good morning")
    assert "> Good morning" in seen[0]
    assert bench.turns[0].reply == "Hello!\nHow are you?"
    assert [type(event) for event in bench.events if not isinstance(event, TextArrived)][-1] is TurnFinished


def test_the_receipt_is_kept_before_the_model_starts(bench: Bench, receipts: ReceiptStore) -> None:
    (bench.workspace.root / "MEMORY.md").write_text("- I play the cello\n")
    kept = []
    bench.engine.before_reply = lambda: kept.append(receipts.get(bench.id, 1))
    bench.say("Good morning")
    assert [line.text for line in kept[0].lines] == ["- I play the cello"]
    again = ReceiptStore(receipts._folder).get(bench.id, 1)
    assert again is not None
    assert [line.text for line in again.lines] == ["- I play the cello"]
    assert again.prompt_tokens > 0


def test_a_stopped_reply_is_kept_and_marked(bench: Bench) -> None:
    token = CancelToken()
    bench.engine.before_reply = token.cancel
    outcome = bench.say("Good morning", token)
    assert outcome.done.stop == "stopped"
    assert bench.turns[0].mark == "stopped"


def test_a_death_in_mid_reply_costs_the_rest_only(bench: Bench) -> None:
    died = AssistantError("engine.died", "The model stopped unexpectedly.", "Try again.")

    class Dying(FakeEngine):
        def chat(self, messages, options, cancel):  # type: ignore[no-untyped-def]
            for event in super().chat(messages, options, cancel):
                yield event
                if type(event).__name__ == "Delta":
                    raise died

    bench.engine = Dying(["first line\nsecond line"])
    with pytest.raises(AssistantError) as failed:
        bench.say("Good morning")
    assert failed.value.code == "engine.died"
    assert bench.turns[0].reply == "first line\n"
    assert bench.turns[0].mark == "interrupted"
    bench.engine = FakeEngine(["Back again."])
    bench.say("Are you there?")
    assert bench.turns[1].reply == "Back again."


def test_what_was_thought_before_a_death_is_kept(bench: Bench) -> None:
    class Dying(FakeEngine):
        def chat(self, messages, options, cancel):  # type: ignore[no-untyped-def]
            for event in super().chat(messages, options, cancel):
                if type(event).__name__ == "Delta" and not event.thought:
                    raise AssistantError("engine.died", "The model stopped unexpectedly.", "Try again.")
                yield event

    bench.engine = Dying([Reply("Two.", thought="They ask for a number.")])
    with pytest.raises(AssistantError):
        bench.say("One or two?")
    (turn,) = bench.turns
    assert (turn.reply or "", turn.mark, turn.thought.text) == ("", "interrupted", "They ask for a number.")


def test_remember_that_is_obeyed_and_told_to_the_model(bench: Bench) -> None:
    bench.say("Hi")
    bench.say("Remember that my dog is called Rex")
    entries = [entry.raw for entry in bench.workspace.memory.document().entries]
    assert entries == ["2026-11-30|you|my dog is called Rex"]
    assert "my dog is called Rex" in bench.engine.asked[-1][-1].text.split("</recalled>")[0]


def test_a_memory_that_cannot_be_written_costs_no_answer(bench: Bench) -> None:
    (bench.workspace.root / "MEMORY.md").write_bytes(bytes(200))
    bench.say("Remember that my dog is called Rex")
    assert bench.turns[0].reply == "Hello!\nHow are you?"
    assert any(isinstance(event, Notice) and event.error for event in bench.events)
    assert (bench.workspace.root / "MEMORY.md").read_bytes() == bytes(200)


def test_each_turn_has_a_line_in_the_day_log(bench: Bench) -> None:
    bench.say("Good morning")
    log = (bench.workspace.root / "memory" / "log" / "2026-11-30.md").read_text()
    assert 'chat "Talk"' in log
    assert "\n\n" not in log.strip()


def test_events_tell_the_receipt_then_the_text(bench: Bench) -> None:
    bench.say("Good morning")
    kinds = [type(event) for event in bench.events]
    assert kinds.index(Recalled) < kinds.index(TextArrived)
    assert "".join(e.text for e in bench.events if isinstance(e, TextArrived)) == "Hello!\nHow are you?"


def test_what_the_model_thinks_is_told_apart_kept_and_never_sent_again(bench: Bench) -> None:
    bench.engine = FakeEngine([Reply("Two.", thought="They ask for a number."), "Yes."])
    bench.say("How many?")
    told = [(event.text, event.thought) for event in bench.events if isinstance(event, TextArrived)]
    assert told == [("They ask for a number.", True), ("Two.", False)]
    assert (bench.turns[0].reply, bench.turns[0].thought.text) == ("Two.", "They ask for a number.")
    bench.say("Surely?")
    assert "ask for a number" not in repr(bench.engine.asked[1])
    assert "Two." in repr(bench.engine.asked[1])


def test_only_thinking_counts_as_thinking(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [10.0]
    monkeypatch.setattr("assistant.chat.growing_reply.time.monotonic", lambda: now[0])
    reply = GrowingReply(lambda _: None, lambda _: None)
    for moment, thought in ((10.0, "Hm"), (12.0, "m"), (15.0, ""), (30.0, "Well"), (31.0, "!")):
        now[0] = moment
        if thought:
            reply.think(thought)
        else:
            reply.add("Let me see.")
    assert (reply.thought, reply.thought_s) == ("HmmWell!", 3.0)
