"""Quiet moments."""

from __future__ import annotations

import threading

import pytest

from assistant.runtime.idle import IdleScheduler


def test_a_job_is_called_again_and_again_until_closed() -> None:
    calls = threading.Semaphore(0)
    scheduler = IdleScheduler(calls.release, 0.001)
    scheduler.start()
    for _ in range(3):
        assert calls.acquire(timeout=10)
    scheduler.close()
    while calls.acquire(blocking=False):
        pass
    assert not calls.acquire(timeout=0.05)


@pytest.mark.logs("work for a quiet moment failed")
def test_a_job_that_fails_is_called_again() -> None:
    calls = threading.Semaphore(0)

    def fail() -> None:
        calls.release()
        raise ValueError("no")

    scheduler = IdleScheduler(fail, 0.001)
    scheduler.start()
    for _ in range(2):
        assert calls.acquire(timeout=10)
    scheduler.close()


def test_closing_what_never_started_is_nothing() -> None:
    IdleScheduler(lambda: None, 1.0).close()
