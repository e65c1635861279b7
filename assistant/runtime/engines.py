"""The engine that is used now: the worker on this machine, or a server that the person chose."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from assistant.core.cancel import CancelToken
from assistant.core.ports import Engine, Progress
from assistant.core.values import ChatEvent, EngineSettings, GenerateOptions, Message, ModelInfo, ToolSpec
from assistant.runtime.engine_client import WorkerEngine
from assistant.runtime.remote_engine import RemoteEngine
from assistant.settings.schema import Settings


class EngineSwitch:
    """Implements core.ports.Engine and runtime.models.RestingEngine by whichever of the two is in use."""

    def __init__(self, local: WorkerEngine, remote: RemoteEngine) -> None:
        self.local = local
        self.remote = remote
        self._uses_remote = False
        self._thread = threading.local()

    def use_remote(self, wanted: bool) -> None:
        """From now on, for all threads but those that stay here."""
        self._uses_remote = wanted

    @property
    def uses_remote(self) -> bool:
        """Whether the server is the engine of all threads that do not stay here."""
        return self._uses_remote

    @property
    def stays_here(self) -> bool:
        """Whether this thread is inside ``here_only``."""
        return bool(getattr(self._thread, "stays", 0))

    @contextmanager
    def here_only(self) -> Iterator[None]:
        """What this thread does meanwhile stays with the local engine, whatever the others use."""
        before = getattr(self._thread, "stays", 0)
        self._thread.stays = before + 1
        try:
            yield
        finally:
            self._thread.stays = before

    @property
    def _now(self) -> Engine:
        return self.remote if self._uses_remote and not self.stays_here else self.local

    # --- Engine ---------------------------------------------------------------------------------------------------

    @property
    def info(self) -> ModelInfo | None:
        return self._now.info

    def load(self, path: Path, settings: EngineSettings, cancel: CancelToken, progress: Progress) -> ModelInfo:
        """A model file is loaded by the local engine, which is the one in use then."""
        if not self.stays_here:
            self._uses_remote = False
        return self.local.load(path, settings, cancel, progress)

    def chat(self, messages: Sequence[Message], options: GenerateOptions, cancel: CancelToken) -> Iterator[ChatEvent]:
        return self._now.chat(messages, options, cancel)

    def count(self, texts: Sequence[str]) -> list[int]:
        return self._now.count(texts)

    def count_prompt(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> int:
        return self._now.count_prompt(messages, tools)

    def unload(self) -> None:
        self._now.unload()

    def close(self) -> None:
        self.remote.close()
        self.local.close()

    # --- RestingEngine --------------------------------------------------------------------------------------------

    @property
    def asleep(self) -> bool:
        return self._now is self.local and self.local.asleep

    @property
    def file_gone(self) -> bool:
        return self._now is self.local and self.local.file_gone

    def rest(self, idle_seconds: float) -> bool:
        """The local model rests also while a server is asked; that is not worth telling then."""
        return self.local.rest(idle_seconds) and self._now is self.local

    def wake(self, cancel: CancelToken, progress: Progress) -> ModelInfo:
        return self.local.wake(cancel, progress)


def here_only(engine: Engine) -> AbstractContextManager[None]:
    """What is done inside uses no server, whatever the person lets one be told."""
    return engine.here_only() if isinstance(engine, EngineSwitch) else nullcontext()


def kept_here(engine: Engine, settings: Settings, private: bool) -> AbstractContextManager[None]:
    """What is done inside for a private chat uses no server, unless the person lets private chats use it."""
    return here_only(engine) if private and settings.remote.private == "off" else nullcontext()


def tells_private(engine: Engine, settings: Settings) -> bool:
    """Whether the engine in use may be told what was said in private chats, as far as a server is concerned."""
    return engine.info is None or not engine.info.host or settings.remote.private == "on"
