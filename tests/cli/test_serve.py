"""``keepsake serve`` as a process of its own, with the starter model, asked by a plain HTTP client."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import urllib3

from tests.cli.conftest import Keepsake
from tests.real_models import starter_model_path


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    models = tmp_path / "s" / "models"
    models.mkdir(parents=True)
    (models / "Starter.gguf").symlink_to(starter_model_path())
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "settings.toml").write_text("[model]\nthreads = 1\nwindow = 1024\n")
    folders = ["--workspace", str(tmp_path / "w"), "--config", str(tmp_path / "c"), "--state", str(tmp_path / "s")]
    return [sys.executable, "-m", "assistant", *folders, "--json"]


def environment() -> dict[str, str]:
    """Without a keyring: no test touches that of whoever runs it."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("KEEPSAKE_")}
    return {**env, "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}


@contextmanager
def serving(command: list[str], *words: str, end: signal.Signals = signal.SIGINT) -> Iterator[Any]:
    """What the command says of itself; at the end it is told to end, and must do so without a word."""
    words = (*command, "serve", "--port", "0", *words)
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
    with process:
        assert process.stdout
        yield json.loads(process.stdout.readline())
        process.send_signal(end)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "")


def ask(said: Any, text: str, **more: Any) -> urllib3.BaseHTTPResponse:
    body = {"messages": [{"role": "user", "content": text}], "max_tokens": 8, **more}
    headers = {"Authorization": f"Bearer {said['token']}"}
    return urllib3.request("POST", f"{said['url']}/chat/completions", json=body, headers=headers, timeout=60)


@pytest.mark.real
def test_it_says_where_it_is_answers_with_memory_and_ends(command: list[str]) -> None:
    subprocess.check_output([*command, "remember", "the boiler is in the cellar"])
    with serving(command) as said:
        assert said.keys() == {"url", "token", "token_kept", "model", "host", "memory", "addresses"}
        assert (said["token_kept"], said["model"], said["memory"]) == (False, "Starter", True)
        answer = ask(said, "Where is the boiler?").json()
        assert [line["text"].split("|")[-1] for line in answer["keepsake"]["receipt"]] == [
            "the boiler is in the cellar"
        ]
        assert ask({**said, "token": "x"}, "Hello").status == 401


@pytest.mark.real
def test_it_ends_in_mid_reply_and_says_so(command: list[str]) -> None:
    with serving(command, "--no-memory", end=signal.SIGTERM) as said:
        assert said["memory"] is False
        body = {"messages": [{"role": "user", "content": "Tell me a very long story."}], "stream": True}
        headers = {"Authorization": f"Bearer {said['token']}"}
        url = f"{said['url']}/chat/completions"
        answer = urllib3.request("POST", url, json=body, headers=headers, preload_content=False, timeout=60)
        stream = answer.stream(16)
        assert next(stream)
    rest = b"".join(stream).decode()
    answer.release_conn()
    assert rest.endswith("data: [DONE]\n\n")
    last = json.loads(rest.split("data: ")[-2])
    assert last["choices"][0]["finish_reason"] == "stop"


@pytest.mark.real
def test_a_port_that_is_taken_is_said_at_once(command: list[str]) -> None:
    with serving(command) as said:
        port = said["url"].split(":")[2].split("/")[0]
        words = [*command, "serve", "--port", port]
        failed = subprocess.run(words, env=environment(), capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    assert json.loads(failed.stdout)["error"]["code"] == "serve.port"


@pytest.mark.parametrize(
    "words", [("--port", "70000"), ("--port", "x"), ("--origin", "*"), ("--origin", "example.org")]
)
def test_wrong_usage_is_said(keepsake: Keepsake, words: tuple[str, str]) -> None:
    assert keepsake("serve", *words).code == 2


def test_without_a_model_there_is_nothing_to_serve(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "s" / "models" / "Starter.gguf").unlink()
    words = [*command, "serve", "--port", "0"]
    failed = subprocess.run(words, env=environment(), capture_output=True, text=True, check=False)
    assert (failed.returncode, json.loads(failed.stdout)["error"]["code"]) == (1, "model.none")
