"""``keepsake assistants`` and ``--assistant``."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Keepsake


@pytest.fixture(autouse=True)
def no_assistant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KEEPSAKE_ASSISTANT", raising=False)


def names(keepsake: Keepsake) -> list[str]:
    return [each["name"] for each in keepsake("assistants", "list", "--json").json["assistants"]]


def test_assistants_are_added_prompted_renamed_and_deleted(keepsake: Keepsake, tmp_path: Path) -> None:
    added = keepsake("assistants", "add", "Anna", "--prompt", "You are Anna.", "--json").json
    assert added == {"name": "Anna", "folder": str(tmp_path / "ws" / "assistants" / "Anna")}
    assert keepsake("assistants", "prompt", "anna").out == "You are Anna.\n"
    assert keepsake("assistants", "prompt", "Anna", "-", "--json", stdin="Be brief.").json["prompt"] == "Be brief.\n"
    assert keepsake("assistants", "rename", "Anna", "安娜").code == 0
    assert names(keepsake) == ["Keepsake", "安娜"]
    assert keepsake("assistants", "delete", "安娜").code == 2
    assert keepsake("assistants", "delete", "安娜", "--yes", "--json").json["deleted"] == "安娜"
    assert names(keepsake) == ["Keepsake"]
    assert not (tmp_path / "ws" / "assistants" / "安娜").exists()


def test_every_command_speaks_to_the_assistant_it_is_told_to(
    keepsake: Keepsake, monkeypatch: pytest.MonkeyPatch
) -> None:
    keepsake("assistants", "add", "Anna", "--prompt", "You are Anna.")
    keepsake("remember", "likes tea")
    assert keepsake("remember", "likes zephyrine", "--assistant", "Anna").code == 0
    assert "zephyrine" not in keepsake("memory", "show").out
    assert keepsake("recall", "zephyrine", "--json").json["hits"] == []
    assert len(keepsake("--assistant=anna", "recall", "zephyrine", "--json").json["hits"]) == 1
    assert (
        keepsake("prompt", "hi", "--assistant", "Anna", "--json").json["blocks"][0]["text"].startswith("You are Anna.")
    )
    listed = keepsake("assistants", "list", "--assistant", "Anna", "--json").json["assistants"]
    assert [(each["name"], each["current"], each["own_prompt"]) for each in listed] == [
        ("Keepsake", False, False),
        ("Anna", True, True),
    ]
    monkeypatch.setenv("KEEPSAKE_ASSISTANT", "Anna")
    assert "zephyrine" in keepsake("memory", "show").out
    assert "zephyrine" not in keepsake("memory", "show", "--assistant", "Keepsake").out


def test_what_is_wrong_is_said(keepsake: Keepsake) -> None:
    assert keepsake("recall", "x", "--assistant", "Nobody", "--json").json["error"]["code"] == "assistant.missing"
    assert keepsake("assistants", "add", "..", "--json").json["error"]["code"] == "workspace.path"
    assert keepsake("assistants", "add", "Anna").code == 0
    assert keepsake("assistants", "add", "ANNA", "--json").json["error"]["code"] == "assistant.exists"
    assert keepsake("assistants", "delete", "Keepsake", "--yes", "--json").json["error"]["code"] == "assistant.default"
    assert keepsake("assistants", "prompt", "Anna", "x" * 9000, "--json").json["error"]["code"] == "assistant.prompt"


def test_a_deleted_one_comes_back_or_goes_for_good(keepsake: Keepsake, tmp_path: Path) -> None:
    def holders() -> list[Path]:
        return [path for path in tmp_path.rglob("*") if path.is_file() and b"zephyrine" in path.read_bytes()]

    keepsake("assistants", "add", "Anna")
    keepsake("remember", "likes zephyrine", "--assistant", "Anna")
    keepsake("recall", "zephyrine", "--assistant", "Anna")
    keepsake("assistants", "delete", "Anna", "--yes")
    assert keepsake("assistants", "list", "--json").json["deleted"] == ["Anna"]
    assert keepsake("assistants", "restore", "anna").code == 0
    assert len(keepsake("memory", "journal", "--assistant", "Anna", "--json").json["entries"]) == 1
    keepsake("assistants", "delete", "Anna", "--yes")
    assert keepsake("assistants", "purge", "Anna").code == 2
    assert holders()
    assert keepsake("assistants", "purge", "Anna", "--yes", "--json").json == {"purged": "Anna"}
    assert holders() == []
    assert keepsake("assistants", "restore", "Anna", "--json").json["error"]["code"] == "assistant.missing"
    keepsake("assistants", "add", "Anna")
    keepsake("remember", "likes zephyrine", "--assistant", "Anna")
    assert keepsake("assistants", "delete", "Anna", "--yes", "--for-good", "--json").json["for_good"]
    assert holders() == []
