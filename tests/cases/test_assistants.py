"""Going from one assistant to another in the real window, over real files: nothing is lost, nothing goes along."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from assistant.app import last_assistant
from assistant.core.errors import AssistantError
from assistant.core.events import Event, ModelLoading, ModelReady, TextArrived
from assistant.runtime.composition import Places, compose
from assistant.runtime.services import Services
from assistant.runtime.workers import Workers
from assistant.ui.application import dress_application
from assistant.ui.assistants.dialogs import AssistantDialog
from assistant.ui.errors import ErrorDialog
from assistant.ui.main_window import MainWindow
from assistant.ui.windows import Windows
from tests.cases.conftest import HeldEngine, House
from tests.cases.test_kinds import press
from tests.engine.gguf_files import chat_facts, gguf_bytes
from tests.fakes import FakeEngine

WORD = "zephyrine"


class Home(House):
    """As House, for a window that goes from one assistant to another."""

    def __init__(self, qtbot: QtBot, app: QApplication, folder: Path, engine: FakeEngine) -> None:
        self._qtbot, self.folder, self.closed, self.engine = qtbot, folder, False, engine
        self.events: list[Event] = []
        self.places = Places(folder / "ws", folder / "config", folder / "state")
        first = self.open(last_assistant(self.places, {}).assistant, None)
        self.windows = Windows(first, dress_application(app, "en", "light"), self.open)
        self.windows.show()
        self.wait(lambda: self.seen(ModelReady) and self.window.chats.listed)

    def open(self, name: str, workers: Workers | None) -> Services:
        places = Places(self.places.workspace, self.places.config, self.places.state, assistant=name)
        services = compose(places, {}, workers=workers)
        services.subscribe(self.events.append)
        return services

    @property
    def window(self) -> MainWindow:  # type: ignore[override]
        return self.windows.window

    @property
    def services(self) -> Services:  # type: ignore[override]
        return self.windows.services

    @property
    def name(self) -> str:
        return self.services.assistants.current

    def menu(self) -> list[str]:
        """The entries of the switcher's menu."""
        found = self._menu()
        words = [action.text() for action in found.actions() if action.text()]
        found.close()
        return words

    def choose(self, words: str) -> None:
        found = self._menu()
        action = next(action for action in found.actions() if action.text() == words)
        found.close()
        action.trigger()

    def _menu(self) -> QMenu:
        switcher = self.window.sidebar.switcher
        switcher.click()
        self.wait(lambda: [menu for menu in switcher.findChildren(QMenu) if menu.isVisible()])
        return next(menu for menu in switcher.findChildren(QMenu) if menu.isVisible())

    def go(self, name: str) -> None:
        self.choose(name)
        self.wait(lambda: self.name == name and self.window.chats.listed)

    def dialog(self) -> AssistantDialog:
        self.wait(lambda: self.window.findChild(AssistantDialog))
        found = self.window.findChild(AssistantDialog)
        assert found is not None
        return found

    def add(self, name: str, prompt: str = "") -> None:
        self.choose("New assistant…")
        dialog = self.dialog()
        dialog.name.setText(name)
        dialog.prompt.setPlainText(prompt)
        dialog.done_button.click()
        self.wait(lambda: self.name == name and self.window.chats.listed)

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self.window.kinds.leave()
            self.window.close()
            self.windows.close()
            self.window.deleteLater()


OpenHome = Callable[..., Home]


@pytest.fixture
def home(qtbot: QtBot, qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenHome]:
    models = tmp_path / "state" / "models"
    models.mkdir(parents=True)
    (models / "Tiny.gguf").write_bytes(gguf_bytes(chat_facts(), {"token_embd.weight": (64, 4)}))
    homes: list[Home] = []

    def open_it(script: Any = (), kind: type[FakeEngine] = FakeEngine) -> Home:
        engine = kind(script)
        monkeypatch.setattr("assistant.runtime.workers.WorkerEngine", lambda *_: engine)
        homes.append(Home(qtbot, qapp, tmp_path, engine))
        return homes[-1]

    yield open_it
    for each in homes:
        each.close()


