"""llama.cpp as a library: loaded once, told where its warnings go; how a model is opened, and why it could not be."""

from __future__ import annotations

import ctypes
import logging
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assistant.core.errors import AssistantError
from assistant.engine.gguf import read_gguf_info

_log = logging.getLogger(__name__)
_WARNINGS = (3, 4)
"""GGML_LOG_LEVEL_WARN and GGML_LOG_LEVEL_ERROR of ggml.h (llama_cpp's own comment numbers them wrongly)."""
_HEADER = "gguf_init"
"""How lines begin that say what is wrong with a header; the error behind them only says that it failed."""
_WHERE = re.compile(r"^(?:\w+: |error loading model(?: \w+)?: )+")
"""The names of the library's functions, in front of what they say."""


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """How a model is opened. window, step: tokens. The rest as core.values.EngineSettings."""

    path: Path
    window: int
    step: int
    threads: int
    threads_read: int
    gpu_layers: int = 0
    flash_attention: str = "off"
    kv_type: str = "f16"
    mmap: bool = True
    mlock: bool = False
    give_way: bool = True
    draft: int = 0


class Library:
    """llama.cpp, loaded and told where its warnings go. One a process, for it keeps a callback of ours.

    stopping: what is computed is being ended, which llama.cpp reports as a failure of each thing that it does.
    """

    def __init__(self) -> None:
        from llama_cpp import llama_cpp as api

        self.api: Any = api
        self.messages: list[str] = []
        self.stopping = False
        self._callback = api.llama_log_callback(self._take)
        api.llama_log_set(self._callback, ctypes.c_void_p(0))
        api.llama_backend_init()

    def close(self) -> None:
        """Tell nothing of ours any more: the library would call into what is gone."""
        self.api.llama_log_set(self.api.llama_log_callback(), ctypes.c_void_p(0))

    def _take(self, level: int, text: bytes, _user: Any) -> None:
        """Warnings and errors go to the log; the newest are kept, to tell why a load failed."""
        if level in _WARNINGS and not self.stopping:
            line = text.decode("utf-8", "replace").strip()
            _log.warning("llama.cpp: %s", line)
            self.messages.append(line)
            del self.messages[:-20]


def state_layout(plan: LoadPlan, window: int) -> str:
    """All that decides, beside the weights, how the library lays out and computes what was read."""
    from llama_cpp import __version__

    layout = (window, plan.step, plan.kv_type, plan.flash_attention, plan.gpu_layers, __version__, sys.platform)
    return "/".join(map(str, layout))


def path_bytes(path: Path) -> bytes:
    """llama.cpp takes UTF-8 on Windows and the file system's own bytes elsewhere."""
    return str(path).encode("utf-8") if sys.platform == "win32" else bytes(path)


def load_error(path: Path, messages: Sequence[str]) -> AssistantError:
    """Why the library refused a file. messages: what it said meanwhile."""
    try:
        read_gguf_info(path)
    except AssistantError as error:  # it was sound when loading began
        return error
    text = " ".join(messages)
    if "unknown model architecture" in text or "unknown pre-tokenizer" in text:
        return AssistantError(
            "model.unsupported", f"{path.name} is of a kind that is not known yet.", "Choose another model."
        )
    said = [line for line in messages if line.startswith(_HEADER)]
    said = said or [line for line in reversed(messages) if "error" in line.casefold()]
    reason = _WHERE.sub("", said[0]) if said else "the file may be damaged"
    return AssistantError("model.failed", f"{path.name} could not be loaded: {reason}.", "Check it, or choose another.")
