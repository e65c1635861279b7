"""The engine as the upper layers see it: a worker process that is started, loaded and, after a death, replaced."""

from __future__ import annotations

import logging
import os
import threading
from collections import OrderedDict, deque
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
from assistant.runtime.worker_process import WorkerProcess

_log = logging.getLogger(__name__)
_MODULE = "assistant.engine.worker"
_DEATHS, _DEATHS_WITHIN = 3, 300.0
"""So many deaths in so many seconds, and the worker is no longer started by itself."""
_COUNTS_KEPT, _COUNTED_TEXT = 20_000, 2_000


class WorkerEngine:
    """Implements core.ports.Engine. For any thread; the worker answers one request after another.

    log: file that takes the worker's log. When the worker dies, the request in hand fails with engine.died, and the
    next one starts a fresh worker and loads the same model again.
    """

    def __init__(self, log: Path | None = None, clock: Callable[[], float] = monotonic) -> None:
        self._worker = WorkerProcess(_MODULE, log, worker_environment(os.environ))
        self._clock = clock
        self._lock = threading.Lock()
        self._reloading = threading.Lock()
        self._info: ModelInfo | None = None
        self._wanted: tuple[Path, EngineSettings] | None = None
        self._deaths: deque[float] = deque(maxlen=_DEATHS)
        self._dead_start = 0
        self._counts: OrderedDict[str, int] = OrderedDict()
        self._closed = False
        self._place: Callable[[], Place | None] = lambda: None

    @property
    def info(self) -> ModelInfo | None:
        return self._info

    @property
    def pid(self) -> int | None:
        """The worker's process id, for the doctor and for tests."""
        return self._worker.pid

    def load(self, path: Path, settings: EngineSettings, cancel: CancelToken, progress: Progress) -> ModelInfo:
        """As core.ports.Engine. A load that a person asks for is tried even after many deaths."""
        with self._lock:
            self._deaths.clear()
        with self._reloading:
            self._forget()
            self._worker.set_environment(worker_environment(os.environ, settings.wait))
            info = self._load(path, settings, cancel, progress)
        if cancel.cancelled:  # the last moment of a load cannot be stopped; what was loaded is not wanted any more
            self.unload()
            raise Cancelled
        return info

    def chat(self, messages: Sequence[Message], options: GenerateOptions, cancel: CancelToken) -> Iterator[ChatEvent]:
        """As core.ports.Engine. Also raises engine.no_model, engine.keeps_dying, engine.closed."""
        args = {"messages": protocol.messages_to_json(messages), "options": protocol.options_to_json(options)}
        args["snapshots"] = protocol.place_to_json(self._place())
        try:
            for name, data in self._with_model("chat", args, cancel):
                yield protocol.event_from_json(name, data)
        except Cancelled:
            yield Done(StopReason.STOPPED, "", 0, 0, 0, 0.0, 0.0)

    def count(self, texts: Sequence[str]) -> list[int]:
        with self._lock:
            known = {text: self._counts[text] for text in texts if text in self._counts}
        if new := [text for text in dict.fromkeys(texts) if text not in known]:
            counts = self._result("count", {"texts": new})["counts"]
            known.update(zip(new, counts, strict=True))
            self._keep_counts(dict(zip(new, counts, strict=True)))
        return [known[text] for text in texts]

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
            self._worker.call("keep", args, cancel)

    def unload(self) -> None:
        """Ends the worker: only so is all of the memory surely given back."""
        self._forget()
        self._worker.close()

    def close(self) -> None:
        self._closed = True
        self.unload()

    def _load(self, path: Path, settings: EngineSettings, cancel: CancelToken, progress: Progress) -> ModelInfo:
        args = {"path": str(path), "settings": protocol.settings_to_json(settings)}
        for name, data in self._request("load", args, cancel):
            if name == "progress":
                progress(data["percent"], 100, path.name)
            elif name == "result":
                self._wanted, self._info = (path, settings), protocol.info_from_json(data)
        if self._info is None:
            raise AssistantError("engine.died", "The engine ended while it loaded the model.", "Try again.")
        return self._info

    def _forget(self) -> None:
        self._wanted = self._info = None
        with self._lock:
            self._counts.clear()

    def _keep_counts(self, counts: Mapping[str, int]) -> None:
        with self._lock:
            self._counts.update((text, count) for text, count in counts.items() if len(text) <= _COUNTED_TEXT)
            while len(self._counts) > _COUNTS_KEPT:
                self._counts.popitem(last=False)

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
        with self._reloading:
            if self._wanted is None or self._has_model():
                return
            path, settings = self._wanted
            _log.warning("the engine was started anew; loading %s again", path.name)
            try:
                self._load(path, settings, cancel, lambda _done, _total, _what: None)
            except AssistantError:
                self._info = (
                    None  # no model is there any more; the next turn loads the chosen one, and tells how it went
                )
                raise

    def _has_model(self) -> bool:
        """Whether another thread has loaded the model meanwhile."""
        try:
            self._worker.call("count", {"texts": []}, CancelToken())
        except AssistantError:
            return False
        return True

    def _request(self, op: str, args: Mapping[str, Any], cancel: CancelToken) -> Iterator[tuple[str, dict[str, Any]]]:
        self._check_alive()
        try:
            yield from self._worker.request(op, args, cancel)
        except AssistantError as error:
            if error.code == "worker.closed":
                raise _closed() from error
            if error.code != "worker.died":
                raise
            self._note_death()
            raise AssistantError(
                "engine.died", "The engine ended unexpectedly; the text so far is kept.", "Try again."
            ) from error

    def _note_death(self) -> None:
        """Several threads may have waited for one worker: its death counts once."""
        with self._lock:
            if self._dead_start != self._worker.starts:
                self._dead_start = self._worker.starts
                self._deaths.append(self._clock())

    def _check_alive(self) -> None:
        if self._closed:
            raise _closed()
        recent = [moment for moment in self._deaths if self._clock() - moment < _DEATHS_WITHIN]
        if len(recent) >= _DEATHS and self._dead_start == self._worker.starts:
            raise AssistantError(
                "engine.keeps_dying",
                f"The engine ended {len(recent)} times within a few minutes.",
                "Choose a smaller model or context window and load it, or look into the log.",
            )


def _closed() -> AssistantError:
    return AssistantError("engine.closed", "The model was unloaded.", "Load it again.")
