"""Speed settings measured for a model on this machine: asked for by a person, used whenever the model is loaded."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace

from assistant.core.cancel import CancelToken
from assistant.core.clock import Clock, stamp
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.ports import Engine, Progress
from assistant.engine.tuning import Tuning, TuningStore
from assistant.runtime.models import ModelService
from assistant.runtime.tuner import Effort, Tuner, effort_for


class TuningService:
    """Measures on the thread it is called on: in a window, that of the chat lane, for no turn may run meanwhile."""

    def __init__(
        self,
        models: ModelService,
        engine: Engine,
        store: TuningStore,
        clock: Clock,
        effort: Callable[[int], Effort] = effort_for,
    ) -> None:
        """engine: the one that has models loaded here, which would disturb."""
        self._models, self._engine, self._store, self._clock, self._effort = models, engine, store, clock, effort
        self._cancel: CancelToken | None = None
        self._closed = False

    def of(self, name: str = "") -> Tuning | None:
        """What was measured for that model, or the chosen one. Raises ``model.*``."""
        return self._store.get(self._models.chosen(name).path)

    def measure(self, name: str, cancel: CancelToken, progress: Progress) -> Tuning:
        """Measure and keep. A model that is loaded is unloaded first and loaded anew afterwards.

        Raises AssistantError (``model.*``; "tuning.unwritable"), Cancelled; what was measured before stays then.
        """
        model = self._models.chosen(name)
        info = self._engine.info
        self._cancel = cancel
        if info:
            self._engine.unload()
        try:
            settings, own = self._models.plain_settings()
            usual = replace(settings, threads=0, threads_batch=0, give_way=True)
            tuner = Tuner(model.path, usual, own, self._effort(model.size_bytes), cancel, progress)
            tuning = tuner.run(stamp(self._clock))
            self._store.put(model.path, tuning)
        finally:
            self._cancel = None
            if info and self._models.engine.info is None and not self._closed:
                with contextlib.suppress(AssistantError, Cancelled):  # told as ModelFailed; what was measured counts
                    self._models.load(self._models.store.find(str(info.path)).name)
        return tuning

    def close(self) -> None:
        """Stop measuring; nothing is loaded any more afterwards."""
        self._closed = True
        if cancel := self._cancel:
            cancel.cancel()
