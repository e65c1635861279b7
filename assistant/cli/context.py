"""What every command gets: the services, made when first used and ended at the end, and the output."""

from __future__ import annotations

import argparse
from types import TracebackType

from assistant.cli.output import Output
from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.runtime.assistants import AssistantService
from assistant.runtime.composition import Places, compose, find_assistants
from assistant.runtime.services import Services

_SOON_EMBEDDED = 200  # units: one or two seconds of work
_UNWRITABLE = ("state.unwritable", "workspace.read_only", "disk.full")
_PATIENCE_MS = 10_000.0  # a script wants the whole answer rather than a quick one


def natural(text: str) -> int:
    """A count from 1, as an argument. Raises argparse's error."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1")
    return int(text)


class Context:
    """Use it as a context manager; services are composed on first use, so that --help costs nothing."""

    def __init__(self, places: Places, output: Output, *, reads: bool = False) -> None:
        """reads: the command only shows what is there, which it also can where Keepsake may not write."""
        self.places = places
        self.output = output
        self._reads = reads
        self.cancel = CancelToken()
        self._services: Services | None = None

    @property
    def services(self) -> Services:
        if self._services is None:
            self._services = self._composed()
        return self._services

    @property
    def assistants(self) -> AssistantService:
        """The assistants, without opening the workspace of any."""
        if self._services is not None:
            return self._services.assistants
        return find_assistants(self.places)

    def __enter__(self) -> Context:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel.cancel()
        if self._services is not None:
            self._services.close()

    def _composed(self) -> Services:
        try:
            services = compose(self.places, recall_budget_ms=_PATIENCE_MS)
        except AssistantError as error:
            if not self._reads or error.code not in _UNWRITABLE:
                raise
            self.output.note_error(error)
            return compose(self.places, recall_budget_ms=_PATIENCE_MS, only_read=True)
        services.forgetting.finish_left()  # what a killed process had begun to forget
        return services

    def ready_recall(self, *, must: bool = True) -> None:
        """Wait until meaning can be searched; embed what is new, unless that is a job for ``index sync``.

        Where the index can only be read a line says so. must: raise ("recall.index") where there is none, either.
        """
        recall = self.services.recall
        try:
            recall.sync(self.cancel, self.output.progress, vectors=False)
        except AssistantError as error:
            if must:
                recall.status()
            self.output.note_error(error)
            recall.warm(self.cancel)
            return
        if recall.warm(self.cancel) and 0 < recall.status().stale <= _SOON_EMBEDDED:
            recall.sync(self.cancel, self.output.progress)