def asked(home: Home) -> str:
    return "\n".join(message.text for message in home.engine.asked[-1])


def test_a_new_assistant_is_made_and_talked_to_and_nothing_goes_along(home: OpenHome) -> None:
    here = home()
    here.services.remember(f"my secret is {WORD}")
    here.say(f"what of {WORD}?")
    here.add("Anna", "You are Anna, a gardener.")
    assert here.window.windowTitle() == "Anna"
    assert here.window.sidebar.switcher.text() == "Anna"
    assert here.window.page.empty.words.text().startswith("Anna remembers")
    assert here.window.sidebar.model.shown_chats() == []
    chat = here.say("what is my secret?").chat
    assert asked(here).startswith("You are Anna, a gardener.")
    assert WORD not in asked(here)
    assert "you, Anna" in here.services.workspace.chats.path(chat).read_text()
    here.go("Keepsake")
    here.say("what is my secret?")
    assert WORD in asked(here)
    assert here.menu()[:2] == ["Keepsake", "Anna"]


def test_the_model_stays_loaded(home: OpenHome) -> None:
    here = home()
    before = len(here.seen(ModelLoading))
    ready = len(here.seen(ModelReady))
    here.add("Anna")
    here.wait(lambda: len(here.seen(ModelReady)) == ready + 1)
    here.wait(lambda: here.window.topbar.model_state == "ready")
    assert len(here.seen(ModelLoading)) == before


def test_drafts_and_the_open_chat_wait_for_the_person_to_come_back(home: OpenHome) -> None:
    here = home()
    chat = here.say("hello").chat
    here.window.page.composer.set_text("half a thought")
    here.add("Anna")
    assert here.window.page.composer.text() == ""
    here.window.page.composer.set_text("hers")
    here.go("Keepsake")
    here.wait(lambda: here.chat == chat)
    assert here.window.page.composer.text() == "half a thought"
    here.go("Anna")
    assert here.window.page.composer.text() == "hers"


def test_the_next_start_begins_with_the_last_one_unless_it_is_gone(home: OpenHome, tmp_path: Path) -> None:
    here = home()
    here.add("Anna")
    here.close()
    again = home()
    assert again.name == "Anna"
    again.close()
    (tmp_path / "ws" / "assistants" / "Anna").rename(tmp_path / "elsewhere")
    assert home().name == "Keepsake"


def test_a_reply_under_way_is_asked_about_stopped_and_kept(home: OpenHome) -> None:
    here = home(["one\ntwo\nthree"], kind=HeldEngine)
    here.services.assistants.add("Anna")
    here.write("hello")
    here.wait(lambda: here.seen(TextArrived) and here.window.session.busy_chats())
    press("Cancel")
    here.choose("Anna")
    assert here.name == "Keepsake"
    press("Stop it and go")
    here.go("Anna")
    here.engine.go.set()
    here.go("Keepsake")
    here.wait(lambda: here.shown() == [("hello", "one\n")])
    assert here.turns()[0].mark == "stopped"


def test_a_temporary_chat_is_asked_about_before_it_goes(home: OpenHome) -> None:
    here = home()
    here.services.assistants.add("Anna")
    here.window.kinds.new_temporary()
    here.wait(here.window.page.banner.isVisible)
    here.say("hello")
    press("Cancel")
    here.choose("Anna")
    assert here.name == "Keepsake"
    press("Close it")
    here.go("Anna")
    assert here.services.list_chats() == []


def test_the_prompt_is_edited_and_new_chats_begin_with_it(home: OpenHome) -> None:
    here = home()
    here.choose("Edit its prompt…")
    dialog = here.dialog()
    dialog.prompt.setPlainText("Speak like a pirate. password: hunter2hunter2")
    dialog.done_button.click()
    here.wait(lambda: here.window.findChild(AssistantDialog) is None)
    here.wait(lambda: here.window.bottombar.notice.whole() == "Saved; a secret in it was not written down")
    here.say("hello")
    assert asked(here).startswith("Speak like a pirate. password:")
    assert "hunter2hunter2" not in asked(here)


