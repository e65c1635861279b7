"""The estimate of memory is what the worker takes, within 15 per cent, and says the right thing about it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.core.values import EngineSettings
from assistant.engine.catalogue import load_catalogue
from assistant.engine.gguf import read_gguf_info
from assistant.engine.memory_estimate import Fit, ModelShape, RunPlan, estimate, judge, largest_window, shape_of
from tests.real_models import starter_model_path
from tools.measure_memory import estimated, measured

SHAPE = ModelShape(1000, 64, 4, 128, 100, 60)
PLAN = RunPlan(1024)


MORE = [Path(name) for name in os.environ.get("KEEPSAKE_MORE_MODELS", "").split(os.pathsep) if name]
"""Larger models that the machine has, to be tried as well."""


def check(model: Path, window: int, attention: str) -> None:
    settings = EngineSettings(window=window, flash_attention=attention, threads=1)
    guess = estimated(model, settings, used=300).resident
    assert guess == pytest.approx(measured(model, settings, used=300), rel=0.15)


@pytest.mark.real
@pytest.mark.parametrize(("window", "attention"), [(2048, "off"), (8192, "off"), (8192, "on")])
def test_the_starter_model_takes_what_was_estimated(window: int, attention: str) -> None:
    check(starter_model_path(), window, attention)


def test_larger_models_do_too_where_there_are_any() -> None:
    for model in MORE:
        for window in (2048, 8192):
            check(model, window, "off")


def test_each_part_grows_with_what_it_follows_from() -> None:
    found = estimate(SHAPE, 10**9, 10**8, PLAN)
    assert found.cache == 1024 * 160 * 2
    assert found.resident == found.needed + 10**8
    double = estimate(SHAPE, 10**9, 0, replace(PLAN, window=2048))
    assert double.cache == 2 * found.cache and double.work > found.work
    flash = estimate(SHAPE, 10**9, 0, replace(PLAN, flash_attention=True))
    assert flash.work < found.work
    small = estimate(SHAPE, 10**9, 0, replace(PLAN, kv_type="q8_0"))
    assert small.cache == round(found.cache * 34 / 64)
    assert estimate(SHAPE, 10**9, 10**8, replace(PLAN, mmap=False)).resident == found.needed
    assert estimate(SHAPE, 10**9, 0, RunPlan(1000)).cache == found.cache  # whole blocks of cells


def test_the_verdict_goes_by_what_is_needed() -> None:
    found = estimate(SHAPE, 10**9, 10**8, PLAN)
    assert judge(found, None) is Fit.UNKNOWN
    assert judge(found, found.needed - 1) is Fit.TOO_BIG
    assert judge(found, found.needed) is Fit.TIGHT
    assert judge(found, 2 * found.needed) is Fit.FITS


@pytest.mark.parametrize("most", [1, 1024, 32_768])
def test_the_largest_window_is_the_last_that_fits(most: int) -> None:
    def needed(plan: RunPlan) -> int:
        return estimate(SHAPE, 10**9, 0, plan).needed

    enough = needed(replace(PLAN, window=most))
    assert largest_window(needed, PLAN, most, 10**12) == max(1024, most)
    assert largest_window(needed, PLAN, most, 10**6) == 0
    assert largest_window(needed, PLAN, 10**6, enough) in (most // 1024 * 1024, 0)


def test_the_catalogues_shapes_are_those_of_the_files() -> None:
    starter = next(model for model in load_catalogue() if not model.repository)
    assert starter.shape == shape_of(read_gguf_info(starter_model_path()))
    for model in load_catalogue():
        memory = model.memory(PLAN)
        assert memory is not None and memory.needed > model.about_bytes > 0
        assert not model.size_bytes or model.about_bytes == model.size_bytes


def test_a_size_that_is_not_known_is_guessed_well() -> None:
    for model in load_catalogue():
        if model.size_bytes and model.repository:
            assert replace(model, size_bytes=0).about_bytes == pytest.approx(model.size_bytes, rel=0.2), model.name


def test_a_header_that_says_nothing_is_no_harm() -> None:
    assert estimate(ModelShape(0, 0, 0, 0, 0, 0), 0, 0, RunPlan(1, step=1)).needed > 0
