"""Whether a model fits into memory: asked before it is loaded, so that the system does not kill the worker for it."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

from assistant.core.errors import AssistantError
from assistant.core.values import EngineSettings
from assistant.engine.gguf import GgufInfo
from assistant.engine.memory_estimate import RunPlan, estimate, largest_window, shape_of

_GB = 1_000_000_000


def run_plan(settings: EngineSettings, window: int, step: int) -> RunPlan:
    """How a model with these settings runs. "auto" for flash attention counts as without: the larger of the two."""
    flash = settings.flash_attention == "on" or settings.kv_type != "f16"
    return RunPlan(window, step, flash, settings.kv_type, settings.mmap)


def needed_memory(info: GgufInfo, plan: RunPlan) -> int:
    """Bytes for weights, cache and work buffers, as memory_estimate has them."""
    return estimate(shape_of(info), info.size_bytes, info.repacked_bytes, plan).needed


def check_fit(info: GgufInfo, plan: RunPlan, available: int | None) -> None:
    """Raises AssistantError("model.too_big") when the model cannot fit. available None: not known, so no check."""
    needed = needed_memory(info, plan)
    if available is None or needed <= available:
        return
    smaller = largest_window(lambda trial: needed_memory(info, trial), plan, plan.window, available)
    raise AssistantError(
        "model.too_big",
        f"The model needs about {needed / _GB:.1f} GB of memory and {available / _GB:.1f} GB are free.",
        f"Choose a smaller context window; up to {smaller} tokens fit."
        if smaller
        else "Choose a smaller model, or close other programs.",
    )


def available_memory() -> int | None:
    """Bytes this process may still take, the limit of its control group included; None where nobody says."""
    if sys.platform == "win32":
        return _available_on_windows()
    limits = [value for value in (_mem_available(Path("/proc/meminfo")), _group_available()) if value is not None]
    if limits:
        return min(limits)
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * 3 // 4
    except (ValueError, OSError):
        return None


def _mem_available(meminfo: Path) -> int | None:
    text = _read(meminfo)
    for line in text.splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _group_available(root: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Limit of the control group minus what it uses; its file cache counts as free, for it is given back."""
    limit, used = _read(root / "memory.max").strip(), _read(root / "memory.current").strip()
    if not limit.isdigit() or not used.isdigit():
        return None
    fields = dict(line.split(" ", 1) for line in _read(root / "memory.stat").splitlines() if " " in line)
    cache = sum(int(fields.get(name, "0")) for name in ("inactive_file", "active_file"))
    return max(0, int(limit) - int(used) + cache)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError:
        return ""


def _available_on_windows() -> int | None:
    class MemoryStatus(ctypes.Structure):
        _fields_ = (
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            *((name, ctypes.c_ulonglong) for name in ("total", "available", "a", "b", "c", "d", "e")),
        )

    status = MemoryStatus()
    status.length = ctypes.sizeof(status)
    windll = getattr(ctypes, "windll", None)
    if windll is None or not windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
        return None
    return int(status.available)
