"""From starting the process to a window that is shown and takes text, in a workspace of ``--size`` chats."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from assistant.cli.bench import corpus
from assistant.cli.bench.figures import Report, median
from assistant.cli.context import Context
from assistant.core.errors import AssistantError

PROBE = "KEEPSAKE_PROBE"
"""Set for the measured process: it reports on stdout when its window takes text, and ends."""
_HEAVY = ("torch", "llama_cpp", "sentence_transformers")
_TIMEOUT_SECONDS = 60


def run(context: Context, size: int, runs: int) -> Report:
    """size: chats (0: 1 000), with ten memory entries for each. The median of ``runs`` starts after one to warm up."""
    size = size or 1_000
    with tempfile.TemporaryDirectory(prefix="keepsake-bench-") as folder:
        root = Path(folder)
        corpus.write_memory(root / "workspace", size * 10)
        corpus.write_chats(root / "workspace", size, 4)
        starts = [_start(context, root) for _ in range(runs + 1)]
    times = [took for took, _ in starts[1:]]
    heavy = sorted({module for _, modules in starts for module in modules if module in _HEAVY})
    bare = [_bare() for _ in range(runs + 1)][1:]
    figures: dict[str, float | int | str | list[str]] = {
        "chats": size,
        "entries": size * 10,
        "first_start_s": round(starts[0][0], 3),
        "usable_s": median(times),
        "bare_qt_window_s": median(bare),
        "heavy_modules": heavy,
    }
    return Report(figures, {"vs_bare_qt_window": round(median(times) / median(bare), 3)})


def _start(context: Context, root: Path) -> tuple[float, list[str]]:
    """Seconds until the window takes text, and the modules that were loaded then."""
    models = context.services.paths.models
    command = [
        sys.executable,
        "-m",
        "assistant",
        "--workspace",
        str(root / "workspace"),
        "--state",
        str(root / "state"),
    ]
    env = {**os.environ, PROBE: "1", "KEEPSAKE_MODELS": str(models), "KEEPSAKE_CONFIG": str(root / "config")}
    began = time.perf_counter()
    with subprocess.Popen(command, env=window_env(env), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        line = process.stdout.readline()
        took = time.perf_counter() - began
        _, errors = process.communicate(timeout=_TIMEOUT_SECONDS)
    try:
        report = json.loads(line)
        if report["usable"]:
            return took, report["modules"]
        raise ValueError("the composer did not take the letter")
    except (ValueError, KeyError):
        said = errors.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise AssistantError("bench.window", f"The window did not open: {' '.join(said)}", "Try it by hand.") from None


def _bare() -> float:
    """The same for a Qt window with nothing in it but a line to type in."""
    code = (
        "from PySide6.QtWidgets import QApplication, QLineEdit\n"
        "app = QApplication([]); line = QLineEdit(); line.show(); app.processEvents(); print('ready', flush=True)\n"
    )
    began = time.perf_counter()
    with subprocess.Popen([sys.executable, "-c", code], env=window_env(os.environ), stdout=subprocess.PIPE) as process:
        assert process.stdout
        shown = process.stdout.readline().strip() == b"ready"
        took = time.perf_counter() - began
    if not shown:
        raise AssistantError("bench.window", "A bare Qt window did not open.", "Try it with a screen.")
    return took


def window_env(env: Mapping[str, str]) -> dict[str, str]:
    """Without a screen Qt draws in memory; with one the real thing is measured.

    Bytecode is written whatever the environment says: people have it from the second start on, and without it half of
    a start is compiling.
    """
    env = {name: value for name, value in env.items() if name != "PYTHONDONTWRITEBYTECODE"}
    shown = any(env.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))
    return env if shown or sys.platform != "linux" else {**env, "QT_QPA_PLATFORM": "offscreen"}
