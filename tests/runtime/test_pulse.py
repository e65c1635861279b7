"""A hang is told from long work by looks, not by time."""

from __future__ import annotations

from collections.abc import Callable

from assistant.runtime.pulse import Patience, Pulse

PATIENCE = Patience(start=9, silent=4, hurried=2, idle=20)


def looks_until_hung(pulse: Pulse, each: Callable[[int], object] = lambda _look: None) -> int:
    for look in range(1, 1000):
        if pulse.look():
            return look
        each(look)
    return 0


def begun() -> Pulse:
    pulse = Pulse(PATIENCE)
    pulse.begin()
    pulse.beat(0.5)
    return pulse


def test_a_start_may_take_longer_than_an_answer() -> None:
    pulse = Pulse(PATIENCE)
    pulse.begin()
    assert looks_until_hung(pulse) == 10
    assert looks_until_hung(begun()) == 5


def test_work_with_beats_may_take_for_ever() -> None:
    pulse = begun()
    assert looks_until_hung(pulse, lambda look: pulse.beat(0.5 + look)) == 0


def test_answers_count_as_signs_of_life() -> None:
    pulse = begun()
    assert looks_until_hung(pulse, lambda _look: pulse.answered()) == 0


def test_beats_without_any_work_are_a_hang_in_the_end() -> None:
    """Threads that wait for each other: the one that beats uses a little time of its own."""
    pulse = begun()
    assert looks_until_hung(pulse, lambda look: pulse.beat(0.5 + look / 1000)) == 21


def test_whoever_wants_a_stop_waits_less() -> None:
    pulse = begun()
    pulse.look()
    pulse.hurry()
    pulse.hurry()
    assert looks_until_hung(pulse) == 3
    pulse.begin()
    assert looks_until_hung(pulse) == 5


def test_a_new_request_starts_afresh() -> None:
    pulse = begun()
    for _ in range(4):
        assert not pulse.look()
    pulse.begin()
    assert not pulse.look()
