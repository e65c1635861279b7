"""Compares the estimate of a model's memory with what its worker really takes: ``measure_memory.py MODEL.gguf ...``.

For each model and window the window is filled with a prompt, then the resident size (VmRSS) of the worker is read.
Linux only. ``--windows 2048 8192`` are the default; reading 8 192 tokens takes minutes on a slow laptop. Exit 1 where
an estimate is more than 15 % off.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from assistant.core.cancel import CancelToken
from assistant.core.values import EngineSettings, GenerateOptions, Message, Role
from assistant.engine.fit import run_plan
from assistant.engine.gguf import read_gguf_info
from assistant.engine.memory_estimate import MemoryEstimate, estimate, shape_of
from assistant.engine.threads import plan_threads, usable_cores
from assistant.runtime.engine_client import WorkerEngine

_ALLOWED = 0.15
_SENTENCE = "The quick brown fox jumps over the lazy dog near the river. "
_ROOM = 64
"""Tokens of the window that the template and the reply may take."""


def estimated(path: Path, settings: EngineSettings, used: int = 0) -> MemoryEstimate:
    """The estimate for a model as the worker loads it. used: tokens in the window, 0 for all of it."""
    info = read_gguf_info(path)
    plan = run_plan(settings, settings.window, plan_threads(settings, info.size_bytes, usable_cores()).step)
    return estimate(shape_of(info), info.size_bytes, info.repacked_bytes, plan, used)


def measured(path: Path, settings: EngineSettings, used: int = 0) -> int:
    """Bytes that are resident in the worker once it has read a prompt of ``used`` tokens, 0 for as many as fit."""
    engine = WorkerEngine()
    try:
        engine.load(path, settings, CancelToken(), lambda *_: None)
        each = engine.count([_SENTENCE * 10])[0] / 10
        text = _SENTENCE * int(((used or settings.window) - _ROOM) / each)
        options = GenerateOptions(max_tokens=2, temperature=0)
        for _ in engine.chat([Message(Role.USER, text)], options, CancelToken()):
            pass
        return resident(engine.pid or 0)
    finally:
        engine.close()


def resident(pid: int) -> int:
    """VmRSS of a process in bytes: its own memory and the pages of files that are mapped and in memory."""
    for line in Path(f"/proc/{pid}/status").read_text("utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise ProcessLookupError(pid)


def _estimated_resident(path: Path, settings: EngineSettings, used: int) -> int:
    return estimated(path, settings, used).resident


def main(arguments: Sequence[str]) -> int:
    """One line a model and window."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--windows", nargs="+", type=int, default=[2048, 8192])
    parser.add_argument("--tokens", type=int, default=0, help="tokens to read; without: as many as the window holds")
    parser.add_argument("--flash-attention", choices=["off", "on"], default="off")
    options = parser.parse_args(arguments)
    wrong = False
    for path in options.models:
        for window in options.windows:
            settings = EngineSettings(window=window, flash_attention=options.flash_attention)
            guess, real = (do(path, settings, options.tokens) for do in (_estimated_resident, measured))
            off = guess / real - 1
            wrong |= abs(off) > _ALLOWED
            print(
                f"{path.name} {window}: estimated {guess / 1e6:.0f} MB, real {real / 1e6:.0f} MB, {off:+.1%}",
                flush=True,
            )
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
