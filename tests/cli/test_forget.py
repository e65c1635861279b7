"""``keepsake forget``: the contract, and that nothing goes unasked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Keepsake

FACT = "the vault code of Zephyria is quixotonal 4711"


def traces(folder: Path) -> list[str]:
    return [str(p) for p in folder.rglob("*") if p.is_file() and b"quixotonal" in p.read_bytes().lower()]


def test_an_id_is_forgotten_everywhere_with_proof(keepsake: Keepsake, tmp_path: Path) -> None:
    ident = keepsake("remember", FACT, "--json").json["id"]
    keepsake("remember", "bike stands in the cellar")
    assert keepsake("recall", "vault code", "--json").json["hits"]
    done = keepsake("forget", ident, "--yes", "--json")
    assert done.code == 0
    assert [each["id"] for each in done.json["removed"]] == [ident]
    places = {each["place"]: each["remaining"] for each in done.json["searched"]}
    assert set(places) >= {"files", "chats", "index", "vectors", "journal", "receipts", "snapshots", "search"}
    assert set(places.values()) == {0}
    assert traces(tmp_path) == []
    assert "bike" in (tmp_path / "ws" / "MEMORY.md").read_text()


def test_without_yes_nothing_goes_and_the_list_is_shown(keepsake: Keepsake, tmp_path: Path) -> None:
    keepsake("remember", FACT)
    before = (tmp_path / "ws" / "MEMORY.md").read_bytes()
    asked = keepsake("forget", "quixotonal")
    assert asked.code == 1
    assert "quixotonal" in asked.out
    assert "Nothing was removed" in asked.err
    assert "--yes" in asked.err
    as_json = keepsake("forget", "quixotonal", "--json")
    assert (as_json.code, as_json.json["error"]["code"]) == (1, "forget.confirm")
    assert len(as_json.json["would_remove"]) == 1
    assert (tmp_path / "ws" / "MEMORY.md").read_bytes() == before


def test_of_several_things_only_those_that_go_are_named(keepsake: Keepsake, tmp_path: Path) -> None:
    keepsake("remember", "anything")
    memory = tmp_path / "ws" / "MEMORY.md"
    memory.write_text("2026-10-14|web|planted quixotonal tulips；ordered soil\n")
    asked = keepsake("forget", "quixotonal")
    assert "planted quixotonal tulips" in asked.out
    assert "ordered soil" not in asked.out
    assert keepsake("forget", "quixotonal", "--yes").code == 0
    assert memory.read_text() == "2026-10-14|web|ordered soil\n"


@pytest.mark.parametrize(("answer", "gone"), [("y\n", True), ("n\n", False), ("", False)])
def test_on_a_terminal_it_asks(
    keepsake: Keepsake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, gone: bool
) -> None:
    keepsake("remember", FACT)
    monkeypatch.setattr("assistant.cli.forget.on_terminal", lambda: True)
    done = keepsake("forget", "quixotonal", stdin=answer)
    assert done.code == (0 if gone else 1)
    assert (traces(tmp_path) == []) == gone


def test_nothing_is_ever_taken_for_being_near(keepsake: Keepsake, tmp_path: Path) -> None:
    ident = keepsake("remember", FACT, "--json").json["id"]
    done = keepsake("forget", "vault codes of Zephyra", "--yes")
    assert done.code == 1
    assert ident in done.err
    assert traces(tmp_path)
    for nothing in ("", "  ", "*", '"', "no such thing anywhere"):
        assert keepsake("forget", nothing, "--yes").code == 1


def test_what_was_remembered_from_a_turn_is_offered_and_goes_with_all(keepsake: Keepsake, tmp_path: Path) -> None:
    chat = tmp_path / "ws" / "chats" / "2026-11" / "20261129_153022.md"
    chat.parent.mkdir(parents=True)
    chat.write_text(
        "# Chat: Codes\n\n## Metadata\n\n- **Session ID**: 20261129_153022\n\n## Conversation\n\n"
        f"### 2026-11-29T15:30:25+08:00 · #1\n\n**User**:\n\n> {FACT}\n\n**Assistant**:\n\n> Noted.\n"
    )
    keepsake("remember", "goes to the vault of Zephyria", "--source", "chat:20261129_153022#1-1")
    done = keepsake("forget", "20261129_153022#1", "--yes", "--json")
    assert done.code == 0
    assert [each["text"].split("|")[-1] for each in done.json["also"]] == ["goes to the vault of Zephyria"]
    assert "· #1\n\n**User**:\n\n> «forgotten»\n" in chat.read_text()
    again = keepsake("forget", "20261129_153022#1", "--yes", "--all", "--json").json
    assert "goes to the vault" in json.dumps(again["removed"])
    assert "vault" not in (tmp_path / "ws" / "MEMORY.md").read_text()
