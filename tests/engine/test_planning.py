"""How a model file is opened is planned from the whole of it, all its parts, before llama.cpp sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.core.errors import AssistantError
from assistant.core.values import EngineSettings
from assistant.engine.fit import needed_memory, run_plan
from assistant.engine.gguf import read_gguf_info
from assistant.engine.model_description import with_parts
from assistant.engine.planning import plan_load
from tests.engine.gguf_files import chat_facts, gguf_bytes

SETTINGS = EngineSettings(window=512)


def in_parts(folder: Path, *sizes: int) -> list[Path]:
    """A model in parts with so many weights each."""
    paths = []
    for number, size in enumerate(sizes):
        facts = {**(chat_facts() if number == 0 else {}), "split.count": len(sizes), "split.no": number}
        paths.append(folder / f"big-{number + 1:05d}-of-{len(sizes):05d}.gguf")
        paths[-1].write_bytes(gguf_bytes(facts, {f"t{number}": (size,)}))
    return paths


@pytest.mark.parametrize("sizes", [(4_000_000, 8), (8, 4_000_000)])
def test_a_model_in_parts_needs_what_its_parts_take_together(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    first, *_ = paths = in_parts(tmp_path, *sizes)
    whole = with_parts(read_gguf_info(first), first)
    assert whole.size_bytes == sum(path.stat().st_size for path in paths)
    assert whole.parameters == sum(sizes)
    needed = needed_memory(whole, run_plan(SETTINGS, 512, 256))
    plan, info = plan_load(first, SETTINGS, needed)
    assert (plan.window, info) == (512, whole)
    with pytest.raises(AssistantError) as caught:
        plan_load(first, SETTINGS, needed - 1_000_000)
    assert caught.value.code == "model.too_big"


def test_what_cannot_be_chatted_with_is_told_in_words(tmp_path: Path) -> None:
    path = tmp_path / "bert.gguf"
    path.write_bytes(gguf_bytes(chat_facts(**{"llama.pooling_type": 2}), {"a": (8,)}))
    with pytest.raises(AssistantError, match="no chat model") as caught:
        plan_load(path, SETTINGS, None)
    assert caught.value.code == "model.unsupported"
    first, second = in_parts(tmp_path, 8, 8)
    second.write_bytes(second.read_bytes()[:-4])
    with pytest.raises(AssistantError, match=r"big-00002-of-00002\.gguf is cut off"):
        plan_load(first, SETTINGS, None)
    second.unlink()
    with pytest.raises(AssistantError, match=r"big-00002-of-00002\.gguf is not there") as caught:
        plan_load(first, SETTINGS, None)
    assert caught.value.code == "model.part_missing"
