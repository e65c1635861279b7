"""Downloads that a person asked for: one after another, paused, continued and cancelled. None starts by itself."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.events import DownloadChanged, DownloadStatus, EventSink
from assistant.core.ports import Progress
from assistant.engine.catalogue import find_in_catalogue
from assistant.engine.model_files import ModelFile, ModelStore
from assistant.runtime.lanes import Lane, once
from assistant.runtime.leaving import leave_when_cancelled
from assistant.settings.secrets import SecretStore
from assistant.settings.store import SettingsStore

if TYPE_CHECKING:
    from assistant.engine.downloads.fetch import Order
    from assistant.engine.downloads.web import Patience

_TOLD_EVERY = 0.1
"""Seconds between two events of a download that goes on."""
_RATE_SECONDS = 10.0
"""Seconds over which its speed is averaged."""
_BUG = AssistantError("download.bug", "Keepsake made a mistake while it downloaded.", "The log has the details.")


@dataclass(slots=True)
class _Job:
    """A download that was asked for in this run. discard: it was cancelled, so nothing of it is to be left."""

    folder: Path | None
    cancel: CancelToken
    discard: bool = False
    future: Future[None] | None = None


class DownloadService:
    """Downloads into the models folder. Any thread may call it; they run on a lane of their own."""

    def __init__(
        self,
        store: ModelStore,
        settings: SettingsStore,
        emit: EventSink,
        secrets: SecretStore | None = None,
        patience: Patience | None = None,
    ) -> None:
        self._store, self._settings, self._emit = store, settings, emit
        self._secrets = secrets or SecretStore()
        self._patience = patience
        self._lane = Lane("downloads")
        self._lock = threading.Lock()
        self._jobs: dict[str, _Job] = {}
        self._states: dict[str, DownloadChanged] = {}

    # --- for the window: return at once, DownloadChanged follows -----------------------------------------------------

    def start(self, name: str, folder: Path | None = None) -> None:
        """Download a model of the catalogue, or go on with it. A second call while it runs does nothing."""
        with self._lock:
            if name in self._jobs:
                return
            job = self._jobs[name] = _Job(folder, CancelToken())
        before = self._states.get(name)
        self._tell(DownloadChanged(name, DownloadStatus.QUEUED, self.host(), *(_size_of(before))))
        job.future = self._lane.submit(self._run, name, job)

    def pause(self, name: str) -> None:
        """Stop; what has arrived stays for the next start."""
        self._stop(name)

    def cancel(self, name: str) -> None:
        """Stop, and leave nothing of it."""
        if not self._stop(name, discard=True):
            once("download-end", lambda: self._discard(name, None))

    def _stop(self, name: str, *, discard: bool = False) -> bool:
        """Whether there was one to stop. One that waits for another ends now, not when its turn comes."""
        with self._lock:
            job = self._jobs.get(name)
            if job is None:
                return False
            job.discard = job.discard or discard
        job.cancel.cancel()
        if job.future and job.future.cancel():
            once("download-end", lambda: self._stopped(name, job))
        return True

    def running(self) -> tuple[str, ...]:
        """Names of those that run or wait for their turn."""
        with self._lock:
            return tuple(name for name, job in self._jobs.items() if not job.cancel.cancelled)

    def close(self) -> None:
        """Stop all; what has arrived stays."""
        with self._lock:
            jobs = list(self._jobs.values())
        for job in jobs:
            job.cancel.cancel()
        self._lane.close()

    # --- blocking ----------------------------------------------------------------------------------------------------

    def states(self) -> list[DownloadChanged]:
        """Those of this run, and those that an earlier one left unfinished."""
        from assistant.engine.downloads.part import parts_in

        with self._lock:
            states = dict(self._states)
        for _target, state, size in parts_in(self._store.folder):
            known = states.get(state.name)
            if known is None or known.status in (DownloadStatus.GONE, DownloadStatus.DONE):
                states[state.name] = DownloadChanged(state.name, DownloadStatus.PAUSED, self.host(), size, state.size)
        return list(states.values())

    def fetch(self, name: str, folder: Path | None, cancel: CancelToken, progress: Progress) -> ModelFile:
        """Download now, on this thread. Raises AssistantError ``download.*``, ``model.*``, ``keyring.*``, Cancelled.

        The token of the host is only looked up, and only sent, where the host gives the file to nobody without one.
        """
        order = self.order(name, folder)
        try:
            self._fetch(order, "", cancel, progress)
        except AssistantError as error:
            token = self._secrets.get(_secret_name(order.url)) if error.code == "download.gated" else None
            if not token:
                raise
            self._fetch(order, token, cancel, progress)
        return self._store.add(order.target)

    def order(self, name: str, folder: Path | None = None) -> Order:
        """What would be fetched, from where, and which file it becomes. Raises ``model.not_in_catalogue``,
        ``download.not_offered``, ``download.host``.
        """
        from assistant.engine.downloads.fetch import order_for
        from assistant.engine.downloads.web import check_host

        model = find_in_catalogue(self._store.catalogue, name)
        host = check_host(self._settings.load().downloads.host)
        return order_for(model, host, folder or self._store.folder)

    def host(self) -> str:
        """The host of the settings, as a person reads it; "" where they name none."""
        from assistant.engine.downloads.web import host_of

        with contextlib.suppress(AssistantError):  # what is wrong with it is told when it is used
            return host_of(self._settings.load().downloads.host)
        return ""

    def set_token(self, token: str) -> str:
        """Save an access token for the host of the settings in the system's keyring; "" removes it. The host's name.

        Raises AssistantError ``keyring.*``, ``download.token`` for what can be none.
        """
        from assistant.engine.downloads.web import check_host, host_of

        host = check_host(self._settings.load().downloads.host)
        token = token.strip()
        if not token:
            self._secrets.delete(_secret_name(host))
        elif not token.isascii() or not token.isprintable() or " " in token:
            raise AssistantError("download.token", "This is no access token.", "Copy it from the host's web page.")
        else:
            self._secrets.set(_secret_name(host), token)
        return host_of(host)

    # --- inside ------------------------------------------------------------------------------------------------------

    def _fetch(self, order: Order, token: str, cancel: CancelToken, progress: Progress) -> None:
        from assistant.engine.downloads.fetch import Fetcher
        from assistant.engine.downloads.web import WebClient

        client = WebClient(self._settings.load().downloads.proxy, self._patience, leave_when_cancelled)
        Fetcher(order, client, token).run(cancel, progress)

    def _run(self, name: str, job: _Job) -> None:
        try:
            self.fetch(name, job.folder, job.cancel, _Thinned(self, name).progress)
            self._end(name, job, DownloadStatus.DONE)
        except Cancelled:
            self._stopped(name, job)
        except AssistantError as error:
            self._end(name, job, DownloadStatus.FAILED, error)
        except Exception:
            self._end(name, job, DownloadStatus.FAILED, _BUG)
            raise

    def _stopped(self, name: str, job: _Job) -> None:
        if job.discard:
            self._discard(name, job)
        else:
            self._end(name, job, DownloadStatus.PAUSED)

    def _discard(self, name: str, job: _Job | None) -> None:
        from assistant.engine.downloads.part import discard_part

        try:
            discard_part(self.order(name, job.folder if job else None).target)
        except AssistantError as error:
            self._end(name, job, DownloadStatus.FAILED, error)
        else:
            self._end(name, job, DownloadStatus.GONE)

    def _end(self, name: str, job: _Job | None, status: DownloadStatus, error: AssistantError | None = None) -> None:
        """job: None for what an earlier run left. One that was asked for anew meanwhile tells of itself."""
        from assistant.engine.downloads.part import arrived

        done = 0
        with contextlib.suppress(AssistantError):  # a host that is none: nothing has come from it
            done = arrived(self.order(name, job.folder if job else None).target)
        with self._lock:
            if self._jobs.get(name) is not job:
                return
            self._jobs.pop(name, None)
            before = self._states.get(name)
        host = before.host if before else self.host()
        self._tell(DownloadChanged(name, status, host, done, _size_of(before)[1], error))

    def _tell(self, state: DownloadChanged) -> None:
        with self._lock:
            self._states[state.name] = state
        self._emit(state)


class _Thinned:
    """Takes progress as often as bytes arrive, and tells it as often as can be seen, with how fast they come."""

    def __init__(self, service: DownloadService, name: str) -> None:
        self._service, self._name = service, name
        self._last, self._status = 0.0, DownloadStatus.QUEUED
        self._seen: deque[tuple[float, int]] = deque()

    def progress(self, done: int, total: int, what: str) -> None:
        status, now = DownloadStatus(what), monotonic()
        if status is self._status and now - self._last < _TOLD_EVERY and done < total:
            return
        if status is not self._status:
            self._seen.clear()  # bytes of before a pause, and the pause, say nothing of the speed
        self._last, self._status = now, status
        rate = self._rate(now, done) if status is DownloadStatus.READING else 0.0
        service = self._service
        state = service._states[self._name]
        service._tell(replace(state, status=status, done=done, total=total, error=None, rate=rate))

    def _rate(self, now: float, done: int) -> float:
        """Bytes a second over the last seconds."""
        self._seen.append((now, done))
        while now - self._seen[0][0] > _RATE_SECONDS and len(self._seen) > 2:
            self._seen.popleft()
        began, first = self._seen[0]
        return (done - first) / (now - began) if now - began > 1.0 else 0.0


def _size_of(state: DownloadChanged | None) -> tuple[int, int]:
    return (state.done, state.total) if state else (0, 0)


def _secret_name(address: str) -> str:
    from assistant.engine.downloads.web import host_of

    return f"access token for {host_of(address)}"
