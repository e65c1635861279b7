"""Whether a model fits, with what is loaded already; and under which name it is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.events import DownloadChanged, Event, ModelReady
from assistant.core.ports import Progress
from assistant.core.values import EngineSettings, ModelInfo
from assistant.engine.catalogue import CatalogueModel
from assistant.engine.memory_estimate import Fit, ModelShape
from assistant.engine.model_files import ModelFile, ModelStore
from assistant.runtime.lanes import Lane
from assistant.runtime.model_facts import ModelFacts
from assistant.runtime.models import ModelService
from assistant.settings.schema import Settings
from tests.engine.downloads.hub import MODEL
from tests.fakes import FakeEngine

SHAPE = ModelShape(600, 64, 4, 128, 64, 64)
CATALOGUE = (
    CatalogueModel("here", "Here", ("en",), 0, "o/r", "", "here.gguf", len(MODEL), "", "MIT", shape=SHAPE),
    CatalogueModel("other", "Other", ("en",), 0, "o/r", "", "here.gguf", 10**9, "", "MIT", shape=SHAPE),
    CatalogueModel("unknown", "Unknown", ("en",), 0, "o/r", "", "u.gguf", 0, "", "MIT"),
)


class Loads(FakeEngine):
    """An engine that has the file loaded which it was told to."""

    loaded: ModelInfo | None = None
    asleep = False
    file_gone = False

    @property
    def info(self) -> ModelInfo | None:  # type: ignore[override]
        return self.loaded

    def load(self, path: Path, settings: EngineSettings, cancel: CancelToken, progress: Progress) -> ModelInfo:
        plain = FakeEngine().info
        self.loaded = replace(plain, name=path.stem, path=path, window=settings.window, window_trained=2048)
        return self.loaded

    def rest(self, idle_seconds: float) -> bool:
        return False

    def wake(self, cancel: CancelToken, progress: Progress) -> ModelInfo:
        raise NotImplementedError


class NoDownloads:
    def states(self) -> list[DownloadChanged]:
        return []


def settings_of(_: ModelFile | None) -> EngineSettings:
    return EngineSettings(window=1024)


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "here.gguf").write_bytes(MODEL)
    (folder / "cut.gguf").write_bytes(MODEL[:50])
    return ModelStore(folder, CATALOGUE)


def facts_of(store: ModelStore, engine: Loads, free: int | None) -> ModelFacts:
    return ModelFacts(store, engine, settings_of, NoDownloads(), lambda: free)  # type: ignore[arg-type]


def test_each_file_is_judged_by_what_is_free(store: ModelStore) -> None:
    engine = Loads()
    cut, here = facts_of(store, engine, 10**10).here()
    assert (cut.memory, cut.fit, here.fit) == (None, Fit.UNKNOWN, Fit.FITS)
    assert here.memory is not None and here.memory.window == 1024 and here.most_window == 2048
    assert facts_of(store, engine, here.memory.needed).of("here").fit is Fit.TIGHT
    assert facts_of(store, engine, 10**6).of("here").fit is Fit.TOO_BIG
    assert facts_of(store, engine, None).of("here").fit is Fit.UNKNOWN
    large = facts_of(store, engine, 10**10).of("here", window=100_000).memory
    assert large is not None and (large.window, large.cache) == (2048, 2 * here.memory.cache)
    with pytest.raises(AssistantError):
        facts_of(store, engine, 1).of("nothing")


def test_what_is_loaded_gives_its_memory_to_the_next(store: ModelStore) -> None:
    engine = Loads()
    engine.load(store.find("here").path, EngineSettings(window=1024), CancelToken(), lambda *_: None)
    here = facts_of(store, engine, 10**9).of("here")
    assert here.loaded and here.memory is not None
    assert here.available == 10**9 + here.memory.resident - here.memory.weights
    engine.asleep = True
    assert facts_of(store, engine, 10**9).of("here").available == 10**9


def test_an_offer_knows_what_is_here_by_name_and_size(store: ModelStore) -> None:
    here, other, unknown = facts_of(store, Loads(), 10**10).offers()
    assert (here.here, other.here, unknown.here) == ("here", "", "")
    assert (here.fit, unknown.fit, unknown.memory) == (Fit.FITS, Fit.UNKNOWN, None)


def test_a_loaded_model_is_called_as_the_list_calls_it(tmp_path: Path) -> None:
    blob = tmp_path / "Jan" / "Qwen3-4B" / "model.gguf"
    blob.parent.mkdir(parents=True)
    blob.write_bytes(MODEL)
    events: list[Event] = []
    lane = Lane("chat")
    service = ModelService(ModelStore(tmp_path / "models"), Loads(), Settings, lane, events.append)
    service.add_folder(tmp_path / "Jan")
    assert service.load("Qwen3-4B").name == "Qwen3-4B"
    assert [event.info.name for event in events if isinstance(event, ModelReady)] == ["Qwen3-4B"]
    lane.close()


def test_removing_the_loaded_model_unloads_it_first(store: ModelStore, tmp_path: Path) -> None:
    unloaded: list[bool] = []

    class Watched(Loads):
        def unload(self) -> None:
            unloaded.append(store.find("here").path.exists())
            self.loaded = None

    lane = Lane("chat")
    service = ModelService(store, Watched(), Settings, lane, lambda _: None)
    service.load("here")
    assert service.remove("here").own
    assert unloaded == [True] and not (tmp_path / "models" / "here.gguf").exists()
    lane.close(drop=False)
