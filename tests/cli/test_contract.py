"""The command line as its contract says: commands, JSON fields, exit codes, errors."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

import pytest

from assistant.cli.main import build_parser
from tests.cli.conftest import Keepsake
from tests.engine.gguf_files import chat_facts, gguf_bytes


def test_remember_then_recall(keepsake: Keepsake, tmp_path: Path) -> None:
    written = keepsake("remember", "the boiler is in the cellar", "--json")
    assert written.code == 0
    assert {"id", "file", "line", "text", "redacted"} <= written.json.keys()
    assert written.json["file"] == "MEMORY.md"
    found = keepsake("--json", "recall", "boiler").json
    assert {"hits", "abstained", "took_ms", "mode"} <= found.keys()
    hit = found["hits"][0]
    assert {"id", "file", "line", "kind", "date", "title", "text", "score", "why"} <= hit.keys()
    assert hit["id"] == written.json["id"]
    assert "the boiler is in the cellar" in (tmp_path / "ws" / "MEMORY.md").read_text()


def test_global_options_may_stand_anywhere(keepsake: Keepsake) -> None:
    assert keepsake("remember", "--json", "tea").json["text"] == "tea"
    assert keepsake("--now", "2025-02-03T10:00:00", "remember", "coffee", "--json").code == 0
    assert "2025-02-03|you|coffee" in keepsake("memory", "show").out


def test_until_takes_words(keepsake: Keepsake) -> None:
    keepsake("--now", "2026-11-30T10:00:00", "remember", "the key is with Mei", "--until", "2026-12-05")
    assert "until 2026-12-05" in keepsake("memory", "show").out
    wrong = keepsake("remember", "x", "--until", "whenever", "--json")
    assert wrong.code == 1
    assert wrong.json["error"].keys() == {"code", "message", "hint"}


def test_a_topic_note_is_written(keepsake: Keepsake, tmp_path: Path) -> None:
    assert keepsake("remember", "oolong at 90 degrees", "--topic", "Tea", "--json").json["file"] == "memory/Tea.md"
    assert "oolong" in (tmp_path / "ws" / "memory" / "Tea.md").read_text()


def test_a_secret_never_reaches_the_disk(keepsake: Keepsake, tmp_path: Path) -> None:
    secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
    assert keepsake("remember", f"my key is {secret}", "--json").json["redacted"] == 1
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes()


def test_nobody_else_can_read_what_a_command_leaves(keepsake: Keepsake, tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        keepsake("remember", "tea", "--topic", "Drinks")
        keepsake("remember", "tea")
        keepsake("recall", "tea")
    finally:
        os.umask(before)
    for path in (p for top in ("ws", "st") for p in (tmp_path / top, *(tmp_path / top).rglob("*"))):
        assert not path.stat().st_mode & 0o077 or os.name == "nt", path


def test_journal_and_undo(keepsake: Keepsake) -> None:
    keepsake("remember", "first thing")
    keepsake("remember", "second thing")
    entries = keepsake("memory", "journal", "--json").json["entries"]
    assert {"id", "time", "actor", "path", "diff", "can_undo"} <= entries[0].keys()
    assert "second thing" in entries[0]["diff"]
    assert keepsake("memory", "undo", entries[1]["id"]).code == 0
    shown = keepsake("memory", "show").out
    assert "second thing" in shown
    assert "first thing" not in shown
    assert keepsake("memory", "journal", "--json").json["entries"][0]["actor"] == "undo"


def test_undo_of_what_was_never_done(keepsake: Keepsake) -> None:
    failed = keepsake("memory", "undo", "nothing-like-it")
    assert failed.code == 1
    assert failed.err.startswith("keepsake: ")
    assert failed.err.count("\n") == 1


def test_budget_says_what_does_not_load(keepsake: Keepsake, tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "MEMORY.md").write_text("".join(f"- fact {n}\n" for n in range(250)))
    budget = keepsake("memory", "budget", "--json").json
    assert budget["lines"] == 200
    assert budget["left_out"][0]["line"] == 201
    assert budget["share"] > 1


class TestBatch:
    def test_each_line_gets_its_answer_with_its_id(self, keepsake: Keepsake) -> None:
        keepsake("remember", "the boiler is in the cellar")
        asked = [{"id": "a", "query": "boiler"}, {"id": 2, "query": "zzzz"}, {"query": "boiler", "limit": 1}]
        answers = keepsake("recall", "--batch", "--json", stdin="\n".join(map(json.dumps, asked))).lines
        assert [answer.get("id") for answer in answers] == ["a", 2, None]
        assert answers[0]["hits"]
        assert answers[1]["abstained"]

    def test_dates_bound_what_is_found(self, keepsake: Keepsake, tmp_path: Path) -> None:
        (tmp_path / "ws").mkdir()
        (tmp_path / "ws" / "MEMORY.md").write_text("2026-01-05|you|tea order one\n2026-06-05|you|tea order two\n")
        ask = {"query": "tea order", "until": "2026-03-01", "now": "2026-03-01T12:00:00"}
        (answer,) = keepsake("recall", "--batch", "--json", stdin=json.dumps(ask)).lines
        assert [hit["text"] for hit in answer["hits"]] == ["tea order one"]

    def test_an_empty_query_with_a_range_lists_what_happened(self, keepsake: Keepsake, tmp_path: Path) -> None:
        (tmp_path / "ws").mkdir()
        (tmp_path / "ws" / "MEMORY.md").write_text("2026-01-05|you|tea\n2026-06-05|you|coffee\n")
        answer = keepsake("recall", "", "--since", "2026-06-01", "--json").json
        assert [hit["text"] for hit in answer["hits"]] == ["coffee"]
        assert answer["mode"] == "time"

    def test_a_line_that_is_no_query_is_an_error(self, keepsake: Keepsake) -> None:
        failed = keepsake("recall", "--batch", "--json", stdin="not json\n")
        assert failed.code == 1
        assert failed.json["error"]["code"] == "recall.batch"

    def test_a_bad_value_costs_only_its_own_line(self, keepsake: Keepsake) -> None:
        asked = [{"id": 1, "query": "x", "since": "whenever"}, {"id": 2, "query": "x"}]
        answers = keepsake("recall", "--batch", "--json", stdin="\n".join(map(json.dumps, asked))).lines
        assert "error" in answers[0]
        assert answers[1]["id"] == 2
        assert "error" not in answers[1]


QUERIES = [
    "don't", "C++", "ADR-016", "a@b.com", "status: done", "retry OR", 'timeout "err', "(abc", "*", '""', "",
    "the of and", "🐘", "x" * 10_000, "会议", "偏好", "-x", "--", "NEAR(a b)", "a AND NOT b", "col:val", "\\", "%",
    "'", "\x00",
]  # fmt: skip


def test_no_query_is_an_error(keepsake: Keepsake) -> None:
    keepsake("remember", "ADR-016 says C++, don't retry OR timeout; 会议 偏好 🐘 a@b.com")
    asked = "\n".join(json.dumps({"id": n, "query": query}) for n, query in enumerate(QUERIES))
    answers = keepsake("recall", "--batch", "--json", stdin=asked).lines
    assert [answer["id"] for answer in answers] == list(range(len(QUERIES)))
    assert not any("error" in answer for answer in answers)
    for query in ("ADR-016", "a@b.com", "会议", "偏好", "C++"):
        assert answers[QUERIES.index(query)]["hits"], query


class TestChats:
    def test_list_show_rename_delete(self, keepsake: Keepsake, tmp_path: Path) -> None:
        folder = tmp_path / "ws" / "chats" / "2026-11"
        folder.mkdir(parents=True)
        (folder / "20261129_153022.md").write_text(
            "# Chat: Trip\n\n## Metadata\n\n- **Session ID**: 20261129_153022\n"
            "- **Created**: 2026-11-29T15:30:22+08:00\n- **Tags**: travel\n\n## Conversation\n\n"
            "### 2026-11-29T15:30:25+08:00 · #1\n\n**User**:\n\n> quixotic hotel\n\n**Assistant**:\n\n> Here is one.\n"
        )
        (chat,) = keepsake("chats", "list", "--json").json["chats"]
        assert chat.keys() == {"id", "title", "created", "last_active", "turns", "tags", "private"}
        assert (chat["id"], chat["title"], chat["turns"], chat["tags"]) == ("20261129_153022", "Trip", 1, ["travel"])
        shown = keepsake("chats", "show", chat["id"], "--json").json
        assert shown["turns"][0]["user"] == "quixotic hotel"
        assert keepsake("recall", "quixotic", "--json").json["hits"][0]["id"] == "20261129_153022#1"
        title = 'x<>:"/\\|?* 🐘'
        assert keepsake("chats", "rename", chat["id"], title, "--json").json["title"] == title
        assert keepsake("chats", "delete", chat["id"]).code == 0
        assert keepsake("chats", "list", "--json").json["chats"] == []
        for path in tmp_path.rglob("*"):
            if path.is_file():
                assert b"quixotic" not in path.read_bytes(), path

    @pytest.mark.parametrize("title", ['a<>:"/\\|?*b', "🐘 家", "x" * 300, "dot.", "CON", "   ", "../../up"])
    def test_a_chat_is_searched_for_and_exported(self, keepsake: Keepsake, tmp_path: Path, title: str) -> None:
        """CASES 5: whatever its title, it is saved, exported, found again, and never over another file."""
        folder = tmp_path / "ws" / "chats" / "2026-11"
        folder.mkdir(parents=True)
        (folder / "20261129_153022.md").write_text(
            "# Chat: Trip\n\n## Metadata\n\n- **Session ID**: 20261129_153022\n\n## Conversation\n\n"
            "### 2026-11-29T15:30:25+08:00 · #1\n\n**User**:\n\n> quixotic hotel\n"
        )
        keepsake("chats", "rename", "20261129_153022", title)
        found = keepsake("--json", "chats", "search", "quixotic").json
        assert {"chats", "abstained", "mode"} <= found.keys()
        (chat,) = found["chats"]
        assert chat.keys() == {"id", "title", "turns"}
        assert chat["turns"][0].keys() == {"id", "line", "date", "text", "score"}
        assert chat["turns"][0]["id"] == "20261129_153022#1"
        assert keepsake("--json", "chats", "search", "zorblax").json["chats"] == []
        text = (folder / "20261129_153022.md").read_text()
        whole = keepsake("--json", "chats", "export", chat["id"]).json
        assert (whole["file"], whole["markdown"]) == (None, text)
        target = tmp_path / "out"
        target.mkdir()
        done = keepsake("--json", "chats", "export", chat["id"], str(target)).json
        assert done.keys() == {"id", "title", "turns", "file"}
        (file,) = target.iterdir()
        assert (str(file), file.read_text()) == (done["file"], text)
        assert keepsake("chats", "export", chat["id"], str(file)).code == 1
        assert keepsake("chats", "export", chat["id"], str(tmp_path / "none" / "x.md")).code == 1
        assert keepsake("chats", "delete", chat["id"]).code == 0
        assert keepsake("--json", "chats", "import", str(file), "--dry-run").json["new"]["chats"] == 1
        assert keepsake("--json", "chats", "list").json["chats"] == []
        (ident,) = keepsake("--json", "chats", "import", str(file)).json["chats"]
        (turn,) = keepsake("--json", "chats", "show", ident).json["turns"]
        assert turn["user"] == "quixotic hotel"
        assert keepsake("chats", "import", str(tmp_path / "none.md")).code == 1

    def test_a_chat_that_is_not_there(self, keepsake: Keepsake) -> None:
        for words in (("show", "20200101_000000"), ("delete", "../../x"), ("rename", "nope", "title")):
            failed = keepsake("chats", *words, "--json")
            assert failed.code == 1
            assert failed.json["error"]["message"]


def test_index_status_sync_rebuild(keepsake: Keepsake) -> None:
    keepsake("remember", "tea")
    for action in ("status", "sync", "rebuild"):
        status = keepsake("index", action, "--json").json
        assert {"files", "units", "vectors", "model", "stale", "errors"} <= status.keys()
    assert status["units"] == 1


def test_models_without_any(keepsake: Keepsake, tmp_path: Path) -> None:
    assert keepsake("models", "list", "--json").json == {"models": []}
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"not a model at all")
    failed = keepsake("models", "add", str(broken), "--json")
    assert failed.code == 1
    assert "broken.gguf" in failed.json["error"]["message"]
    asked = keepsake("ask", "hello", "--json")
    assert asked.code == 1
    assert asked.json["error"]["code"] == "model.none"


def test_a_model_is_chosen_by_name(keepsake: Keepsake, tmp_path: Path) -> None:
    paths = [tmp_path / "one.gguf", tmp_path / "two.gguf"]
    for path in paths:
        path.write_bytes(gguf_bytes(chat_facts(), {"token_embd.weight": (64, 4)}))
        keepsake("models", "add", str(path))
    assert keepsake("models", "list").out.strip().endswith("Used: one")
    assert keepsake("models", "use", "two").out.strip() == "Used from now on: two"
    assert keepsake("models", "list").out.strip().endswith("Used: two")
    unknown = keepsake("models", "use", "three", "--json")
    assert (unknown.code, unknown.json["error"]["code"]) == (1, "model.missing")
    paths[0].write_bytes(b"GGUF and no more")
    broken = keepsake("models", "use", "one")
    assert (broken.code, len(broken.err.strip().splitlines())) == (1, 1)
    assert "Used: two" in keepsake("models", "list").out
    (tmp_path / "three.gguf").write_bytes(gguf_bytes({"general.architecture": "bert"}, {"token_embd.weight": (64, 4)}))
    mute = keepsake("models", "use", str(tmp_path / "three.gguf"), "--json")
    assert (mute.code, mute.json["error"]["code"]) == (1, "model.unsupported")
    assert "three" not in keepsake("models", "list").out
    paths[1].unlink()
    assert "Used" not in keepsake("models", "list").out


def test_memory_is_asked_in_plain_words_without_a_model(keepsake: Keepsake) -> None:
    told = keepsake("ask", "Remember that the boiler is in the cellar")
    assert (told.code, told.out.strip()) == (0, "Remembered.")
    assert "There is no model yet." in told.err
    assert keepsake("ask", "记住锅炉在地下室").out.strip() == "记住了。"
    found = keepsake("ask", "What did I say about the boiler?", "--json")
    assert found.code == 0
    assert "- the boiler is in the cellar (MEMORY.md, " in "".join(line.get("text", "") for line in found.lines)
    assert keepsake("ask", "What did I say about the Zephyrs?").out.strip() == "I found nothing about this."
    asked = keepsake("ask", "forget the boiler")
    assert asked.code == 0
    assert "Nothing is forgotten yet" in asked.out
    unknown = keepsake("ask", "forget the Marmots", "--json")
    assert (unknown.code, unknown.json["error"]["code"]) == (1, "model.none")


def test_prompt_without_a_model_estimates(keepsake: Keepsake) -> None:
    keepsake("remember", "the boiler is in the cellar")
    prompt = keepsake("prompt", "where is the boiler?", "--json").json
    assert prompt.keys() == {"blocks", "left_out", "tokens", "window", "host"}
    assert prompt["host"] == ""  # it would leave this machine for nowhere
    assert prompt["blocks"][0].keys() == {"name", "role", "text", "tokens", "lines"}
    tail = next(block for block in prompt["blocks"] if block["name"] == "tail")
    assert {"file", "line", "text", "why"} <= tail["lines"][0].keys()
    assert prompt["tokens"] > 0


def test_the_prompt_shows_what_would_be_sent_of_a_secret(keepsake: Keepsake) -> None:
    prompt = keepsake("prompt", "my password: hunter2-long", "--json").json
    assert prompt["blocks"][-1]["text"].startswith("my password: «redacted")


def test_doctor_names_what_is_wrong(keepsake: Keepsake, tmp_path: Path) -> None:
    (tmp_path / "ws" / "chats" / "2026-11").mkdir(parents=True)
    (tmp_path / "ws" / "chats" / "2026-11" / "20261101_101010.md").write_bytes(bytes(65536))
    result = keepsake("doctor", "--json")
    assert result.code == 1
    checks = result.json["checks"]
    assert all(check.keys() == {"name", "ok", "detail", "fix"} for check in checks)
    bad = [check for check in checks if not check["ok"]]
    assert any("20261101_101010.md" in check["name"] for check in bad)
    assert all(check["fix"] for check in bad)


@pytest.mark.parametrize(
    "words",
    [
        ("nonsense",),
        ("recall", "x", "--limit", "0"),
        ("recall",),
        ("recall", "x", "--batch"),
        ("ask", "x", "--temporary", "--chat", "20261129_153022"),
        ("memory",),
        ("--now", "soon", "ask", "x"),
    ],
)
def test_wrong_usage_is_exit_2(keepsake: Keepsake, words: tuple[str, ...]) -> None:
    assert keepsake(*words).code == 2


def test_help_is_exit_0(keepsake: Keepsake) -> None:
    assert keepsake("--help").code == 0


def test_a_workspace_that_cannot_be_is_said_in_one_line(keepsake: Keepsake, tmp_path: Path) -> None:
    (tmp_path / "ws").write_text("a file where the folder should be")
    failed = keepsake("remember", "x")
    assert failed.code == 1
    assert failed.err.count("\n") == 1


def test_one_bad_line_of_a_batch_costs_no_other_line_its_answer(keepsake: Keepsake) -> None:
    keepsake("remember", "the boiler is in the cellar")
    bad = ["x", '{"query": 5, "id": 7}', "[" * 100_000, '{"id": 8}', '{"query": "a", "now": "never", "id": 9}']
    good = '{"query": "boiler \\ud800", "id": 1}'
    answers = keepsake("recall", "--batch", "--json", stdin="\n".join([*bad, good])).lines
    assert [answer["mode"] for answer in answers[:-1]] == ["error"] * 5
    assert [answer.get("id") for answer in answers] == [None, 7, None, 8, 9, 1]
    assert "cellar" in answers[-1]["hits"][0]["text"]


@pytest.mark.parametrize("option", ["--workspace", "--state", "--config"])
def test_an_empty_folder_name_is_wrong_usage(
    keepsake: Keepsake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert keepsake(option, "", "chats", "list").code == 2
    assert not list(tmp_path.iterdir())


def test_a_bug_is_said_in_one_line_of_json(keepsake: Keepsake, monkeypatch: pytest.MonkeyPatch) -> None:
    def bug(_self: object) -> None:
        raise RuntimeError("oh")

    monkeypatch.setattr("assistant.runtime.services.Services.list_chats", bug)
    result = keepsake("chats", "list", "--json")
    assert (result.code, result.json["error"]["code"]) == (1, "bug")
    assert "RuntimeError: oh" in result.err


@pytest.mark.parametrize("moment", ["soon", "0001-01-01T00:00:00", "9999-12-31", ""])
def test_a_time_that_no_calendar_can_be_counted_from_is_wrong_usage(keepsake: Keepsake, moment: str) -> None:
    assert keepsake("--now", moment, "chats", "list").code == 2


class TestContractOfEveryCommand:
    """What CLI.md promises of all: one JSON value or error on stdout, one line on stderr, the code that says so."""

    DONE = (
        ("memory", "show"),
        ("memory", "budget"),
        ("memory", "files"),
        ("memory", "journal"),
        ("memory", "tidy"),
        ("memory", "tidy", "--apply"),
        ("memory", "conflicts"),
        ("memory", "inbox"),
        ("memory", "inbox", "list"),
        ("memory", "inbox", "accept", "--all"),
        ("memory", "inbox", "decline", "--all"),
        ("memory", "inbox", "mode"),
        ("memory", "inbox", "mode", "ask"),
        ("memory", "drafts"),
        ("memory", "timeline"),
        ("memory", "check", "list"),
        ("memory", "check", "run"),
        ("memory", "new", "Boats"),
        ("memory", "rename", "Boats", "Ships"),
        ("memory", "link", "Ships"),
        ("memory", "delete", "Ships"),
        ("chats", "list"),
        ("index", "status"),
        ("models", "list"),
        ("models", "verify"),
        ("models", "fit"),
        ("models", "catalogue"),
        ("import", "--list"),
        ("backups", "list"),
        ("history", "log"),
        ("assistants", "list"),
        ("assistants", "add", "Anna"),
        ("assistants", "prompt", "Anna"),
        ("assistants", "rename", "Anna", "Ben"),
        ("assistants", "delete", "Ben", "--yes"),
        ("assistants", "restore", "Ben"),
        ("recall", "tea"),
        ("chats", "search", "tea"),
        ("prompt", "hello"),
    )
    FAILED = (
        ("memory", "show", "memory/none.md"),
        ("memory", "write", "../x.md"),
        ("memory", "strike", "MEMORY.md:0000000000"),
        ("memory", "edit", "nothing", "x"),
        ("memory", "remove", ""),
        ("memory", "undo", "x"),
        ("memory", "journal", "--before", "x"),
        ("memory", "new", "../x"),
        ("memory", "rename", "none", "x"),
        ("memory", "delete", "MEMORY.md"),
        ("memory", "link", "none"),
        ("memory", "inbox", "accept", "x"),
        ("memory", "inbox", "decline", "x"),
        ("memory", "conflicts", "--keep", "x", "older"),
        ("memory", "conflicts", "--both", "x"),
        ("memory", "conflicts", "--opinion", "x"),
        ("memory", "check", "add", "--expect", "", "q"),
        ("memory", "check", "remove", "x"),
        ("memory", "check", "rollback"),
        ("forget", "x", "--yes"),
        ("forget", ""),
        ("chats", "show", "x"),
        ("chats", "rename", "x", "y"),
        ("chats", "private", "x", "on"),
        ("chats", "never", "x", "y"),
        ("chats", "renew", "x"),
        ("chats", "delete", "x"),
        ("chats", "export", "x"),
        ("chats", "import", "no such file"),
        ("receipt", "x", "1"),
        ("import", "nanobot", "/nothing/is/here"),
        ("import", "--undo", "x"),
        ("backup", "/nothing/is/here/b.age", "--passphrase"),
        ("restore", "/nothing/is/here/b.age"),
        ("backups", "drop", "/nothing/is/here/b.age"),
        ("models", "verify", "x"),
        ("models", "fit", "x"),
        ("models", "remove", "x"),
        ("models", "download", "x"),
        ("models", "token"),
        ("models", "add", "/nothing/is/here.gguf"),
        ("assistants", "add", "../x"),
        ("assistants", "prompt", "x"),
        ("assistants", "rename", "x", "y"),
        ("assistants", "delete", "x", "--yes"),
        ("assistants", "restore", "x"),
        ("assistants", "purge", "x", "--yes"),
        ("--assistant", "x", "memory", "show"),
    )
    WRONG = (
        ("memory", "journal", "--limit", "0"),
        ("memory", "journal", "--actor", "nobody"),
        ("memory", "inbox", "accept"),
        ("memory", "conflicts", "--keep", "x", "both"),
        ("memory", "check", "add", "q"),
        ("history", "log", "--limit", "x"),
        ("models", "fit", "--window", "0"),
        ("import", "nanobot"),
        ("import", "zzz", "x"),
        ("chats", "private", "x", "maybe"),
        ("receipt", "x", "y"),
        ("assistants", "delete", "x"),
        ("assistants", "purge", "x"),
        ("backup",),
        ("bench", "memory", "--size", "-3"),
        ("bench", "store", "--runs", "0"),
        ("chats", "search", "x", "--limit", "0"),
    )

    def test_what_is_done_is_one_value_and_no_word_on_stderr(self, keepsake: Keepsake) -> None:
        for words in self.DONE:
            done = keepsake("--json", *words)
            assert (done.code, done.err) == (0, ""), words
            assert len(done.lines) == 1, words
            assert isinstance(done.json, dict), words
            assert "error" not in done.json, words

    def test_what_cannot_be_is_one_error_and_one_line(
        self, keepsake: Keepsake, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("KEEPSAKE_PASSPHRASE", "four words are enough")
        for words in self.FAILED:
            failed = keepsake("--json", *words)
            assert failed.code == 1, words
            assert failed.err.startswith("keepsake: "), words
            assert failed.err.count("\n") == 1, words
            assert len(failed.lines) == 1, words
            assert failed.json["error"].keys() == {"code", "message", "hint"}, words
            assert failed.json["error"]["message"], words
            said = keepsake(*words)
            assert (said.code, said.out, said.err) == (1, "", failed.err), words

    @pytest.mark.parametrize("words", WRONG)
    def test_what_is_asked_wrongly_is_2(self, keepsake: Keepsake, words: tuple[str, ...]) -> None:
        wrong = keepsake("--json", *words)
        assert (wrong.code, wrong.out) == (2, "")
        assert wrong.err.startswith("usage: ")

    def test_what_is_not_sound_is_said_on_stderr_too(self, keepsake: Keepsake, tmp_path: Path) -> None:
        """Where the value itself says more than an error: the line is there all the same."""
        keepsake("remember", "tea is oolong")
        (tmp_path / "st" / "models").mkdir(parents=True)
        (tmp_path / "st" / "models" / "cut.gguf").write_bytes(b"GGUF")
        for words in (("doctor",), ("forget", "oolong"), ("models", "verify")):
            result = keepsake("--json", *words)
            assert (result.code, result.err.count("\n"), len(result.lines)) == (1, 1, 1), words


FIELDS = {
    ("memory", "files"): {"files": {"file", "kind", "size", "modified", "problem", "actor"}},
    ("memory", "journal"): {"entries": {"id", "time", "actor", "path", "diff", "can_undo"}},
    ("chats", "list"): {"chats": {"id", "title", "created", "last_active", "turns", "tags", "private"}},
    ("memory", "conflicts"): {"conflicts": {"id", "subject", "how", "older", "newer"}, "same": set()},
    ("memory", "inbox"): {"waiting": {"id", "time", "source", "actor", "day", "items"}, "mode": set()},
    ("memory", "tidy"): {
        k: set() for k in "moved merged conflicts contradictions lost diff over applied batch".split()
    },
    ("memory", "timeline"): {"by": set(), "periods": {"first", "last", "total", "counts", "entries"}, "budget": set()},
    ("memory", "check", "list"): {"checks": {"id", "question", "expect", "text", "before", "now", "lost"}},
    ("index", "status"): {k: set() for k in ("files", "units", "vectors", "model", "stale", "errors")},
    ("assistants", "list"): {"assistants": {"name", "folder", "current", "own_prompt"}, "deleted": set()},
    ("import", "--list"): {"imports": {"id", "system", "time", "entries", "notes", "chats", "done", "undone"}},
    ("history", "log"): {"git": set(), "commits": set()},
    ("backups", "list"): {"backups": set()},
}  # fmt: skip


def test_the_fields_of_what_is_listed(keepsake: Keepsake, tmp_path: Path) -> None:
    keepsake("remember", "I live in Graz")
    keepsake("remember", "I live in Linz")
    keepsake("memory", "check", "add", "--expect", "Linz", "where do I live?")
    other = tmp_path / "other"
    other.mkdir()
    (other / "MEMORY.md").write_text("2026-02-15|web|likes tea\n")
    report = keepsake("--json", "import", "countbot", str(other)).json
    assert {"id", "system", "dry_run", "new", "known", "turns", "redacted", "files", "skipped"} <= report.keys()
    for words, wanted in FIELDS.items():
        value = keepsake("--json", *words).json
        assert wanted.keys() <= value.keys(), words
        for key, fields in wanted.items():
            if fields and value[key]:
                assert fields <= value[key][0].keys(), words


def test_what_forgetting_says(keepsake: Keepsake) -> None:
    keepsake("remember", "tea is oolong")
    asked = keepsake("--json", "forget", "oolong").json
    assert asked["error"]["code"] == "forget.confirm"
    assert asked["would_remove"][0]["file"] == "MEMORY.md"
    done = keepsake("--json", "forget", "oolong", "--yes")
    assert (done.code, done.err) == (0, "")
    assert {"removed", "searched"} <= done.json.keys()
    assert {"id", "kind", "file", "line", "text"} <= done.json["removed"][0].keys()
    assert all(place["remaining"] == 0 for place in done.json["searched"])
    assert {"files", "chats", "index", "vectors", "journal", "receipts", "snapshots"} <= {
        place["place"] for place in done.json["searched"]
    }


def _parsers(parser: argparse.ArgumentParser, path: str = "keepsake") -> list[tuple[str, argparse.ArgumentParser]]:
    found = [(path, parser)]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, each in action.choices.items():
                found += _parsers(each, f"{path} {name}")
    return found


def test_every_help_says_what_the_command_does_and_what_each_word_means() -> None:
    for path, parser in _parsers(build_parser()):
        assert parser.description, path
        for action in parser._actions:
            if not isinstance(action, argparse._SubParsersAction):
                assert action.help, (path, action.dest)


def test_an_item_that_is_not_there_is_not_struck(keepsake: Keepsake, tmp_path: Path) -> None:
    unit = keepsake("--json", "remember", "likes tea").json["id"]
    for item in ("0", "2"):
        failed = keepsake("--json", "memory", "strike", unit, "--item", item)
        assert (failed.code, failed.json["error"]["code"]) == (1, "memory.item")
    assert "~~" not in (tmp_path / "ws" / "MEMORY.md").read_text()
    assert keepsake("memory", "strike", unit, "--item", "1").code == 0
