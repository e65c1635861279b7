"""Commands that take their time when they are told to end, each in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.downloads.hub import MODEL, serve_hub
from tests.real_models import starter_model_path
from tests.test_process import wait_for


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_download_that_is_interrupted_keeps_what_came(tmp_path: Path, number: signal.Signals) -> None:
    """It stops in the midst of waiting for more, which will never come."""
    with serve_hub() as hub:
        hub.length, hub.slow = "1117320736", True  # as the catalogue has it
        (tmp_path / "c").mkdir()
        (tmp_path / "c" / "settings.toml").write_text(f'[downloads]\nhost = "{hub.url}"\n')
        folders = ["--workspace", str(tmp_path / "w"), "--config", str(tmp_path / "c"), "--state", str(tmp_path / "s")]
        command = [sys.executable, "-m", "assistant", *folders, "models", "download", "qwen2.5-1.5b-instruct-q4_k_m"]
        env = {key: value for key, value in os.environ.items() if not key.startswith("KEEPSAKE_")}
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as process:
            models = tmp_path / "s" / "models"
            wait_for(lambda: any(models.glob("*.part.json")), process)  # the server has answered
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err
    (part,) = models.glob("*.part")
    assert MODEL.startswith(part.read_bytes())


@pytest.mark.real
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_reply_that_is_interrupted_is_kept_as_stopped(tmp_path: Path, number: signal.Signals) -> None:
    """As a terminal and a service manager do it: all processes of the command get the signal."""
    models = tmp_path / "s" / "models"
    models.mkdir(parents=True)
    (models / "Starter.gguf").symlink_to(starter_model_path())
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "settings.toml").write_text("[model]\nthreads = 1\n")
    folders = ["--workspace", str(tmp_path / "w"), "--config", str(tmp_path / "c"), "--state", str(tmp_path / "s")]
    command = [sys.executable, "-m", "assistant", *folders, "--json"]
    env = {key: value for key, value in os.environ.items() if not key.startswith("KEEPSAKE_")}
    asked = [*command, "ask", "Tell me a very long story.", "--max-tokens", "3000", "--seed", "1"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(asked, text=True, env=env, start_new_session=True, **pipes) as process:
        assert process.stdout
        process.stdout.readline()  # the first piece of the reply
        os.killpg(process.pid, number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "")
    done = json.loads(out.splitlines()[-1])
    assert done["stop"] == "stopped"
    shown = json.loads(subprocess.check_output([*command, "chats", "show", done["chat"]], text=True, env=env))
    assert [(turn["reply"], turn["mark"]) for turn in shown["turns"]] == [(done["text"], "stopped")]
