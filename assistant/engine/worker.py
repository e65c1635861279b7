"""``python -m assistant.engine.worker``: one model behind JSON lines on stdin and stdout."""

from __future__ import annotations

import faulthandler
import logging
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Any

from assistant.core.cancel import CancelToken
from assistant.core.values import ChatEvent
from assistant.core.wire import Emit, Json, serve, worker_channel
from assistant.engine import protocol
from assistant.engine.session import EngineSession


class Handlers:
    """The requests the worker knows, in terms of the session."""

    def __init__(self, session: EngineSession) -> None:
        self._session = session

    def load(self, args: Mapping[str, Any], cancel: CancelToken, emit: Emit) -> Json:
        shown = -1

        def progress(fraction: float) -> None:
            nonlocal shown
            if (percent := int(fraction * 100)) != shown:
                shown = percent
                emit("progress", {"percent": percent})

        info = self._session.load(Path(args["path"]), protocol.settings_from_json(args["settings"]), cancel, progress)
        return protocol.info_to_json(info)

    def chat(self, args: Mapping[str, Any], cancel: CancelToken, emit: Emit) -> Json:
        def show(event: ChatEvent) -> None:
            emit(*protocol.event_to_json(event))

        messages = protocol.messages_from_json(args["messages"])
        options, place = protocol.options_from_json(args["options"]), protocol.place_from_json(args.get("snapshots"))
        done = self._session.chat(messages, options, cancel, show, place)
        return protocol.event_to_json(done)[1]

    def measure(self, args: Mapping[str, Any], cancel: CancelToken, _emit: Emit) -> Json:
        return asdict(self._session.measure(args, cancel))

    def exact_draft(self, args: Mapping[str, Any], cancel: CancelToken, _emit: Emit) -> Json:
        return {"draft": self._session.exact_draft(args, cancel)}

    def devices(self, _args: Mapping[str, Any], _cancel: CancelToken, _emit: Emit) -> Json:
        return {"gpu": self._session.has_gpu()}

    def be_busy(self, args: Mapping[str, Any], cancel: CancelToken, emit: Emit) -> Json:
        """Keep one core busy for so many seconds, as another program would: what tuning measures beside."""
        emit("busy", {})
        end = monotonic() + args["seconds"]
        while monotonic() < end and not cancel.cancelled:
            pass
        return {}

    def keep(self, args: Mapping[str, Any], cancel: CancelToken, _emit: Emit) -> Json:
        self._session.keep(args["conversations"], protocol.place_from_json(args.get("snapshots")), cancel)
        return {}

    def count(self, args: Mapping[str, Any], _cancel: CancelToken, _emit: Emit) -> Json:
        return {"counts": self._session.count(args["texts"])}

    def count_prompt(self, args: Mapping[str, Any], _cancel: CancelToken, _emit: Emit) -> Json:
        messages, tools = protocol.messages_from_json(args["messages"]), protocol.tools_from_json(args.get("tools", ()))
        return {"count": self._session.count_prompt(messages, tools)}


def main() -> None:
    """Serve until the other end is gone."""
    channel = worker_channel()
    faulthandler.enable(sys.stderr)
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    session = EngineSession()
    handlers = Handlers(session)
    try:
        serve(
            channel,
            {
                "load": handlers.load,
                "chat": handlers.chat,
                "keep": handlers.keep,
                "measure": handlers.measure,
                "exact_draft": handlers.exact_draft,
                "devices": handlers.devices,
                "be_busy": handlers.be_busy,
            },
            beside={"count": handlers.count, "count_prompt": handlers.count_prompt},
        )
    finally:
        session.unload()


if __name__ == "__main__":
    main()
