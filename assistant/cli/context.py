"""What every command gets: the services, made when first used and ended at the end, and the output."""

from __future__ import annotations

import argparse
from types import TracebackType

from assistant.cli.output import Output
from assistant.core.cancel import CancelToken
from assistant.runtime.assistants import AssistantService
from assistant.runtime.composition import Places, compose, find_assistants
from assistant.runtime.services import Services

_SOON_EMBEDDED = 200  # units: one or two seconds of work
_PATIENCE_MS = 10_000.0  # a script wants the whole answer rather than a quick one


def natural(text: str) -> int:
    """A count from 1, as an argument. Raises argparse's error."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1")
    return int(text)


class Context:
    """Use it as a context manager; services are composed on first use, so that --help costs nothing."""

    def __init__(self, places: Places, output: Output) -> None:
        self.places = places
        self.output = output
        self.cancel = CancelToken()
        self._services: Services | None = None

    @property
    def services(self) -> Services:
        if self._services is None:
            self._services = compose(self.places, recall_budget_ms=_PATIENCE_MS)
            self._services.forgetting.finish_left()  # what a killed process had begun to forget
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

    def ready_recall(self) -> None:
        """Wait until meaning can be searched; embed what is new, unless that is a job for ``index sync``."""
        recall = self.services.recall
        recall.sync(self.cancel, self.output.progress, vectors=False)
        if recall.warm(self.cancel) and 0 < recall.status().stale <= _SOON_EMBEDDED:
            recall.sync(self.cancel, self.output.progress)
