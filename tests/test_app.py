"""The composition root: what a person sees where no window can be, and that errors reach them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from assistant.app import check_screen, install_hooks, main
from assistant.core.errors import AssistantError


def test_without_a_screen_it_says_so_in_one_line(tmp_path: Path) -> None:
    env = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")}
    command = [sys.executable, "-m", "assistant", "--workspace", str(tmp_path / "ws"), "--state", str(tmp_path / "st")]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("keepsake: There is no screen")
    assert done.stderr.count("\n") == 1


def test_other_systems_have_screens_without_saying_so() -> None:
    check_screen({}, "darwin")
    check_screen({"WAYLAND_DISPLAY": "wayland-0"}, "linux")
    with pytest.raises(AssistantError):
        check_screen({"DISPLAY": ""}, "linux")


@pytest.mark.logs("unexpected error")
def test_errors_of_every_thread_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((sys, "excepthook"), (threading, "excepthook"), (sys, "unraisablehook")):
        monkeypatch.setattr(module, name, getattr(module, name))
    reported: list[BaseException] = []
    install_hooks(reported.append)

    def fail() -> None:
        raise ValueError("from a thread")

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    sys.excepthook(KeyError, KeyError("from the main thread"), None)
    assert [str(error) for error in reported] == ["from a thread", "'from the main thread'"]


def test_only_our_own_workers_are_started() -> None:
    assert main(["--worker", "os"]) == 2
