"""How many threads a model gets, and how they wait for each other.

llama.cpp's OpenMP threads spin while they wait. With as many threads as cores, decoding collapses as soon as anything
else runs (a 135M model on two cores: 121 tokens a second quiet, 24 to 62 beside one busy process), because each of the
many barriers a token has waits for the thread that was put aside. A laptop is busy: our own window and embedding
worker, a browser. So while the model runs, threads for which no core is free are left out (ThreadWatch): then all cores
can be used when it is quiet. Where nobody knows what others do, one core stays free of decoding, and threads that wait
go to sleep at once. This is the policy where nothing was measured; see docs/decisions/0037 for the figures.
"""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from assistant.core.values import EngineSettings
from assistant.engine.other_work import others_are_known

_log = logging.getLogger(__name__)
_DECODE_AT_MOST = 8
"""Decoding is bound by memory; more threads only wait more often."""
_TURNS = "3000"
"""So often a waiting thread spins before it sleeps: as fast as spinning on, and soon asleep where one was put aside."""
_STEPS = ((3_000_000_000, 32), (400_000_000, 64), (0, 256))
"""Prompt tokens read at once by models of at least so many bytes. Reading is as fast with 64 as with 256 but for the
smallest ones, whose many short operations wait for each other; see plan_threads for what the size decides."""
_FAR, _LEAST_STEP = 4096, 16
"""From this place in the window on attention takes the longest of all operations; see step_end."""
_LOOK_SECONDS, _FIRST_LOOK_SECONDS = 0.2, 0.1
"""The kernel counts in hundredths of a second, so a shorter look would say little."""
_PAUSE_SECONDS = 0.05
"""What others did while we computed nothing, our own search and window among them, says little about now."""
_REMEMBERED_SECONDS = 10.0
"""So long a pause may be for the room to be what it was: who worked beside one reply works beside the next."""
_TAKEN = 0.35
"""A core of which others take more than this is not free: measured, see docs/decisions/0037."""
_SLOW, _NEAR = 3.0, 3
"""A token that takes so many times the usual was waiting for a thread that was put aside. One alone says nothing, for
any interruption does that; another one among the next so many does."""
_LEAVE_SECONDS, _LEAVE_AT_MOST = 1.0, 30.0


@dataclass(frozen=True, slots=True)
class ThreadPlan:
    """decode: threads for one token at a time; read: for the prompt; step: prompt tokens read at once."""

    decode: int
    read: int
    step: int


class Others(Protocol):
    """What other programs do: other_work.OtherWork."""

    def cores(self) -> float | None: ...


