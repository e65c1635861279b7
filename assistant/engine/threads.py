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
_LARGE_MODEL_BYTES = 1_500_000_000
_LARGE_STEP, _STEP = 64, 256


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

    step bounds both how rarely progress is told and how long one operation of llama.cpp runs, for it can be stopped
    only between two: with 64 tokens an operation of an 8B model stays below 200 ms on two slow cores.
    """
    decode = settings.threads or max(1, min(cores - 1, _DECODE_AT_MOST))
    read = settings.threads_batch or settings.threads or cores
    step = _LARGE_STEP if size_bytes > _LARGE_MODEL_BYTES else _STEP
    return ThreadPlan(decode, read, max(1, min(step, settings.batch)))


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
