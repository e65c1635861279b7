"""The preview is what is sent, byte for byte; a receipt says what became of its lines; a line can be kept out."""

from __future__ import annotations

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.events import PromptChanged
from assistant.core.values import Message
from assistant.runtime.services import Services
from assistant.workspace.ids import line_id

from .conftest import Stage

CELLO = "- I play the cello"


@pytest.fixture
def services(stage: Stage) -> Services:
    root = stage.services.workspace.root
    (root / "MEMORY.md").write_text(f"# About me\n\n{CELLO}\n2026-11-01|you|cat is called Mo\n", encoding="utf-8")
    (root / "memory").mkdir(exist_ok=True)
    (root / "memory" / "hotel.md").write_text("# Hotels\n\n- Zephyrina has the code QX77\n", encoding="utf-8")
    return stage.services


def _ask(stage: Stage, chat: str, text: str, after: int | None = None) -> list[Message]:
    stage.services.send(chat, text, after)
    stage.wait_for_end(len(stage.ends()) + 1)
    return stage.engine.asked[-1]


@pytest.mark.parametrize("text", ["Hello", "What is the code of Zephyrina?", "my password: hunter2-long", "二"])
def test_the_preview_is_what_is_sent(stage: Stage, services: Services, text: str) -> None:
    first = services.told.preview("", text)
    chat = services.new_chat()
    assert tuple(_ask(stage, chat, text)) == first.messages
    services.workspace.memory.remember("the boiler was repaired on 2 November")
    second = services.told.preview(chat, f"And Zephyrina, {text}")
    assert tuple(_ask(stage, chat, f"And Zephyrina, {text}")) == second.messages
    kept = services.receipts.get(chat, 2)
    assert kept is not None
    assert kept.left_out == second.left_out
    assert kept.lines == tuple(line for block in second.blocks for line in block.lines)


def test_the_preview_of_another_branch_and_of_the_very_start(stage: Stage, services: Services) -> None:
    chat = services.new_chat()
    _ask(stage, chat, "one")
    _ask(stage, chat, "two")
    for after in (1, 0):
        preview = services.told.preview(chat, "instead", after)
        assert tuple(_ask(stage, chat, "instead", after)) == preview.messages


def test_the_preview_of_a_temporary_chat(stage: Stage, services: Services) -> None:
    chat = services.temporary.create()
    preview = services.told.preview(chat, "Zephyrina?")
    assert tuple(_ask(stage, chat, "Zephyrina?")) == preview.messages
    services.told.never(chat, line_id("MEMORY.md", CELLO))
    assert "cello" not in "".join(message.text for message in _ask(stage, chat, "Now?"))


def test_never_is_said_and_felt_in_the_preview_and_in_what_is_sent(stage: Stage, services: Services) -> None:
    chat = services.new_chat()
    _ask(stage, chat, "Hello")
    services.told.never(chat, line_id("MEMORY.md", CELLO))
    assert stage.of(PromptChanged) == [PromptChanged(chat)]
    preview = services.told.preview(chat, "Next")
    assert "cello" not in "".join(message.text for message in preview.messages)
    assert tuple(_ask(stage, chat, "Next")) == preview.messages
    receipt = services.told.receipt(chat, 1)
    now = services.told.now(receipt)
    told = {line.text: never for line, never in zip(receipt.lines, now.never, strict=True)}
    assert told[CELLO] and not told["2026-11-01|you|cat is called Mo"]
    services.told.never(chat, line_id("MEMORY.md", CELLO), False)
    assert not any(services.told.now(receipt).never)


def test_a_renewed_row_tells_memory_as_it_is_now(stage: Stage, services: Services) -> None:
    chat = services.new_chat()
    _ask(stage, chat, "Hello")
    services.workspace.memory.remember("the boiler was repaired on 2 November")
    assert "boiler" not in services.told.preview(chat, "x").messages[0].text
    services.told.renew(chat)
    preview = services.told.preview(chat, "x")
    assert "boiler" in preview.messages[0].text
    assert all("[2026" not in message.text for message in preview.messages[1:]), "it is not told twice"
    assert stage.of(PromptChanged) == [PromptChanged(chat)]


def test_a_receipt_that_is_not_there_and_an_id_of_nothing(stage: Stage, services: Services) -> None:
    chat = services.new_chat()
    for code, work in (
        ("receipt.missing", lambda: services.told.receipt(chat, 3)),
        ("chat.missing", lambda: services.told.receipt("nowhere", 1)),
        ("chat.missing", lambda: services.told.never("nowhere", "a:0123456789")),
        ("receipt.unit", lambda: services.told.never(chat, "what")),
    ):
        with pytest.raises(AssistantError) as raised:
            work()
        assert raised.value.code == code


def test_receipts_are_kept_as_they_were_whatever_happens_to_memory(stage: Stage, services: Services) -> None:
    chat = services.new_chat()
    _ask(stage, chat, "Zephyrina?")
    before = services.told.receipt(chat, 1)
    path = services.workspace.root / "MEMORY.md"
    path.write_text("- I play the viola\n", encoding="utf-8")
    (services.workspace.root / "memory" / "hotel.md").unlink()
    services.recall.sync(CancelToken())
    assert services.told.receipt(chat, 1) == before
    states = {line.text: now.state for line, now in zip(before.lines, services.told.now(before).lines, strict=True)}
    assert states[CELLO] == "changed"
    assert states["2026-11-01|you|cat is called Mo"] == "gone"
    assert [state for text, state in states.items() if "QX77" in text] == ["gone"]
