"""Why a worker process is gone: told from how it ended, what the system counted, and the last lines of its log."""

from __future__ import annotations

import logging
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from assistant.core.errors import AssistantError

_LAST_BYTES, _LAST_LINES = 8_000, 6
_NO_MEMORY = ("out of memory", "failed to allocate", "cannot allocate memory", "bad_alloc", "memoryerror")
"""What llama.cpp, ggml, C++ and Python say before they give up for want of memory."""
_IN_PAGE_ERROR = 0xC0000006
"""Windows' STATUS_IN_PAGE_ERROR: a page of a mapped file could not be read."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WorkerEnd:
    """How a worker ended that was not asked to.

    code: "worker.died", "worker.hung", "worker.no_memory", or "worker.page_lost" where a file that it had mapped could
    not be read any more. status: as subprocess gives it, a signal is negative. lines: the end of its log.
    """

    code: str
    status: int
    lines: tuple[str, ...] = ()

    @property
    def how(self) -> str:
        """For logs and the doctor: "SIGSEGV", "exit status 3"."""
        if self.status < 0:
            try:
                return signal.Signals(-self.status).name
            except ValueError:
                return f"signal {-self.status}"
        return f"exit status {self.status if self.status < 256 else hex(self.status)}"

    def error(self) -> AssistantError:
        """What the person is told where nobody above knows more about the worker."""
        match self.code:
            case "worker.hung":
                return AssistantError(
                    self.code, "The helper process did not answer any more.", "Try again; it is started anew."
                )
            case "worker.no_memory":
                return AssistantError(self.code, "The helper process ran out of memory.", "Close other programs.")
        return AssistantError(self.code, "The helper process ended unexpectedly.", "Try again; it is started anew.")


def worker_end(status: int, hung: bool, memory_kills: int, lines: tuple[str, ...]) -> WorkerEnd:
    """hung: we ended it, because it hung. memory_kills: how many the system counted while it worked."""
    if hung:
        return WorkerEnd("worker.hung", status, lines)
    if status == -_number("SIGKILL") and memory_kills > 0:
        return WorkerEnd("worker.no_memory", status, lines)
    if status in (-_number("SIGBUS"), _IN_PAGE_ERROR):
        return WorkerEnd("worker.page_lost", status, lines)
    if any(words in line.casefold() for line in lines for words in _NO_MEMORY):
        return WorkerEnd("worker.no_memory", status, lines)
    return WorkerEnd("worker.died", status, lines)


def last_lines(log: Path | None, since: int) -> tuple[str, ...]:
    """The end of what was written to the log after its first ``since`` bytes."""
    if log is None:
        return ()
    try:
        with log.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(since, size - _LAST_BYTES))
            text = file.read().decode("utf-8", "replace")
    except OSError as error:
        _log.debug("the log %s could not be read: %s", log, error)
        return ()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return tuple(line[:300] for line in lines[-_LAST_LINES:])


def _number(name: str) -> int:
    """A signal's number; one that nothing ends by where the system has no such signal."""
    return int(getattr(signal, name, 0)) if sys.platform != "win32" else sys.maxsize
