"""Leads the events that are not about one turn to the bars and to whoever listens."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from assistant.core.events import (
    ChatsChanged,
    DistillProgress,
    MemoryChanged,
    ModelFailed,
    ModelLoading,
    ModelReady,
    ModelResting,
    Notice,
    TurnFinished,
    TurnSaved,
    WorkspaceChanged,
)
from assistant.ui.bars import BottomBar, TopBar
from assistant.ui.bridge import Bridge
from assistant.ui.i18n import tr, translate_message


class EventRouter(QObject):
    """One place that knows which event shows where."""

    chats_changed = Signal()
    model_ready = Signal(str)
    model_sized = Signal(int)
    model_noted = Signal(str)
    model_resting = Signal()
    model_failed = Signal(object)
    model_told = Signal(object)
    """Its ModelInfo, None where none answers."""
    model_missing = Signal()

    def __init__(self, bridge: Bridge, top: TopBar, bottom: BottomBar, parent: QObject) -> None:
        super().__init__(parent)
        self._top, self._bottom = top, bottom
        bridge.event_arrived.connect(self._on_event)

    def _on_event(self, event: object) -> None:
        match event:
            case ModelLoading():
                self._top.show_loading(event.name, event.fraction)
                self.model_noted.emit(tr("The model is loading; what you send now is kept and answered after that"))
                self._bottom.show_job("load", tr("Loading the model"), round(100 * event.fraction), 100)
            case ModelReady():
                self._bottom.end_job("load")
                self._top.show_ready(event.info)
                self.model_told.emit(event.info)
                self.model_noted.emit("")
                self.model_ready.emit(event.info.name)
                self.model_sized.emit(min(event.info.size_bytes, 2**31 - 1))
            case ModelResting():
                self._top.show_resting(event.info)
                self.model_resting.emit()
            case ModelFailed():
                self._bottom.end_job("load")
                self._top.show_failed(event.error)
                self.model_told.emit(None)
                self.model_noted.emit(tr("No model is loaded; choose one above"))
                self.model_failed.emit(event.error)
                if event.error.code == "model.none":
                    self.model_missing.emit()
            case DistillProgress():
                self._bottom.show_job("distil", tr("Turning older messages into memory"), event.done, event.total)
            case Notice():
                self._bottom.show_notice(translate_message(event.text), event.error)
            case MemoryChanged():
                self._bottom.show_notice(
                    tr("Memory changed: {what}", what=translate_message(event.summary) or event.file)
                )
            case ChatsChanged() | WorkspaceChanged() | TurnSaved() | TurnFinished():
                self.chats_changed.emit()
