"""The window around the conversation: the list of chats, bars, theme, language, errors, settings."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QMenu, QPushButton
from pytestqt.qtbot import QtBot

import assistant.ui
from assistant.core.errors import AssistantError
from assistant.core.events import (
    ChatsChanged,
    DistillProgress,
    ModelFailed,
    ModelLoading,
    ModelResting,
    Notice,
)
from assistant.ui.application import use_language
from assistant.ui.bridge import Bridge
from assistant.ui.chat.chat_list import Sidebar
from assistant.ui.errors import ErrorDialog, ErrorReporter
from assistant.ui.i18n import choose_language, load_catalogue, tr
from assistant.ui.main_window import MainWindow
from assistant.ui.palette import DARK, LIGHT, Palette, contrast
from assistant.ui.settings.dialog import SettingsDialog
from assistant.ui.theme import Theme

from .fakes import FakeServices, Turn, days_ago, make_chat, ready

SOURCES = sorted(Path(assistant.ui.__file__).parent.rglob("*.py"))


@pytest.fixture
def sidebar(qtbot: QtBot, window: MainWindow, services: FakeServices) -> Sidebar:
    services.put_chat(make_chat("a", "Lisbon", (Turn(1, None, "", "x", "y"),), days_ago(0.01)))
    services.put_chat(make_chat("b", "Sourdough", (), days_ago(1)))
    services.emit(ChatsChanged())
    qtbot.waitUntil(lambda: window.sidebar.model.row_of("b") > 0)
    return window.sidebar


def titles(sidebar: Sidebar) -> list[str]:
    return [sidebar.model.index(row).data() for row in range(sidebar.model.rowCount())]


def test_chats_stand_under_their_days(sidebar: Sidebar) -> None:
    assert titles(sidebar) == ["Today", "Lisbon", "Yesterday", "Sourdough"]


def test_the_filter_narrows_the_list(qtbot: QtBot, sidebar: Sidebar) -> None:
    qtbot.keyClicks(sidebar.filter, "sour")
    assert titles(sidebar) == ["Yesterday", "Sourdough"]
    qtbot.keyClicks(sidebar.filter, "zzz")
    assert sidebar.empty.text() == "No chat has these words in its title."


def test_choosing_a_chat_opens_it(qtbot: QtBot, window: MainWindow, sidebar: Sidebar) -> None:
    sidebar.view.setCurrentIndex(sidebar.model.index(1))
    qtbot.waitUntil(lambda: window.topbar.title.whole() == "Lisbon")
    assert window.session.chat_id == "a"
    assert window.windowTitle() == "Lisbon — Keepsake"


def test_f2_renames_in_place(qtbot: QtBot, window: MainWindow, services: FakeServices, sidebar: Sidebar) -> None:
    sidebar.view.setCurrentIndex(sidebar.model.index(1))
    qtbot.keyClick(sidebar.view, Qt.Key.Key_F2)
    editor = sidebar.view.findChild(QLineEdit)
    assert editor is not None
    editor.setText("Porto  🐘")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: services.chats["a"].title == "Porto 🐘")
    qtbot.waitUntil(lambda: window.topbar.title.whole() == "Porto 🐘")


def test_a_title_being_edited_survives_a_refresh(qtbot: QtBot, services: FakeServices, sidebar: Sidebar) -> None:
    sidebar.view.setCurrentIndex(sidebar.model.index(1))
    qtbot.keyClick(sidebar.view, Qt.Key.Key_F2)
    editor = sidebar.view.findChild(QLineEdit)
    assert editor is not None
    editor.setText("Half a ti")
    services.put_chat(make_chat("new", "Newest"))
    with qtbot.waitSignal(sidebar.window().router.chats_changed):  # type: ignore[attr-defined]  # it is the window
        services.emit(ChatsChanged())
    qtbot.waitUntil(lambda: services.calls[-1] == ("list_chats",))
    assert editor.text() == "Half a ti"
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: "Newest" in titles(sidebar))


def test_delete_works_in_the_list_only_and_can_be_undone(
    qtbot: QtBot, window: MainWindow, services: FakeServices, sidebar: Sidebar
) -> None:
    sidebar.view.setCurrentIndex(sidebar.model.index(1))
    qtbot.waitUntil(lambda: window.session.title() == "Lisbon")
    for key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
        qtbot.keyClick(window.page.composer.edit, key)
        qtbot.keyClick(sidebar.filter, key)
        qtbot.keyClick(window.page.transcript, key)
    assert "a" in services.chats
    qtbot.keyClick(sidebar.view, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: bool(window.toasts.shown()))
    assert "a" not in services.chats
    assert window.session.chat_id == ""
    assert "Lisbon" in window.toasts.shown()[-1].text()
    middle = window.page.mapTo(window, window.page.rect().center()).x()
    toast = window.toasts.shown()[-1]
    assert abs(toast.mapTo(window, toast.rect().center()).x() - middle) <= 1
    window.toasts.shown()[-1].action_button().click()
    qtbot.waitUntil(lambda: "Lisbon" in titles(sidebar))
    qtbot.waitUntil(lambda: window.session.chat_id == "a")


def test_ctrl_n_starts_a_new_chat(qtbot: QtBot, window: MainWindow, services: FakeServices, sidebar: Sidebar) -> None:
    window.open_chat("a")
    qtbot.waitUntil(lambda: window.session.title() == "Lisbon")
    next(action for action in window.actions_by_name() if action.text() == "New chat").trigger()
    assert window.session.chat_id == ""
    assert not any(call[0] == "new_chat" for call in services.calls), "no file before the first message"
    assert window.page.empty.isVisible()


def test_the_model_button_says_how_it_stands(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    button = window.topbar.model
    services.emit(ModelLoading("Qwen.gguf", 0.42))
    qtbot.waitUntil(lambda: button.text() == "Loading Qwen · 42 %")
    assert window.bottombar.progress.isVisible()
    assert "answered after that" in window.page.composer.hint.whole()
    services.emit(ready())
    qtbot.waitUntil(lambda: button.text() == "SmolLM2-135M-Instruct")
    assert not window.bottombar.progress.isVisible()
    assert window.page.composer.hint.whole().startswith("Enter sends")
    services.emit(ModelResting(ready().info))
    qtbot.waitUntil(lambda: button.text() == "SmolLM2-135M-Instruct · resting")
    assert "next message wakes it" in button.toolTip()
    assert window.page.composer.hint.whole().startswith("Enter sends")
    services.emit(ModelFailed(AssistantError("model.memory", "Not enough memory.", "Choose a smaller one.")))
    qtbot.waitUntil(lambda: button.text() == "The model did not load")
    assert "Choose a smaller one" in button.toolTip()


def test_a_model_that_rests_is_woken_while_a_message_is_written(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    button, edit = window.topbar.model, window.page.composer.edit
    services.emit(ready())
    qtbot.keyClicks(edit, "Good mor")
    services.emit(ModelResting(ready().info))
    qtbot.waitUntil(lambda: button.text().endswith("resting"))
    assert ("wake_model",) not in services.calls
    qtbot.keyClicks(edit, "ning")
    assert services.calls.count(("wake_model",)) == 1


def test_the_model_menu_lists_files_and_their_problems(
    qtbot: QtBot, window: MainWindow, services: FakeServices
) -> None:
    from assistant.engine.model_files import ModelFile

    services.model_files = [
        ModelFile("good.gguf", Path("/m/good.gguf"), 98_000_000, "llama", "Q4_K_M"),
        ModelFile("cut.gguf", Path("/m/cut.gguf"), 4_000, problem="The file is cut."),
    ]
    window.topbar.model.click()
    qtbot.waitUntil(lambda: bool(window.findChildren(QMenu, options=Qt.FindChildOption.FindDirectChildrenOnly)))
    menu = next(m for m in window.findChildren(QMenu) if any("good" in a.text() for a in m.actions()))
    words = [action.text() for action in menu.actions()]
    assert words[0] == "good\tQ4_K_M · 98 MB"
    assert "The file is cut." in words
    assert "Add a model file…" in words
    menu.actions()[0].trigger()
    assert services.calls[-1] == ("load_model", "good.gguf")
    menu.close()


def test_background_work_shows_progress_and_notices(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    bar = window.bottombar
    services.emit(DistillProgress("a", 1, 3))
    qtbot.waitUntil(lambda: bar.progress_words.text() == "Turning older messages into memory")
    services.emit(DistillProgress("a", 3, 3))
    qtbot.waitUntil(lambda: not bar.progress.isVisible())
    services.emit(Notice("Something happened", error=True))
    qtbot.waitUntil(lambda: bar.notice.whole() == "Something happened")
    assert bar.offline.text() == "Offline — nothing leaves this laptop"


def test_the_theme_switches_while_the_window_is_open(
    qtbot: QtBot, window: MainWindow, services: FakeServices, theme: Theme, sidebar: Sidebar
) -> None:
    window.open_chat("a")
    qtbot.waitUntil(lambda: window.session.title() == "Lisbon")
    window.choose_theme("dark")
    qtbot.waitUntil(lambda: window.page.grab().toImage().pixelColor(4, 4) == QColor(DARK.window), timeout=30_000)
    assert services.settings.load().general.theme == "dark"
    window.choose_theme("light")
    qtbot.waitUntil(lambda: window.page.grab().toImage().pixelColor(4, 4) == QColor(LIGHT.window), timeout=30_000)


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_text_can_be_read(palette: Palette) -> None:
    grounds = ("window", "sidebar", "surface", "sunken", "bubble", "hover")
    for ground in grounds:
        for ink in ("text", "muted", "accent"):
            ratio = contrast(getattr(palette, ink), getattr(palette, ground))
            assert ratio >= 4.5, f"{ink} on {ground}: {ratio:.2f}"
    pairs = [("on_accent", "accent"), ("on_accent", "accent_hover"), ("accent", "accent_soft"), ("text", "selected")]
    pairs += [("amber", "window"), ("amber", "amber_soft"), ("red", "window"), ("text", "red_soft"), ("red", "sidebar")]
    pairs += [("muted", "selected"), ("amber", "sidebar"), ("window", "text")]
    pairs += [(ink, "sunken") for ink in ("keyword", "string", "number", "name", "comment")]
    for ink, ground in pairs:
        ratio = contrast(getattr(palette, ink), getattr(palette, ground))
        assert ratio >= 4.5, f"{ink} on {ground}: {ratio:.2f}"


def strings() -> set[str]:
    found = set()
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "tr":
                assert isinstance(node.args[0], ast.Constant), f"{source}: tr() of something that is no literal"
                found.add(node.args[0].value)
    return found


def test_everything_is_said_in_chinese_too() -> None:
    catalogue = load_catalogue("zh_CN")
    missing = sorted(strings() - set(catalogue))
    assert not missing
    for english, chinese in catalogue.items():
        fields = [part.split("}")[0] for part in english.split("{")[1:]]
        assert all(f"{{{field}}}" in chinese for field in fields), english


def test_the_language_switches(qapp: QApplication) -> None:
    assert use_language(qapp, "zh_CN") == "zh_CN"
    assert tr("Memory used: {n} lines", n=3) == "用到的记忆：3 行"
    assert tr("not in the catalogue") == "not in the catalogue"
    assert use_language(qapp, "en") == "en"
    assert tr("Chats") == "Chats"


@pytest.mark.parametrize(
    ("setting", "system", "shown"),
    [("", "zh_CN", "zh_CN"), ("", "zh_TW", "zh_CN"), ("", "de_DE", "en"), ("en", "zh_CN", "en"), ("zh", "C", "zh_CN")],
)
def test_the_language_follows_settings_then_system(setting: str, system: str, shown: str) -> None:
    assert choose_language(setting, system) == shown


def test_catalogues_are_plain_json() -> None:
    assert json.dumps(load_catalogue("zh_CN"), ensure_ascii=False).isprintable()


def test_every_control_has_an_accessible_name(
    qtbot: QtBot, window: MainWindow, services: FakeServices, sidebar: Sidebar
) -> None:
    window.open_chat("a")
    window.toggle_memory()
    qtbot.waitUntil(lambda: window.memory_panel().files.current == "MEMORY.md")
    nameless = [
        button
        for button in window.findChildren(QAbstractButton)
        if button.isVisible()
        and not button.accessibleName()
        and not button.text()
        and not button.objectName().startswith("qt_")
        and button.parent().__class__.__name__ not in ("SearchField", "QTabBar")
    ]
    assert not nameless
    assert all(field.accessibleName() for field in window.findChildren(QLineEdit))


def test_expected_errors_are_shown_as_written(qtbot: QtBot) -> None:
    dialog = ErrorDialog(AssistantError("disk.full", "The disk is full.", "Free some space."))
    qtbot.addWidget(dialog)
    assert not hasattr(dialog, "details")


def test_a_bug_shows_details_that_can_be_copied(qtbot: QtBot, tmp_path: Path) -> None:
    reporter = ErrorReporter(tmp_path / "keepsake.log")
    try:
        raise ValueError("boom")
    except ValueError as error:
        caught = error
    worker = threading.Thread(target=reporter.report, args=(caught,))
    worker.start()
    worker.join()
    qtbot.waitUntil(lambda: reporter.dialog is not None)
    assert reporter.dialog is not None
    reporter.report(caught)
    QApplication.processEvents()
    assert "ValueError: boom" in reporter.dialog.details.toPlainText()
    reporter.dialog.copy.click()
    assert "keepsake.log" in QApplication.clipboard().text()
    reporter.dialog.accept()
    qtbot.waitUntil(lambda: reporter.dialog is None)


def test_results_of_other_threads_arrive_on_the_windows_thread(qtbot: QtBot, services: FakeServices) -> None:
    bridge = Bridge(services)
    seen: list[threading.Thread] = []
    pool = ThreadPoolExecutor(1)
    bridge.run(pool, lambda: 42, done=lambda _: seen.append(threading.current_thread()))
    bridge.event_arrived.connect(lambda _: seen.append(threading.current_thread()))
    pool.submit(services.emit, Notice("from a thread"))
    qtbot.waitUntil(lambda: len(seen) == 2)
    assert seen == [threading.main_thread()] * 2
    failures: list[BaseException] = []
    bridge.work_failed.connect(failures.append)
    bridge.run(pool, lambda: 1 // 0, done=seen.append)
    qtbot.waitUntil(lambda: len(failures) == 1)
    pool.shutdown()
    bridge.close()
    services.emit(Notice("too late"))


def test_settings_are_written(qtbot: QtBot, window: MainWindow, services: FakeServices) -> None:
    window.open_settings()
    dialog = window.findChild(SettingsDialog)
    assert dialog is not None
    qtbot.waitUntil(dialog.save_button.isEnabled)
    language = dialog.general.fields["language"]
    language.setCurrentIndex(2)  # type: ignore[union-attr]  # it is the combo box
    dialog.model.fields["window"].setValue(8192)  # type: ignore[union-attr]  # a spin box
    dialog.memory.fields["window_share"].setValue(0.3)  # type: ignore[union-attr]  # a spin box
    dialog.save_button.click()
    qtbot.waitUntil(lambda: services.settings.load().model.window == 8192)
    stored = services.settings.load()
    assert stored.general.language == "zh_CN"
    assert stored.memory.window_share == 0.3
    assert stored.model.temperature == 0.7


def test_a_small_window_makes_room_for_memory(qtbot: QtBot, window: MainWindow) -> None:
    window.resize(900, 600)
    window.toggle_memory()
    assert window.sidebar.isHidden()
    assert window.memory_panel().isVisible()
    window.toggle_memory()
    assert window.sidebar.isVisible()


def test_a_tight_window_gives_memory_the_place_of_the_conversation(qtbot: QtBot, window: MainWindow) -> None:
    window.resize(640, 480)
    window.toggle_memory()
    panel = window.memory_panel()
    qtbot.waitUntil(lambda: panel.width() == window.width())
    assert not window.page.isVisible() and panel.rail.visibleRegion().boundingRect().width() == panel.rail.width()
    window.write_message()
    qtbot.waitUntil(lambda: window.page.isVisible() and not panel.isVisible())
    window.toggle_memory()
    window.resize(1200, 800)
    qtbot.waitUntil(lambda: window.page.isVisible() and window.sidebar.isVisible() and panel.isVisible())
    assert panel.width() < 600, "what memory took for want of room it gives back"
    window.resize(640, 480)
    window.open_chat("20261129_153022")
    assert window.page.isVisible() and not panel.isVisible(), "a chat that is opened is seen"


@pytest.mark.parametrize("size", [(640, 480), (1040, 600)])
def test_the_ways_to_begin_are_whole_in_a_narrow_window(
    qtbot: QtBot, window: MainWindow, size: tuple[int, int]
) -> None:
    window.resize(*size)
    window.toggle_memory()
    if size[0] == 640:
        window.toggle_memory()
    empty = window.page.empty
    ways = [each for each in empty.findChildren(QPushButton) if each.property("kind") == "suggestion"]
    qtbot.waitUntil(lambda: empty.visibleRegion().boundingRect().width() == empty.width())
    assert len(ways) == 3
    for way in ways:
        assert way.width() >= way.minimumSizeHint().width() and way.height() >= way.minimumSizeHint().height()
        left = way.mapTo(empty.viewport(), QPoint(0, 0)).x()
        assert left >= 0 and left + way.width() <= empty.viewport().width()
        assert way.visibleRegion().isEmpty() or way.visibleRegion().boundingRect().width() == way.width()
    assert window.bottombar.geometry().bottom() < window.centralWidget().height(), "nothing is pushed out below"


def test_starting_loads_nothing_heavy() -> None:
    code = (
        "import sys; import assistant.ui.application, assistant.ui.main_window;"
        "heavy = {'markdown_it', 'pygments', 'torch', 'llama_cpp', 'numpy', 'yaml', 'assistant.ui.memory.panel'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_small_model_says_that_a_bigger_one_is_better(
    window: MainWindow, services: FakeServices, qtbot: QtBot
) -> None:
    small = ready()
    services.emit(small)
    qtbot.waitUntil(lambda: window.page.empty.bigger.isVisibleTo(window))
    assert window.page.empty.bigger.minimumSizeHint().width() < 300, "it must not be cut beside the memory panel"
    services.emit(replace(small, info=replace(small.info, size_bytes=4_000_000_000)))
    qtbot.waitUntil(lambda: not window.page.empty.bigger.isVisibleTo(window))
