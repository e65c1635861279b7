"""CASES 19-30: models, folders and memory files, by the command line."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assistant.core.errors import AssistantError
from assistant.runtime.composition import Places, compose
from tests.cases.conftest import Keepsake, put_models, write_settings
from tests.cli.test_real import Script
from tests.engine.gguf_files import chat_facts, gguf_bytes
from tests.real_models import starter_model_path

NAMES = ["Абв", "張 庭 綱", "with spaces", "a\u3000b", "it's [1] #%&"]


@pytest.mark.real
def test_folders_of_any_name_work(tmp_path: Path) -> None:
    """Case 19: workspace, settings, state and model below all of them."""
    script = Script(tmp_path.joinpath(*NAMES))
    script.run("remember", "the boiler is in the cellar")
    assert script.run("ask", "Where is the boiler?", "--max-tokens", "4")[-1]["text"]
    for query in ("boiler", "where is the boiler?"):
        (answer,) = script.run("recall", query)
        assert answer["mode"] == "hybrid"
        assert answer["hits"][0]["text"] == "the boiler is in the cellar"


def test_bad_model_files_are_named_and_break_nothing(keepsake: Keepsake, tmp_path: Path) -> None:
    """Case 20: cut, empty, renamed, no GGUF at all."""
    models = tmp_path / "st" / "models"
    models.mkdir(parents=True)
    whole = gguf_bytes(chat_facts(), {"token_embd.weight": (64, 4)})
    (models / "cut.gguf").write_bytes(whole[:-100])
    (models / "empty.gguf").write_bytes(b"")
    (models / "picture.gguf").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(1000))
    (models / "renamed to this.gguf").write_bytes(whole)
    listed = {model["name"]: model for model in keepsake("--json", "models", "list").json["models"]}
    assert {name for name, model in listed.items() if model["problem"]} == {"cut", "empty", "picture"}
    for name in ("cut", "empty", "picture"):
        asked = keepsake("ask", "hello", "--model", name)
        assert asked.code == 1
        assert len(asked.err.strip().splitlines()) == 1
    added = keepsake("models", "add", str(models / "picture.gguf"))
    assert (added.code, added.out) == (1, "")
    assert keepsake("--json", "chats", "list").json["chats"] == []


FILES = {
    "crlf": b"# Me\r\n\r\nlikes tea\r\n",
    "bom": b"\xef\xbb\xbf# Me\n\nlikes tea\n",
    "no final newline": b"# Me\n\nlikes tea",
    "front matter": b"---\ntitle: Me\n---\n\nlikes tea\n",
    "front matter to the end": b"---\ntitle: likes tea\n---",
    "bad yaml": b'---\ndescription: "abc "def" ghi"\n---\nlikes tea\n',
    "gbk": "# 关于我\n\n我喜欢喝茶，也喜欢看书 likes tea\n".encode("gb18030"),
    "latin": "# Über mich\n\nGrüße aus Köln, likes tea\n".encode("latin-1"),
    "table": b"# Me\n\n| a | b |\n|---|---|\n| likes tea | x |\n\n```\n2026-01-01|you|in code\n```\n\n\n## Free\n",
    "by hand": "2026-02-15 | me | likes tea；a \\； b | c\n2026-02-31|you|no such day\n".encode(),
    "far over budget": "".join(
        f"2026-03-{n % 28 + 1:02d}|you|likes tea {n} {'x' * 3500}\n" for n in range(28)
    ).encode(),
}


@pytest.mark.parametrize("kind", FILES)
def test_what_a_person_wrote_survives_a_write_byte_for_byte(keepsake: Keepsake, tmp_path: Path, kind: str) -> None:
    """Cases 22, 23, 27."""
    path = tmp_path / "ws" / "MEMORY.md"
    path.parent.mkdir()
    path.write_bytes(FILES[kind])
    shown = keepsake("--json", "memory", "show")
    assert shown.code == 0
    assert "likes tea" in shown.json["text"]
    assert keepsake("remember", "owns a boat").code == 0
    assert path.read_bytes().startswith(FILES[kind])
    assert "owns a boat" in keepsake("--json", "memory", "show").json["text"]
    assert keepsake("--json", "recall", "boat").json["hits"][0]["text"] == "owns a boat"
    assert "likes tea" in keepsake("--json", "recall", "likes tea").json["hits"][0]["text"]
    entry = keepsake("--json", "memory", "journal").json["entries"][0]["id"]
    assert keepsake("memory", "undo", entry).code == 0
    assert path.read_bytes() == FILES[kind]


def test_one_byte_of_another_encoding_is_read_and_never_overwritten(keepsake: Keepsake, tmp_path: Path) -> None:
    """Case 22: a UTF-8 file with one foreign byte."""
    path = tmp_path / "ws" / "MEMORY.md"
    path.parent.mkdir()
    raw = "# 关于我 Grüße\n\nlikes tea \xe9\n".encode().replace("\xe9".encode(), b"\xe9")
    path.write_bytes(raw)
    assert "likes tea" in keepsake("--json", "memory", "show").json["text"]
    written = keepsake("remember", "owns a boat")
    assert path.read_bytes().startswith(raw)
    assert written.code == 0 or "MEMORY.md" in written.err


def test_many_matches_give_the_best_and_the_newest(keepsake: Keepsake) -> None:
    """Case 25."""
    for number in range(40):
        keepsake(
            "remember", f"walked the dog, round {number}", "--now", f"2026-{number // 4 + 1:02d}-{number % 4 + 1:02d}"
        )
    hits = keepsake("--json", "recall", "walked dog", "--limit", "15").json["hits"]
    assert [hit["text"].split()[-1] for hit in hits] == [str(number) for number in range(39, 24, -1)]


def test_the_same_and_the_contrary(keepsake: Keepsake, tmp_path: Path) -> None:
    """Case 26: the same fact twice is one; a contrary one strikes the old, and both stay visible."""
    keepsake("remember", "my phone number is 12345")
    assert keepsake("--json", "remember", "My phone number is 12345.").json["duplicate"]
    changed = keepsake("--json", "remember", "my phone number is 67890", "--now", "2026-11-29T10:00:00").json
    assert changed["superseded"]
    text = (tmp_path / "ws" / "MEMORY.md").read_text()
    assert "~~my phone number is 12345~~ · superseded 2026-11-29" in text
    assert "my phone number is 67890" in text
    assert len(text.strip().splitlines()) == 2


def test_two_processes_remember_at_once(tmp_path: Path) -> None:
    """Case 28."""
    base = [sys.executable, "-m", "assistant", "--workspace", str(tmp_path / "ws"), "--state", str(tmp_path / "st")]
    base += ["--config", str(tmp_path / "config"), "remember"]
    running = [subprocess.Popen([*base, f"fact number {n} stands"], stdout=subprocess.PIPE) for n in range(6)]
    for process in running:
        process.communicate()
        assert process.returncode == 0
    lines = (tmp_path / "ws" / "MEMORY.md").read_text().splitlines()
    assert sorted(line.split("|")[2] for line in lines) == [f"fact number {n} stands" for n in range(6)]


def test_the_day_is_the_persons_own(keepsake: Keepsake, tmp_path: Path) -> None:
    """Case 28: 03:53 at UTC+8 is that local day, where UTC is still at the day before."""
    keepsake("remember", "early", "--now", "2026-11-30T03:53:00+08:00")
    keepsake("remember", "late", "--now", "2026-11-30T23:59:59+08:00")
    lines = (tmp_path / "ws" / "MEMORY.md").read_text().splitlines()
    assert [line[:10] for line in lines] == ["2026-11-30", "2026-11-30"]
    assert datetime.fromisoformat("2026-11-30T03:53:00+08:00").astimezone(UTC).day == 29


@pytest.mark.parametrize(
    "topic", ["../../etc/passwd", "/etc/passwd", "x/../../y", ".hidden", "n" * 300, "con", "..", ""]
)
def test_topics_never_lead_out(keepsake: Keepsake, tmp_path: Path, topic: str) -> None:
    """Case 29: refused in one line, or a plain file of that name in memory/."""
    before = set(tmp_path.rglob("*"))
    done = keepsake("remember", "a secret plan", "--topic", topic)
    made = set(tmp_path.rglob("*.md")) - before
    if done.code:
        assert len(done.err.strip().splitlines()) == 1
        assert made == set()
    else:
        assert {path.parent for path in made} == {tmp_path / "ws" / "memory"}


def test_a_link_out_of_the_workspace_is_not_followed(keepsake: Keepsake, tmp_path: Path) -> None:
    """Case 29."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "plans.md").write_text("zorblax is outside\n")
    keepsake("remember", "tea")
    (tmp_path / "ws" / "memory" / "x").symlink_to(outside)
    (tmp_path / "ws" / "memory" / "y.md").symlink_to(outside / "plans.md")
    assert keepsake("--json", "recall", "zorblax").json["hits"] == []
    assert keepsake("remember", "more", "--topic", "y").code == 1
    assert (outside / "plans.md").read_text() == "zorblax is outside\n"
    assert "outside" not in keepsake("--json", "memory", "show").out.replace(str(outside), "")


