"""Private chats: nothing of them anywhere else, at once, unless the person says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.chat.private import private_chats
from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.events import TurnFinished
from assistant.core.values import RecallQuery

from .conftest import Stage

WORD = "quixotonal"


def say(stage: Stage, chat: str, text: str) -> TurnFinished:
    before = len(stage.ends())
    stage.services.send(chat, text)
    end = stage.wait_for_end(before + 1)
    assert isinstance(end, TurnFinished), end
    stage.settle()
    return end


def sync(stage: Stage) -> None:
    stage.services.recall.sync(CancelToken(), vectors=False)


def found(stage: Stage, words: str = f"{WORD} soup") -> list[str]:
    return [hit.id for hit in stage.services.search(RecallQuery(words)).hits]


def asked(stage: Stage) -> str:
    """All that the model was sent for the last turn."""
    return "\n".join(message.text for message in stage.engine.asked[-1])


def holds_word(folder: Path) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sorted(path.name for path in files if WORD.encode() in path.read_bytes())


def test_a_chat_made_private_leaves_index_day_log_and_brief_at_once(stage: Stage) -> None:
    chat = stage.services.new_chat()
    say(stage, chat, f"I cooked {WORD} soup")
    sync(stage)
    assert found(stage) == [f"{chat}#1"]
    assert stage.services.set_private(chat, True) == 0
    assert found(stage) == []
    other = stage.services.new_chat()
    assert WORD not in stage.services.preview(other, f"what {WORD} soup?").messages[0].text
    assert stage.services.preview(other, "which soup?").blocks[-1].text == "which soup?"
    assert holds_word(stage.folder / "ws") == [f"{chat}.md"]
    assert holds_word(stage.folder / "state" / "state") == ["chat_list.json"]


def test_what_another_chat_was_told_before_is_not_told_again_but_its_receipt_stays(stage: Stage) -> None:
    chat, other = stage.services.new_chat(), stage.services.new_chat()
    say(stage, chat, f"I cooked {WORD} soup")
    sync(stage)
    told = say(stage, other, "what soup did I cook?")
    assert any(line.why == "brief" for line in told.receipt.lines)
    say(stage, other, f"and what of {WORD}, my soup?")
    assert asked(stage).count(f"cooked {WORD}") >= 1
    stage.services.set_private(chat, True)
    say(stage, other, "and now?")
    assert f"cooked {WORD}" not in asked(stage)
    receipt = stage.services.receipt(other, 1)
    assert receipt is not None
    assert any(WORD in line.text for line in receipt.lines)
    last = stage.services.receipt(other, 3)
    assert last is not None
    assert not any(line.unit.startswith(chat) for line in last.lines)


def test_a_private_chat_writes_no_day_log_and_works_in_itself(stage: Stage) -> None:
    chat = stage.services.new_chat(private=True)
    say(stage, chat, f"I cooked {WORD} soup")
    say(stage, chat, "what was it?")
    assert f"I cooked {WORD} soup" in asked(stage)
    assert not list((stage.folder / "ws" / "memory").rglob("*.md"))


def test_an_ordinary_chat_again_is_found_again(stage: Stage) -> None:
    chat = stage.services.new_chat(private=True)
    say(stage, chat, f"I cooked {WORD} soup")
    sync(stage)
    assert found(stage) == []
    stage.services.set_private(chat, False)
    assert found(stage) == [f"{chat}#1"]


def test_the_person_may_let_private_chats_be_found_and_the_receipt_says_so(stage: Stage) -> None:
    chat, other = stage.services.new_chat(private=True), stage.services.new_chat()
    say(stage, chat, f"I cooked {WORD} soup")
    sync(stage)
    stage.services.settings.update("memory", private_recall="on")
    assert [hit.private for hit in stage.services.search(RecallQuery(f"{WORD} soup")).hits] == [True]
    receipt = say(stage, other, f"what of the {WORD} soup?").receipt
    assert [line.private for line in receipt.lines if line.unit == f"{chat}#1"] == [True]
    assert private_chats(receipt) == 1
    stage.services.settings.update("memory", private_recall="off")
    assert found(stage) == [f"{other}#1"]
    sync(stage)
    say(stage, other, "go on")
    assert f"I cooked {WORD} soup" not in asked(stage)


def test_a_further_part_of_a_private_chat_is_not_found_either(stage: Stage) -> None:
    chat = stage.services.new_chat()
    say(stage, chat, "hello")
    first = stage.services.workspace.chats.path(chat)
    block = f"# Chat: {chat} · 2\n\n## Conversation\n\n### 2026-11-29T15:30:25 · #2\n\n**User**:\n\n> {WORD} soup\n"
    first.with_name(f"{chat}_part2.md").write_text(block)
    sync(stage)
    assert found(stage)[0] == f"{chat}#2"  # what stands before it in the chat may come along
    stage.services.set_private(chat, True)
    assert found(stage) == []


def test_what_became_memory_before_stays_and_is_counted(stage: Stage) -> None:
    chat = stage.services.new_chat()
    say(stage, chat, "I like tea")
    stage.services.workspace.memory.remember("likes tea", source=f"chat:{chat}#1-1")
    assert stage.services.set_private(chat, True) == 1
    assert "likes tea" in stage.services.preview("", "").messages[0].text


def test_a_private_chat_is_distilled_only_when_the_person_names_it(stage: Stage) -> None:
    chat = stage.services.new_chat(private=True)
    say(stage, chat, "I like tea")
    with pytest.raises(AssistantError) as refused:
        stage.services.distilling.now(chat, CancelToken())
    assert refused.value.code == "chat.private"
    assert stage.services.distilling.now(chat, CancelToken(), private=True) == []


def test_the_setting_switched_off_leaves_no_word_in_the_index(stage: Stage) -> None:
    chat = stage.services.new_chat(private=True)
    say(stage, chat, f"I cooked {WORD} soup")
    stage.services.settings.update("memory", private_recall="on")
    stage.services.privacy.apply_setting()
    assert found(stage) == [f"{chat}#1"]
    stage.services.settings.update("memory", private_recall="off")
    stage.services.privacy.apply_setting()
    stage.services.lanes.index.submit(lambda: None).result(30)
    assert holds_word(stage.folder / "state" / "state") == ["chat_list.json"]
