"""Turns in which the model uses tools, or the person's own words do, with a real workspace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from assistant.chat.prompt import PromptBuilder, PromptRules
from assistant.chat.receipts import ReceiptStore
from assistant.chat.tool_use import Toolbox
from assistant.chat.tools import ALL
from assistant.chat.turn import TurnOutcome, TurnRunner
from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.events import Event, ForgetAsked, TextArrived, ToolUsed
from assistant.core.values import GenerateOptions, Message, Role, StopReason, ToolCall
from assistant.recall.search import Recall
from assistant.workspace.chats import Turn
from assistant.workspace.workspace import Workspace
from tests.fakes import Answer, FakeEngine, Reply, asks


class Bench:
    """One chat with an engine that can call tools."""

    def __init__(self, workspace: Workspace, recall: Recall, receipts: ReceiptStore) -> None:
        self.workspace, self.recall, self.receipts = workspace, recall, receipts
        self.engine = FakeEngine(tools=True)
        self.events: list[Event] = []
        self.id = workspace.chats.create("Talk")
        self.hits = 0

    def script(self, *answers: Answer) -> None:
        waiting, before = list(answers), self.engine.before_reply
        self.engine = FakeEngine(lambda _: waiting.pop(0) if waiting else "Fine.", tools=True)
        self.engine.before_reply = before

    def say(self, text: str, cancel: CancelToken | None = None, after: int | None = None) -> TurnOutcome:
        start = self.workspace.chats.begin_turn(self.id, text, after)
        chat = self.workspace.chats.read(self.id)
        rules = PromptRules(4096, 256, self.hits, tools=ALL if self.engine.tools else ())
        builder = PromptBuilder(self.workspace, self.recall, self.receipts, self.engine, rules)
        toolbox = Toolbox(self.workspace, self.recall, self.receipts, lambda _: True, lambda: False)
        runner = TurnRunner(self.workspace, self.receipts, self.engine, self.events.append, toolbox)
        return runner.run(chat, chat.by_number[start.n], builder, GenerateOptions(), cancel or CancelToken())

    @property
    def turns(self) -> tuple[Turn, ...]:
        return self.workspace.chats.read(self.id).turns

    @property
    def entries(self) -> list[str]:
        return [entry.raw for entry in self.workspace.memory.document().entries]

    def note(self, name: str, text: str) -> None:
        (self.workspace.root / "memory").mkdir(exist_ok=True)
        (self.workspace.root / "memory" / name).write_text(text)


@pytest.fixture
def bench(workspace: Workspace, recall: Recall, receipts: ReceiptStore) -> Bench:
    return Bench(workspace, recall, receipts)


def roles(messages: Sequence[Message]) -> list[Role]:
    return [message.role for message in messages]


# --- the model uses tools ---


def test_a_call_is_carried_out_and_the_reply_goes_on_behind_its_result(bench: Bench) -> None:
    bench.note("garden.md", "- The hydrangea needs lime in March\n")
    bench.script(asks("memory_search", query="hydrangea"), "In March.")
    outcome = bench.say("When do I lime the hydrangea?")
    first, second = bench.engine.asked
    assert second[: len(first)] == first  # only appended to: what was read stays valid
    assert roles(second[len(first) :]) == [Role.ASSISTANT, Role.TOOL]
    assert second[-2].calls == (ToolCall("memory_search", {"query": "hydrangea"}),)
    assert "needs lime in March" in second[-1].text
    assert outcome.done.text == bench.turns[0].reply == "In March."
    assert outcome.done.stop is StopReason.END
    assert all(options.tools == ALL for options in bench.engine.options)
    assert all(options.conversation == bench.id for options in bench.engine.options)


def test_the_call_is_in_the_file_on_screen_in_the_receipt_and_in_the_day_log(
    bench: Bench, receipts: ReceiptStore
) -> None:
    bench.note("garden.md", "- The hydrangea needs lime in March\n")
    bench.script(asks("memory_search", query="hydrangea"), "In March.")
    outcome = bench.say("When do I lime the hydrangea?")
    text = bench.workspace.chats.path(bench.id).read_text()
    block = "**Tool** (memory_search):\n\n> query: hydrangea\n> → found: memory/garden.md:1\n\n**Assistant**:"
    assert block in text
    assert "needs lime" not in text  # what was found stays where it is: a copy would outlive its forgetting
    used = [event.call for event in bench.events if isinstance(event, ToolUsed)]
    kept = ReceiptStore(receipts.folder).get(bench.id, 1)
    assert kept is not None
    assert list(kept.calls) == list(outcome.receipt.calls) == used
    assert "needs lime in March" in kept.calls[0].result
    assert [line.text for line in kept.lines if line.why == "tool"] == [kept.calls[0].lines[0].text]
    log = (bench.workspace.root / "memory" / "log" / "2026-11-30.md").read_text()
    assert "tools: memory_search" in log


def test_the_next_turn_repeats_calls_and_results_byte_for_byte(bench: Bench) -> None:
    bench.note("garden.md", "- The hydrangea needs lime in March\n")
    bench.script(asks("memory_search", query="hydrangea", said="Let me look."), "In March.", "You are welcome.")
    bench.say("When do I lime the hydrangea?")
    told = bench.engine.asked[-1]
    bench.say("Thanks")
    assert bench.turns[0].reply == "Let me look.\n\nIn March."
    assert bench.engine.asked[-1][: len(told) + 1] == [*told, Message(Role.ASSISTANT, "In March.")]


def test_with_a_model_that_cannot_call_any_the_earlier_calls_are_left_out(bench: Bench) -> None:
    bench.script(asks("memory_search", query="hydrangea", said="Let me look."), "I do not know.")
    bench.say("When do I lime the hydrangea?")
    bench.engine = FakeEngine(["Fine."])
    bench.say("Thanks")
    assert roles(bench.engine.asked[-1]) == [Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.USER]
    assert bench.engine.asked[-1][2].text == "Let me look.\n\nI do not know."
    assert bench.engine.options[-1].tools == ()


def test_a_write_can_be_undone_by_its_receipt(bench: Bench) -> None:
    bench.script(asks("memory_write", text="Cello lessons are on Tuesdays"), "Noted.")
    outcome = bench.say("By the way, my cello lessons are on Tuesdays now")
    assert bench.entries == ["2026-11-30|tool|Cello lessons are on Tuesdays"]
    bench.workspace.memory.undo(outcome.receipt.calls[0].journal)
    assert bench.entries == []


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (asks("launch_rocket"), "There is no tool 'launch_rocket'"),
        (asks("memory_write", wrong="x"), "has no argument 'wrong'"),
        (asks("memory_read", file="../../x"), "did not work"),
    ],
)
def test_a_call_that_fails_gets_a_short_result_and_the_reply_goes_on(bench: Bench, call: Reply, why: str) -> None:
    bench.script(call, "I could not do that.")
    outcome = bench.say("Do it")
    assert why in bench.engine.asked[-1][-1].text
    assert outcome.done.text == "I could not do that."
    assert outcome.receipt.calls[0].outcome == "failed"
    assert bench.turns[0].calls[0].outcome == "failed"


def test_two_calls_in_one_message_are_answered_in_order(bench: Bench) -> None:
    both = (ToolCall("memory_search", {"query": "a"}), ToolCall("chats_search", {"query": "b"}))
    bench.script(Reply("", calls=both), "Nothing.")
    bench.say("Look")
    assert roles(bench.engine.asked[-1][-3:]) == [Role.ASSISTANT, Role.TOOL, Role.TOOL]
    assert bench.engine.asked[-1][-3].calls == both
    assert [call.name for call in bench.turns[0].calls] == ["memory_search", "chats_search"]


def test_at_most_three_calls_a_turn(bench: Bench) -> None:
    bench.script(*(asks("memory_write", text=f"The number {n} was drawn") for n in range(4)), "Enough.")
    outcome = bench.say("Write down each number that was drawn")
    assert len(bench.entries) == 3
    assert [call.outcome for call in outcome.receipt.calls] == ["written", "written", "written", "refused"]
    assert "Answer now" in bench.engine.asked[-1][-1].text
    assert outcome.done.text == "Enough."


def test_thousands_of_calls_in_one_message_are_not_all_written_down(bench: Bench) -> None:
    bench.script(Reply("", calls=tuple(ToolCall("memory_search", {"query": str(n)}) for n in range(5_000))), "Enough.")
    assert bench.say("Look").done.text == "Enough."
    assert len(bench.turns[0].calls) == 8


def test_a_secret_that_a_model_writes_reaches_no_disk(bench: Bench, tmp_path: Path) -> None:
    secret = "sk-proj-" + "a1B2c3D4e5F6g7H8i9J0" * 2
    call = ToolCall("memory_write", {"text": f"The key is {secret}", "wrong": [secret]})
    bench.script(Reply(f"I note {secret}", calls=(call,)), "Done.", "And so on.")
    bench.say("Make a key and note it")
    assert bench.turns[0].calls
    assert [path for path in tmp_path.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()] == []
    bench.say("And?")
    assert roles(bench.engine.asked[-1])[1:4] == [Role.USER, Role.ASSISTANT, Role.TOOL]


def test_a_model_that_asks_for_ever_ends(bench: Bench) -> None:
    bench.script(*(asks("memory_search", query="x") for _ in range(50)))
    outcome = bench.say("Look")
    assert len(bench.engine.asked) <= 7
    assert bench.engine.options[-1].tools == ()
    assert outcome.done.stop is StopReason.END
    assert bench.turns[0].reply == ""


def test_stop_between_calls_keeps_what_was_said_and_done(bench: Bench) -> None:
    cancel = CancelToken()
    bench.script(asks("memory_write", text="Cello lessons are on Tuesdays", said="I note that."), "Never said.")
    bench.engine.before_reply = cancel.cancel
    outcome = bench.say("Cello is on Tuesdays", cancel)
    assert outcome.done.stop is StopReason.STOPPED
    assert bench.turns[0].mark == "stopped"
    assert "Never said." not in (bench.turns[0].reply or "")


def test_a_death_behind_a_call_keeps_the_call(bench: Bench, receipts: ReceiptStore) -> None:
    bench.script(
        asks("memory_write", text="Cello is on Tuesdays", said="I note that."), AssistantError("engine.died", "x")
    )
    with pytest.raises(AssistantError):
        bench.say("Cello is on Tuesdays")
    assert bench.turns[0].calls[0].outcome == "written"
    assert (bench.turns[0].reply, bench.turns[0].mark) == ("I note that.", "interrupted")
    assert receipts.calls(bench.id, 1)[0].outcome == "written"
    bench.script("Back again.")
    bench.say("Hello?")
    assert bench.turns[1].reply == "Back again."


def test_another_branch_has_its_own_calls(bench: Bench) -> None:
    bench.script(asks("memory_search", query="one"), "First.", asks("memory_search", query="two"), "Second.", "Third.")
    bench.say("Look")
    bench.say("Look", after=0)
    assert [[dict(call.arguments)["query"] for call in turn.calls] for turn in bench.turns] == [["one"], ["two"]]
    bench.say("And now?")
    said = [call.arguments["query"] for message in bench.engine.asked[-1] for call in message.calls]
    assert said == ["two"]


def test_results_fit_into_the_window_that_is_left(bench: Bench) -> None:
    bench.note(
        "big.md", "".join(f"- The lighthouse of {n} has a keeper called Ada {'word ' * 60}\n" for n in range(40))
    )
    bench.engine.window = 2048
    bench.script(*(asks("memory_read", file="big") for _ in range(3)), "Read.")
    bench.say("Read it all")
    assert bench.engine.count_prompt(bench.engine.asked[-1], ALL) < 4096 - 256


def test_a_question_about_the_persons_life_must_be_looked_up_where_nothing_is_known_of_it(bench: Bench) -> None:
    bench.say("What colour did I paint the hallway?")
    assert bench.engine.options[-1].must == ("memory_search", "chats_search")
    bench.say("What is the capital of Peru?")
    assert bench.engine.options[-1].must == ()


def test_what_stands_in_the_window_already_need_not_be_looked_up(bench: Bench) -> None:
    bench.workspace.memory.remember("painted the hallway sage green")
    bench.say("What is my hallway painted?")
    assert "sage green" in bench.engine.asked[-1][0].text
    assert bench.engine.options[-1].must == ()


def test_behind_a_call_the_model_is_free(bench: Bench) -> None:
    bench.script(asks("memory_search", query="hallway"), "I do not know.")
    bench.say("What colour did I paint the hallway?")
    assert [bool(options.must) for options in bench.engine.options] == [True, False]


# --- the person's own words ---


def test_what_the_person_asks_to_remember_is_written_shown_and_not_written_again(bench: Bench) -> None:
    bench.script(asks("memory_write", text="The dog of the person is named Rex"), "I will remember Rex.")
    outcome = bench.say("Remember that my dog is called Rex")
    assert bench.entries == ["2026-11-30|you|my dog is called Rex"]
    assert [(call.outcome, call.asked) for call in outcome.receipt.calls] == [("written", True), ("known", False)]
    assert "my dog is called Rex" in bench.engine.asked[0][-1].text.split("</recalled>")[0]
    assert "remembered already" in bench.engine.asked[1][-1].text


@pytest.mark.parametrize(
    ("text", "outcome"), [("They move to Lisbon in May", "written"), ("这个人的狗叫雷克斯", "known")]
)
def test_another_fact_of_the_same_turn_is_written_the_same_in_another_language_is_not(
    bench: Bench, text: str, outcome: str
) -> None:
    bench.script("How nice!", asks("memory_write", text=text), "I will remember that.")
    bench.say("We move to Lisbon in May")
    calls = bench.say("Remember that my dog is called Rex").receipt.calls
    assert [call.outcome for call in calls] == ["written", outcome]


def test_a_note_that_nobody_said_is_not_written(bench: Bench) -> None:
    bench.workspace.memory.remember("the wine rack is in the cellar, Ines gave it to us")
    mixed = asks("memory_write", text="Ines lives in the cellar behind the wine rack", topic="recipes")
    said = asks("memory_write", text="The person has a cat named Mia", until="2027-01-01")
    bench.script(mixed, said, "Mia, then.")
    outcome = bench.say("I have a cat, her name is Mia")
    assert [call.outcome for call in outcome.receipt.calls] == ["refused", "written"]
    assert not (bench.workspace.root / "memory" / "recipes.md").exists()
    assert "nobody said this" in bench.engine.asked[1][-1].text


def test_the_same_search_again_is_not_done_twice(bench: Bench) -> None:
    bench.note("house.md", "- The hallway is sage green\n")
    search = asks("memory_search", query="hallway")
    bench.script(search, search, asks("memory_search", query="green hallway"), "It is sage green.")
    outcome = bench.say("What colour did I paint the hallway?")
    assert [call.outcome for call in outcome.receipt.calls] == ["found", "refused", "found"]
    assert "You asked this already" in bench.engine.asked[2][-1].text


def test_what_did_i_say_finds_memory_and_chats_and_tells_the_model(bench: Bench) -> None:
    old = bench.workspace.chats.create("Boiler")
    turn = bench.workspace.chats.begin_turn(old, "The plumber wants 240 euros for the boiler")
    bench.workspace.chats.end_turn(old, turn.n, "Noted.")
    bench.note("house.md", "- The boiler is from 2009\n")
    bench.hits = 6
    bench.engine = FakeEngine(["It was 240 euros."])
    outcome = bench.say("What did I say about the boiler?")
    block = bench.engine.asked[-1][-1].text.split("</recalled>")[0]
    assert "240 euros" in block
    assert "from 2009" in block
    assert [(call.name, call.outcome) for call in outcome.receipt.calls] == [
        ("memory_search", "found"),
        ("chats_search", "found"),
    ]
    assert bench.turns[0].calls[1].detail == f"{old}#1"


def test_where_nothing_was_said_the_model_is_told_so(bench: Bench) -> None:
    bench.engine = FakeEngine(["Nothing."])
    outcome = bench.say("What did I say about quasars?")
    assert "found nothing" in bench.engine.asked[-1][-1].text
    assert [call.outcome for call in outcome.receipt.calls] == ["nothing", "nothing"]


@pytest.mark.parametrize("words", ["Forget my old address", "忘掉我的旧地址"])
def test_forget_only_asks_and_no_model_claims_otherwise(bench: Bench, words: str) -> None:
    fact = "我的旧地址是榆树街" if "忘" in words else "my old address was Elm Street"
    bench.workspace.memory.remember(fact)
    outcome = bench.say(words)
    assert bench.engine.asked == []
    asked = [event for event in bench.events if isinstance(event, ForgetAsked)]
    assert [(event.turn, event.count) for event in asked] == [(1, 1)]
    assert fact in bench.entries[0]
    assert outcome.done.text == bench.turns[0].reply
    assert ("确认" if "忘" in words else "Nothing is forgotten yet") in outcome.done.text
    assert bench.turns[0].calls[0].name == "forget"
    assert "".join(event.text for event in bench.events if isinstance(event, TextArrived)) == outcome.done.text


def test_what_is_not_known_is_not_forgotten_the_model_answers(bench: Bench) -> None:
    bench.script("All right.")
    assert bench.say("Forget my shoe size").done.text == "All right."
    assert not any(isinstance(event, ForgetAsked) for event in bench.events)


def test_calls_of_a_deleted_or_forgotten_chat_leave_the_receipts(bench: Bench, receipts: ReceiptStore) -> None:
    old = bench.workspace.chats.create("Boiler")
    turn = bench.workspace.chats.begin_turn(old, "The plumber wants 240 euros for the boiler")
    bench.workspace.chats.end_turn(old, turn.n, "Noted.")
    bench.script(asks("chats_search", query="plumber boiler"), "240 euros.")
    bench.say("How much was it?")
    assert "240 euros" in receipts.calls(bench.id, 1)[0].result
    receipts.forget(old)
    raw = (receipts.folder / f"{bench.id}.jsonl").read_text()
    assert "240 euros" not in raw
