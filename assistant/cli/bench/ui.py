"""What a person waits for in the window: opening a chat of ``--size`` turns, resizing, a streamed frame, a paste."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from assistant.cli.bench.figures import Report, median
from assistant.cli.bench.startup import window_env
from assistant.cli.context import Context
from assistant.core.errors import AssistantError


def run(context: Context, size: int, runs: int) -> Report:
    """size: turns (0: 1 000). In a process of its own: the command line knows no Qt."""
    size = size or 1_000
    command = [sys.executable, "-m", "assistant.ui.measure", str(size), str(runs)]
    done = subprocess.run(command, env=window_env(os.environ), capture_output=True, text=True, check=False)
    if done.returncode:
        said = " ".join(done.stderr.strip().splitlines()[-1:])
        raise AssistantError("bench.window", f"The window could not be measured: {said}", "Try it with a screen.")
    times = {name: median(values) for name, values in json.loads(done.stdout).items()}
    bare = times.pop("bare_document_ms")
    figures: dict[str, float | int | str | list[str]] = {"turns": size, **times, "bare_document_ms": bare}
    return Report(figures, {"streamed_frame_over_bare_document": round(times["streamed_frame_ms"] / bare, 3)})
