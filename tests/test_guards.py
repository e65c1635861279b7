"""The guards of conftest.py catch what they are there for, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CONFTEST = Path(__file__).with_name("conftest.py")
LEAKS = """
import logging, subprocess, sys, threading
import pytest
from PySide6.QtWidgets import QWidget

kept = []

def test_thread():
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait, name="left", daemon=True)
    thread.start()
    kept.append(stop)

def test_process():
    kept.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))

def test_widget(qapp):
    kept.append(QWidget())

def test_log():
    logging.getLogger("assistant.core").warning("not %s", "expected")
"""
CLEAN = """
import logging, subprocess, sys, threading
import pytest
from PySide6.QtWidgets import QMenu, QWidget

def test_thread():
    thread = threading.Thread(target=lambda: None)
    thread.start()

def test_process():
    subprocess.run([sys.executable, "-c", ""])

def test_widget(qtbot):
    widget = QWidget()
    qtbot.addWidget(widget)
    QMenu(widget)
    QWidget().deleteLater()

@pytest.mark.logs("not .*", "other")
def test_log():
    logging.getLogger("assistant.core").warning("not %s", "expected")
    logging.getLogger("elsewhere").warning("foreign")
"""


def outcome(folder: Path, tests: str) -> str:
    (folder / "conftest.py").write_text(
        CONFTEST.read_text().replace("_PATIENCE_SECONDS = 5.0", "_PATIENCE_SECONDS = 0.3")
    )
    (folder / "test_inner.py").write_text(tests)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "test_inner.py"],
        cwd=folder,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return done.stdout


def test_each_leak_fails_its_test(tmp_path: Path) -> None:
    told = outcome(tmp_path, LEAKS)
    assert "4 passed, 4 errors" in told, told
    for words in ("threads behind: left", "processes behind", "widgets behind: QWidget", "not expected"):
        assert words in told


def test_what_ends_in_time_or_is_expected_passes(tmp_path: Path) -> None:
    told = outcome(tmp_path, CLEAN)
    assert "4 passed" in told, told
    assert "error" not in told
