"""A worker process for tests: ``python -m tests.runtime.fake_worker``."""

from __future__ import annotations

import os
import signal
import sys
import time
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
    if said := args.get("said"):
        sys.stderr.write(f"{said}\n")
        sys.stderr.flush()
    os._exit(args.get("code", 9))


def hang(_args: Mapping[str, Any], _cancel: CancelToken, emit: Emit) -> Mapping[str, Any]:
    """Stop the whole process, reader and all, as a machine that swaps does."""
    emit("hanging", {})
    os.kill(os.getpid(), signal.SIGSTOP)
    return {}


def compute(args: Mapping[str, Any], _cancel: CancelToken, _emit: Emit) -> Mapping[str, Any]:
    """Keep a core busy for some wall-clock seconds."""
    end = time.monotonic() + args["seconds"]
    while time.monotonic() < end:
        sum(range(1000))
    return args


def environment(args: Mapping[str, Any], _cancel: CancelToken, _emit: Emit) -> Mapping[str, Any]:
    return {"value": os.environ.get(args["name"])}


def fail(_args: Mapping[str, Any], _cancel: CancelToken, _emit: Emit) -> Mapping[str, Any]:
    raise AssistantError("model.cut", "Cut.", "Copy it.")


if __name__ == "__main__":
    handlers = (echo, wait, give_up, die, hang, compute, environment, fail)
    serve(worker_channel(), {handler.__name__: handler for handler in handlers})
