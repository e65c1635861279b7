"""Whether a worker that has a request in hand hangs, told from one whose work takes long."""

from __future__ import annotations

import threading
from dataclasses import dataclass

LOOK_SECONDS = 1.0
"""As often as a worker beats."""
_WORKED_SECONDS = 0.2
"""Processor time that counts as work; beating alone takes some 20 ms in the time given by ``Patience.idle``."""


@dataclass(frozen=True, slots=True)
class Patience:
    """In looks, which are a second apart.

    Looks, not time: a laptop that slept, or a program that was put aside together with its worker, has missed one.

    start: until the first sign of life (Python and a library of 2 GB come from a cold disk); silent: without any sign
    later on (a machine that swaps); hurried: the same once somebody wants the request stopped; idle: with beats, but
    neither an answer nor work done: threads that wait for each other for ever.
    """

    start: int = 60
    silent: int = 20
    hurried: int = 5
    idle: int = 120


class Pulse:
    """Counts looks without a sign of life. For any thread."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._lock = threading.Lock()
        self._heard = False
        self._hurried = False
        self._silent = self._idle = 0
        self._cpu = 0.0

    def begin(self) -> None:
        """A request was sent while none was in hand."""
        with self._lock:
            self._silent = self._idle = 0
            self._hurried = False

    def hurry(self) -> None:
        """A request is to stop, which takes some 200 ms."""
        with self._lock:
            if not self._hurried:
                self._silent = 0
            self._hurried = True

    def beat(self, cpu: float) -> None:
        """It lives. cpu: seconds of processor time it has had so far."""
        with self._lock:
            self._heard, self._silent = True, 0
            if cpu - self._cpu >= _WORKED_SECONDS:
                self._cpu, self._idle = cpu, 0

    def answered(self) -> None:
        """Something came that was asked for."""
        with self._lock:
            self._heard, self._silent, self._idle = True, 0, 0

    def look(self) -> bool:
        """Call each LOOK_SECONDS while a request is in hand; True when the worker hangs."""
        with self._lock:
            self._silent += 1
            self._idle += 1
            return self._silent > self._may_be_silent() or self._idle > self._patience.idle

    def _may_be_silent(self) -> int:
        if not self._heard:
            return self._patience.start
        return self._patience.hurried if self._hurried else self._patience.silent
