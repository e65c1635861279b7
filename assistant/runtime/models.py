"""Which chat model is used: chosen, loaded in the background, told to the window."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.events import EventSink, ModelFailed, ModelLoading, ModelReady, ModelResting, Notice
from assistant.core.ports import Engine, Progress
from assistant.core.values import EngineSettings, ModelInfo
from assistant.engine.gguf import read_gguf_info
from assistant.engine.model_description import check_usable
from assistant.engine.model_files import ModelFile, ModelStore
from assistant.engine.tuning import TuningStore, apply
from assistant.runtime.engines import here_only
from assistant.runtime.lanes import Lane
from assistant.runtime.remote_engine import ServerChoice
from assistant.settings.schema import Settings

NO_MODEL = AssistantError(
    "model.none",
    "There is no model yet.",
    "Add a GGUF file: in the window by the model menu, or `keepsake models add`.",
)
_STOPPED = AssistantError("model.stopped", "Loading the model was stopped.", "A message loads it again.")
_BUG = AssistantError("model.bug", "Keepsake made a mistake while it loaded the model.", "The log has the details.")


@runtime_checkable
class RestingEngine(Protocol):
    """An engine that can give the model's memory back and still know the model."""

    @property
    def asleep(self) -> bool:
        """Whether the model of ``info`` must be loaded again before it answers; counting tokens would do so, too."""
        ...

    @property
    def file_gone(self) -> bool:
        """Whether the file of ``info`` was removed since it was loaded."""
        ...

    def rest(self, idle_seconds: float) -> bool:
        """Give the memory back if it neither works nor has worked for so long; whether it did. Returns at once."""
        ...

    def wake(self, cancel: CancelToken, progress: Progress) -> ModelInfo:
        """Load the model of ``info`` again where that is needed."""
        ...


class Servers(Protocol):
    """Who knows which server the person wants to be asked, if any."""

    def wanted(self, model: str = "") -> ServerChoice | None:
        """The server to ask now, from this thread; None for none. Raises ("remote.unasked"), ("remote.address")."""
        ...

    def connected(self, choice: ServerChoice) -> ModelInfo | None:
        """The model of that server, where there is a connection to it."""
        ...

    def lasting(self) -> ModelInfo | None:
        """The server's model, where this thread works for a private chat, which alone does not use it."""
        ...

    def connect(self, choice: ServerChoice, usual_window: int, cancel: CancelToken) -> ModelInfo:
        """As RemoteEngine.connect; the server is the engine from now on."""
        ...


def is_asleep(engine: Engine) -> bool:
    """Whether the engine's model rests; see RestingEngine."""
    return isinstance(engine, RestingEngine) and engine.asleep


