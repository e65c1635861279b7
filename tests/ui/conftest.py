"""Every test of the window runs offscreen, over scripted services, and must leave nothing behind."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from assistant.ui.application import dress_application
from assistant.ui.main_window import MainWindow
from assistant.ui.theme import Theme

from .fakes import NOW, FakeLanes, FakeServices


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The offscreen platform warns of what a screen-less window cannot do; everything else still fails a test."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.qt_log_ignore("This plugin does not support"))


@pytest.fixture(scope="session")
def theme(qapp: QApplication) -> Theme:
    return dress_application(qapp, "en", "light")


@pytest.fixture(autouse=True)
def nothing_left(qapp: QApplication, theme: Theme) -> Iterator[None]:
    """No thread and no window outlives its test."""
    threads = set(threading.enumerate())
    yield
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    left = [widget for widget in qapp.topLevelWidgets() if widget.isVisible()]
    assert not left, f"windows left open: {left}"
    assert set(threading.enumerate()) <= threads, "threads left running"
    theme.choose("light")


@pytest.fixture
def services(tmp_path: Path) -> FakeServices:
    return FakeServices(tmp_path)


@pytest.fixture
def window(qtbot: QtBot, services: FakeServices, theme: Theme) -> Iterator[MainWindow]:
    made = MainWindow(services, theme, lambda: NOW)
    made.show()
    qtbot.waitExposed(made)
    yield made
    services.lanes = FakeLanes()  # what a test holds back is not waited for
    if made.memory_open():
        made.memory_panel().discard()
    made.close()
    made.release()
    made.deleteLater()
