"""The engine as the upper layers see it: a worker process that is started, loaded and, after a death, replaced."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.ports import Progress
from assistant.core.values import (
    ChatEvent,
    Done,
    EngineSettings,
    GenerateOptions,
    Message,
    ModelInfo,
    StopReason,
    ToolSpec,
)
from assistant.engine import protocol
from assistant.engine.snapshots import Place
from assistant.engine.threads import worker_environment
from assistant.runtime.engine_end import ModelMark, engine_error, write_death
from assistant.runtime.memory_kills import MemoryKills
from assistant.runtime.pulse import Patience
from assistant.runtime.restarts import Restarts
from assistant.runtime.token_counts import TokenCounts
from assistant.runtime.worker_end import WorkerEnd
from assistant.runtime.worker_process import WorkerLost, WorkerProcess

_log = logging.getLogger(__name__)
_MODULE = "assistant.engine.worker"


class WorkerEngine:
    """Implements core.ports.Engine, and runtime.models.RestingEngine. For any thread.

    log: file that takes the worker's log. When the worker is lost, the request in hand fails with one error that says
    why, and the next one starts a fresh worker and loads the same model again.
    """

    def __init__(
        self,
        log: Path | None = None,
        clock: Callable[[], float] = monotonic,
        patience: Patience = Patience(),  # noqa: B008 - frozen
        kills: MemoryKills | None = None,
    ) -> None:
        self._log = log
        self._worker = WorkerProcess(_MODULE, log, worker_environment(os.environ), patience, kills, self._lost)
        self._clock = clock
        self._reloading = threading.Lock()
        self._restarts = Restarts(clock)
        self._info: ModelInfo | None = None
        self._wanted: tuple[Path, EngineSettings] | None = None
        self._tried: tuple[Path, EngineSettings] | None = None
        self._mark: ModelMark | None = None
        self._loaded_start = 0  # the worker's start that has the model loaded
        self._used_at = clock()
        self._counts = TokenCounts()
        self._closed = False
        self._place: Callable[[], Place | None] = lambda: None

    @property
    def info(self) -> ModelInfo | None:
        return self._info

    @property
    def pid(self) -> int | None:
        """The worker's process id, for the doctor and for tests."""
        return self._worker.pid

    @property
    def asleep(self) -> bool:
        """See RestingEngine: the worker rests or was lost, or the model's file is another one by now."""
        if self._info is None:
            return False
        loaded = self._worker.alive and self._loaded_start == self._worker.starts
        return not loaded or (self._mark is not None and self._mark.changed)

    @property
    def file_gone(self) -> bool:
        """See RestingEngine."""
        return self._mark is not None and self._mark.gone

    def rest(self, idle_seconds: float) -> bool:
        """See RestingEngine. Ends the worker, unless there is no file any more to load again; ``info`` stays."""
        if not self._reloading.acquire(blocking=False):
            return False
        try:
            unused = self._clock() - self._used_at >= idle_seconds
            return self._info is not None and unused and not self.file_gone and self._worker.retire()
        finally:
            self._reloading.release()

    def wake(self, cancel: CancelToken, progress: Progress) -> ModelInfo:
        """See RestingEngine. Raises as ``load``, and engine.no_model where there is none to load again."""
        with self._reloading:
            if self._wanted is None or self._info is None:
                raise AssistantError(protocol.NO_MODEL, "No model is loaded.", "Choose a model first.")
            if not self.asleep:
                return self._info
            self._wait_for_start(cancel)  # raises before anything is forgotten
            path, settings = self._wanted
            if self._mark and self._mark.changed:
                self._counts.forget()
                self._worker.close()  # else the old file's memory would be held beside the new one's
            try:
                return self._load(path, settings, cancel, progress)
            except AssistantError:
                self._info = None  # the next turn loads the chosen one, and tells how it went
                raise

    def load(self, path: Path, settings: EngineSettings, cancel: CancelToken, progress: Progress) -> ModelInfo:
        """As core.ports.Engine. Also raises engine.keeps_dying; what is not what kept dying is tried at once."""
        with self._reloading:
            if self._tried != (path, settings):
                self._restarts.forgive()
                self._tried = (path, settings)
            self._forget()
            self._worker.set_environment(worker_environment(os.environ, settings.wait))
            info = self._load(path, settings, cancel, progress)
        if cancel.cancelled:  # the last moment of a load cannot be stopped; what was loaded is not wanted any more
            self.unload()
            raise Cancelled
        return info

    def chat(self, messages: Sequence[Message], options: GenerateOptions, cancel: CancelToken) -> Iterator[ChatEvent]:
        """As core.ports.Engine. Also raises engine.no_model, engine.keeps_dying, engine.closed."""
        args = {
            "messages": protocol.messages_to_json(messages),
            "options": protocol.options_to_json(options),
            "snapshots": protocol.place_to_json(self._place()),
        }
        try:
            for name, data in self._with_model("chat", args, cancel):
                yield protocol.event_from_json(name, data)
        except Cancelled:
            yield Done(StopReason.STOPPED, "", 0, 0, 0, 0.0, 0.0)

    def count(self, texts: Sequence[str]) -> list[int]:
        return self._counts.of(texts, lambda new: self._result("count", {"texts": new})["counts"])

    def count_prompt(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> int:
        args = {"messages": protocol.messages_to_json(messages), "tools": protocol.tools_to_json(tools)}
        return int(self._result("count_prompt", args)["count"])

    def keep_at(self, place: Callable[[], Place | None]) -> None:
        """Where snapshots of what is read from now on are."""
        self._place = place

    def keep(self, conversations: Sequence[str], cancel: CancelToken) -> None:
        """Have what the worker has read of these conversations on disk; nothing where none runs. Raises Cancelled."""
        if self._worker.alive and self._info and not self._closed:
            args = {"conversations": list(conversations), "snapshots": protocol.place_to_json(self._place())}
            list(self._request("keep", args, cancel))

    def unload(self) -> None:
        """Ends the worker: only so is all of the memory surely given back."""
        self._forget()
        self._worker.close()

    def close(self) -> None:
        """For ever: a request that is just being made starts no worker again."""
        self._closed = True
        self._forget()
        self._worker.end()

    def _load(self, path: Path, settings: EngineSettings, cancel: CancelToken, progress: Progress) -> ModelInfo:
        args = {"path": str(path), "settings": protocol.settings_to_json(settings)}
        self._mark = ModelMark.of(path)
        for name, data in self._request("load", args, cancel):
            if name == "progress":
                progress(data["percent"], 100, path.name)
            elif name == "result":
                self._wanted, self._info = (path, settings), protocol.info_from_json(data)
                self._loaded_start = self._worker.starts
        if self._info is None:
            raise AssistantError("engine.died", "The engine ended while it loaded the model.", "Try again.")
        return self._info

    def _forget(self) -> None:
        self._wanted = self._info = None
        self._counts.forget()

    def _result(self, op: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
        return dict(self._with_model(op, args, CancelToken()))["result"]

    def _with_model(
        self, op: str, args: Mapping[str, Any], cancel: CancelToken
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """A request; when the worker turns out to be a fresh one, the model is loaded and it is asked again."""
        try:
            yield from self._request(op, args, cancel)
            return
        except AssistantError as error:
            if error.code != protocol.NO_MODEL or self._wanted is None:
                raise
        self._reload(cancel)
        yield from self._request(op, args, cancel)

    def _reload(self, cancel: CancelToken) -> None:
        if self._info:
            _log.info("the engine was started anew; %s is loaded again", self._info.name)
        self.wake(cancel, lambda _done, _total, _what: None)

    def _request(self, op: str, args: Mapping[str, Any], cancel: CancelToken) -> Iterator[tuple[str, dict[str, Any]]]:
        self._wait_for_start(cancel)
        try:
            yield from self._worker.request(op, args, cancel)
        except WorkerLost as lost:
            raise self._note_end(lost, loading=op == "load") from lost
        except AssistantError as error:
            if error.code == "worker.closed":
                raise _closed() from error
            raise
        finally:
            if op in ("load", "chat"):
                self._used_at = self._clock()

    def _note_end(self, lost: WorkerLost, *, loading: bool) -> AssistantError:
        """What to tell whoever waited for it."""
        error = engine_error(lost.end, self._mark, loading=loading)
        self._note(lost.end, lost.start, error, logging.WARNING)
        if error.code.startswith("model."):
            self._info = None  # it cannot be loaded again as it was
        return error

    def _lost(self, end: WorkerEnd, start: int) -> None:
        """Nobody waited for it, so nobody is told; the doctor knows."""
        self._note(end, start, engine_error(end, self._mark), logging.INFO)

    def _note(self, end: WorkerEnd, start: int, error: AssistantError, level: int) -> None:
        """Once, however many threads waited for one worker."""
        if self._restarts.died(start):
            tail = "".join(f"\n  {line}" for line in end.lines)
            _log.log(level, "the engine ended (%s: %s) and is started anew when needed%s", error.code, end.how, tail)
            if self._log:
                write_death(self._log, end, error, self._mark)

    def _wait_for_start(self, cancel: CancelToken) -> None:
        """Until a worker that died may be started again. Raises engine.closed, engine.keeps_dying, Cancelled."""
        if self._closed:
            raise _closed()
        seconds = self._restarts.wait_seconds(self._worker.starts)
        if seconds and not self._worker.alive and cancel.wait(seconds):
            raise Cancelled


def _closed() -> AssistantError:
    return AssistantError("engine.closed", "The model was unloaded.", "Load it again.")
