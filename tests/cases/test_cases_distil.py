"""CASES 24, 36-41: two writers of one file, and turns that become memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.events import Notice, TurnFailed
from assistant.core.values import Message
from assistant.ui.memory.editor import ShadedTextEdit
from tests.cases.conftest import House, OpenHouse

NOTHING = "无需记录"


def asks_for_notes(messages: Sequence[Message]) -> bool:
    """Whether the model is asked to distil rather than to answer."""
    return len(messages) == 4 and messages[0].role.value == "system" and NOTHING in messages[0].text


def entries(house: House) -> list[str]:
    return [entry.raw for entry in house.services.workspace.memory.document().entries]


def overflow(house: House, *said: str) -> str:
    """Say all of it in one chat whose window is small, until the first turns have left and are memory; the chat."""
    for text in said:
        house.say(text)
    chat = house.chat
    house.wait(lambda: house.services.read_chat(chat).summarized > 0)
    return chat


def distil_the_rest(house: House, chat: str) -> None:
    """On the lane of the model, behind what is distilled there by itself."""
    house.services.lanes.chat.submit(house.services.distilling.now, chat, CancelToken()).result(120)


def facts(count: int) -> list[str]:
    filler = " and then some more words to fill this message up" * 4
    return [f"I keep box {n} with {n * 7 + 1000} apples in room {n}{filler}" for n in range(count)]


def test_every_overflowed_message_reaches_the_model_and_no_fact_is_lost(scripted: OpenHouse) -> None:
    """Case 36: sixty messages of 290 characters through the window, and short ones that hold facts."""
    house = scripted(lambda messages: NOTHING if asks_for_notes(messages) else "I see.", window=700)
    short = ["行程改到周五", "对花生过敏", "好友叫李雷", "ok", "谢谢", "嗯"]
    chat = overflow(house, *short, *facts(60))
    distil_the_rest(house, chat)
    done = house.services.read_chat(chat).summarized
    assert done >= 50
    sent = "\n".join(m[-1].text for m in house.engine.asked if asks_for_notes(m))
    kept = "\n".join(entries(house))
    for n in range(done - len(short)):
        assert f"box {n} " in sent, n
        assert f" {n * 7 + 1000} " in kept, n
    for text in short[:3]:
        assert text in sent
        assert text in kept
    items = [item for line in entries(house) for item in line.split("|", 2)[2].split("；")]
    assert not {"ok", "谢谢", "嗯"} & set(items)


REPLIES = {
    "prose": "The person told me about apples in boxes. It was nice.",
    "fenced json": '```json\n["I keep box 0 with 1000 apples in room 0"]\n```',
    "list": "- I keep box 0 with 1000 apples in room 0\n",
    "error": "Error: 503 Service Unavailable",
    "nothing said": "",
    "nothing and facts": f"{NOTHING}\n- I keep box 0 with 1000 apples in room 0\n",
    "for ever": "- apples\n" * 5000,
}


@pytest.mark.parametrize("kind", REPLIES)
def test_whatever_the_model_answers_no_turn_is_lost(scripted: OpenHouse, kind: str) -> None:
    """Cases 37 and 38: the pointer stands on what was distilled, each fact is there once, and a fall-back says so."""
    house = scripted(lambda messages: REPLIES[kind] if asks_for_notes(messages) else "I see.", window=700)
    chat = overflow(house, *facts(12))
    distil_the_rest(house, chat)
    done = house.services.read_chat(chat).summarized
    kept = "\n".join(entries(house))
    for n in range(done):
        assert kept.count(f" {n * 7 + 1000} ") == 1, n
    fell_back = "(as said)" in kept
    if kind in ("prose", "error", "nothing said"):
        assert fell_back
        house.wait(lambda: any("could not summarize" in notice.text for notice in house.seen(Notice)))
    asked = [messages for messages in house.engine.asked if asks_for_notes(messages)]
    assert len(asked) <= 3 * len(entries(house)) + 3
    assert house.seen(TurnFailed) == []


# One process that forks a distiller which is killed at its n-th write to the disk, and then goes on as the next start
# of the app would.
_KILLED = """
import json, os, pathlib, signal, sys
from datetime import datetime
from assistant.chat.distil import Distiller
from assistant.core.cancel import CancelToken
from assistant.core.clock import fixed_clock
from assistant.workspace.workspace import Workspace
from tests.fakes import FakeEngine

base, asks = pathlib.Path(sys.argv[1]), sys.argv[2] == "ask"
real = {name: getattr(os, name) for name in ("write", "fsync", "replace", "unlink")}

def workspace(folder):
    clock = fixed_clock(datetime.fromisoformat("2026-11-29T15:30:22+08:00"))
    made = Workspace(folder / "ws", folder / "data", folder / "state", clock)
    made.prepare()
    return made

def distil(folder, chat):
    ws = workspace(folder)
    ws.chats.recover()
    read = ws.chats.read(chat)
    engine = FakeEngine(lambda messages: "- " + "\\n- ".join(
        line.removeprefix("Person: ") for line in messages[-1].text.splitlines() if line.startswith("Person: ")))
    distiller = Distiller(ws, folder / "state", lambda: asks)
    list(distiller.run(read, read.branch(), engine, 80, CancelToken(), lambda *_: None))

