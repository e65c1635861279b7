"""What the person does with models: list, load, add, and read how to get a better one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QWidget

from assistant.core.errors import AssistantError
from assistant.core.events import DownloadChanged, DownloadStatus
from assistant.ui.backend import Backend
from assistant.ui.bars import BottomBar, TopBar, short_name
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr, translate_message

if TYPE_CHECKING:
    from assistant.engine.model_files import ModelFile


class ModelActions(QObject):
    """Behind the model button and the Model menu."""

    failed = Signal(object)
    server_asked = Signal()

    def __init__(self, services: Backend, bridge: Bridge, top: TopBar, bottom: BottomBar, window: QWidget) -> None:
        super().__init__(window)
        self._services, self._bridge = services, bridge
        self._top, self._bottom, self._window = top, bottom, window
        self._loaded, self._problem = "", ""
        self._online: dict[str, str] = {}
        self._arrived = ""
        bridge.event_arrived.connect(self._on_event)
        self._resting = False

    def open(self) -> None:
        """List the models, then show the menu."""
        self._bridge.run(self._services.lanes.files, self._services.models, done=self._show)

    def load(self, name: str) -> None:
        """Load a model, and use it from the next start on too."""
        self._top.show_loading(name, 0.0)
        self._services.load_model(name)
        update = self._services.settings.update
        lane = self._services.lanes.files
        self._bridge.run(lane, lambda: update("model", name=name), done=lambda _: None, failed=self.failed.emit)

    def show_here(self) -> None:
        """The dialog with the models of this laptop."""
        from assistant.ui.model_files.dialog import HERE

        self._open_dialog(HERE)

    def show_catalogue(self) -> None:
        """The dialog with those that can be downloaded."""
        from assistant.ui.model_files.dialog import CATALOGUE

        self._open_dialog(CATALOGUE)

    def _open_dialog(self, page: int) -> None:
        from assistant.ui.model_files.dialog import ModelsDialog

        dialog = ModelsDialog(self._services, self._bridge, self._window, page)
        dialog.use_asked.connect(self.load)
        dialog.failed.connect(self.failed.emit)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def _on_event(self, event: object) -> None:
        """A download shows below wherever the person is; a first model is loaded when it is here."""
        if not isinstance(event, DownloadChanged):
            return
        job = f"download {event.name}"
        self._online = {name: host for name, host in self._online.items() if name != event.name}
        if event.runs:
            self._online[event.name] = event.host
            self._bottom.show_job(job, tr("Downloading {name}", name=short_name(event.name)), *_thousandths(event))
        else:
            self._bottom.end_job(job)
        self._bottom.show_download(next(iter(self._online.values()), ""))
        if event.status is DownloadStatus.DONE:
            self._bottom.show_notice(tr("{name} is here, whole and checked", name=event.name))
            if not self._loaded:
                self._arrived = event.name
                self._bridge.run(self._services.lanes.files, self._services.models, done=self._load_arrived)
        elif event.status is DownloadStatus.FAILED and event.error:
            self._bottom.show_notice(translate_message(event.error.message), error=True)

    def _load_arrived(self, models: Sequence[ModelFile]) -> None:
        """The first model that a person has is used at once."""
        arrived = next((model for model in models if model.name.casefold() == self._arrived.casefold()), None)
        if arrived and not arrived.problem and not self._loaded:
            self.load(arrived.name)

    def add(self) -> None:
        """Let the person pick a file; it is checked, then loaded."""
        from assistant.ui.model_menu import ask_for_model_file

        path = ask_for_model_file(self._window)
        if path is not None:
            self._bottom.show_job("add", tr("Checking the model file"), 0, 0)
            add = self._services.add_model
            self._bridge.run(self._services.lanes.files, add, path, done=self._on_added, failed=self._on_not_added)

    def explain(self) -> None:
        from assistant.ui.model_menu import HowToAddModel

        dialog = HowToAddModel(self.add, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def wake(self) -> None:
        """The person is about to ask something: a model that rests is loaded while they write."""
        if self._resting:
            self._resting = False
            self._services.wake_model()

    def on_resting(self) -> None:
        self._resting = True

    def on_ready(self, name: str) -> None:
        self._resting = False
        self._loaded, self._problem = name, ""

    def on_failed(self, error: AssistantError) -> None:
        self._loaded, self._problem = "", translate_message(str(error))
        self._bottom.show_notice(translate_message(error.message), error=True)

    def _show(self, models: Sequence[ModelFile]) -> None:
        from assistant.ui.model_menu import ModelMenu

        more = {
            tr("Models and downloads…"): self.show_here,
            tr("A server of your own…"): self.server_asked.emit,
            tr("How to add a model"): self.explain,
        }
        menu = ModelMenu(models, self._loaded, self._problem, self.load, self.add, more, self._window)
        anchor = self._top.model
        menu.popup(anchor.mapToGlobal(anchor.rect().bottomLeft()))

    def _on_added(self, model: ModelFile) -> None:
        self._bottom.end_job("add")
        if model.problem:
            self.failed.emit(AssistantError("model.unusable", model.problem))
        else:
            self.load(model.name)

    def _on_not_added(self, error: BaseException) -> None:
        self._bottom.end_job("add")
        self.failed.emit(error)


def _thousandths(state: DownloadChanged) -> tuple[int, int]:
    """A large file has more bytes than a progress bar can count; the last thousandth is the check."""
    return (min(999, 1000 * state.done // state.total), 1000) if state.total else (0, 0)
