"""A deleted chat is gone: CASES 8."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assistant.chat.prompt import PromptBuilder, PromptRules, Question
from assistant.chat.turn import receipt_of
from assistant.core.values import RecallQuery
from assistant.runtime.composition import Places, compose
from assistant.runtime.services import Services
from tests.fakes import FakeEngine

SECRET = "the quixotonal hotel in Zephyria"


@pytest.fixture
def services(tmp_path: Path) -> Services:
    return compose(Places(tmp_path / "ws", tmp_path / "config", tmp_path / "state"), {})


def _talk(services: Services, title: str, text: str, reply: str) -> str:
    """A turn as it is kept, its receipt and day log too."""
    chat = services.new_chat(title)
    turn = services.workspace.chats.begin_turn(chat, text)
    read = services.read_chat(chat)
    builder = PromptBuilder(
        services.workspace, services.recall, services.receipts, FakeEngine(), PromptRules(4096, 256)
    )
    draft = builder.build(Question(read, (), text, turn.n))
    services.receipts.add_row(chat, draft.row)
    services.receipts.add(receipt_of(draft, chat, turn.n))
    services.workspace.chats.end_turn(chat, turn.n, reply)
    services.workspace.log.add(services.workspace.clock(), title, reply)
    return chat


def _traces(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and b"quixotonal" in path.read_bytes()]


def test_a_purged_chat_leaves_no_trace_and_others_keep_theirs(services: Services, tmp_path: Path) -> None:
    gone = _talk(services, "Holiday", f"I liked {SECRET}", f"So you liked {SECRET}!")
    stays = _talk(
        services, "Holiday plans", "Which quixotonal hotel was it?", "I do not know any more, sorry about that."
    )
    assert "quixotonal hotel in" in services.receipts.recalled_block(stays, 1)
    assert services.search(RecallQuery("Zephyria")).hits
    services.deletion.purge(gone)
    assert not services.search(RecallQuery("Zephyria")).hits
    services.close()
    for path in _traces(tmp_path):
        assert b"Zephyria" not in path.read_bytes(), path
        assert stays.encode() in path.read_bytes() or stays in path.name or path.suffix != ".md"
    log = next((tmp_path / "ws" / "memory" / "log").glob("*.md")).read_text()
    assert "So you liked" not in log
    assert "I do not know any more" in log
    receipt = services.receipts.get(stays, 1)
    assert receipt is not None
    assert any("deleted" in line.text for line in receipt.lines)


def test_a_deleted_chat_can_be_brought_back_until_the_window_closes(services: Services, tmp_path: Path) -> None:
    chat = _talk(services, "Holiday", f"I liked {SECRET}", "Noted and kept for later.")
    deleted = services.delete_chat(chat)
    assert services.list_chats() == []
    services.restore_chat(deleted)
    assert [info.id for info in services.list_chats()] == [chat]
    services.delete_chat(chat)
    services.close()
    assert _traces(tmp_path) == []


class Killed(BaseException):
    """Stands for a process that ends at once."""


@pytest.mark.parametrize("at", ["rmtree", "drop_record"])
def test_a_purge_that_was_killed_is_finished_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """What is kept about it goes first: out of the trash nobody would know any more where that is."""
    where = Places(tmp_path / "ws", tmp_path / "config", tmp_path / "state")
    home = compose(where, {})
    home.assistants.add("Anna")
    theirs = compose(replace(where, assistant="Anna"), {})
    theirs.remember("grows quinces")
    theirs.close()
    deleted = home.assistants.delete("Anna")

    def killed(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(f"assistant.workspace.assistants.{'shutil.rmtree' if at == 'rmtree' else at}", killed)
        with pytest.raises(Killed):
            home.assistants.purge(deleted)
    assert home.assistants.deleted() == [deleted]
    home.assistants.purge(deleted)
    home.close()
    assert [path for path in tmp_path.rglob("*") if path.is_file() and b"quinces" in path.read_bytes()] == []
