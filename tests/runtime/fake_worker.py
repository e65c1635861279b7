"""A worker process for tests: ``python -m tests.runtime.fake_worker``."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from typing import Any

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.wire import Emit, serve, worker_channel


def echo(args: Mapping[str, Any], _cancel: CancelToken, emit: Emit) -> Mapping[str, Any]:
    for number in range(args.get("events", 0)):
        emit("event", {"n": number})
    return {"pid": os.getpid(), **args}


def wait(_args: Mapping[str, Any], cancel: CancelToken, emit: Emit) -> Mapping[str, Any]:
    """Until stopped; then half a result, as a reply that was stopped has one."""
    emit("waiting", {})
    cancel.wait(60)
    return {"stopped": cancel.cancelled}


def give_up(_args: Mapping[str, Any], cancel: CancelToken, emit: Emit) -> Mapping[str, Any]:
    emit("waiting", {})
    cancel.wait(60)
    cancel.check()
    return {}


def die(args: Mapping[str, Any], _cancel: CancelToken, emit: Emit) -> Mapping[str, Any]:
    emit("last", {})
    os._exit(args.get("code", 9))


def hang(_args: Mapping[str, Any], _cancel: CancelToken, emit: Emit) -> Mapping[str, Any]:
    """Stop the whole process, reader and all, as a machine that swaps does."""
    emit("hanging", {})
    os.kill(os.getpid(), signal.SIGSTOP)
    return {}


def fail(_args: Mapping[str, Any], _cancel: CancelToken, _emit: Emit) -> Mapping[str, Any]:
    raise AssistantError("model.cut", "Cut.", "Copy it.")


if __name__ == "__main__":
    serve(worker_channel(), {"echo": echo, "wait": wait, "give_up": give_up, "die": die, "hang": hang, "fail": fail})
