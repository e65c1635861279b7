"""The command line with the real models, in processes of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.real_embeddings import embedding_model_path
from tests.real_models import starter_model_path

pytestmark = pytest.mark.real


class Script:
    """Runs ``python -m assistant`` in a workspace of its own with both real models."""

    def __init__(self, folder: Path, window: int = 1024) -> None:
        self.workspace = folder / "ws"
        state = folder / "state"
        (state / "models").mkdir(parents=True)
        (state / "models" / "Starter.gguf").symlink_to(starter_model_path())
        (state / "models" / "multilingual-e5-small").symlink_to(embedding_model_path())
        (folder / "config").mkdir()
        (folder / "config" / "settings.toml").write_text(f"[model]\nthreads = 1\nwindow = {window}\n")
        self.base = [sys.executable, "-m", "assistant", "--json", "--workspace", str(self.workspace)]
        self.base += ["--state", str(state), "--config", str(folder / "config")]
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("KEEPSAKE_")}

    def run(self, *words: str, stdin: str = "") -> list[Any]:
        done = subprocess.run(
            [*self.base, *words], input=stdin, env=self.env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr + done.stdout
        return [json.loads(line) for line in done.stdout.splitlines()]

    def start(self, words: Sequence[str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self.base, *words], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )


@pytest.fixture
def script(tmp_path: Path) -> Script:
    return Script(tmp_path)


def test_a_conversation_streams_is_saved_and_reads_only_what_is_new(script: Script) -> None:
    script.run("remember", "the boiler is in the cellar")
    *deltas, done = script.run("ask", "Where is the boiler?", "--seed", "1", "--max-tokens", "24")
    assert all(line["type"] == "delta" for line in deltas)
    assert "".join(line["text"] for line in deltas) == done["text"]
    assert {"type", "chat", "turn", "text", "stop", "tokens", "ttft_ms", "tokens_per_s"} <= done.keys()
    assert {"prompt_tokens", "reused_tokens", "receipt"} <= done.keys()
    assert (done["type"], done["turn"]) == ("done", 1)
    assert any(line["file"] == "MEMORY.md" and line["why"] == "tail" for line in done["receipt"])
    (shown,) = script.run("chats", "show", done["chat"])
    assert shown["turns"][0]["reply"] == done["text"]
    again = script.run("ask", "And where is the key?", "--chat", done["chat"], "--max-tokens", "8")[-1]
    assert (again["chat"], again["turn"]) == (done["chat"], 2)
    assert again["reused_tokens"] >= 0.95 * (done["prompt_tokens"] + done["tokens"])  # by another process than read it


def test_the_same_seed_says_the_same(script: Script) -> None:
    first = script.run("ask", "Tell me about tea", "--temporary", "--seed", "7", "--max-tokens", "16")[-1]
    second = script.run("ask", "Tell me about tea", "--temporary", "--seed", "7", "--max-tokens", "16")[-1]
    assert first["text"] == second["text"]


def test_a_temporary_question_leaves_nothing_on_disk(script: Script) -> None:
    done = script.run("ask", "-", "--temporary", "--max-tokens", "8", stdin="quixotic question")[-1]
    assert done["chat"] is None
    for path in script.workspace.parent.rglob("*"):
        if path.is_file() and path.suffix != ".gguf" and path.stat().st_size < 10_000_000:
            assert b"quixotic" not in path.read_bytes(), path


def test_no_memory_means_none(script: Script) -> None:
    script.run("remember", "the boiler is in the cellar")
    done = script.run("ask", "Where is the boiler?", "--no-memory", "--max-tokens", "4")[-1]
    assert done["receipt"] == []


def test_interrupted_keeps_the_text_so_far(script: Script) -> None:
    with script.start(["ask", "Tell me a very long story about a lighthouse", "--max-tokens", "900"]) as process:
        assert process.stdout
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait(30) == 130, process.stderr.read() if process.stderr else ""
    done = json.loads(rest.splitlines()[-1])
    assert done["stop"] == "stopped"
    (shown,) = script.run("chats", "show", done["chat"])
    assert shown["turns"][0]["mark"] == "stopped"
    assert shown["turns"][0]["reply"] == done["text"]


def test_killed_in_mid_reply_the_words_and_the_half_reply_are_there(script: Script) -> None:
    with script.start(["ask", "Tell me a very long story about a lighthouse", "--max-tokens", "900"]) as process:
        assert process.stdout
        for _ in range(40):
            process.stdout.readline()
        process.kill()
    (listed,) = script.run("chats", "list")
    chat = listed["chats"][0]["id"]
    script.run("ask", "Are you there?", "--chat", chat, "--max-tokens", "4")
    (shown,) = script.run("chats", "show", chat)
    first = shown["turns"][0]
    assert first["user"] == "Tell me a very long story about a lighthouse"
    assert first["mark"] == "interrupted"
    assert first["reply"]
    assert shown["turns"][1]["user"] == "Are you there?"


def test_meaning_is_found_across_languages(script: Script) -> None:
    script.run("remember", "my dog is called Rex")
    script.run("remember", "the tax letter is due in May")
    (answer,) = script.run("recall", "我的宠物叫什么名字")
    assert answer["mode"] == "hybrid"
    assert answer["hits"][0]["text"] == "my dog is called Rex"


def test_overflowed_turns_become_memory_on_demand(tmp_path: Path) -> None:
    script = Script(tmp_path, window=512)
    chat = script.run("ask", "My sister Ines moved to Graz on 3 May.", "--max-tokens", "4")[-1]["chat"]
    filler = "Let us think about this for a while, and then a while longer. " * 10
    for number in range(3):
        script.run("ask", f"Part {number}. {filler}", "--chat", chat, "--max-tokens", "4")
    (summary,) = script.run("summarize", "--chat", chat)
    batches = summary["batches"]
    assert batches
    assert {"chat", "turns", "entries", "covered", "dropped", "fallback"} <= batches[0].keys()
    (memory,) = script.run("memory", "show")
    entry = next(e for e in memory["entries"] if e["source"].startswith(f"chat:{chat}#1-"))
    assert "Graz" in json.dumps(entry)
    (nothing,) = script.run("summarize", "--all")
    assert nothing["batches"] == []


def test_doctor_is_content(script: Script) -> None:
    script.run("remember", "tea")
    (result,) = script.run("doctor")
    assert all(check["ok"] for check in result["checks"])
    logs = list((script.workspace.parent / "state" / "state" / "logs").iterdir())
    assert logs
    assert all(log.stat().st_mode & 0o777 == 0o600 for log in logs)


def test_models_are_verified(script: Script) -> None:
    (result,) = script.run("models", "verify")
    assert [model["ok"] for model in result["models"]] == [True]


def test_the_prompt_that_is_shown_is_the_one_that_is_sent(script: Script) -> None:
    for fact in ("the boiler Zephyrina is in the cellar", "the plumber is called Tove", "the key hangs by the door"):
        script.run("remember", fact)
    (script.workspace / "memory" / "boat.md").write_text("# Boat\n\n- lies in Faro, berth QX77\n", encoding="utf-8")
    chat: list[str] = []
    for text in ("Where is Zephyrina?", "Which berth has the boat, QX77?", "锅炉在哪里？"):
        (shown,) = script.run("prompt", text, *chat)
        done = script.run("ask", text, *chat, "--max-tokens", "4")[-1]
        lines = [line for block in shown["blocks"] for line in block["lines"]]
        assert lines == done["receipt"]
        assert shown["tokens"] == done["prompt_tokens"]
        chat = ["--chat", done["chat"]]
    (receipt,) = script.run("receipt", done["chat"], "2", "--today")
    assert {line["now"]["state"] for line in receipt["lines"]} == {"same"}
    assert receipt["recalled_block"]
