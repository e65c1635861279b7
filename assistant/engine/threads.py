"""How many threads a model gets, and how they wait for each other.

llama.cpp's OpenMP threads spin while they wait. With as many threads as cores, decoding collapses as soon as anything
else runs (a 135M model on two cores: 65 tokens a second quiet, 1 to 18 beside one busy process), because each of the
many barriers a token has waits for the thread that was put aside. A laptop is busy: our own window and embedding
worker, a browser. So one core stays free of decoding, and threads that wait go to sleep.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assistant.core.values import EngineSettings

_DECODE_AT_MOST = 8
"""Decoding is bound by memory; more threads only wait more often."""
_STEPS = ((3_000_000_000, 32), (400_000_000, 64), (0, 256))
"""Prompt tokens read at once by models of at least so many bytes. Reading is as fast with 64 as with 256 but for the
smallest ones, whose many short operations wait for each other; see plan_threads for what the size decides."""
_FAR, _LEAST_STEP = 4096, 16
"""From this place in the window on attention takes the longest of all operations; see step_end."""


@dataclass(frozen=True, slots=True)
class ThreadPlan:
    """decode: threads for one token at a time; read: for the prompt; step: prompt tokens read at once."""

    decode: int
    read: int
    step: int


def worker_environment(env: Mapping[str, str], wait: str = "") -> dict[str, str]:
    """What to add to the worker's environment before it starts. What the person set in ``env`` stands.

    wait: as EngineSettings.wait.
    """
    if any(name in env for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")):
        return {}
    if wait.isdecimal():
        return {"GOMP_SPINCOUNT": wait}
    return {"OMP_WAIT_POLICY": wait or "passive"}


def plan_threads(settings: EngineSettings, size_bytes: int, cores: int) -> ThreadPlan:
    """The settings where they say something, else the policy above.

    step bounds how rarely progress is told, how much is read in vain when it is stopped, and how long one operation of
    llama.cpp runs, for it can be stopped only between two: a product of 64 tokens with the widest matrix of a 1.5B
    model, or of 32 with that of an 8B model, takes 25 to 50 ms on two cores, several times that when they are busy.
    A graphics card takes all it is given.
    """
    decode = settings.threads or max(1, min(cores - 1, _DECODE_AT_MOST))
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
