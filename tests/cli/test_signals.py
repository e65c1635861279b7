"""``keepsake ask`` when it is told to end, with the real starter model in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.real_models import starter_model_path

pytestmark = pytest.mark.real


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_reply_that_is_interrupted_is_kept_as_stopped(tmp_path: Path, number: signal.Signals) -> None:
    models = tmp_path / "s" / "models"
    models.mkdir(parents=True)
    (models / "Starter.gguf").symlink_to(starter_model_path())
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "settings.toml").write_text("[model]\nthreads = 1\n")
    folders = ["--workspace", str(tmp_path / "w"), "--config", str(tmp_path / "c"), "--state", str(tmp_path / "s")]
    command = [sys.executable, "-m", "assistant", *folders, "--json"]
    env = {key: value for key, value in os.environ.items() if not key.startswith("KEEPSAKE_")}
    asked = [*command, "ask", "Tell me a very long story.", "--max-tokens", "3000", "--seed", "1"]
    with subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as process:
        assert process.stdout
        process.stdout.readline()  # the first piece of the reply
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "")
    done = json.loads(out.splitlines()[-1])
    assert done["stop"] == "stopped"
    shown = json.loads(subprocess.check_output([*command, "chats", "show", done["chat"]], text=True, env=env))
    assert [(turn["reply"], turn["mark"]) for turn in shown["turns"]] == [(done["text"], "stopped")]
