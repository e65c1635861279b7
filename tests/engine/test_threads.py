"""The thread policy: one core stays free, the person's own choice stands."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.values import EngineSettings
from assistant.engine import threads
from assistant.engine.threads import ThreadPlan, plan_threads, step_end, usable_cores, worker_environment

SMALL, LARGE = 10**8, 5 * 10**9


@pytest.fixture(params=[True, False], ids=["others known", "others unknown"])
def known(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    known: bool = request.param
    monkeypatch.setattr(threads, "others_are_known", lambda: known)
    return known


@pytest.mark.parametrize(("cores", "decode", "read"), [(1, 1, 1), (2, 1, 2), (4, 3, 4), (16, 8, 16)])
def test_one_core_stays_free_of_decoding_unless_threads_give_way(
    cores: int, decode: int, read: int, known: bool
) -> None:
    plan = plan_threads(EngineSettings(), SMALL, cores)
    assert (plan.decode, plan.read) == (min(cores, 8) if known else decode, read)
    fixed = plan_threads(EngineSettings(give_way=False), SMALL, cores)
    assert (fixed.decode, fixed.read) == (decode, read)


def test_settings_win() -> None:
    assert plan_threads(EngineSettings(threads=3, threads_batch=5, batch=32), SMALL, 8) == ThreadPlan(3, 5, 32)
    assert plan_threads(EngineSettings(threads=1), SMALL, 8).read == 1


def test_a_large_model_reads_in_small_steps_so_that_it_can_be_stopped() -> None:
    large, small = plan_threads(EngineSettings(), LARGE, 4), plan_threads(EngineSettings(), SMALL, 4)
    assert large.step < small.step <= EngineSettings().batch


def test_a_graphics_card_is_given_all_at_once() -> None:
    settings = EngineSettings(gpu_layers=99)
    assert plan_threads(settings, LARGE, 4).step == settings.batch


@given(st.integers(1, 512), st.lists(st.integers(0, 69_999), min_size=1, max_size=5))
def test_steps_end_at_the_same_places_wherever_they_begin(step: int, begins: list[int]) -> None:
    ends, at = set(), 0
    while at < 70_000:
        end = step_end(at, step)
        assert at < end <= at + step
        ends.add(at := end)
    assert all(step_end(begin, step) in ends for begin in begins)


def test_steps_grow_shorter_far_behind() -> None:
    lengths = [step_end(at, 64) - at for at in (0, 4032, 4096, 8192, 16384, 65536)]
    assert lengths == [64, 64, 32, 16, 16, 16]
    assert step_end(100_000, 8) - 100_000 == 8


def test_waiting_threads_sleep_soon_unless_the_person_chose_otherwise(known: bool) -> None:
    assert worker_environment({}) == ({"GOMP_SPINCOUNT": "3000"} if known else {"OMP_WAIT_POLICY": "passive"})
    assert worker_environment({"OMP_WAIT_POLICY": "active"}) == {}
    assert worker_environment({"GOMP_SPINCOUNT": "300"}) == {}


@pytest.mark.parametrize(
    ("wait", "expected"),
    [
        ("active", {"OMP_WAIT_POLICY": "active"}),
        ("passive", {"OMP_WAIT_POLICY": "passive"}),
        ("30", {"GOMP_SPINCOUNT": "30"}),
    ],
)
def test_how_threads_wait_can_be_set(wait: str, expected: dict[str, str]) -> None:
    assert worker_environment({}, wait) == expected
    assert worker_environment({"OMP_WAIT_POLICY": "active"}, wait) == {}


def test_two_threads_of_a_core_are_one_core(tmp_path: Path) -> None:
    info = tmp_path / "cpuinfo"
    info.write_text("processor : 0\nphysical id : 0\ncore id : 0\n\nprocessor : 1\nphysical id : 0\ncore id : 0\n")
    assert usable_cores(info) == 1
    assert usable_cores(tmp_path / "none") >= 1
    info.write_text("nothing of use\n")
    assert usable_cores(info) >= 1
