"""A worker that dies is started anew at once, then later, then not any more."""

from __future__ import annotations

import pytest

from assistant.core.errors import AssistantError
from assistant.runtime.restarts import Restarts


class Hand:
    seconds = 50.0

    def __call__(self) -> float:
        return self.seconds


def test_at_once_then_later_then_not_any_more() -> None:
    hand = Hand()
    restarts = Restarts(hand)
    assert restarts.wait_seconds(0) == restarts.wait_seconds(1) == 0.0
    assert restarts.died(1)
    assert not restarts.died(1)  # several threads waited for it
    assert restarts.wait_seconds(1) == 0.0
    assert restarts.died(2)
    assert restarts.wait_seconds(2) == 1.0
    hand.seconds += 0.75
    assert restarts.wait_seconds(2) == 0.25
    hand.seconds += 10
    assert restarts.wait_seconds(2) == restarts.wait_seconds(3) == 0.0
    assert restarts.died(3)
    with pytest.raises(AssistantError) as caught:
        restarts.wait_seconds(3)
    assert caught.value.code == "engine.keeps_dying" and "3 times" in caught.value.message
    hand.seconds += 289
    with pytest.raises(AssistantError):
        restarts.wait_seconds(3)
    hand.seconds += 2
    assert restarts.wait_seconds(3) == 0.0


def test_a_choice_of_the_persons_starts_afresh() -> None:
    restarts = Restarts(Hand())
    for start in (1, 2, 3):
        restarts.died(start)
    restarts.forgive()
    assert restarts.wait_seconds(3) == 0.0
    restarts.died(4)
    assert restarts.wait_seconds(4) == 0.0
