"""How busy other programs keep the processor: what decides how many threads of ours help and how many only wait."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

_STAT = Path("/proc/stat")
_COUNTED = (0, 2, 5, 6, 7)
"""user, system, irq, softirq, steal of proc(5). What runs niced gives way to us, and guest time is in user already."""


def others_are_known(stat: Path = _STAT) -> bool:
    """Whether this system says what other programs do."""
    return stat.exists()


class OtherWork:
    """The processor time of the whole system less our own, between one look and the next.

    stat: as Linux's /proc/stat; where there is none (macOS, Windows) nothing is known. own: seconds of this process.
    """

    def __init__(
        self,
        stat: Path = _STAT,
        own: Callable[[], float] = time.process_time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stat, self._own, self._clock = stat, own, clock
        self._tick = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
        self._before = self._now()

    def cores(self) -> float | None:
        """How many cores others kept busy on average since the last call; None where that is not known."""
        before, now = self._before, self._now()
        self._before = now
        if before is None or now is None or now[0] <= before[0]:
            return None
        spent = (now[1] - before[1]) / (now[0] - before[0])
        return max(0.0, spent)

    def _now(self) -> tuple[float, float] | None:
        """Seconds of the clock, and seconds that others have worked."""
        try:
            with self._stat.open("rb") as file:
                fields = file.readline().split()[1:]
            total = sum(int(fields[at]) for at in _COUNTED) / self._tick
        except (OSError, ValueError, IndexError):
            return None
        return self._clock(), total - self._own()
