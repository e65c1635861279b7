"""Qt stays in the window: everything else runs without it. And Qt itself is a release that can be relied on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
WITHOUT_QT = """
import importlib, pkgutil, sys
sys.modules["PySide6"] = None
import assistant
names = ["assistant"]
for module in pkgutil.walk_packages(assistant.__path__, "assistant.", onerror=print):
    top = module.name.split(".")[1]
    if top not in ("ui", "app"):
        names.append(module.name)
for name in names:
    importlib.import_module(name)
print(len(names), *sorted(set(sys.modules) & {"torch", "sentence_transformers", "llama_cpp", "onnxruntime"}))
"""
# A release that loses a reference to None with every call that returns it aborts after some 6 000 of them.
MANY_CALLS = """
from PySide6.QtCore import QObject
thing = QObject()
for _ in range(50_000):
    assert thing.setObjectName("x") is None
print("alive")
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "QT_QPA_PLATFORM": "offscreen"}
    return subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, encoding="utf-8", check=False)


def test_all_but_the_window_runs_without_qt_and_starts_without_heavy_libraries() -> None:
    done = run(WITHOUT_QT)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) >= 20
    assert done.stdout.split()[1:] == []


def test_the_window_is_imported_without_what_only_a_search_needs() -> None:
    done = run("import sys, assistant.app, assistant.ui.main_window; print(*sorted(sys.modules))")
    assert done.returncode == 0, done.stderr
    loaded = done.stdout.split()
    assert "assistant.recall.search" in loaded
    assert not {"numpy", "statistics", "assistant.recall.words.tokens"} & set(loaded)
    assert not [name for name in loaded if name.startswith("assistant.recall.days.")]


def test_qt_survives_fifty_thousand_calls_that_return_nothing() -> None:
    done = run(MANY_CALLS)
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr
