"""``keepsake receipt``, ``chats never`` and their JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.chat.row import FixedRow
from assistant.core.values import Block, PromptLine, Receipt, Role
from assistant.runtime.composition import Places, compose
from assistant.workspace.ids import line_id

from .conftest import Keepsake

CELLO = "- I play the cello"
UNIT = line_id("MEMORY.md", CELLO)


@pytest.fixture
def chat(tmp_path: Path) -> str:
    """A chat with one turn for which a fact was told that has been changed since."""
    services = compose(Places(tmp_path / "ws", tmp_path / "config", tmp_path / "st"), {})
    try:
        (services.workspace.root / "MEMORY.md").write_text("- I play the cello and the viola\n", encoding="utf-8")
        made = services.new_chat("Music")
        services.workspace.chats.begin_turn(made, "What do I play?", None)
        line = PromptLine("MEMORY.md", 1, CELLO, "pinned", UNIT, 5)
        services.receipts.add_row(made, FixedRow((Block("facts", Role.SYSTEM, CELLO, 5, (line,)),), (), "2026", "sha"))
        found = PromptLine("memory/a.md", 2, "[a] viola", "meaning", "memory/a.md:0123456789", 2, 0.5, 1, 3)
        services.receipts.add(Receipt(made, 1, "m", (line, found), (), 100, 40, "hybrid"))
        return made
    finally:
        services.close()


def test_a_receipt_says_what_was_told_and_what_became_of_it(keepsake: Keepsake, chat: str) -> None:
    shown = keepsake("receipt", chat, "1", "--json").json
    assert shown["lines"][0]["text"] == CELLO
    assert (shown["lines"][1]["keyword_rank"], shown["lines"][1]["meaning_rank"]) == (1, 3)
    assert "now" not in shown["lines"][0]
    today = keepsake("receipt", chat, "1", "--today", "--json").json["lines"]
    assert today[0]["now"]["state"] == "changed"
    assert today[0]["now"]["text"] == "- I play the cello and the viola"
    assert 0.6 < today[0]["now"]["sure"] < 1
    assert today[1]["now"]["state"] == "gone"
    words = keepsake("receipt", chat, "1", "--today").out
    assert "no. 3 by meaning" in words and "I play the cello and the viola" in words


def test_never_and_again(keepsake: Keepsake, chat: str) -> None:
    assert keepsake("chats", "never", chat, UNIT, "--json").json == {"chat": chat, "unit": UNIT, "never": True}
    assert keepsake("receipt", chat, "1", "--today", "--json").json["lines"][0]["never"] is True
    assert keepsake("chats", "never", chat, UNIT, "--again").code == 0
    assert keepsake("receipt", chat, "1", "--today", "--json").json["lines"][0]["never"] is False


def test_a_chat_can_take_memory_anew(keepsake: Keepsake, chat: str) -> None:
    before = keepsake("prompt", "x", "--chat", chat, "--json").json["blocks"]
    assert "viola" not in "".join(block["text"] for block in before if block["name"] == "facts")
    assert keepsake("chats", "renew", chat, "--json").json.keys() == {"chat", "tokens", "window"}
    after = keepsake("prompt", "x", "--chat", chat, "--json").json["blocks"]
    assert "viola" in "".join(block["text"] for block in after if block["name"] == "facts")
    assert keepsake("chats", "renew", "nowhere").code == 1


def test_what_is_not_there_is_said(keepsake: Keepsake, chat: str) -> None:
    assert keepsake("receipt", chat, "7", "--json").json["error"]["code"] == "receipt.missing"
    assert keepsake("receipt", "nowhere", "1", "--json").json["error"]["code"] == "chat.missing"
    assert keepsake("chats", "never", chat, "nothing", "--json").json["error"]["code"] == "receipt.unit"
    assert keepsake("receipt", chat, "first").code == 2
