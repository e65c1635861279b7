"""``keepsake chats private``, and what a private chat means to the other commands."""

from __future__ import annotations

from pathlib import Path

from assistant.core.clock import system_clock
from assistant.workspace.chat_store import ChatStore

from .conftest import Keepsake


def a_chat(folder: Path, keepsake: Keepsake, private: bool = False) -> str:
    """A chat with one turn about soup, as another window writes it."""
    keepsake("chats", "list")
    chats = ChatStore(folder / "ws", folder / "data", folder / "elsewhere", system_clock)
    chat = chats.create("Soup", private)
    chats.begin_turn(chat, "I cooked quixotonal soup")
    chats.end_turn(chat, 1, "Good.")
    return chat


def test_a_chat_is_made_private_and_ordinary_again(keepsake: Keepsake, tmp_path: Path) -> None:
    chat = a_chat(tmp_path, keepsake)
    assert [hit["id"] for hit in keepsake("recall", "quixotonal soup", "--json").json["hits"]] == [f"{chat}#1"]
    said = keepsake("chats", "private", chat, "on", "--json")
    assert said.json == {"id": chat, "private": True, "remembered": 0}
    assert keepsake("recall", "quixotonal soup", "--json").json["abstained"]
    assert keepsake("chats", "list", "--json").json["chats"][0]["private"]
    assert "(private)" in keepsake("chats", "list").out
    assert keepsake("chats", "private", chat, "off").out == "Not private.\n"
    assert keepsake("recall", "quixotonal soup", "--json").json["hits"][0]["private"] is False


def test_the_setting_lets_private_chats_be_found(keepsake: Keepsake, tmp_path: Path) -> None:
    chat = a_chat(tmp_path, keepsake, private=True)
    assert keepsake("recall", "quixotonal soup", "--json").json["abstained"]
    (tmp_path / "config").mkdir(exist_ok=True)
    (tmp_path / "config" / "settings.toml").write_text('[memory]\nprivate_recall = "on"\n')
    (hit,) = keepsake("recall", "quixotonal soup", "--json").json["hits"]
    assert (hit["id"], hit["private"]) == (f"{chat}#1", True)


def test_wrong_usage_is_said_before_anything_is_written(keepsake: Keepsake, tmp_path: Path) -> None:
    assert keepsake("ask", "x", "--private", "--temporary").code == 2
    assert keepsake("ask", "x", "--private", "--chat", "y").code == 2
    assert keepsake("summarize", "--private").code == 2
    assert keepsake("chats", "private", "nobody", "on").code == 1
    assert keepsake("chats", "private", "nobody", "maybe").code == 2
