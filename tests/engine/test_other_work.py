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
        self.running = 1
        self.glances: list[int] = []
        self.write()

    def write(self) -> None:
        ticks = [int(100 * value) for value in (self.own + self.others, self.niced, 0, 70, 0, 0, 0, 0, 0, 0)]
        self.stat.write_text("cpu  " + " ".join(map(str, ticks)) + f"\ncpu0 1 2 3\nprocs_running {self.running}\n")

    def spend(self, seconds: float, own: float = 0.0, others: float = 0.0, niced: float = 0.0) -> None:
        self.now += seconds
        self.own += own * seconds
        self.others += others * seconds
        self.niced += niced * seconds
        self.write()

    def work(self) -> OtherWork:
        return OtherWork(self.stat, lambda: self.own, lambda: self.now, self.pause)

    def pause(self, seconds: float) -> None:
        """The next glance sees what the test wants it to see."""
        if self.glances:
            self.running = self.glances.pop(0)
            self.write()


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


def watch(machine: Machine, cores: int = 2, plan: ThreadPlan = TWO) -> ThreadWatch:
    return ThreadWatch(plan, cores, machine.work(), lambda: machine.now)


def test_threads_give_way_at_once_and_come_back_when_it_is_surely_quiet(machine: Machine) -> None:
    threads = watch(machine)
    machine.spend(0.3, own=2)
    assert threads.threads() == (2, 2)
    machine.spend(0.3, own=1, others=1)
    assert threads.threads() == (1, 1)
    machine.spend(0.3, own=1)
    assert threads.threads() == (1, 1)
    machine.spend(0.3, own=1)
    assert threads.threads() == (2, 2)


def test_a_little_work_of_others_disturbs_nobody(machine: Machine) -> None:
    threads = watch(machine)
    for _ in range(5):
        machine.spend(0.3, own=1.7, others=0.25)
        assert threads.threads() == (2, 2)


def test_what_wakes_only_for_a_moment_does_not_run(machine: Machine) -> None:
    machine.running, machine.glances = 3, [2, 1]
    machine.write()
    assert machine.work().running() == 0
    machine.running, machine.glances = 3, [2, 2]
    machine.write()
    assert machine.work().running() == 1


@pytest.mark.parametrize(("running", "allowed"), [(1, 2), (2, 1)])
def test_after_a_pause_the_present_counts(machine: Machine, running: int, allowed: int) -> None:
    threads = watch(machine)
    machine.running = running
    machine.spend(600, others=2.0 - running / 2)  # says the contrary
    assert threads.threads() == (allowed, allowed)


def test_there_is_always_a_thread(machine: Machine) -> None:
    threads = watch(machine)
    machine.spend(0.3, others=2)
    assert threads.threads() == (1, 1)


def test_many_cores_lose_only_those_that_are_taken(machine: Machine) -> None:
    threads = watch(machine, 16, ThreadPlan(8, 8, 256))
    machine.spend(0.3, own=8, others=3)
    assert threads.threads() == (8, 8)
    machine.spend(0.3, own=4, others=12)
    assert threads.threads() == (4, 4)


def test_where_others_cannot_be_counted_slow_tokens_tell(tmp_path: Path) -> None:
    now = 0.0
    threads = ThreadWatch(ThreadPlan(4, 4, 256), 4, OtherWork(tmp_path / "none"), lambda: now)
    for _ in range(10):
        threads.took(4, 0.02)
    threads.took(4, 0.05)  # a little slower is nothing
    assert threads.threads() == (4, 4)
    threads.took(4, 0.5)
    assert threads.threads() == (3, 3)
    threads.took(3, 0.5)  # says nothing about four threads
    now = 1.5
    assert threads.threads() == (4, 4)
    threads.took(4, 0.5)  # as before: it waits for longer now
    now = 2.9
    assert threads.threads() == (3, 3)
    now = 4.0
    assert threads.threads() == (4, 4)
