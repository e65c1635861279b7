"""``keepsake memory inbox``: list, accept, decline, and whether the assistant asks at all."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from assistant.runtime.composition import Places, compose
from tests.cli.conftest import Keepsake

SOURCE = "chat:20261129_153022#3-5"


@pytest.fixture
def proposed(tmp_path: Path) -> str:
    """Two items of one proposal, as the distiller leaves them; its id."""
    moment = datetime.fromisoformat("2026-11-29T15:30:22+08:00")
    services = compose(Places(tmp_path / "ws", tmp_path / "config", tmp_path / "st", moment), {})
    made = services.workspace.inbox.propose(["dog is called Rex", "moved to Graz"], source=SOURCE, actor="upkeep")
    services.close()
    assert made is not None
    return made.id


def test_what_waits_is_listed(keepsake: Keepsake, proposed: str) -> None:
    for words in (["memory", "inbox"], ["memory", "inbox", "list"]):
        listed = keepsake("--json", *words).json
        assert listed["mode"] == "show"
        assert listed["waiting"][0]["id"] == proposed
        assert listed["waiting"][0]["source"] == SOURCE
        assert listed["waiting"][0]["day"] == "2026-11-29"
        assert listed["waiting"][0]["items"] == [
            {"n": 1, "text": "dog is called Rex"},
            {"n": 2, "text": "moved to Graz"},
        ]
    assert "2. moved to Graz" in keepsake("memory", "inbox").out


def test_one_item_in_other_words_then_no_to_the_rest(keepsake: Keepsake, proposed: str) -> None:
    done = keepsake("--json", "memory", "inbox", "accept", proposed, "--item", "2", "--text", "moved to Graz in May")
    assert done.json["text"] == "moved to Graz in May"
    assert done.json["file"] == "MEMORY.md"
    assert keepsake("--json", "memory", "inbox", "decline", proposed).json == {"declined": proposed}
    assert keepsake("--json", "memory", "inbox").json["waiting"] == []
    entries = keepsake("--json", "memory", "show").json["entries"]
    assert [(e["date"], e["source"], e["items"][0]["text"]) for e in entries] == [
        ("2026-11-29", SOURCE, "moved to Graz in May")
    ]


@pytest.mark.parametrize(("answer", "left"), [("accept", 1), ("decline", 0)])
def test_an_answer_to_all(keepsake: Keepsake, proposed: str, answer: str, left: int) -> None:
    assert keepsake("memory", "inbox", answer, "--all").code == 0
    assert keepsake("--json", "memory", "inbox").json["waiting"] == []
    assert len(keepsake("--json", "memory", "show").json["entries"]) == left
    assert keepsake("memory", "inbox").out == "Nothing waits for your yes.\n"


def test_wrong_answers(keepsake: Keepsake, proposed: str) -> None:
    assert keepsake("--json", "memory", "inbox", "accept", "nothing").json["error"]["code"] == "inbox.missing"
    assert keepsake("memory", "inbox", "accept", proposed, "--text", "x").code == 1
    assert keepsake("memory", "inbox", "accept", proposed, "--item", "9").code == 1
    for words in (["accept"], ["decline", proposed, "--all"], ["accept", "--all", "--text", "x"]):
        assert keepsake("memory", "inbox", *words).code == 2
    assert len(keepsake("--json", "memory", "inbox").json["waiting"][0]["items"]) == 2


def test_whether_the_assistant_asks(keepsake: Keepsake) -> None:
    assert keepsake("--json", "memory", "inbox", "mode").json == {"mode": "show"}
    assert keepsake("--json", "memory", "inbox", "mode", "ask").json == {"mode": "ask"}
    assert keepsake("--json", "memory", "inbox").json["mode"] == "ask"