def killed_at(step, folder):
    ws = workspace(folder)
    chat = ws.chats.create("Boxes")
    for n in range(4):
        ws.chats.end_turn(chat, ws.chats.begin_turn(chat, f"I keep box {n} with {n + 1000} apples").n, "I see.")
    child = os.fork()
    if child == 0:
        left = step
        def counted(name):
            def call(*args, **more):
                nonlocal left
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return real[name](*args, **more)
            return call
        for name in real:
            setattr(os, name, counted(name))
        distil(folder, chat)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    distil(folder, chat)
    after = workspace(folder)
    waiting = after.inbox.waiting()
    for proposal in waiting:
        after.inbox.accept(proposal.id)
    lines = [e.raw for e in after.memory.document().entries]
    assert bool(waiting) == (asks and bool(lines))
    return os.WIFEXITED(status), lines, after.chats.read(chat).summarized

step, ended = 0, False
while not ended:
    ended, lines, pointer = killed_at(step, base / str(step))
    print(json.dumps([step, lines, pointer]))
    step += 1
"""


@pytest.mark.parametrize("writes", ["show", "ask"])
def test_killed_at_any_step_no_turn_is_lost_and_none_is_distilled_twice(tmp_path: Path, writes: str) -> None:
    """Case 39; between proposal and pointer too."""
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(_KILLED), str(tmp_path), writes],
        capture_output=True,
        text=True,
        env=env,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(runs) > 20
    for step, lines, pointer in runs:
        kept = "\n".join(lines)
        assert [kept.count(f"{n + 1000} apples") for n in range(4)] == [1, 1, 1, 1], (step, lines)
        assert pointer == 4, step


@pytest.mark.parametrize("pointer", ['"999"', "null", "#-4", "1.5", "#77", "#999999999999"])
def test_a_damaged_pointer_hides_nothing_from_the_distiller(scripted: OpenHouse, pointer: str) -> None:
    """Case 40: the turns that left are distilled nevertheless, and the pointer is mended."""
    house = scripted(lambda messages: NOTHING if asks_for_notes(messages) else "I see.", window=700)
    house.say("I keep box 0 with 1000 apples")
    chat = house.chat
    path = house.services.workspace.chats.path(chat)
    text = path.read_text()
    path.write_text(text.replace("\n## Conversation", f"- **Summarized through**: {pointer}\n\n## Conversation"))
    for fact in facts(14)[1:]:
        house.say(fact)
    house.wait(lambda: any(entry.split("|")[1].startswith(f"chat:{chat}#1-") for entry in entries(house)))
    house.wait(lambda: 0 < house.services.read_chat(chat).summarized <= 14)
    assert "1000 apples" in "\n".join(entries(house))
    assert len(house.turns()) == 14


def test_recalled_lines_and_the_models_claims_are_not_distilled(scripted: OpenHouse) -> None:
    """Case 41: what memory told the model, and what the model made up, become no new memory."""

    def answer(messages: Sequence[Message]) -> str:
        if asks_for_notes(messages):
            return "- the boat Ariel lies in the harbour of Zadar\n- you own a castle in Spain\n- keeps box 3 with 1021"
        return "You own a castle in Spain."

    house = scripted(answer, window=700)
    house.services.workspace.memory.remember("the boat Ariel lies in the harbour of Zadar")
    overflow(house, "where does the boat Ariel lie?", *facts(12))
    distil_the_rest(house, house.chat)
    distilled = "\n".join(line for line in entries(house) if "|chat:" in line)
    assert "1021" in distilled
    assert "castle" not in distilled
    assert "Zadar" not in distilled


def test_a_file_that_changed_meanwhile_is_not_saved_over(scripted: OpenHouse, tmp_path: Path) -> None:
    """Case 24: an editor that saves by renaming, while the panel has unsaved text, and the assistant writes too."""
    house = scripted()
    memory = tmp_path / "ws" / "MEMORY.md"
    house.services.remember("likes tea")
    house.window.toggle_memory()
    house.window.show_place("MEMORY.md", 1)
    editor = house.window.memory_panel().findChildren(ShadedTextEdit)[0]
    house.wait(lambda: "likes tea" in editor.toPlainText())
    editor.insertPlainText("# Typed in the panel\n\n")
    base = house.services.workspace.memory.read("MEMORY.md").sha256
    other = tmp_path / "ws" / ".MEMORY.md.swp"
    other.write_text(memory.read_text() + "written in vim\n")
    other.replace(memory)
    house.services.remember("likes coffee too")
    outcome = house.services.workspace.memory.save("MEMORY.md", editor.toPlainText(), base)
    assert type(outcome).__name__ == "Conflict"
    assert "written in vim" in outcome.theirs
    assert "Typed in the panel" in outcome.mine
    assert outcome.merged is not None
    for words in ("Typed in the panel", "likes tea", "written in vim", "likes coffee too"):
        assert words in outcome.merged
    assert "Typed" not in memory.read_text()
    assert "Typed in the panel" in editor.toPlainText()
