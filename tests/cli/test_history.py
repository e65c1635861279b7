"""``keepsake history``."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Keepsake


def test_on_log_and_off(keepsake: Keepsake, tmp_path: Path) -> None:
    assert keepsake("history", "log", "--json").json == {"git": "off", "commits": []}
    keepsake("remember", "likes tea")
    on = keepsake("history", "on", "--json").json
    assert on["git"] == "on" and on["files"] == 1
    keepsake("remember", "likes oolong")
    log = keepsake("history", "log", "--json").json
    assert log["commits"][0]["message"] == "Remembered: likes oolong"
    assert {"id", "time", "author", "message", "files"} <= log["commits"][0].keys()
    assert "likes oolong" in keepsake("history", "log", "--limit", "1").out
    assert keepsake("history", "off", "--json").json["git"] == "off"
    keepsake("remember", "likes coffee")
    assert len(keepsake("history", "log", "--json").json["commits"]) == 2


def test_a_foreign_repository_is_refused_in_words(keepsake: Keepsake, tmp_path: Path) -> None:
    keepsake("remember", "tea")
    (tmp_path / "ws" / ".git").mkdir()
    refused = keepsake("history", "on", "--json")
    assert refused.code == 1 and refused.json["error"]["code"] == "history.foreign"
    assert keepsake("history", "log", "--json").json["error"]["code"] == "history.broken", "an empty .git is none"
    broken = keepsake("history", "on", "--existing", "--json")
    assert broken.code == 1 and broken.json["error"]["code"] == "history.broken"
