"""``keepsake memory timeline``."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Keepsake


def test_periods_and_budget(keepsake: Keepsake, tmp_path: Path) -> None:
    empty = keepsake("memory", "timeline", "--json").json
    assert empty["periods"] == [] and empty["budget"]["allowed"] > 0
    lines = "2026-01-05|you|tea\n2026-01-05|chat:20260105_101010#1-2|oolong\n2026-01-06|tool|boiler；cellar\n"
    (tmp_path / "ws" / "MEMORY.md").write_text(f"# Me\n\n- lives in Lisbon\n\n# Work\n\n- writes\n\n{lines}")
    found = keepsake("memory", "timeline", "--json").json
    assert found["by"] == "day"
    assert [(each["first"], each["counts"]) for each in found["periods"]] == [
        ("2026-01-05", {"you": 1, "distilled": 1}),
        ("2026-01-06", {"tool": 1}),
    ]
    assert found["periods"][1]["entries"][0]["text"] == "boiler；cellar"
    assert found["periods"][1]["entries"][0]["line"] == 11
    budget = found["budget"]
    used = keepsake("memory", "budget", "--json").json["tokens"]
    assert budget["facts"] + budget["entries"] == used and budget["free"] == budget["allowed"] - used
    assert {each["title"] for each in budget["sections"]} == {"Me", "Work"}
    assert "2026-01-05" in keepsake("memory", "timeline").out
    month = keepsake("memory", "timeline", "--by", "month", "--json").json
    assert [each["total"] for each in month["periods"]] == [3]
