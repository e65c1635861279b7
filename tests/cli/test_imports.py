"""``keepsake import`` as a script uses it."""

from __future__ import annotations

from pathlib import Path

from tests import imported
from tests.cli.conftest import Keepsake


def test_a_dry_run_says_what_would_be_written_and_writes_nothing(keepsake: Keepsake, tmp_path: Path) -> None:
    source = str(imported.countbot(tmp_path / "bot"))
    dry = keepsake("import", "countbot", source, "--dry-run", "--json").json
    assert dry["new"] == {"entries": 4, "facts": 1, "notes": 0, "logs": 0, "chats": 0}
    assert dry["skipped"] == [
        {"reason": "date", "words": "a day that does not exist", "count": 1, "examples": ["memory/MEMORY.md:5"]}
    ]
    assert "+2026-02-15|web-chat|用户询问天气API方案" in dry["diff"]
    assert not (tmp_path / "ws" / "MEMORY.md").exists()
    done = keepsake("import", "countbot", source, "--json").json
    assert {**done, "id": "", "dry_run": True} == dry
    assert "OpenWeatherMap" in keepsake("recall", "OpenWeatherMap").out


def test_it_can_be_listed_and_taken_back(keepsake: Keepsake, tmp_path: Path) -> None:
    source = str(imported.chatgpt_zip(tmp_path / "export.zip"))
    words = keepsake("import", "chatgpt", source)
    assert words.code == 0
    assert "ChatGPT: imported 1 chat." in words.out
    assert "Skipped 2: steps of tools (conversations.json #1)" in words.out
    listed = keepsake("import", "--list", "--json").json["imports"][0]
    assert (listed["system"], len(listed["chats"]), listed["undone"]) == ("chatgpt", 1, False)
    assert keepsake("chats", "list", "--json").json["chats"][0]["title"] == "Lisbon in March"
    undone = keepsake("import", "--undo", listed["id"], "--json").json
    assert undone["deleted"] == listed["chats"]
    assert keepsake("chats", "list", "--json").json == {"chats": []}
    assert keepsake("import", "--undo", listed["id"]).code == 1


def test_wrong_usage_and_wrong_paths(keepsake: Keepsake, tmp_path: Path) -> None:
    assert keepsake("import").code == 2
    assert keepsake("import", "countbot").code == 2
    assert keepsake("import", "mem0", str(tmp_path)).code == 2
    missing = keepsake("import", "countbot", str(tmp_path / "missing"), "--json")
    assert (missing.code, missing.json["error"]["code"]) == (1, "import.missing")
    unknown = keepsake("import", "auto", str(imported.write(tmp_path / "x.md", "hello\n")), "--json")
    assert unknown.json["error"]["code"] == "import.unknown"


def test_auto_recognises_the_system(keepsake: Keepsake, tmp_path: Path) -> None:
    for system in ("countbot", "nanobot", "openmausbot", "atoms"):
        source = getattr(imported, system)(tmp_path / system)
        assert keepsake("import", "auto", str(source), "--dry-run", "--json").json["system"] == system
