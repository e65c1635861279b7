"""Which chat model is used: chosen, loaded in the background, told to the window."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.events import EventSink, ModelFailed, ModelLoading, ModelReady
from assistant.core.ports import Engine
from assistant.core.values import EngineSettings, ModelInfo
from assistant.engine.model_files import ModelFile, ModelStore
from assistant.runtime.lanes import Lane
from assistant.settings.schema import Settings

NO_MODEL = AssistantError(
    "model.none",
    "There is no model yet.",
    "Add a GGUF file: in the window by the model menu, or `keepsake models add`.",
)
_STOPPED = AssistantError("model.stopped", "Loading the model was stopped.", "A message loads it again.")
_BUG = AssistantError("model.bug", "Keepsake made a mistake while it loaded the model.", "The log has the details.")


class ModelService:
    """Loads on the chat lane, so that turns sent meanwhile wait for the model in their order."""

    def __init__(
        self, store: ModelStore, engine: Engine, settings: Callable[[], Settings], lane: Lane, emit: EventSink
    ) -> None:
        self.store = store
        self.engine = engine
        self._settings = settings
        self._lane = lane
        self._emit = emit
        self._cancel = CancelToken()

    def models(self) -> list[ModelFile]:
        """All model files that are known, the broken ones with their problem."""
        return self.store.list()

    def add(self, path: Path) -> ModelFile:
        return self.store.add(path)

    def chosen(self, name: str = "") -> ModelFile:
        """The model of that name, else the one of the settings, else the first sound one. Raises ``model.*``."""
        wanted = name or self._settings().model.name
        if wanted:
            return self.store.find(wanted)
        sound = [model for model in self.store.list() if not model.problem]
        if not sound:
            raise NO_MODEL
        return sound[0]

    def take_over(self) -> None:
        """Go on with the model that the engine came with; load the chosen one where it has none."""
        if info := self.engine.info:
            self._emit(ModelReady(info))
        else:
            self.load_later()

    def load_later(self, name: str = "") -> Future[ModelInfo]:
        """Load on the chat lane; the outcome comes as an event, and as the future's result."""
        return self._lane.submit(self.load, name)

    def load(self, name: str = "", cancel: CancelToken | None = None) -> ModelInfo:
        """Load now, on this thread. Whatever fails is told as ModelFailed, then raised: AssistantError, Cancelled."""
        try:
            model = self.chosen(name)
            self._emit(ModelLoading(model.name, 0.0))
            progress = self._progress(model.name)
            info = self.engine.load(model.path, self._engine_settings(), cancel or self._cancel, progress)
        except AssistantError as error:
            self._emit(ModelFailed(error))
            raise
        except Cancelled:
            self._emit(ModelFailed(_STOPPED))
            raise
        except Exception:
            self._emit(ModelFailed(_BUG))
            raise
        self._emit(ModelReady(info))
        return info

    def ensure(self, name: str = "", cancel: CancelToken | None = None) -> ModelInfo:
        """The loaded model; loads the chosen one when none is, or another one is asked for."""
        info = self.engine.info
        if info and (not name or self.chosen(name).path == info.path):
            return info
        return self.load(name, cancel)

    def note_failure(self, error: AssistantError) -> None:
        """A turn failed after ``ensure``: where that leaves no model that answers, it is told as ModelFailed."""
        ours = error.code.startswith(("model.", "engine."))
        if ours and (self.engine.info is None or error.code == "engine.keeps_dying"):
            self._emit(ModelFailed(error))

    def cancel(self) -> None:
        self._cancel.cancel()

    def _engine_settings(self) -> EngineSettings:
        model = self._settings().model
        return EngineSettings(window=model.window, threads=model.threads, threads_batch=model.threads)

    def _progress(self, name: str) -> Callable[[int, int, str], None]:
        return lambda done, total, _what: self._emit(ModelLoading(name, done / total if total else 0.0))
