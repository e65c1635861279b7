"""A llama.cpp server (the package xllamacpp carries one) in a process of its own: the engine is measured beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from assistant.core.cancel import CancelToken
from assistant.core.wire import Emit, serve, worker_channel


class RawServer:
    """One server on loopback, for one client."""

    def __init__(self) -> None:
        self._server: Any = None

    def load(self, args: Mapping[str, Any], cancel: CancelToken, emit: Emit) -> dict[str, Any]:
        """threads 0: as the server chooses. Answers with its address."""
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = args["path"]
        params.n_ctx, params.n_parallel = args["window"], 1
        params.hostnames, params.port = ["127.0.0.1"], 0
        if args["threads"]:
            params.cpuparams.n_threads = args["threads"]
            params.cpuparams_batch.n_threads = args["threads_batch"]
        self._server = xllamacpp.Server(params)
        return {"url": self._server.listening_address}


def main() -> None:
    channel = worker_channel()
    server = RawServer()
    serve(channel, {"load": server.load})
    os._exit(0)  # its threads have no end of their own


if __name__ == "__main__":
    main()
