"""How busy other programs keep the processor: what decides how many threads of ours help and how many only wait."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

_STAT = Path("/proc/stat")
_COUNTED = (0, 2, 5, 6, 7)
"""user, system, irq, softirq, steal of proc(5). What runs niced gives way to us, and guest time is in user already."""
_GLANCES, _PAUSE = 3, 0.001
"""A program that works is there at each glance; one that only wakes for a moment is not."""


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
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._stat, self._own, self._clock, self._pause = stat, own, clock, pause
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

    def running(self) -> int | None:
        """How many other programs want a core at this moment, asked by our only thread that does; takes 2 ms."""
        seen: list[int] = []
        for glance in range(_GLANCES):
            if glance:
                self._pause(_PAUSE)
            if (count := self._runnable()) is None:
                return None
            seen.append(count)
        return max(0, min(seen) - 1)

    def _runnable(self) -> int | None:
        try:
            with self._stat.open("rb") as file:
                return next((int(line.split()[1]) for line in file if line.startswith(b"procs_running")), None)
        except (OSError, ValueError, IndexError):
            return None

    def _now(self) -> tuple[float, float] | None:
        """Seconds of the clock, and seconds that others have worked."""
        try:
            with self._stat.open("rb") as file:
                fields = file.readline().split()[1:]
            total = sum(int(fields[at]) for at in _COUNTED) / self._tick
        except (OSError, ValueError, IndexError):
            return None
        return self._clock(), total - self._own()
