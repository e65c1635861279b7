"""The app as a process: how it ends when the system asks, and what it says when it cannot start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

_PATIENCE_SECONDS = 60.0


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        threading.Event().wait(0.02)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts ``keepsake`` with these words in a workspace of the test's own, without a screen."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("KEEPSAKE_")}
    started: list[subprocess.Popen[str]] = []

    def run(*words: str, **more: str) -> subprocess.Popen[str]:
        folders = ["--workspace", str(tmp_path / "ws"), "--config", str(tmp_path / "c"), "--state", str(tmp_path / "s")]
        started.append(
            subprocess.Popen(
                [sys.executable, "-m", "assistant", *folders, *words],
                env={**env, "QT_QPA_PLATFORM": "offscreen", **more},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                stdin=subprocess.PIPE,
                text=True,
            )
        )
        return started[-1]

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_the_window_closes_when_the_system_asks(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path, number: signal.Signals
) -> None:
    process = start()
    wait_for(lambda: any((tmp_path / "s").rglob("index.sqlite3")), process)
    process.send_signal(number)
    out, err = process.communicate(timeout=_PATIENCE_SECONDS)
    assert (process.returncode, out) == (0, "")
    assert "Traceback" not in err
    assert "ERROR" not in (tmp_path / "s" / "state" / "logs" / "keepsake.log").read_text()


def test_output_whose_reader_has_gone_is_no_fault(start: Callable[..., subprocess.Popen[str]]) -> None:
    process = start("--json", "index", "status")
    assert process.stdout
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=_PATIENCE_SECONDS)
    assert (process.returncode, err) == (1, "")


def test_output_that_cannot_be_written_is_said_in_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "assistant", "--workspace", str(tmp_path / "w"), "--state", str(tmp_path / "s")]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*command, "chats", "list"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("keepsake: The output cannot be written")
    assert len(done.stderr.splitlines()) == 1


def test_a_closed_output_is_no_fault(tmp_path: Path) -> None:
    command = f"{sys.executable} -m assistant --workspace {tmp_path / 'w'} --state {tmp_path / 's'} chats list >&-"
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
