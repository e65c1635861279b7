"""What is typed and not saved comes back: after a closed window, a kill, whatever happened to the file meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from assistant.ui.main_window import MainWindow
from assistant.ui.memory.files import FilesPage
from assistant.ui.theme import Theme
from assistant.workspace.drafts import Draft, Drafts

from .fakes import NOW, FakeServices

PATIENCE_SECONDS = 60.0


@pytest.fixture
def files(qtbot: QtBot, window: MainWindow) -> FilesPage:
    return opened(qtbot, window)


def opened(qtbot: QtBot, window: MainWindow) -> FilesPage:
    window.show_memory_page("files")
    page = window.memory_panel().files
    qtbot.waitUntil(lambda: page.open.base is not None)
    return page


@pytest.fixture
def again(qtbot: QtBot, window: MainWindow, services: FakeServices, theme: Theme) -> Iterator[MainWindow]:
    """The window that is opened next; ``window`` is to be closed before it is used."""
    made = MainWindow(services, theme, lambda: NOW)
    yield made
    if made.memory_open():
        made.memory_panel().discard()
    made.close()
    made.release()
    made.deleteLater()


def kept(services: FakeServices) -> dict[str, str]:
    return {draft.file: draft.text for draft in services.workspace.drafts.all()}


def test_a_draft_is_written_while_one_types_and_goes_when_it_is_saved(
    qtbot: QtBot, files: FilesPage, services: FakeServices
) -> None:
    files.editor.appendPlainText("mine")
    qtbot.waitUntil(lambda: kept(services).get("MEMORY.md", "").endswith("mine"))
    files.save()
    qtbot.waitUntil(lambda: kept(services) == {})
    files.editor.appendPlainText("more")
    qtbot.waitUntil(lambda: "MEMORY.md" in kept(services))
    files.editor.undo()
    qtbot.waitUntil(lambda: kept(services) == {}), "typed back to what is on disk"


def test_a_window_that_the_system_ends_asks_nothing_and_the_next_has_the_text(
    qtbot: QtBot, window: MainWindow, files: FilesPage, services: FakeServices, again: MainWindow
) -> None:
    files.editor.appendPlainText("mine")
    window.end()
    assert not window.isVisible()
    again.show()
    page = opened(qtbot, again)
    qtbot.waitUntil(lambda: page.editor.toPlainText().endswith("mine"))
    assert page.open.dirty() and page.banner.isVisible()
    assert "was kept" in page.banner_words.text()
    page.banner.button("Save").click()
    qtbot.waitUntil(lambda: (services.workspace.root / "MEMORY.md").read_text().endswith("mine\n"))
    qtbot.waitUntil(lambda: kept(services) == {})
    assert page.banner.isHidden()


def test_closing_keeps_the_text_before_it_asks(
    qtbot: QtBot, window: MainWindow, files: FilesPage, services: FakeServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.editor.appendPlainText("mine")
    seen: list[bool] = []
    answers = [QMessageBox.StandardButton.Cancel, QMessageBox.StandardButton.Discard]

    def ask() -> QMessageBox.StandardButton:
        seen.append(kept(services).get("MEMORY.md", "").endswith("mine"))
        return answers.pop(0)

    monkeypatch.setattr(files, "ask_unsaved", ask)
    window.close()
    assert window.isVisible() and seen == [True]
    window.close()
    assert not window.isVisible()
    assert kept(services) == {}, "discarded is discarded"


def test_a_draft_of_another_file_is_opened_and_can_be_discarded(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    note = services.workspace.root / "memory" / "Travel.md"
    note.write_text("hotels\n")
    sha = services.workspace.memory.read("memory/Travel.md").sha256
    draft = Draft("memory/Travel.md", "hotels\nmine", "hotels\n", sha, "\n", NOW.isoformat())
    services.workspace.drafts.keep(draft)
    page = opened(qtbot, window)
    qtbot.waitUntil(lambda: page.current == "memory/Travel.md" and page.editor.toPlainText() == "hotels\nmine")
    page.banner.button("Compare…").click()
    qtbot.waitUntil(lambda: page.open.conflict is not None)
    page.open.conflict.cancel.click()  # type: ignore[union-attr]  # waited for
    page.banner.button("Discard").click()
    qtbot.waitUntil(lambda: page.editor.toPlainText() == "hotels\n")
    qtbot.waitUntil(lambda: kept(services) == {})
    assert note.read_text() == "hotels\n"


@pytest.mark.parametrize("now", ["# Theirs\n", None])
def test_a_draft_whose_file_changed_or_vanished_meanwhile(
    qtbot: QtBot, window: MainWindow, services: FakeServices, now: str | None
) -> None:
    main = services.workspace.root / "MEMORY.md"
    base = main.read_text()
    sha = services.workspace.memory.read("MEMORY.md").sha256
    services.workspace.drafts.keep(Draft("MEMORY.md", "# Mine\n", base, sha, "\n", NOW.isoformat()))
    if now is None:
        main.unlink()
    else:
        main.write_text(now)
    page = opened(qtbot, window)
    qtbot.waitUntil(lambda: page.editor.toPlainText() == "# Mine\n")
    page.save()
    if now is None:
        qtbot.waitUntil(main.exists)
        assert main.read_text() == "# Mine\n"
        return
    qtbot.waitUntil(lambda: page.open.conflict is not None)
    assert main.read_text() == now, "never silently over it"
    page.open.conflict.take_mine.click()  # type: ignore[union-attr]  # waited for
    qtbot.waitUntil(lambda: main.read_text() == "# Mine\n")


@pytest.fixture
def draft(services: FakeServices) -> None:
    services.workspace.drafts.keep(Draft("MEMORY.md", "# Mine\n", "", "", "\n", NOW.isoformat()))


def test_a_window_without_the_panel_says_that_there_is_a_draft(qtbot: QtBot, draft: None, again: MainWindow) -> None:
    again.show()
    qtbot.waitUntil(lambda: bool(again.toasts.shown()))
    assert "Unsaved text" in again.toasts.shown()[0].text()
    again.toasts.shown()[0].action_button().click()
    page = again.memory_panel().files
    qtbot.waitUntil(lambda: page.editor.toPlainText() == "# Mine\n")


def test_a_draft_that_says_what_is_on_disk_is_none(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    text = (services.workspace.root / "MEMORY.md").read_text()
    services.workspace.drafts.keep(Draft("MEMORY.md", text, "", "old", "\n", NOW.isoformat()))
    page = opened(qtbot, window)
    qtbot.waitUntil(lambda: kept(services) == {})
    assert not page.dirty()


SCRIPT = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from PySide6.QtCore import QTimer
    import assistant.ui.main_window as module
    from assistant.app import main

    class Typing(module.MainWindow):
        def _begin(self):
            super()._begin()
            self.show_memory_page("files")
            self.timer = QTimer(self)
            self.timer.timeout.connect(self.type)
            self.timer.start(20)

        def type(self):
            page = self.memory_panel().files
            if page.open.base is not None and not page.open.dirty():
                page.editor.appendPlainText("typed and not saved")
                Path(sys.argv[-1]).touch()
                self.timer.stop()

    module.MainWindow = Typing
    sys.exit(main(sys.argv[1:-1]))
    """
)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_typed_text_survives_the_end_of_the_process(tmp_path: Path, number: signal.Signals) -> None:
    """SIGTERM at any moment; kill -9 once the second in which it is written is over."""
    typed = tmp_path / "typed"
    folders = ["--workspace", tmp_path / "ws", "--config", tmp_path / "c", "--state", tmp_path / "s"]
    env = {key: value for key, value in os.environ.items() if not key.startswith("KEEPSAKE_")}
    command = [sys.executable, "-c", SCRIPT, *map(str, folders), str(typed)]
    process = subprocess.Popen(command, env={**env, "QT_QPA_PLATFORM": "offscreen"}, stderr=subprocess.PIPE)
    found: list[Draft] = []
    try:
        wait_for(typed.exists, process)
        if number == signal.SIGKILL:
            wait_for(lambda: any(drafts(tmp_path)), process)
        process.send_signal(number)
        process.communicate(timeout=PATIENCE_SECONDS)
        found = drafts(tmp_path)
    finally:
        process.kill()
        process.communicate()
    assert [(draft.file, draft.text) for draft in found] == [("MEMORY.md", "typed and not saved")]
    assert number == signal.SIGKILL or process.returncode == 0, "ended well, with no question asked"


def drafts(folder: Path) -> list[Draft]:
    return [draft for place in (folder / "s").rglob("drafts") for draft in Drafts(place).all()]


def wait_for(condition: object, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():  # type: ignore[operator]  # a function
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        threading.Event().wait(0.02)
