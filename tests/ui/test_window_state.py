"""What a window keeps between two starts: place, widths, the open chat, drafts; and nothing that must not be kept."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from assistant.core.events import ChatsChanged
from assistant.ui.main_window import MainWindow
from assistant.ui.probe import StartupProbe
from assistant.ui.theme import Theme
from assistant.ui.window_state import WindowState, load_state, save_state

from .fakes import NOW, FakeServices, Turn, make_chat
from .test_chat import start, write


@pytest.fixture
def again(qtbot: QtBot, services: FakeServices, theme: Theme) -> Iterator[list[MainWindow]]:
    """Windows to close at the end."""
    made: list[MainWindow] = []
    yield made
    for window in made:
        if window.memory_open():
            window.memory_panel().discard()
        window.close()
        window.release()
        window.deleteLater()


def reopen(qtbot: QtBot, window: MainWindow, again: list[MainWindow]) -> MainWindow:
    window.close()
    window.release()
    made = MainWindow(window.services, window.theme, lambda: NOW)
    again.append(made)
    made.show()
    qtbot.waitExposed(made)
    qtbot.waitUntil(lambda: made.chats.listed)
    return made


def settled(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.waitUntil(lambda: window.chats.listed)


def test_a_window_comes_back_as_it_was(
    qtbot: QtBot, window: MainWindow, services: FakeServices, again: list[MainWindow]
) -> None:
    settled(qtbot, window)
    services.put_chat(make_chat("a", "Lisbon", (Turn(1, None, "", "x", "y"),)))
    services.emit(ChatsChanged())
    qtbot.waitUntil(lambda: window.sidebar.model.row_of("a") >= 0)
    window.resize(790, 600)  # fits the screen of the offscreen platform
    window.splitter.setSizes([300, 490])
    window.open_chat("a")
    qtbot.waitUntil(lambda: window.session.title() == "Lisbon")
    window.page.composer.set_text("half a thought")
    width = window.sidebar.width()
    window.toggle_memory()
    made = reopen(qtbot, window, again)
    qtbot.waitUntil(lambda: made.session.title() == "Lisbon")
    assert (made.width(), made.height()) == (790, 600)
    assert made.memory_shown()
    made.toggle_memory()
    assert abs(made.sidebar.width() - width) <= 2
    assert made.page.composer.text() == "half a thought"
    assert len(made.page.transcript.views()) == 1


def test_a_hidden_list_of_chats_stays_hidden(
    qtbot: QtBot, window: MainWindow, services: FakeServices, again: list[MainWindow]
) -> None:
    settled(qtbot, window)
    window.room.toggle_chats()
    assert reopen(qtbot, window, again).sidebar.isHidden()


def test_drafts_of_every_chat_survive_and_those_of_gone_chats_do_not(
    qtbot: QtBot, window: MainWindow, services: FakeServices, again: list[MainWindow]
) -> None:
    settled(qtbot, window)
    for name in ("a", "b"):
        services.put_chat(make_chat(name, name, (Turn(1, None, "", "x", "y"),)))
        window.open_chat(name)
        window.page.composer.set_text(f"draft of {name}")
    window.new_chat()
    window.page.composer.set_text("draft of a new one")
    del services.chats["b"]
    services.emit(ChatsChanged())
    qtbot.waitUntil(lambda: [info.id for info in window.sidebar.model.infos()] == ["a"])
    made = reopen(qtbot, window, again)
    assert made.page.drafts() == {"a": "draft of a", "": "draft of a new one"}


def test_what_waits_for_a_reply_is_a_draft_when_the_window_closes(
    qtbot: QtBot, window: MainWindow, services: FakeServices, again: list[MainWindow]
) -> None:
    settled(qtbot, window)
    chat = start(qtbot, window, services)
    write(qtbot, window, "and then?")
    made = reopen(qtbot, window, again)
    qtbot.waitUntil(lambda: made.session.chat_id == chat)
    assert made.page.composer.text() == "and then?"


def test_a_chat_that_is_gone_is_not_missed(
    qtbot: QtBot, window: MainWindow, services: FakeServices, again: list[MainWindow]
) -> None:
    settled(qtbot, window)
    services.put_chat(make_chat("a", "a", (Turn(1, None, "", "x", "y"),)))
    window.open_chat("a")
    qtbot.waitUntil(lambda: window.session.title() == "a")
    del services.chats["a"]
    made = reopen(qtbot, window, again)
    assert made.session.chat_id == ""


def test_it_is_kept_while_the_window_is_open(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    settled(qtbot, window)
    window.page.composer.set_text("not lost in a crash")
    path = services.paths.state / "window.json"
    qtbot.waitUntil(lambda: path.exists() and "not lost in a crash" in path.read_text(), timeout=30_000)


def test_the_file_is_the_persons_own_and_holds_no_secret(tmp_path: Path) -> None:
    path = tmp_path / "state" / "window.json"
    save_state(path, Path("/w"), WindowState(drafts={"": "password: Tr0ub4dor&3 tail", "20261129_153000": "plain"}))
    assert "Tr0ub4dor" not in path.read_text()
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_state(path, Path("/w")).drafts["20261129_153000"] == "plain"


def test_workspaces_have_their_own_chats_and_drafts(tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    save_state(path, Path("/one"), WindowState(b"g", chat="a", drafts={"a": "x"}))
    save_state(path, Path("/two"), WindowState(b"h", chat="b"))
    assert load_state(path, Path("/one")) == WindowState(b"h", chat="a", drafts={"a": "x"})
    assert load_state(path, Path("/two")).chat == "b"
    assert load_state(path, Path("/three")) == WindowState(b"h")


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"window": 3, "workspaces": []}',
        b'{"window": {"geometry": 1, "sidebar_width": "x", "memory_width": -4, "memory": 1}, "workspaces": {"/w": 4}}',
        b'{"window": {"geometry": "\xc3\xa4"}, "workspaces": {"/w": {"chat": 4, "drafts": {"a": 4}}}}',
        b"[" * 200_000,
    ],
)
def test_a_broken_file_is_ignored(tmp_path: Path, broken: bytes) -> None:
    path = tmp_path / "window.json"
    path.write_bytes(broken)
    assert load_state(path, Path("/w")) == WindowState()
    save_state(path, Path("/w"), WindowState(chat="a"))
    assert load_state(path, Path("/w")).chat == "a"


def test_a_draft_with_a_lone_surrogate_can_be_shown(tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    path.write_text(json.dumps({"workspaces": {"/w": {"drafts": {"": "a\ud800b"}}}}))
    assert load_state(path, Path("/w")).drafts == {"": "a?b"}


def test_the_start_up_probe_leaves_a_draft_as_it_was(
    qtbot: QtBot, window: MainWindow, services: FakeServices, capsys: pytest.CaptureFixture[str]
) -> None:
    settled(qtbot, window)
    window.page.composer.set_text("half a thought")
    StartupProbe(window, window.page.composer.edit)
    window.update()
    qtbot.waitUntil(lambda: not window.isVisible())
    assert json.loads(capsys.readouterr().out)["usable"] is True
    assert load_state(services.paths.state / "window.json", services.workspace.root).drafts == {"": "half a thought"}
