"""Measures what a model does with each speed setting: in worker processes of its own, quiet and beside a busy core."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.ports import Progress
from assistant.core.values import EngineSettings
from assistant.engine.other_work import OtherWork
from assistant.engine.protocol import settings_to_json
from assistant.engine.speed import Speed
from assistant.engine.threads import usable_cores, worker_environment
from assistant.engine.tuning import (
    OptionFigures,
    Policy,
    PolicyFigures,
    Tuning,
    choose_options,
    choose_policy,
    machine,
)
from assistant.runtime.worker_process import WorkerProcess

_MODULE = "assistant.engine.worker"
_WINDOW = 1024
"""Tokens: enough for what is measured, and little memory."""
_BUSY_SECONDS = 300.0  # a busy core ends by itself, whatever happens to us
_LOOK_SECONDS = 0.5
_ALL_LAYERS = 999
_SMALL_BYTES, _LARGE_BYTES = 300_000_000, 1_000_000_000
_NOT_SO_HERE = frozenset(
    ("worker.died", "worker.hung", "worker.no_memory", "model.failed", "model.too_big", "engine.failed")
)
"""What one way to open a model may end in while another goes well: a file that is copied takes more memory."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured. read, decode, chunk: tokens; seconds: of each measurement at most."""

    waits: tuple[str, ...] = ("passive", "3000", "library")
    read: int = 128
    decode: int = 24
    chunk: int = 64
    seconds: float = 0.8


def effort_for(size_bytes: int) -> Effort:
    """A large model gets shorter texts, for it takes seconds to read what a small one reads in one."""
    if size_bytes > _LARGE_BYTES:
        return Effort(read=32, decode=6, chunk=16)
    if size_bytes > _SMALL_BYTES:
        return Effort(read=64, decode=12, chunk=32)
    return Effort()