def test_a_name_that_cannot_be_is_said_in_the_dialog_which_stays(home: OpenHome) -> None:
    here = home()
    here.choose("New assistant…")
    dialog = here.dialog()
    assert not dialog.done_button.isEnabled()
    dialog.name.setText("a/b")
    dialog.prompt.setPlainText("words worth keeping")
    dialog.done_button.click()
    here.wait(dialog.problem.isVisible)
    assert "a/b" in dialog.problem.text()
    assert dialog.prompt.toPlainText() == "words worth keeping"
    dialog.prompt.setPlainText("x" * 9000)
    assert not dialog.done_button.isEnabled()
    dialog.reject()


def test_it_is_renamed_with_all_that_is_its_own(home: OpenHome) -> None:
    here = home()
    here.add("Anna")
    here.say("hello")
    here.choose("Rename Anna…")
    dialog = here.dialog()
    dialog.name.setText("安娜")
    dialog.done_button.click()
    here.wait(lambda: here.name == "安娜")
    here.wait(lambda: len(here.window.sidebar.model.shown_chats()) == 1)
    assert here.services.receipt(here.window.sidebar.model.shown_chats()[0], 1) is not None
    assert here.menu()[:2] == ["Keepsake", "安娜"]


def test_it_is_deleted_after_a_question_and_comes_back_whole(home: OpenHome, tmp_path: Path) -> None:
    here = home()
    here.add("Anna")
    here.say(f"hello {WORD}")
    here.window.page.composer.set_text(f"draft {WORD}")
    press("Cancel")
    here.choose("Delete Anna…")
    assert here.name == "Anna"
    press("Delete")
    here.choose("Delete Anna…")
    here.wait(lambda: here.name == "Keepsake" and here.window.toasts.shown())
    assert not (tmp_path / "ws" / "assistants" / "Anna").exists()
    assert WORD not in (tmp_path / "state" / "state" / "window.json").read_text()
    toast = here.window.toasts.shown()[-1]
    assert toast.text() == "Deleted Anna"
    toast.action_button().click()
    here.wait(lambda: here.name == "Anna")
    here.wait(lambda: len(here.window.sidebar.model.shown_chats()) == 1)


def test_one_that_is_gone_is_said_and_the_window_stays_where_it_was(home: OpenHome, tmp_path: Path) -> None:
    here = home()
    here.services.assistants.add("Anna")
    (tmp_path / "ws" / "assistants" / "Anna").rename(tmp_path / "elsewhere")
    here.window.page.composer.set_text("half a thought")
    here.window.assistants.switch("Anna")
    here.wait(lambda: here.window.findChild(ErrorDialog))
    dialog = here.window.findChild(ErrorDialog)
    assert dialog is not None
    dialog.accept()
    assert here.name == "Keepsake"
    assert here.window.page.composer.text() == "half a thought"
    with pytest.raises(AssistantError):
        here.services.assistants.root("Anna")


def test_closing_while_it_goes_ends_everything(home: OpenHome) -> None:
    here = home()
    here.services.assistants.add("Anna")
    here.window.assistants.switch("Anna")
    here.close()
    assert here.name == "Keepsake"


def test_where_the_one_before_is_gone_too_the_default_one_opens(
    home: OpenHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = home()
    here.add("Anna")
    here.services.assistants.add("Bert")

    def gone(name: str, workers: Workers) -> Services:
        if name in ("Anna", "Bert"):
            raise AssistantError("assistant.missing", f"There is no assistant called {name!r}.")
        return here.open(name, workers)

    monkeypatch.setattr(here.windows, "_compose", gone)
    here.window.assistants.switch("Bert")
    here.wait(lambda: here.window.findChild(ErrorDialog))
    dialog = here.window.findChild(ErrorDialog)
    assert dialog is not None
    dialog.accept()
    assert here.name == "Keepsake" and here.window.isEnabled()
