"""Guards around every test: what it starts it must end, and it may log no warning that it does not expect.

A fixture of a wider scope that starts threads or processes must start them when it is set up, not at first use: what
is there before the test's own part begins counts as known.
"""

from __future__ import annotations

import gc
import logging
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

_PATIENCE_SECONDS = 5.0
_LOGS = "logs(*patterns): the test expects warnings of the logger `assistant`, each matched by one of the patterns"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _LOGS)
    settings.register_profile("keepsake", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("keepsake")  # no test may fail because the machine is busy


@pytest.fixture(autouse=True, scope="session")
def _nothing_of_the_person(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test finds the models, the settings or the memory of whoever runs it, nor writes there."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
            patch.setenv(name, str(home / name))
        yield


@pytest.fixture(autouse=True)
def _nothing_left_behind() -> Iterator[None]:
    """Fail a test that leaves a thread, a child process or a top-level widget."""
    before = {key for look in _LOOKS for key in look()}
    yield
    for what, look in zip(("threads", "processes", "widgets"), _LOOKS, strict=True):
        if left := _left(look, before):
            pytest.fail(f"the test left {what} behind: {', '.join(left)}", pytrace=False)


@pytest.fixture(autouse=True)
def _no_unexpected_warnings(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test during which `assistant` logged a warning or worse that no ``logs`` mark names."""
    mark = request.node.get_closest_marker("logs")
    patterns = mark.args if mark else ()
    records = _Records(logging.WARNING)
    logger = logging.getLogger("assistant")
    logger.addHandler(records)
    yield
    logger.removeHandler(records)
    unexpected = [text for text in records.texts if not any(re.search(pattern, text) for pattern in patterns)]
    if unexpected:
        pytest.fail("unexpected log records:\n" + "\n".join(unexpected), pytrace=False)


class _Records(logging.Handler):
    """Keeps what was logged, as text with its traceback."""

    def __init__(self, level: int) -> None:
        super().__init__(level)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(self.format(record))


def _left(look: Callable[[], dict[Any, str]], before: set[Any]) -> list[str]:
    """What is there and was not before; things on their way out get some time to go."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while left := [name for key, name in look().items() if key not in before]:
        if time.monotonic() > deadline:
            return left
        gc.collect()
        threading.Event().wait(0.02)
    return []


def _threads() -> dict[Any, str]:
    """Python's threads; those that Qt started and Python only saw are Qt's to complain about."""
    return {
        thread: thread.name
        for thread in threading.enumerate()
        if thread.is_alive() and not isinstance(thread, threading._DummyThread)
    }


def _processes() -> dict[Any, str]:
    """Child processes that still run, where the system tells (Linux)."""
    found = {}
    for children in Path("/proc/self/task").glob("*/children"):
        for pid in _text(children).split():
            status, command = _text(Path(f"/proc/{pid}/stat")), _text(Path(f"/proc/{pid}/cmdline"))
            if status and status.rpartition(")")[2].split()[0] != "Z":
                found[f"process {pid}"] = command.replace("\0", " ").strip()
    return found


def _text(path: Path) -> str:
    """A file of /proc; empty when what it tells about is gone."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _widgets() -> dict[Any, str]:
    """Top-level widgets without a parent, after those that are to be deleted were deleted."""
    if "PySide6.QtWidgets" not in sys.modules:
        return {}
    from PySide6.QtCore import QCoreApplication, QEvent
    from PySide6.QtWidgets import QApplication
    from shiboken6 import Shiboken

    if not isinstance(QApplication.instance(), QApplication):
        return {}
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    return {
        ("widget", *Shiboken.getCppPointer(widget)): f"{type(widget).__name__} {widget.objectName()!r}"
        for widget in QApplication.topLevelWidgets()
        if widget.parent() is None and widget.objectName() != "qtooltip_label"
    }


_LOOKS = (_threads, _processes, _widgets)
