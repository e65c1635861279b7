"""A model that cannot fit is refused in words before the system kills for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assistant.core.errors import AssistantError
from assistant.engine.fit import _group_available, _mem_available, available_memory, check_fit, needed_memory
from assistant.engine.gguf import read_gguf_info
from assistant.engine.memory_estimate import RunPlan
from tests.real_models import starter_model_path

GB = 10**9


def test_the_starter_model_needs_what_it_was_seen_to_take() -> None:
    info = read_gguf_info(starter_model_path())
    assert 280_000_000 < needed_memory(info, RunPlan(4096)) < 330_000_000


@pytest.mark.parametrize(
    ("size", "window", "hint"), [(40 * GB, 4096, "smaller model"), (GB, 2_000_000, "smaller context window")]
)
def test_too_large_is_told_with_what_would_help(size: int, window: int, hint: str) -> None:
    info = read_gguf_info(starter_model_path())
    with pytest.raises(AssistantError) as caught:
        check_fit(replace(info, size_bytes=size), RunPlan(window, 64), 8 * GB)
    assert caught.value.code == "model.too_big"
    assert hint in caught.value.hint and "8.0 GB are free" in caught.value.message


def test_what_fits_or_is_not_known_is_tried() -> None:
    info = read_gguf_info(starter_model_path())
    check_fit(info, RunPlan(4096), 2 * GB)
    check_fit(replace(info, size_bytes=400 * GB), RunPlan(4096), None)


def test_free_memory_is_read_from_the_system(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:  100 kB\nMemAvailable:   64 kB\n")
    assert _mem_available(meminfo) == 65536
    assert _mem_available(tmp_path / "none") is None
    assert (available_memory() or 0) > 10**8


def test_the_limit_of_a_container_counts(tmp_path: Path) -> None:
    assert _group_available(tmp_path) is None
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("600\n")
    (tmp_path / "memory.stat").write_text("anon 300\ninactive_file 200\nactive_file 100\n")
    assert _group_available(tmp_path) == 700
    (tmp_path / "memory.max").write_text("max\n")
    assert _group_available(tmp_path) is None
