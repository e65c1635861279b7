"""How a model file is opened on this machine: checked first, then planned by the settings."""

from __future__ import annotations

from pathlib import Path

from assistant.core.values import EngineSettings
from assistant.engine.fit import check_fit, run_plan
from assistant.engine.gguf import GgufInfo, read_gguf_info
from assistant.engine.library import LoadPlan
from assistant.engine.model_description import check_usable, with_parts
from assistant.engine.threads import ThreadPlan, plan_threads, usable_cores


def plan_load(path: Path, settings: EngineSettings, available: int | None) -> tuple[LoadPlan, GgufInfo]:
    """The plan, and what the file's header says with the sizes of all its parts.

    available: bytes of memory that are free; None where nobody knows, nor what a graphics card takes. Raises
    AssistantError (``model.*``) for a file that cannot be used.
    """
    info = read_gguf_info(path)
    check_usable(path, info)
    info = with_parts(info, path)
    window = max(1, min(settings.window or info.window_trained, info.window_trained))
    threads = plan_threads(settings, info.size_bytes, usable_cores())
    check_fit(info, run_plan(settings, window, threads.step), available)
    return _load_plan(path, window, threads, settings), info


def _load_plan(path: Path, window: int, threads: ThreadPlan, settings: EngineSettings) -> LoadPlan:
    """The plan of a model with these threads; a cache that flash attention alone can use turns it on."""
    attention = settings.flash_attention if settings.kv_type == "f16" else "on"
    return LoadPlan(
        path=path,
        window=window,
        step=threads.step,
        threads=threads.decode,
        threads_read=threads.read,
        gpu_layers=settings.gpu_layers,
        flash_attention=attention,
        kv_type=settings.kv_type,
        mmap=settings.mmap,
        mlock=settings.mlock,
        give_way=settings.give_way,
        draft=settings.draft,
    )
