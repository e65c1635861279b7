"""Distilling: everything sent, exactly once, checked, with the marked fall-back. CASES 36-41."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from assistant.chat.distil import FALLBACK_MARK, Batch, Distiller
from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.values import Message
from assistant.workspace.workspace import Workspace
from tests.fakes import FakeEngine

WINDOW = 400


def _chat(workspace: Workspace, said: Sequence[str], reply: str = "I see.") -> str:
    chat = workspace.chats.create("Talk")
    for text in said:
        turn = workspace.chats.begin_turn(chat, text, None)
        workspace.chats.end_turn(chat, turn.n, reply)
    return chat


def _run(workspace: Workspace, chat: str, engine: FakeEngine, state: Path, left: int | None = None) -> list[Batch]:
    read = workspace.chats.read(chat)
    turns = read.branch() if left is None else read.branch()[:left]
    distiller = Distiller(workspace, state)
    return list(distiller.run(read, turns, engine, WINDOW, CancelToken(), lambda *_: None))


def _entries(workspace: Workspace) -> list[str]:
    return [entry.raw for entry in workspace.memory.document().entries]


def test_notes_become_one_entry_with_its_source(workspace: Workspace, tmp_path: Path) -> None:
    chat = _chat(workspace, ["My dog is called Rex.", "I moved to Graz on 3 May."])
    batches = _run(workspace, chat, FakeEngine(["- dog is called Rex\n- moved to Graz on 3 May"]), tmp_path)
    assert _entries(workspace) == [f"2026-11-30|chat:{chat}#1-2|dog is called Rex；moved to Graz on 3 May"]
    assert [(b.turns, b.covered, b.fallback) for b in batches] == [((1, 2), 2, False)]
    assert workspace.chats.read(chat).summarized == 2


def test_sixty_messages_all_reach_the_model_in_batches(workspace: Workspace, tmp_path: Path) -> None:
    said = [f"Message {n} says that box {n} holds {n * 7} apples " + "and so on " * 20 for n in range(60)]
    engine = FakeEngine(lambda _messages: "无需记录", window=WINDOW)
    _run(workspace, _chat(workspace, said), engine, tmp_path)
    sent = "\n".join(messages[-1].text for messages in engine.asked)
    assert len(engine.asked) > 1
    for number in range(60):
        assert f"Message {number} says" in sent
    kept = " ".join(_entries(workspace))
    for number in range(60):
        assert str(number * 7) in kept


def test_a_turn_larger_than_the_window_is_sent_in_pieces(workspace: Workspace, tmp_path: Path) -> None:
    words = " ".join(f"w{n}" for n in range(1500))
    engine = FakeEngine(lambda _messages: "无需记录")
    batches = _run(workspace, _chat(workspace, [f"I said {words}"]), engine, tmp_path)
    sent = " ".join(messages[-1].text for messages in engine.asked)
    assert all(f"w{n}" in sent for n in range(1500))
    assert len(batches) == 1


def test_nothing_to_record_writes_nothing_and_moves_on(workspace: Workspace, tmp_path: Path) -> None:
    chat = _chat(workspace, ["ok", "谢谢", "嗯"])
    _run(workspace, chat, FakeEngine(["无需记录"]), tmp_path)
    assert _entries(workspace) == []
    assert workspace.chats.read(chat).summarized == 3


@pytest.mark.parametrize("bad", ["Let me tell you a story.", "", "Error: out of memory", "{oops"])
def test_a_model_that_gives_no_notes_falls_back_at_the_third_failure(
    workspace: Workspace, tmp_path: Path, bad: str
) -> None:
    chat = _chat(workspace, ["对花生过敏", "ok"])
    engine = FakeEngine([bad, bad, bad, "never asked"])
    batches = _run(workspace, chat, engine, tmp_path)
    assert len(engine.asked) == 3
    assert batches[0].fallback
    assert _entries(workspace) == [f"2026-11-30|chat:{chat}#1-2|{FALLBACK_MARK}；对花生过敏"]


def test_a_second_try_that_works_is_no_fallback(workspace: Workspace, tmp_path: Path) -> None:
    chat = _chat(workspace, ["My dog is called Rex."])
    assert not _run(workspace, chat, FakeEngine(["What a dog!", "- dog is called Rex"]), tmp_path)[0].fallback


def test_an_engine_that_dies_loses_nothing_and_is_not_tried_for_ever(workspace: Workspace, tmp_path: Path) -> None:
    chat = _chat(workspace, ["My dog is called Rex."])
    dead = AssistantError("engine.died", "The model stopped.")
    for _ in range(3):
        with pytest.raises(AssistantError):
            _run(workspace, chat, FakeEngine([dead]), tmp_path)
        assert workspace.chats.read(chat).summarized == 0
        assert _entries(workspace) == []
    engine = FakeEngine([dead])
    assert _run(workspace, chat, engine, tmp_path)[0].fallback
    assert engine.asked == []


def test_a_stop_counts_as_no_try(workspace: Workspace, tmp_path: Path) -> None:
    chat = _chat(workspace, ["My dog is called Rex."])
    read = workspace.chats.read(chat)
    for _ in range(5):
        token = CancelToken()
        engine = FakeEngine(["- dog is called Rex"])
        engine.before_reply = token.cancel
        with pytest.raises(Cancelled):
            list(Distiller(workspace, tmp_path).run(read, read.branch(), engine, WINDOW, token, lambda *_: None))
    assert not _run(workspace, chat, FakeEngine(["- dog is called Rex"]), tmp_path)[0].fallback


def test_killed_between_entry_and_pointer_nothing_is_distilled_twice(workspace: Workspace, tmp_path: Path) -> None:
    chat = _chat(workspace, ["My dog is called Rex.", "I moved to Graz on 3 May."])
    workspace.memory.append_entry(["dog is called Rex"], source=f"chat:{chat}#1-2", actor="upkeep")
    engine = FakeEngine(["- moved to Graz on 3 May"])
    assert _run(workspace, chat, engine, tmp_path) == []
    assert engine.asked == []
    assert workspace.chats.read(chat).summarized == 2
    assert len(_entries(workspace)) == 1


def test_only_what_left_is_distilled_and_later_the_rest(workspace: Workspace, tmp_path: Path) -> None:
    chat = _chat(workspace, ["My dog is called Rex.", "I moved to Graz on 3 May.", "My aunt is called Ines."])
    _run(workspace, chat, FakeEngine(["- dog is called Rex\n- moved to Graz on 3 May"]), tmp_path, left=2)
    engine = FakeEngine(["- aunt is called Ines"])
    _run(workspace, chat, engine, tmp_path)
    assert "Rex" not in engine.asked[0][-1].text
    assert [entry.split("|")[1] for entry in _entries(workspace)] == [f"chat:{chat}#1-2", f"chat:{chat}#3-3"]


@pytest.mark.parametrize("pointer", ['"999"', "null", "#-4", "1.5", "#77"])
def test_a_damaged_pointer_hides_nothing(workspace: Workspace, tmp_path: Path, pointer: str) -> None:
    chat = _chat(workspace, ["My dog is called Rex.", "ok"])
    path = workspace.chats.path(chat)
    text = path.read_text()
    path.write_text(text.replace("## Conversation", f"- **Summarized through**: {pointer}\n\n## Conversation"))
    read = workspace.chats.read(chat)
    assert len(read.turns) == 2
    assert 0 <= read.summarized <= 2


def test_what_was_recalled_or_claimed_by_the_model_is_no_memory(workspace: Workspace, tmp_path: Path) -> None:
    chat = _chat(workspace, ["Hello there"], reply="You told me that your cat Mo is 7 years old.")

    def notes(messages: Sequence[Message]) -> str:
        assert "<recalled>" not in messages[-1].text
        return "- cat Mo is 7 years old"

    _run(workspace, chat, FakeEngine(notes), tmp_path)
    assert "Mo" not in " ".join(_entries(workspace))


def test_a_chat_that_becomes_private_while_it_is_distilled_leaves_nothing_in_memory(
    workspace: Workspace, tmp_path: Path
) -> None:
    chat = _chat(workspace, ["My dog is called Rex."])
    engine = FakeEngine(["- dog is called Rex"])
    engine.before_reply = lambda: workspace.chats.set_private(chat, True)
    assert _run(workspace, chat, engine, tmp_path) == []
    assert _entries(workspace) == []
    assert workspace.chats.read(chat).summarized == 0


def test_a_count_of_tries_that_is_none_begins_anew(workspace: Workspace, tmp_path: Path) -> None:
    chat = _chat(workspace, ["My dog is called Rex."])
    (tmp_path / "distil").mkdir()
    (tmp_path / "distil" / f"{chat}.json").write_text('{"first": 1, "tries": -9}')
    _run(workspace, chat, FakeEngine(["- dog is called Rex"]), tmp_path)
    assert _entries(workspace) == [f"2026-11-30|chat:{chat}#1-1|dog is called Rex"]
