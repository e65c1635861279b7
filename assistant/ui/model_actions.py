"""What the person does with models: list, load, add, and read how to get a better one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QWidget

from assistant.core.errors import AssistantError
from assistant.ui.backend import Backend
from assistant.ui.bars import BottomBar, TopBar
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr, translate_message

if TYPE_CHECKING:
    from assistant.engine.model_files import ModelFile


class ModelActions(QObject):
    """Behind the model button and the Model menu."""

    failed = Signal(object)

    def __init__(self, services: Backend, bridge: Bridge, top: TopBar, bottom: BottomBar, window: QWidget) -> None:
        super().__init__(window)
        self._services, self._bridge = services, bridge
        self._top, self._bottom, self._window = top, bottom, window
        self._loaded, self._problem = "", ""
        self._resting = False

    def open(self) -> None:
        """List the models, then show the menu."""
        self._bridge.run(self._services.lanes.files, self._services.models, done=self._show)

    def load(self, name: str) -> None:
        self._top.show_loading(name, 0.0)
        self._services.load_model(name)

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

        menu = ModelMenu(models, self._loaded, self._problem, self.load, self.add, self.explain, self._window)
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
