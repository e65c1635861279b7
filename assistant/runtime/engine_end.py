"""What a person is told when the engine's worker is lost, and what is written down about it for the doctor."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from assistant.core.errors import AssistantError
from assistant.core.folders import make_private
from assistant.core.json_text import parse_json
from assistant.runtime.worker_end import WorkerEnd
from assistant.workspace.safe_files import write_atomic
from assistant.workspace.stored import fits

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ModelMark:
    """A model file as it was when it was loaded: whether the one at its path is still the same."""

    path: Path
    stamp: tuple[int, int, int] | None

    @staticmethod
    def of(path: Path) -> ModelMark:
        return ModelMark(path, _stamp(path))

    @property
    def gone(self) -> bool:
        return self.stamp is not None and _stamp(self.path) is None

    @property
    def changed(self) -> bool:
        """Another file is there, or the same one with other contents."""
        now = _stamp(self.path)
        return now is not None and self.stamp is not None and now != self.stamp


@dataclass(frozen=True, slots=True)
class EngineDeath:
    """The last time the engine's worker was lost. at: local time; code, how: as WorkerEnd."""

    at: str
    code: str
    how: str
    model: str
    message: str


def engine_error(end: WorkerEnd, mark: ModelMark | None, *, loading: bool = False) -> AssistantError:
    """mark: of the model that was loaded or was being loaded."""
    if end.code == "worker.hung":
        return AssistantError("engine.hung", "The engine did not answer any more and was ended.", "Try again.")
    if end.code == "worker.no_memory":
        return AssistantError(
            "engine.no_memory",
            "The engine ran out of memory.",
            "Choose a smaller model or a smaller context window, or close other programs.",
        )
    if mark and (mark.gone or mark.changed):
        return AssistantError(
            "model.changed",
            f"The model file {mark.path.name} was removed, cut or replaced while it was in use.",
            "Put it back, or choose another model.",
        )
    if mark and end.code == "worker.page_lost":
        return AssistantError(
            "model.unreadable",
            f"The model file {mark.path.name} could not be read any more.",
            "Check its disk, or choose another model.",
        )
    if mark and loading:
        return AssistantError(
            "engine.died",
            f"The engine ended while it loaded {mark.path.name}.",
            "Try again; if it ends again, the file may be damaged: copy or download it again, or choose another model.",
        )
    return AssistantError("engine.died", "The engine ended unexpectedly; the text so far is kept.", "Try again.")


def write_death(log: Path, end: WorkerEnd, error: AssistantError, mark: ModelMark | None) -> None:
    """Beside the worker's log. Nothing of what was said: the log's lines stay in the log."""
    at = datetime.now().astimezone().isoformat(timespec="seconds")
    death = EngineDeath(at, error.code, end.how, mark.path.name if mark else "", error.message)
    text = json.dumps(asdict(death), ensure_ascii=False, sort_keys=True, indent=1)
    try:
        make_private(log.parent)
        write_atomic(_death_file(log), f"{text}\n".encode("utf-8", "replace"))
    except (AssistantError, OSError) as problem:
        _log.info("the engine's end was not written down: %s", problem)


def read_death(log: Path) -> EngineDeath | None:
    """The last one; None where there was none, or nobody can read it."""
    try:
        value = parse_json(_death_file(log).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return EngineDeath(**value) if fits(value, EngineDeath) else None


def _death_file(log: Path) -> Path:
    return log.with_suffix(".last-end.json")


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_size, stat.st_mtime_ns, stat.st_ino
