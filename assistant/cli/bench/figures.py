"""Figures: medians, percentiles, and what machine they were measured on."""

from __future__ import annotations

import math
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Report:
    """figures: absolute, by name with the unit in the name; ratios: ours over raw, both of this run.

    words: for people, below the figures; figures that are tables are printed there only.
    """

    figures: Mapping[str, float | int | str | list[str] | Mapping[str, Any]]
    ratios: Mapping[str, float]
    words: str = ""


def median(values: Sequence[float]) -> float:
    import statistics  # fractions and all, which starting the window does not need

    return round(statistics.median(values), 3)


def percentile(values: Sequence[float], share: float) -> float:
    """The value that ``share`` (0..1) of the values do not exceed (nearest rank)."""
    ordered = sorted(values)
    return round(ordered[max(0, math.ceil(share * len(ordered)) - 1)], 3)


def milliseconds(work: Callable[[], object]) -> float:
    """How long one call takes."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def resident_mb(pid: int | None) -> float:
    """Megabytes of memory that a process has now, a mapped model included; 0 where the system does not say."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    except OSError:
        return 0.0
    kilobytes = next((int(line.split()[1]) for line in lines if line.startswith("VmRSS:")), 0)
    return round(kilobytes * 1024 / 1e6, 1)


def machine() -> dict[str, str | int]:
    """Processor, cores that this process may use, system and Python."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return {
        "processor": _processor(),
        "cores": cores,
        "system": platform.platform(),
        "python": platform.python_version(),
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