class ThreadWatch:
    """The threads to use now: those of the plan, or fewer while other programs need the cores.

    cores: logical ones of the whole system. Where nobody knows what others do, or it comes and goes too fast to be
    counted, tokens that take far longer than usual tell. For one thread.
    """

    def __init__(
        self,
        plan: ThreadPlan,
        cores: int,
        others: Others,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._plan, self._cores, self._others, self._clock = plan, cores, others, clock
        self._ended = -math.inf
        self._look_at = 0.0
        self._room = self._room_before = cores
        self._given = plan.decode
        self._usual = 0.0
        self._since_slow = _NEAR
        self._full_again = -math.inf
        self._leave = _LEAVE_SECONDS

    def threads(self) -> tuple[int, int]:
        """For decoding, for reading. To be asked just before something is computed."""
        now = self._clock()
        if now - self._ended > _PAUSE_SECONDS:
            self._begin(now)
        elif now >= self._look_at:
            self._look(now)
        less = 1 if now < self._full_again else 0
        self._given = self._allowed(self._plan.decode - less)
        return self._given, self._allowed(self._plan.read - less)

    def took(self, tokens: int, seconds: float) -> None:
        """So many tokens were computed with the threads that were given."""
        self._ended = self._clock()
        if tokens != 1 or self._given == 1 or self._given < self._plan.decode:
            return
        if not self._usual or seconds <= _SLOW * self._usual:
            self._usual += (seconds - self._usual) * (0.1 if self._usual else 1.0)
            self._since_slow += 1
            return
        if self._since_slow < _NEAR:
            self._give_way()
        self._since_slow = 0

    def _allowed(self, threads: int) -> int:
        return max(1, min(threads, self._room))

    def _begin(self, now: float) -> None:
        """Count from now on. A tenth of a second with too many threads costs less than a prompt read with half."""
        self._others.cores()
        self._look_at = now + _FIRST_LOOK_SECONDS
        if now - self._ended > _REMEMBERED_SECONDS:
            self._room = self._room_before = self._cores

    def _look(self, now: float) -> None:
        """Fewer at once, more only when two looks agree: a quiet moment must not bring the collapse back."""
        self._look_at = now + _LOOK_SECONDS
        others = self._others.cores()
        if others is None:
            return
        room = max(1, min(self._cores, int(self._cores - others + _TAKEN)))
        before, self._room_before = self._room_before, room
        allowed = min(room, max(self._room, before))
        if allowed != self._room and min(allowed, self._room) < self._plan.read:
            _log.info("other programs keep %.1f cores busy: room for %d threads", others, allowed)
        self._room = allowed

    def _give_way(self) -> None:
        now = self._clock()
        again = now - self._full_again < self._leave
        self._leave = min(_LEAVE_AT_MOST, self._leave * 2) if again else _LEAVE_SECONDS
        self._full_again = now + self._leave
        _log.info("tokens took far longer than usual: one thread less for %.0f s", self._leave)


def worker_environment(env: Mapping[str, str], wait: str = "") -> dict[str, str]:
    """What to add to the worker's environment before it starts. What the person set in ``env`` stands.

    wait: as EngineSettings.wait.
    """
    if wait == "library" or any(name in env for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")):
        return {}
    if wait.isdecimal():
        return {"GOMP_SPINCOUNT": wait}
    if not wait and others_are_known():
        return {"GOMP_SPINCOUNT": _TURNS}
    return {"OMP_WAIT_POLICY": wait or "passive"}


def plan_threads(settings: EngineSettings, size_bytes: int, cores: int) -> ThreadPlan:
    """The settings where they say something, else the policy above.

    step bounds how rarely progress is told, how much is read in vain when it is stopped, and how long one operation of
    llama.cpp runs, for it can be stopped only between two: a product of 64 tokens with the widest matrix of a 1.5B
    model, or of 32 with that of an 8B model, takes 25 to 50 ms on two cores, several times that when they are busy.
    A graphics card takes all it is given.
    """
    free = 0 if settings.give_way and others_are_known() else 1
    decode = settings.threads or max(1, min(cores - free, _DECODE_AT_MOST))
    read = settings.threads_batch or settings.threads or cores
    step = next(step for least, step in _STEPS if size_bytes >= least)
    if settings.gpu_layers:
        step = settings.batch
    return ThreadPlan(decode, read, max(1, min(step, settings.batch)))


def step_end(start: int, step: int) -> int:
    """Where the step that begins at ``start`` tokens ends: always at the same places, however it came to begin there.

    Far behind, steps are halved with each doubling of the distance: attention over twice the tokens takes twice as
    long, and is one operation.
    """
    far = _FAR
    while start >= far:
        step, far = min(step, max(_LEAST_STEP, step // 2)), far * 2
    return min((start // step + 1) * step, far)


def usable_cores(cpu_info: Path = Path("/proc/cpuinfo")) -> int:
    """Physical cores this process may use; logical ones where the system does not tell them apart."""
    logical = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        text = cpu_info.read_text("utf-8", "replace")
    except OSError:
        return logical
    return max(1, min(logical, _physical_cores(text) or logical))


def _physical_cores(text: str) -> int:
    cores = set()
    for block in text.split("\n\n"):
        fields = dict(line.split(":", 1) for line in block.splitlines() if ":" in line)
        facts = {key.strip(): value.strip() for key, value in fields.items()}
        if "core id" in facts:
            cores.add((facts.get("physical id", ""), facts["core id"]))
    return len(cores)