class Tuner:
    """One run over one model. Raises AssistantError as loading does, Cancelled when ``cancel`` asks for it."""

    def __init__(
        self,
        path: Path,
        settings: EngineSettings,
        own: Collection[str],
        effort: Effort,
        cancel: CancelToken,
        progress: Progress,
    ) -> None:
        """own: fields of the settings that the person chose, which are not tried otherwise."""
        self._path = path
        self._usual = replace(settings, window=min(settings.window, _WINDOW))
        self._own = own
        self._effort = effort
        self._cancel = cancel
        self._progress = progress
        self._cores = usable_cores()
        self._done, self._steps = 0, len(effort.waits) + 2

    def run(self, now: str) -> Tuning:
        """now: the time that the result carries, ISO."""
        began = time.monotonic()
        others = self._others()
        policies = [figures for wait in self._effort.waits for figures in self._measure_wait(wait)]
        policy = choose_policy(policies)
        chosen: dict[str, str | int | bool] = {
            "threads": policy.threads,
            "threads_batch": policy.threads_batch,
            "wait": policy.wait,
            "give_way": policy.give_way,
        }
        options, changes = self._measure_options(policy)
        return Tuning(
            model=self._path.stem,
            machine=machine(),
            measured=now,
            seconds=round(time.monotonic() - began, 1),
            chosen={**chosen, **changes},
            policies=tuple(policies),
            options=tuple(options),
            others=round(others, 2),
        )

    def _others(self) -> float:
        """Cores that other programs keep busy now."""
        work = OtherWork()
        time.sleep(_LOOK_SECONDS)
        return work.cores() or 0.0

    # --- threads and how they wait --------------------------------------------------------------------------------

    def _measure_wait(self, wait: str) -> list[PolicyFigures]:
        """Every number of threads with this way of waiting; one thread, which waits for nobody, only the first time."""
        self._tell("how threads wait")
        counts = [n for n in thread_counts(self._cores) if n > 1 or wait == self._effort.waits[0]]
        with self._worker(wait) as worker:
            self._load(worker, self._usual)
            before = {n: self._speed(worker, n, give_way=False) for n in counts}
            with self._busy_core():
                busy = {(n, way): self._speed(worker, n, give_way=way) for n in counts for way in _ways(n)}
            after = {n: self._speed(worker, n, give_way=False) for n in counts}
        quiet = {n: _best(before[n], after[n]) for n in counts}  # giving way changes nothing while it is quiet
        return [PolicyFigures(n, wait, way, quiet[n], speed) for (n, way), speed in busy.items()]

    def _speed(self, worker: WorkerProcess, threads: int, *, give_way: bool, read: int = 0, chunk: int = -1) -> Speed:
        effort = self._effort
        trial = {
            "threads": threads,
            "threads_batch": read or threads,
            "give_way": give_way,
            "read": effort.read,
            "decode": effort.decode,
            "chunk": effort.chunk if chunk < 0 else chunk,
            "seconds": effort.seconds,
        }
        return Speed(**worker.call("measure", trial, self._cancel))

    # --- how the model is opened ----------------------------------------------------------------------------------

    def _measure_options(self, policy: Policy) -> tuple[list[OptionFigures], dict[str, str | int | bool]]:
        with self._worker(policy.wait) as worker:
            gpu = worker.call("devices", {}, self._cancel)["gpu"]
            self._tell("how the model is opened")
            usual = self._option(worker, policy, "as usual", {})
            assert usual is not None  # it was loaded with these settings before
            tried = [self._option(worker, policy, name, changes) for name, changes in _options(self._own, gpu)]
            usual = replace(usual, speed=_best(usual.speed, self._again(worker, policy)))
            options = [option for option in tried if option]
            chosen = choose_options(policy, usual, options)
            self._tell("guessing ahead")
            draft = self._exact_draft(worker, policy, chosen)
        return [usual, *options], {**chosen, "draft": draft}

    def _option(
        self, worker: WorkerProcess, policy: Policy, name: str, changes: Mapping[str, str | int | bool]
    ) -> OptionFigures | None:
        """None: the model cannot be opened so here, or does not run."""
        began = time.monotonic()
        try:
            self._load(worker, replace(self._usual, **changes))  # type: ignore[arg-type] # names and types of its fields
            load_ms = round((time.monotonic() - began) * 1000, 1)
            return OptionFigures(name, dict(changes), self._opened(worker, policy), load_ms)
        except AssistantError as error:
            if error.code in _NOT_SO_HERE and changes:
                return None
            raise

    def _again(self, worker: WorkerProcess, policy: Policy) -> Speed:
        self._load(worker, self._usual)
        return self._opened(worker, policy)

    def _opened(self, worker: WorkerProcess, policy: Policy) -> Speed:
        speeds = [
            self._speed(worker, policy.threads, give_way=False, read=policy.threads_batch, chunk=0) for _ in range(2)
        ]
        return _best(*speeds)

    def _exact_draft(self, worker: WorkerProcess, policy: Policy, chosen: Mapping[str, str | int | bool]) -> int:
        self._load(worker, replace(self._usual, **chosen))  # type: ignore[arg-type] # names and types of its fields
        trial = {"threads": policy.threads, "threads_batch": policy.threads_batch, "give_way": policy.give_way}
        return int(worker.call("exact_draft", trial, self._cancel)["draft"])

    # --- processes ------------------------------------------------------------------------------------------------

    @contextmanager
    def _worker(self, wait: str) -> Iterator[WorkerProcess]:
        worker = WorkerProcess(_MODULE, env=worker_environment(os.environ, wait))
        try:
            yield worker
        finally:
            worker.close()

    @contextmanager
    def _busy_core(self) -> Iterator[None]:
        busy = WorkerProcess(_MODULE)
        request = busy.request("be_busy", {"seconds": _BUSY_SECONDS}, CancelToken())
        try:
            next(request)  # it is busy now
            yield
        finally:
            request.close()  # type: ignore[attr-defined] # it is a generator
            busy.close()

    def _load(self, worker: WorkerProcess, settings: EngineSettings) -> None:
        worker.call("load", {"path": str(self._path), "settings": settings_to_json(settings)}, self._cancel)

    def _tell(self, what: str) -> None:
        self._cancel.check()
        self._progress(self._done, self._steps, what)
        self._done += 1


def thread_counts(cores: int) -> list[int]:
    """The numbers of threads that are worth measuring."""
    return sorted({1, max(1, cores // 2), max(1, cores - 1), cores})


def _ways(threads: int) -> Sequence[bool]:
    return (False, True) if threads > 1 else (False,)


def _options(own: Collection[str], gpu: bool) -> list[tuple[str, dict[str, str | int | bool]]]:
    options: list[tuple[str, dict[str, str | int | bool]]] = [
        ("flash attention", {"flash_attention": "on"}),
        ("steps of 64 tokens", {"batch": 64}),
        ("steps of 128 tokens", {"batch": 128}),
        ("cache of 8 bits", {"kv_type": "q8_0"}),
        ("file copied, not mapped", {"mmap": False}),
    ]
    if gpu:
        options.insert(0, ("all layers on the graphics card", {"gpu_layers": _ALL_LAYERS}))
    return [(name, changes) for name, changes in options if not changes.keys() & set(own)]


def _best(one: Speed, other: Speed) -> Speed:
    return Speed(max(one.read, other.read), max(one.decode, other.decode))
