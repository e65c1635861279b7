"""What other programs take of the processor, and how our threads give way to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.engine.other_work import OtherWork
from assistant.engine.threads import ThreadPlan, ThreadWatch


class Machine:
    """A processor of two cores whose time the test spends."""

    def __init__(self, folder: Path) -> None:
        self.stat = folder / "stat"
        self.now, self.own, self.others, self.niced = 100.0, 5.0, 50.0, 30.0
        self.write()

    def write(self) -> None:
        ticks = [int(100 * value) for value in (self.own + self.others, self.niced, 0, 70, 0, 0, 0, 0, 0, 0)]
        self.stat.write_text("cpu  " + " ".join(map(str, ticks)) + "\ncpu0 1 2 3\n")

    def spend(self, seconds: float, own: float = 0.0, others: float = 0.0, niced: float = 0.0) -> None:
        self.now += seconds
        self.own += own * seconds
        self.others += others * seconds
        self.niced += niced * seconds
        self.write()

    def work(self) -> OtherWork:
        return OtherWork(self.stat, lambda: self.own, lambda: self.now)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_our_own_work_is_not_that_of_others(machine: Machine) -> None:
    work = machine.work()
    machine.spend(2, own=2)
    assert work.cores() == pytest.approx(0)
    machine.spend(1, own=1, others=0.75)
    assert work.cores() == pytest.approx(0.75)
    machine.spend(1, own=1, niced=1)
    assert work.cores() == pytest.approx(0)


def test_where_nobody_counts_nothing_is_known(machine: Machine, tmp_path: Path) -> None:
    assert OtherWork(tmp_path / "none").cores() is None
    work = machine.work()
    machine.stat.write_text("something else\n")
    machine.now += 1
    assert work.cores() is None
    machine.write()
    assert work.cores() is None  # nothing to compare with
    machine.spend(1, others=1)
    assert work.cores() == pytest.approx(1)


def test_the_real_system_answers_or_says_that_it_does_not_know() -> None:
    found = OtherWork().cores()
    assert found is None or found >= 0


TWO = ThreadPlan(2, 2, 256)


class Computing:
    """A model that asks before each piece of work, and what it was told."""

    def __init__(self, machine: Machine, cores: int = 2, plan: ThreadPlan = TWO) -> None:
        self.machine = machine
        self.watch = ThreadWatch(plan, cores, machine.work(), lambda: machine.now)

    def step(self, seconds: float = 0.3, own: float = 1.0, others: float = 0.0) -> int:
        """One piece of so many seconds, while others do that; the threads that it got."""
        decode, read = self.watch.threads()
        assert decode == read
        self.machine.spend(seconds, own, others)
        self.watch.took(64, seconds)
        return decode


def test_threads_give_way_at_once_and_come_back_when_it_is_surely_quiet(machine: Machine) -> None:
    computing = Computing(machine)
    assert computing.step(own=2) == 2
    assert computing.step(own=1, others=1) == 2
    assert computing.step() == 1
    assert computing.step() == 1
    assert computing.step() == 2


def test_a_little_work_of_others_disturbs_nobody(machine: Machine) -> None:
    computing = Computing(machine)
    for _ in range(5):
        assert computing.step(own=1.7, others=0.25) == 2


@pytest.mark.parametrize("pause", [0.2, 5, 600])
def test_what_others_did_while_nothing_was_computed_says_nothing(machine: Machine, pause: float) -> None:
    computing = Computing(machine)
    computing.step(own=2)
    machine.spend(pause, others=2)
    assert computing.step(0.15, own=2) == 2
    assert computing.step(0.15, own=2) == 2


@pytest.mark.parametrize(("pause", "allowed"), [(1, 1), (9, 1), (60, 2)])
def test_who_worked_beside_one_reply_works_beside_the_next(machine: Machine, pause: float, allowed: int) -> None:
    computing = Computing(machine)
    computing.step(others=1)
    assert computing.step(others=1) == 1
    machine.spend(pause)
    assert computing.step(0.15, others=1) == allowed
    assert computing.step(others=1) == 1  # seen after a tenth of a second


def test_there_is_always_a_thread(machine: Machine) -> None:
    computing = Computing(machine)
    computing.step(others=2)
    assert computing.step() == 1


def test_many_cores_lose_only_those_that_are_taken(machine: Machine) -> None:
    computing = Computing(machine, 16, ThreadPlan(8, 8, 256))
    computing.step(own=8, others=3)
    assert computing.step(own=4, others=12) == 8
    assert computing.step() == 4


def test_where_others_cannot_be_counted_slow_tokens_tell(tmp_path: Path) -> None:
    now = 0.0
    threads = ThreadWatch(ThreadPlan(4, 4, 256), 4, OtherWork(tmp_path / "none"), lambda: now)
    threads.threads()
    for _ in range(10):
        threads.took(1, 0.02)
    threads.took(1, 0.05)  # a little slower is nothing
    threads.took(1, 0.5)  # once is nothing either
    assert threads.threads() == (4, 4)
    for _ in range(5):
        threads.took(1, 0.02)
    threads.took(1, 0.5)
    assert threads.threads() == (4, 4)
    threads.took(1, 0.02)
    threads.took(1, 0.5)
    assert threads.threads() == (3, 3)
    threads.took(1, 0.5)  # says nothing about four threads
    now = 1.5
    assert threads.threads() == (4, 4)
    threads.took(1, 0.5)  # as before: it waits for longer now
    now = 2.9
    assert threads.threads() == (3, 3)
    now = 4.0
    assert threads.threads() == (4, 4)
