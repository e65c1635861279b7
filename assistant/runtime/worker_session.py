"""One life of a worker process: its pipes, who waits for which answer, and whether it still lives."""

from __future__ import annotations

import logging
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

from assistant.core.folders import make_private, open_private
from assistant.core.wire import BEAT, Channel, Json
from assistant.runtime.memory_kills import MemoryKills
from assistant.runtime.pulse import LOOK_SECONDS, Patience, Pulse
from assistant.runtime.worker_end import WorkerEnd, last_lines, worker_end

_log = logging.getLogger(__name__)
QUIET = {"ORT_DISABLE_TELEMETRY": "1", "HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1"}
"""Nothing leaves: what tells the libraries of our workers to report to nobody and to fetch nothing."""
_END_AT_ONCE = {"GGML_NO_BACKTRACE": "1"}
"""llama.cpp that gives up calls a debugger on itself before, by children that wait for each other for ever when two of
its threads give up at once (ggml.c, ggml_print_backtrace)."""
CLOSE_SECONDS = 2.0
"""A worker that has not ended so long after its input was closed is killed; all is closed within the app's 3 s."""
_LOG_BYTES = 1_000_000
"""A log larger than this is begun anew when the worker is started."""
_ROOT = Path(__file__).resolve().parent.parent.parent
"""The folder that holds our package, for the worker to import it from."""
Answers = queue.SimpleQueue[Json | None]


class WorkerSession:
    """A process that was started, until it ends. Raises OSError where it cannot be started.

    A thread reads its answers; another one looks, while somebody waits for one, whether it hangs, and kills it then.
    """

    def __init__(
        self, module: str, start: int, log: Path | None, env: Mapping[str, str], patience: Patience, kills: MemoryKills
    ) -> None:
        """start: which start of the module this is, from 1."""
        self.start = start
        self._log = log
        self.process, self._log_start = _spawn(module, log, env)
        self._channel = Channel(cast(BinaryIO, self.process.stdout), cast(BinaryIO, self.process.stdin))
        self._lock = threading.Lock()
        self._waiting: dict[int, Answers] = {}
        self._last_id = 0
        self._ended = threading.Event()
        self._busy = threading.Event()
        self._closing = self._hung = False
        self._end: WorkerEnd | None = None
        self._kills, self._kills_before = kills, 0
        self.pulse = Pulse(patience)
        self._threads = [
            threading.Thread(target=work, name=f"{name}-{module}", daemon=True)
            for name, work in (("reader", self._read), ("watch", self._watch))
        ]
        for thread in self._threads:
            thread.start()

    @property
    def is_open(self) -> bool:
        """Its pipes close a moment before it can be seen to have ended."""
        return not self._ended.is_set() and self.process.poll() is None

    @property
    def is_busy(self) -> bool:
        """Whether somebody waits for an answer."""
        with self._lock:
            return bool(self._waiting)

    def open(self) -> tuple[int, Answers] | None:
        """A new request's id and answers; None when the process has ended."""
        with self._lock:
            if not self.is_open:
                return None
            if not self._waiting:
                self.pulse.begin()
                self._kills_before = self._kills.count()
            self._last_id += 1
            answers = self._waiting[self._last_id] = queue.SimpleQueue()
            self._busy.set()
            return self._last_id, answers

    def forget(self, ident: int) -> None:
        with self._lock:
            self._waiting.pop(ident, None)

    def send(self, message: Json) -> None:
        """Send; a worker that is gone shows as the end of its answers, not here."""
        try:
            self._channel.send(message)
        except (OSError, ValueError):
            _log.debug("the worker is gone; %s was not sent", message.get("op"))

    def end(self) -> WorkerEnd | None:
        """How it ended, to be asked after the last answer; None when it was closed on purpose."""
        with self._lock:
            if self._closing:
                return None
            if self._end is None:
                self._end = self._find_out()
            return self._end

    def close(self) -> None:
        """End the process; whoever waits for an answer is told that it was ended on purpose."""
        self._closing = True
        self.release()

    def release(self) -> None:
        """End the process, if it has not ended itself, and release its pipes."""
        # Closing the input waits for a thread that is just writing to it, for ever if the process hangs: the kill is
        # set off beside it.
        kill = threading.Timer(CLOSE_SECONDS, self.process.kill)
        kill.start()
        _close_quietly(self.process.stdin)
        self.process.wait()
        kill.cancel()
        kill.join()
        for thread in self._threads:
            thread.join()
        _close_quietly(self.process.stdout)

    def _find_out(self) -> WorkerEnd:
        try:
            status = self.process.wait(CLOSE_SECONDS)
        except subprocess.TimeoutExpired:  # it closed its pipe and lives on
            self.process.kill()
            status = self.process.wait()
        kills = self._kills.count() - self._kills_before
        return worker_end(status, self._hung, kills, last_lines(self._log, self._log_start))

    def _read(self) -> None:
        try:
            while (message := self._channel.receive()) is not None:
                if message.get("event") == BEAT:
                    self.pulse.beat(_seconds(message.get("cpu")))
                    continue
                self.pulse.answered()
                with self._lock:
                    answers = self._waiting.get(message.get("id", -1))
                if answers:
                    answers.put(message)
        except (OSError, ValueError):
            _log.warning("the pipe of a worker broke", exc_info=True)
        finally:
            with self._lock:
                self._ended.set()
                waiting = list(self._waiting.values())
            self._busy.set()
            for answers in waiting:
                answers.put(None)

    def _watch(self) -> None:
        while self._busy.wait() and not self._ended.wait(LOOK_SECONDS):
            with self._lock:
                if not self._waiting:
                    self._busy.clear()
                    continue
            if self.pulse.look():
                self._hung = True
                self.process.kill()
                return


def _spawn(module: str, log: Path | None, env: Mapping[str, str]) -> tuple[subprocess.Popen[bytes], int]:
    """The process, and how long its log was before it."""
    frozen = getattr(sys, "frozen", False)
    # -P: a folder that happens to be the current one must not shadow our modules with its own.
    command = [sys.executable, "--worker", module] if frozen else [sys.executable, "-P", "-m", module]
    paths = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    with _log_file(log) as stderr:
        start = stderr.tell()
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUTF8": "1", **QUIET, **_END_AT_ONCE, **env},
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        return process, start


def _log_file(path: Path | None) -> BinaryIO:
    """What the process writes to its log is nice to have: where there is no place for it, it works without."""
    try:
        if path:
            make_private(path.parent)
            mode: Literal["wb", "ab"] = "wb" if path.exists() and path.stat().st_size > _LOG_BYTES else "ab"
            return open(path, mode, opener=open_private)
    except OSError as error:
        _log.info("no log in %s: %s", path, error)
    return Path(os.devnull).open("ab")


def _close_quietly(pipe: Any) -> None:
    try:
        pipe.close()
    except OSError:
        _log.debug("a pipe of a worker that is gone did not close")


def _seconds(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
