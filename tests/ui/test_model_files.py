"""The Models dialog over real files and a hub on loopback: what a person sees and presses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QMessageBox, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from assistant.core.events import DownloadStatus
from assistant.engine.catalogue import CatalogueModel
from assistant.engine.downloads.web import Patience
from assistant.engine.memory_estimate import ModelShape
from assistant.runtime.downloads import DownloadService
from assistant.settings.schema import DownloadSettings
from assistant.ui.model_files.dialog import CATALOGUE, HERE, ModelsDialog
from assistant.ui.model_files.token_dialog import TokenDialog
from assistant.ui.settings.dialog import SettingsDialog
from tests.engine.downloads.hub import DIGEST, MODEL, Hub, serve_hub
from tests.fakes import FakeEngine

from .real_services import Kept, kept
from .test_accessibility import nameless

__all__ = ["kept"]

SHAPE = ModelShape(600, 64, 4, 128, 64, 64)
MODELS = (
    CatalogueModel(
        "Known", "Known 1B", ("en", "zh"), 2, "o/k", "", "Known.gguf", len(MODEL), DIGEST, "MIT",
        10**9, "Q4_0", 4096, True, SHAPE,
    ),
    CatalogueModel(
        "Huge", "Huge 900B", ("en",), 0, "o/h", "", "Huge.gguf", 10**14, "", "Apache-2.0",
        9 * 10**11, "Q8_0", 4096, False, SHAPE,
    ),
)  # fmt: skip


@pytest.fixture
def hub(kept: Kept) -> Iterator[Hub]:
    with serve_hub() as served:
        services = kept.services
        store = services.model_service.store
        store.catalogue = MODELS
        services.settings.update("downloads", host=served.url)
        services.model_service.engine = FakeEngine()
        patience = Patience(tries=1, pause=0.0)
        services.downloads = DownloadService(store, services.settings, services._emit, kept.keyring, patience)
        services.model_facts._downloads = services.downloads
        yield served
        services.downloads.close()


class Shown:
    """The dialog, filled."""

    def __init__(self, qtbot: QtBot, kept: Kept, page: int = CATALOGUE) -> None:
        self.qtbot, self.kept = qtbot, kept
        (kept.window.models.show_catalogue if page == CATALOGUE else kept.window.models.show_here)()
        found = kept.window.findChild(ModelsDialog)
        assert found is not None
        self.dialog = found
        qtbot.waitUntil(lambda: bool(self.dialog.offers) and self.words() != "")

    def until(self, status: DownloadStatus) -> None:
        states = self.kept.services.downloads.states
        self.qtbot.waitUntil(lambda: any(state.status is status for state in states()))

    def press(self, name: str, button: str) -> None:
        made = getattr(self.dialog.offers[name], button)
        self.qtbot.waitUntil(made.isVisible)
        self.qtbot.mouseClick(made, Qt.MouseButton.LeftButton)

    def words(self) -> str:
        return said(self.dialog)


def said(widget: QWidget) -> str:
    return "\n".join(label.text() for label in widget.findChildren(QLabel) if label.isVisibleTo(widget))


def put(kept: Kept, name: str, data: bytes = MODEL) -> Path:
    path = kept.services.paths.models / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_a_person_who_has_no_model_is_led_to_one(qtbot: QtBot, kept: Kept, hub: Hub) -> None:
    shown = Shown(qtbot, kept, HERE)
    qtbot.waitUntil(lambda: "There is no model on this laptop yet." in shown.words())
    assert "Known 1B is a good start for this laptop." in shown.words()
    lead = next(made for made in shown.dialog.findChildren(QPushButton) if made.text() == "See what can be downloaded")
    lead.click()
    assert shown.dialog.stack.currentIndex() == CATALOGUE
    assert "From 127.0.0.1. Nothing is fetched before you press Download" in shown.words()
    assert hub.asked == []
    shown.dialog.accept()


def test_what_is_here_is_described_with_its_problems(qtbot: QtBot, kept: Kept, hub: Hub) -> None:
    put(kept, "good.gguf")
    put(kept, "cut.gguf", MODEL[:-100])
    shown = Shown(qtbot, kept, HERE)
    good, cut = shown.dialog.models
    assert "Q4_K_M" in said(good) and "up to 2,048 tokens" in said(good)
    assert "Fits: needs" in said(good) and "2,048 tokens of context" in said(good)
    assert "cut.gguf is cut off or damaged." in said(cut) and cut.use is None
    assert nameless(shown.dialog) == []
    assert good.use is not None
    with qtbot.waitSignal(shown.dialog.use_asked) as asked:
        good.use.click()
    assert asked.args == ["good"]
    qtbot.waitUntil(lambda: kept.services.settings.load().model.name == "good")
    shown.dialog.accept()


def test_the_catalogue_says_what_fits(qtbot: QtBot, kept: Kept, hub: Hub) -> None:
    shown = Shown(qtbot, kept)
    known, huge = shown.dialog.offers["Known"], shown.dialog.offers["Huge"]
    assert "English, Chinese and 2 more" in said(known) and "can use tools" in said(known)
    assert "a good start" in said(known) and "a good start" not in said(huge)
    assert "Too big: needs 100000.1 GB" in said(huge)
    assert "checked against the one that 127.0.0.1 gives" in said(huge)
    assert nameless(shown.dialog) == []
    shown.dialog.accept()


def test_a_download_is_seen_everywhere_and_its_model_is_used(qtbot: QtBot, kept: Kept, hub: Hub) -> None:
    shown = Shown(qtbot, kept)
    bar = kept.window.bottombar
    assert bar.offline.text() == "Offline — nothing leaves this laptop"
    hub.slow = True
    shown.press("Known", "start")
    qtbot.waitUntil(lambda: bar.offline.text() == "Downloading from 127.0.0.1")
    row = shown.dialog.offers["Known"]
    qtbot.waitUntil(lambda: "8 B of" in row.words.text())
    assert row.pause.isVisible() and row.cancel.isVisible() and not row.start.isVisible()
    assert bar.progress_words.text() == "Downloading Known"
    shown.press("Known", "pause")
    qtbot.waitUntil(lambda: row.start.text() == "Continue")
    assert row.words.text().startswith("Paused · 8 B")
    qtbot.waitUntil(lambda: bar.offline.text() == "Offline — nothing leaves this laptop")
    assert not bar.progress.isVisible()
    hub.slow = False
    shown.press("Known", "start")
    shown.until(DownloadStatus.DONE)
    qtbot.waitUntil(lambda: [row.fact.file.name for row in shown.dialog.models] == ["Known"])
    assert "on this laptop" in said(shown.dialog.offers["Known"])
    qtbot.waitUntil(lambda: kept.window.topbar.model.text() == "fake")
    assert hub.ranges_asked() == ["", "bytes=8-"]
    shown.dialog.accept()


def test_a_download_hides_neither_a_server_nor_is_hidden_by_it(qtbot: QtBot, kept: Kept) -> None:
    bar = kept.window.bottombar
    remote = replace(FakeEngine().info, host="llm.example")
    bar.show_where(remote)
    bar.show_download("huggingface.co")
    assert bar.offline.text() == "Your messages go to llm.example · Downloading from huggingface.co"
    bar.show_download("")
    assert bar.offline.text() == "Your messages go to llm.example"
    bar.show_download("huggingface.co")
    bar.show_where(None)
    assert bar.offline.text() == "Downloading from huggingface.co"


def test_a_download_goes_on_when_the_dialog_is_closed_and_is_found_again(qtbot: QtBot, kept: Kept, hub: Hub) -> None:
    hub.slow = True
    shown = Shown(qtbot, kept)
    shown.press("Known", "start")
    shown.until(DownloadStatus.READING)
    shown.dialog.accept()
    qtbot.waitUntil(lambda: kept.window.findChild(ModelsDialog) is None)
    again = Shown(qtbot, kept)
    again.press("Known", "cancel")
    again.until(DownloadStatus.GONE)
    qtbot.waitUntil(lambda: again.dialog.offers["Known"].start.isVisible())
    assert again.dialog.offers["Known"].start.text() == "Download"
    assert not list(kept.services.paths.models.glob("*.part*"))
    again.dialog.accept()


def test_a_failure_stands_in_plain_words_where_it_happened(qtbot: QtBot, kept: Kept, hub: Hub) -> None:
    hub.data = MODEL[:-1] + b"\1"
    shown = Shown(qtbot, kept)
    shown.press("Known", "start")
    row = shown.dialog.offers["Known"]
    qtbot.waitUntil(row.problem.isVisible)
    assert row.problem.text().startswith("What arrived is not Known.gguf as it was published; it was not kept.")
    assert row.start.text() == "Download" and not row.cancel.isVisible()
    shown.dialog.accept()


def test_a_folder_of_another_program_is_added(qtbot: QtBot, kept: Kept, hub: Hub, tmp_path: Path) -> None:
    folder = tmp_path / "LM Studio"
    folder.mkdir()
    (folder / "mine.gguf").write_bytes(MODEL)
    (folder / "cut.gguf").write_bytes(MODEL[:90])
    shown = Shown(qtbot, kept, HERE)
    shown.dialog.choose_folder = lambda: str(folder)  # type: ignore[method-assign]
    shown.dialog.add_folder.click()
    qtbot.waitUntil(lambda: len(shown.dialog.models) == 2)
    assert shown.dialog.status.text() == "Added: 1. 1 cannot be used; the list says why."
    row = next(row for row in shown.dialog.models if row.fact.file.name == "mine")
    row.remove.click()
    qtbot.waitUntil(lambda: len(shown.dialog.models) == 1)
    assert "its file stays where it is" in shown.dialog.status.text()
    assert (folder / "mine.gguf").exists()
    shown.dialog.accept()


@pytest.mark.parametrize("sure", [True, False])
def test_deleting_a_file_is_asked_about(qtbot: QtBot, kept: Kept, hub: Hub, sure: bool) -> None:
    path = put(kept, "own.gguf")
    kept.services.settings.update("model", name="own")
    shown = Shown(qtbot, kept, HERE)
    shown.dialog.models[0].remove.click()
    box = shown.dialog.findChild(QMessageBox)
    assert box is not None and box.text() == "Delete own.gguf?"
    wanted = "Delete" if sure else "Cancel"
    next(made for made in box.buttons() if made.text() == wanted).click()
    if sure:
        qtbot.waitUntil(lambda: not shown.dialog.models)
    assert path.exists() is not sure
    assert kept.services.settings.load().model.name == ("" if sure else "own")
    shown.dialog.accept()


def test_the_token_goes_into_the_keyring(qtbot: QtBot, kept: Kept, hub: Hub) -> None:
    shown = Shown(qtbot, kept)
    shown.dialog.token.click()
    asked = shown.dialog.findChild(TokenDialog)
    assert asked is not None and nameless(asked) == []
    asked.field.setText("two words")
    asked.save.click()
    qtbot.waitUntil(asked.problem.isVisible)
    assert "This is no access token." in asked.problem.text()
    asked.field.setText("hf_abc")
    asked.save.click()
    qtbot.waitUntil(lambda: kept.keyring.held == {"access token for 127.0.0.1": "hf_abc"})
    shown.dialog.accept()


def test_the_settings_name_the_host_and_the_proxy(qtbot: QtBot, kept: Kept) -> None:
    kept.window.open_settings()
    dialog = kept.window.findChild(SettingsDialog)
    assert dialog is not None
    qtbot.waitUntil(dialog.save_button.isEnabled)
    host, proxy = dialog.downloads.fields["host"], dialog.downloads.fields["proxy"]
    assert isinstance(host, QLineEdit) and isinstance(proxy, QLineEdit)
    assert (host.text(), proxy.text()) == ("https://huggingface.co", "")
    host.setText(" https://hub.example ")
    proxy.setText("none")
    dialog.save_button.click()
    qtbot.waitUntil(lambda: kept.services.settings.load().downloads == DownloadSettings("https://hub.example", "none"))
