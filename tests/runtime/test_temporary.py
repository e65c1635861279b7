"""Temporary chats: whole conversations of which no byte is on disk, whatever happens."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from assistant.chat.private import private_chats
from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.events import TurnFinished

from .conftest import Stage

WORD = "quixotonal"


def traces(folder: Path) -> list[str]:
    """Files below the folder that hold the word, in their bytes or in their names."""
    needles = (WORD.encode(), WORD.encode("utf-16-le"), "石榴汤".encode(), b"\\u77f3\\u69b4", b".temporary-")
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return [str(path) for path in files if any(n in path.read_bytes() or n in path.name.encode() for n in needles)]


def say(stage: Stage, chat: str, text: str, after: int | None = None) -> TurnFinished:
    before = len(stage.ends())
    stage.services.send(chat, text, after)
    end = stage.wait_for_end(before + 1)
    assert isinstance(end, TurnFinished), end
    stage.settle()
    return end


def asked(stage: Stage) -> str:
    return "\n".join(message.text for message in stage.engine.asked[-1])


def test_a_whole_conversation_leaves_no_byte(stage: Stage) -> None:
    """Turns, another reply, a branch, a title, receipts, what is remembered of it: all in this process alone."""
    stage.engine._script = lambda _: f"I like {WORD} 石榴汤 too.\nReally."
    chat = stage.services.temporary.create()
    say(stage, chat, f"I cooked {WORD} 石榴汤 soup")
    say(stage, chat, f"remember that {WORD} is best")
    stage.services.regenerate(chat, 2)
    stage.wait_for_end(3)
    say(stage, chat, f"no, {WORD} with salt", after=1)
    stage.services.rename_chat(chat, f"{WORD} evening")
    stage.settle()
    read = stage.services.read_chat(chat)
    assert [(turn.n, turn.after) for turn in read.turns] == [(1, None), (2, 1), (3, 1), (4, 1)]
    assert read.turns[3].reply == "I like quixotonal 石榴汤 too.\nReally."
    assert stage.services.receipt(chat, 1) is not None
    stage.services.recall.sync(CancelToken(), vectors=False)
    assert traces(stage.folder) == []
    stage.services.close()
    assert traces(stage.folder) == []


def test_memory_is_read_unless_the_person_says_no(stage: Stage) -> None:
    stage.services.remember("my cat is called Quince")
    stage.services.recall.sync(CancelToken(), vectors=False)
    chat = stage.services.temporary.create()
    say(stage, chat, "what is my cat called?")
    assert "Quince" in asked(stage)
    stage.services.temporary.use_memory(chat, False)
    receipt = say(stage, chat, "and now?").receipt
    assert "Quince" not in asked(stage)
    assert (receipt.lines, receipt.recall_mode) == ((), "off")
    stage.services.temporary.use_memory(chat, True)
    say(stage, chat, "what is my cat called?")
    assert "Quince" in asked(stage)


def test_remember_writes_nothing_by_itself(stage: Stage) -> None:
    chat = stage.services.temporary.create()
    say(stage, chat, "remember that I like tea")
    assert stage.services.workspace.memory.document().entries == ()


def test_stopped_replies_and_failures_are_the_same_as_elsewhere(stage: Stage) -> None:
    chat = stage.services.temporary.create()
    stage.engine._script = lambda _: AssistantError("engine.died", "The model died.", "Try again.")
    stage.services.send(chat, "hello")
    assert stage.wait_for_end().error.code == "engine.died"
    stage.engine._script = lambda _: "a\nb\n"
    stage.engine.before_reply = lambda: stage.services.stop(chat)
    stage.services.regenerate(chat, 1)
    stage.wait_for_end(2)
    assert stage.services.read_chat(chat).turns[-1].mark == "stopped"


def test_a_temporary_chat_is_told_nothing_of_to_others_and_is_no_private_chat_of_its_receipts(stage: Stage) -> None:
    chat = stage.services.temporary.create()
    assert private_chats(say(stage, chat, f"I cooked {WORD}").receipt) == 0
    say(stage, stage.services.new_chat(), "what did I cook?")
    assert WORD not in asked(stage)


def test_closing_it_ends_it(stage: Stage) -> None:
    chat = stage.services.temporary.create()
    say(stage, chat, "hello")
    stage.services.temporary.close(chat)
    assert stage.services.list_chats() == []
    assert stage.services.receipt(chat, 1) is None
    with pytest.raises(AssistantError) as gone:
        stage.services.read_chat(chat)
    assert gone.value.code == "chat.missing"


def test_keeping_it_makes_an_ordinary_chat_of_it(stage: Stage) -> None:
    """With its times, branches, marks and receipts."""
    chat = stage.services.temporary.create()
    say(stage, chat, "one\ntwo")
    say(stage, chat, "three")
    say(stage, chat, "another three", after=1)
    say(stage, chat, "another beginning", after=0)
    before, receipt = stage.services.read_chat(chat), stage.services.receipt(chat, 2)
    kept = stage.services.keep_chat(chat)
    after = stage.services.read_chat(kept)
    told = [(t.n, t.after, t.at, t.user, t.reply, t.mark) for t in after.turns]
    assert told == [(t.n, t.after, t.at, t.user, t.reply, t.mark) for t in before.turns]
    assert (after.title, after.private, after.problems) == ("one two", False, ())
    again = stage.services.receipt(kept, 2)
    assert receipt is not None
    assert again is not None
    assert again.lines == receipt.lines
    assert [info.id for info in stage.services.list_chats()] == [kept]
    say(stage, kept, "go on")
    assert stage.services.read_chat(kept).turns[-1].after == 4


def test_it_is_not_kept_while_a_reply_is_written(stage: Stage) -> None:
    chat = stage.services.temporary.create()
    refused: list[AssistantError] = []

    def try_it() -> None:
        with pytest.raises(AssistantError) as error:
            stage.services.keep_chat(chat)
        refused.append(error.value)

    stage.engine.before_reply = try_it
    say(stage, chat, "hello")
    assert [error.code for error in refused] == ["chat.busy"]
    assert stage.services.workspace.chats.list() == []


_DYING = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from tests.runtime.conftest import Stage
from assistant.core.events import TextArrived

stage = Stage(Path({folder!r}))
chat = stage.services.temporary.create()
stage.services.send(chat, "hello {word}")
stage.wait_for_end()
stage.engine._script = lambda _: "and {word}\\n" * 50
stage.services.subscribe(
    lambda event: os.kill(os.getpid(), signal.SIGKILL) if isinstance(event, TextArrived) and len(stage.of(TextArrived)) > 20 else None
)
stage.services.send(chat, "again {word}")
stage.wait_for_end(2)
"""  # noqa: E501


def test_killed_in_the_midst_of_a_reply_it_leaves_no_byte(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    script = _DYING.format(tests=str(root), folder=str(tmp_path), word=WORD)
    ended = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, timeout=120)
    assert ended.returncode == -9, ended.stderr
    assert traces(tmp_path) == []
