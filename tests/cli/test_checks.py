"""``keepsake memory check``."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.cli.conftest import Keepsake


def test_add_list_run_and_remove(keepsake: Keepsake) -> None:
    keepsake("remember", "the boiler is in the cellar")
    added = keepsake("memory", "check", "add", "where is the boiler?", "--expect", "cellar", "--json").json
    assert added["now"] == 1 and not added["lost"]
    keepsake("memory", "undo", keepsake("memory", "journal", "--json").json["entries"][0]["id"])
    listed = keepsake("memory", "check", "run", "--json").json
    assert (listed["lost"], listed["checks"][0]["before"], listed["checks"][0]["now"]) == (1, 1, 0)
    assert "#1 -> not found" in keepsake("memory", "check", "list").out
    assert keepsake("memory", "check", "rollback", "--json").json["error"]["code"] == "check.nothing_lost"
    rebuilt = keepsake("index", "rebuild")
    assert "1 pinned question(s)" in rebuilt.err
    assert keepsake("memory", "check", "rollback", "--json").json["error"]["code"] == "check.rebuild"
    assert keepsake("memory", "check", "remove", added["id"], "--json").json == {"removed": added["id"]}
    assert keepsake("memory", "check", "list", "--json").json["checks"] == []


def test_a_unit_s_id_can_be_expected(keepsake: Keepsake) -> None:
    written = keepsake("remember", "the boiler is in the cellar", "--json").json
    added = keepsake("memory", "check", "add", "where is the boiler?", "--expect", written["id"], "--json").json
    assert (added["now"], added["expect"]) == (1, written["id"])


def test_tidying_up_asks_the_pinned_questions_again(keepsake: Keepsake) -> None:
    keepsake("--now", "2026-01-02T10:00:00", "remember", "the dentist moved to Rua Augusta", "--until", "2026-02-01")
    keepsake("memory", "check", "add", "where is the dentist?", "--expect", "Rua Augusta")
    assert keepsake("memory", "tidy", "--apply", "--json").json["lost"] == 0
    assert keepsake("memory", "check", "list", "--json").json["last"]["reason"] == "tidy"


def test_another_index_is_noticed_when_the_questions_are_asked(keepsake: Keepsake, tmp_path: Path) -> None:
    keepsake("remember", "the boiler is in the cellar")
    keepsake("memory", "check", "add", "where is the boiler?", "--expect", "cellar")
    shutil.rmtree(tmp_path / "st" / "state")
    found = keepsake("memory", "check", "run", "--json").json
    assert found["last"]["reason"] == "rebuild" and found["lost"] == 0
