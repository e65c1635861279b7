"""``keepsake memory conflicts``: list, keep, both."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Keepsake

TEXT = "- wifi = red\n\n2026-05-03|you|lives in Lisbon\n2026-09-09|you|likes tea；I live in Graz\n"


@pytest.fixture
def conflict(keepsake: Keepsake, tmp_path: Path) -> dict[str, object]:
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "MEMORY.md").write_text(TEXT, encoding="utf-8")
    return dict(keepsake("--json", "memory", "conflicts").json["conflicts"][0])


def test_it_is_listed(keepsake: Keepsake, conflict: dict[str, object]) -> None:
    assert set(conflict) == {"id", "subject", "how", "older", "newer"}
    assert conflict["how"] == "rule"
    assert conflict["subject"] == "in"
    older, newer = conflict["older"], conflict["newer"]
    assert isinstance(older, dict)
    assert isinstance(newer, dict)
    assert older == {**older, "file": "MEMORY.md", "line": 3, "date": "2026-05-03", "text": "lives in Lisbon"}
    assert newer == {**newer, "file": "MEMORY.md", "line": 4, "date": "2026-09-09", "text": "I live in Graz"}
    assert str(older["id"]).startswith("MEMORY.md:")
    assert "2026-05-03  lives in Lisbon  (MEMORY.md:3)" in keepsake("memory", "conflicts").out


def test_one_is_kept_and_it_can_be_undone(keepsake: Keepsake, conflict: dict[str, object], tmp_path: Path) -> None:
    kept = keepsake("--json", "memory", "conflicts", "--keep", str(conflict["id"]), "older")
    assert kept.json["kept"] == "older"
    assert "likes tea；~~I live in Graz~~ · superseded" in (tmp_path / "ws" / "MEMORY.md").read_text()
    assert keepsake("--json", "memory", "conflicts").json == {"conflicts": [], "same": []}
    assert keepsake("memory", "undo", kept.json["journal_id"]).code == 0
    assert (tmp_path / "ws" / "MEMORY.md").read_text() == TEXT


def test_both_hold(keepsake: Keepsake, conflict: dict[str, object]) -> None:
    assert keepsake("--json", "memory", "conflicts", "--both", str(conflict["id"])).json == {"both": conflict["id"]}
    assert keepsake("memory", "conflicts").out == "Nothing in memory contradicts itself.\n"


def test_wrong_words(keepsake: Keepsake, conflict: dict[str, object]) -> None:
    for words in (["--keep", "x"], ["--keep", "x", "both"], ["--both", "x", "--opinion", "x"]):
        assert keepsake("memory", "conflicts", *words).code == 2
    missing = keepsake("--json", "memory", "conflicts", "--keep", "nothing", "newer")
    assert (missing.code, missing.json["error"]["code"]) == (1, "conflict.missing")
    no_model = keepsake("--json", "memory", "conflicts", "--opinion", str(conflict["id"]))
    assert (no_model.code, no_model.json["error"]["code"]) == (1, "model.none")
