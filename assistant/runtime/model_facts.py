"""What is known of the models here and of those that could be: their memory with these settings, and how it fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from assistant.core.events import DownloadChanged
from assistant.core.ports import Engine
from assistant.core.values import EngineSettings
from assistant.engine.catalogue import CatalogueModel
from assistant.engine.fit import available_memory, run_plan
from assistant.engine.memory_estimate import Fit, MemoryEstimate, RunPlan, judge, largest_window
from assistant.engine.model_files import ModelFile, ModelStore
from assistant.engine.threads import plan_threads, usable_cores
from assistant.runtime.downloads import DownloadService
from assistant.runtime.models import is_asleep


@dataclass(frozen=True, slots=True)
class ModelFact:
    """A model that is here. memory: with the window that it would have, None where the file cannot be used.

    available: bytes that are free, those of the model that is loaded now counted in; None where nobody says.
    most_window: tokens of the largest window that fits. loaded: it is the one in use.
    """

    file: ModelFile
    memory: MemoryEstimate | None
    fit: Fit
    available: int | None
    most_window: int
    loaded: bool


@dataclass(frozen=True, slots=True)
class Offer:
    """A model of the catalogue. here: the name of the file that is it, "" where there is none; download: how that
    stands, None where there is none.
    """

    model: CatalogueModel
    memory: MemoryEstimate | None
    fit: Fit
    available: int | None
    here: str
    download: DownloadChanged | None


class ModelFacts:
    """Blocking: reads headers of files. settings: how a model is loaded, None for one that is not here."""

    def __init__(
        self,
        store: ModelStore,
        engine: Engine,
        settings: Callable[[ModelFile | None], EngineSettings],
        downloads: DownloadService,
        available: Callable[[], int | None] = available_memory,
    ) -> None:
        self._store, self._engine, self._settings = store, engine, settings
        self._downloads, self._available = downloads, available

    def here(self, window: int = 0) -> list[ModelFact]:
        """All model files. window: tokens to estimate for; 0: those of the settings."""
        files, free = self._store.list(), self._free()
        return [self._fact(file, window, free) for file in files]

    def of(self, name: str, window: int = 0) -> ModelFact:
        """One of them. Raises AssistantError("model.missing")."""
        return self._fact(self._store.find(name), window, self._free())

    def offers(self, window: int = 0) -> list[Offer]:
        """The catalogue, in its order."""
        states = {state.name: state for state in self._downloads.states()}
        files, free = self._store.list(), self._free()
        return [self._offer(model, window, free, files, states.get(model.name)) for model in self._store.catalogue]

    def _fact(self, file: ModelFile, window: int, free: int | None) -> ModelFact:
        plan = self._plan(file, file.size_bytes, file.window_trained, window)
        memory = self._store.memory(file, plan)
        info = self._engine.info
        loaded = info is not None and info.path == file.path
        if memory is None:
            return ModelFact(file, None, Fit.UNKNOWN, free, 0, loaded)
        most = file.window_trained
        if free is not None:
            most = largest_window(lambda trial: self._needed(file, trial), plan, file.window_trained, free)
        return ModelFact(file, memory, judge(memory, free), free, most, loaded)

    def _needed(self, file: ModelFile, plan: RunPlan) -> int:
        memory = self._store.memory(file, plan)
        return memory.needed if memory else 0

    def _offer(
        self,
        model: CatalogueModel,
        window: int,
        free: int | None,
        files: list[ModelFile],
        download: DownloadChanged | None,
    ) -> Offer:
        memory = model.memory(self._plan(None, model.about_bytes, model.window, window))
        here = next((file.name for file in files if not file.problem and is_model(file, model)), "")
        fit = judge(memory, free) if memory else Fit.UNKNOWN
        return Offer(model, memory, fit, free, here, download)

    def _plan(self, file: ModelFile | None, size: int, trained: int, window: int) -> RunPlan:
        settings = self._settings(file)
        wanted = window or settings.window or trained
        step = plan_threads(settings, size, usable_cores()).step
        return run_plan(settings, min(wanted, trained) if trained else wanted, step)

    def _free(self) -> int | None:
        """The loaded model's memory counts as free, for it goes before another one is loaded. The system counts the
        mapped pages of its file as free already.
        """
        free, info = self._available(), self._engine.info
        if free is None or info is None or is_asleep(self._engine):
            return free
        for file in self._store.list():
            plan = self._plan(file, info.size_bytes, info.window_trained, info.window)
            if file.path == info.path and (memory := self._store.memory(file, plan)):
                return free + memory.resident - memory.weights
        return free


def is_model(file: ModelFile, model: CatalogueModel) -> bool:
    """Whether a file is that model, by its name and size; the one that comes along by its size alone."""
    if model.size_bytes and file.size_bytes != model.size_bytes:
        return False
    return not model.file or file.path.name.casefold() == model.file.casefold()