def test_a_moved_workspace_keeps_its_journal(keepsake: Keepsake, tmp_path: Path) -> None:
    """Case 30."""
    keepsake("remember", "tea")
    (tmp_path / "ws").rename(tmp_path / "elsewhere")
    moved = keepsake("--json", "memory", "journal", "--workspace", str(tmp_path / "elsewhere"))
    assert len(moved.json["entries"]) == 1
    assert keepsake("--json", "recall", "tea", "--workspace", str(tmp_path / "elsewhere")).json["hits"]


def test_conflict_copies_are_named_and_not_told_to_the_model(keepsake: Keepsake, tmp_path: Path) -> None:
    """Case 30."""
    keepsake("remember", "tea")
    (tmp_path / "ws" / "MEMORY (conflict).md").write_text("zorblax\n")
    checks = keepsake("--json", "doctor").json["checks"]
    assert any("MEMORY (conflict).md" in check["name"] for check in checks if not check["ok"])
    assert keepsake("--json", "recall", "zorblax").json["hits"] == []
    assert "zorblax" not in keepsake("--json", "prompt", "zorblax?").out.replace('"zorblax?', "").replace(
        "zorblax?", ""
    )


def test_a_workspace_that_goes_while_it_runs_costs_nothing(tmp_path: Path) -> None:
    """Case 30: a drive that is pulled and comes back; one clear error meanwhile."""
    services = compose(Places(tmp_path / "ws", tmp_path / "config", tmp_path / "st"), {})
    chat = services.new_chat("Trip")
    services.workspace.chats.begin_turn(chat, "first")
    services.remember("tea")
    (tmp_path / "ws").rename(tmp_path / "away")
    for act in (
        lambda: services.workspace.chats.begin_turn(chat, "second"),
        lambda: services.remember("coffee"),
        lambda: services.new_chat(),
    ):
        with pytest.raises(AssistantError) as failed:
            act()
        assert failed.value.code == "workspace.gone"
    assert not (tmp_path / "ws").exists()
    (tmp_path / "away").rename(tmp_path / "ws")
    services.workspace.chats.begin_turn(chat, "third")
    services.remember("coffee")
    assert [turn.user for turn in services.read_chat(chat).turns] == ["first", "third"]
    assert len(services.workspace.memory.document().entries) == 2
    services.close()


@pytest.mark.real
def test_one_file_in_two_configurations(tmp_path: Path) -> None:
    """Case 20: the same weights under two names, each asked for by its own."""
    put_models(tmp_path)
    (tmp_path / "state" / "models" / "Second.gguf").symlink_to(starter_model_path())
    write_settings(tmp_path, "window = 512")
    services = compose(Places(tmp_path / "ws", tmp_path / "config", tmp_path / "state"), {})
    assert {model.name for model in services.models()} == {"Starter", "Second"}
    for name in ("Starter", "Second"):
        assert services.model_service.ensure(name).window == 512
    services.close()