class ModelService:
    """Loads on the chat lane, so that turns sent meanwhile wait for the model in their order."""

    def __init__(
        self,
        store: ModelStore,
        engine: Engine,
        settings: Callable[[], Settings],
        lane: Lane,
        emit: EventSink,
        tunings: TuningStore | None = None,
        servers: Servers | None = None,
    ) -> None:
        """tunings: what was measured for models, to load them by. servers: who knows whether a server is to be asked
        instead of a model of the store; None: never.
        """
        self.store = store
        self.engine = engine
        self._settings = settings
        self._lane = lane
        self._emit = emit
        self._tunings = tunings
        self._cancel = CancelToken()
        self._told_gone: Path | None = None
        self._servers = servers
        self._shown: ModelInfo | None = None
        self._names: dict[Path, str] = {}

    def models(self) -> list[ModelFile]:
        """All model files that are known, the broken ones with their problem."""
        return self.store.list()

    def add(self, path: Path) -> ModelFile:
        return self.store.add(path)

    def add_folder(self, folder: Path) -> list[ModelFile]:
        return self.store.add_folder(folder)

    def remove(self, name: str) -> ModelFile:
        """As ModelStore.remove. The model that is loaded here is unloaded before, also while a server is asked. Where
        it was in use, another one is loaded behind, if there is one.

        Raises ``model.missing``, ``model.delete``.
        """
        file = self.store.find(name)
        with here_only(self.engine):
            info = self.engine.info
            loaded = info is not None and info.path == file.path
            if loaded:
                self.engine.unload()
        try:
            return self.store.remove(name)
        finally:
            if loaded and self.engine.info is None:
                self.load_later()

    def chosen(self, name: str = "") -> ModelFile:
        """The model of that name, else the one of the settings, else the first sound one. Raises ``model.*``."""
        wanted = name or self._settings().model.name
        if wanted:
            return self.store.find(wanted)
        sound = [model for model in self.store.list() if not model.problem]
        if not sound:
            raise NO_MODEL
        return sound[0]

    def usable(self, name: str) -> ModelFile:
        """A model that can be chosen by its name from now on; a path that was not added is. Raises ``model.*``."""
        file = self.store.find(name)
        check_usable(file.path, read_gguf_info(file.path))
        known = any(file.path == one.path for one in self.store.list())
        return file if known else self.store.add(file.path)

    def engine_settings(self, file: ModelFile | None = None) -> EngineSettings:
        """How a model is loaded: by what the person has set, else by what was measured for it here.

        None: one that is not here.
        """
        settings, own = self.plain_settings()
        return apply(settings, self._tunings.get(file.path) if self._tunings and file else None, own)

    def plain_settings(self) -> tuple[EngineSettings, frozenset[str]]:
        """What the settings say, and the names of those fields that the person has set."""
        model = self._settings().model
        own: dict[str, Any] = {}
        if model.threads:
            own.update(threads=model.threads, threads_batch=model.threads)
        if model.flash_attention != "auto":
            own["flash_attention"] = model.flash_attention
        if model.gpu_layers >= 0:
            own["gpu_layers"] = model.gpu_layers
        if model.kv_type != "f16":
            own["kv_type"] = model.kv_type
        settings = EngineSettings(window=model.window, mlock=model.memory_lock == "on", **own)
        return settings, frozenset(own)

    def take_over(self) -> None:
        """Go on with the model that the engine came with; load the chosen one where it has none."""
        info = self.engine.info
        if info and self._settings().model.engine == "local":
            self._emit(ModelResting(info) if is_asleep(self.engine) else ModelReady(info))
        else:
            self.load_later()

    def load_later(self, name: str = "") -> Future[ModelInfo]:
        """Load on the chat lane; the outcome comes as an event, and as the future's result."""
        return self._lane.submit(self.load, name)

    def load(self, name: str = "", cancel: CancelToken | None = None) -> ModelInfo:
        """Load now, on this thread. Whatever fails is told as ModelFailed, then raised: AssistantError, Cancelled."""

        def load() -> ModelInfo:
            if self._servers and (server := self._servers.wanted(name)):
                self._emit(ModelLoading(server.address.host, 0.0))
                return self._servers.connect(server, self._settings().model.window, cancel or self._cancel)
            model = self.chosen(name)
            self._names[model.path] = model.name
            progress = self._progress(model.name)
            return self.engine.load(model.path, self.engine_settings(model), cancel or self._cancel, progress)

        return self._told(load)

    def ensure(self, name: str = "", cancel: CancelToken | None = None) -> ModelInfo:
        """The loaded model; loads the chosen one when none is, or another one is asked for; wakes one that rests."""
        if self._servers and (server := self._servers.wanted(name)):
            connected = self._servers.connected(server)
            return self._seen(connected) if connected else self.load(name, cancel)
        engine, info = self.engine, self.engine.info
        if info is None or (name and self.chosen(name).path != info.path):
            return self.load(name, cancel)
        if isinstance(engine, RestingEngine):
            if engine.asleep:
                progress = self._progress(self._named(info).name)
                return self._told(lambda: engine.wake(cancel or self._cancel, progress))
            self._tell_if_gone(engine, info)
        return self._seen(self._named(info))

    def _seen(self, info: ModelInfo) -> ModelInfo:
        """Another process may have switched a server on or off; a private chat beside one changes nothing."""
        if self._shown is not None and self._shown.host != info.host and not self._lasting():
            self._shown = info
            self._emit(ModelReady(info))
        return info

    def _lasting(self) -> ModelInfo | None:
        """The server's model, where only this thread's private chat does not use it."""
        return self._servers.lasting() if self._servers else None

    def rest(self, idle_seconds: float) -> None:
        """Give the model's memory back if it was not used for so long; 0: never. For a quiet moment."""
        engine, info = self.engine, self.engine.info
        if idle_seconds > 0 and info and isinstance(engine, RestingEngine) and engine.rest(idle_seconds):
            self._emit(ModelResting(self._named(info)))

    def _told(self, load: Callable[[], ModelInfo]) -> ModelInfo:
        try:
            info = self._named(load())
        except AssistantError as error:
            self._tell_failed(error)
            raise
        except Cancelled:
            self._tell_failed(_STOPPED)
            raise
        except Exception:
            self._tell_failed(_BUG)
            raise
        self._shown = self._lasting() or info
        self._emit(ModelReady(self._shown))
        return info

    def _tell_failed(self, error: AssistantError) -> None:
        self._emit(ModelFailed(error))
        if lasting := self._lasting():
            self._emit(ModelReady(lasting))

    def _named(self, info: ModelInfo) -> ModelInfo:
        """With the name that the list has for it: Ollama calls its files by their hash, Jan all of them alike."""
        name = "" if info.host else self._names.get(info.path, "")
        return replace(info, name=name) if name else info

    def _tell_if_gone(self, engine: RestingEngine, info: ModelInfo) -> None:
        """A file that was removed serves on while it is loaded, on most systems; that is worth saying, once."""
        if not engine.file_gone:
            self._told_gone = None
        elif self._told_gone != info.path:
            self._told_gone = info.path
            name = info.path.name
            self._emit(
                Notice(f"The model file {name} was removed; it can be used until Keepsake is closed.", error=True)
            )

    def note_failure(self, error: AssistantError) -> None:
        """A turn failed after ``ensure``: where that leaves no model that answers, it is told as ModelFailed."""
        ours = error.code.startswith(("model.", "engine."))
        if ours and (self.engine.info is None or error.code == "engine.keeps_dying"):
            self._emit(ModelFailed(error))

    def cancel(self) -> None:
        self._cancel.cancel()

    def _progress(self, name: str) -> Progress:
        """Tells that loading begins, then how far it is."""
        self._emit(ModelLoading(name, 0.0))
        return lambda done, total, _what: self._emit(ModelLoading(name, done / total if total else 0.0))
