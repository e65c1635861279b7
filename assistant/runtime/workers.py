"""The worker processes behind the services: the engine and, where there is a model for it, the embedder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assistant.runtime.embedding import WorkerEmbedder
from assistant.runtime.engine_client import WorkerEngine
from assistant.settings.paths import Paths, expanded
from assistant.settings.schema import Settings

EMBEDDING_MODEL = "multilingual-e5-small"


@dataclass(frozen=True, slots=True)
class Workers:
    """Processes that serve any assistant: the model stays loaded while the person goes from one to another.

    downloads: names of those that were running and are to go on.
    """

    engine: WorkerEngine
    embedder: WorkerEmbedder | None
    downloads: tuple[str, ...] = ()

    def close(self) -> None:
        """End the processes."""
        self.engine.close()
        if self.embedder:
            self.embedder.close()


def start_workers(settings: Settings, paths: Paths) -> Workers:
    """Workers whose processes start when they are first needed."""
    return Workers(WorkerEngine(engine_log(paths)), _embedder(settings, paths, paths.state / "logs"))


def engine_log(paths: Paths) -> Path:
    """What the engine's worker writes down; what is known of its last unexpected end stands beside it."""
    return paths.state / "logs" / "engine.log"


def _embedder(settings: Settings, paths: Paths, logs: Path) -> WorkerEmbedder | None:
    """The embedding model of the settings or the one that comes along; None where there is none (words alone then)."""
    wanted = expanded(Path(settings.embedding.model or EMBEDDING_MODEL))
    places = (paths.models / wanted, paths.shared_models / wanted)  # an absolute ``wanted`` stays as it is
    folder = next((place for place in places if _is_folder(place)), None)
    return WorkerEmbedder(folder, logs / "embedding.log") if folder else None


def _is_folder(path: Path) -> bool:
    """Whether a folder is there; never one of a name that no folder can have, which may stand in the settings."""
    try:
        return path.is_dir()
    except OSError:
        return False
