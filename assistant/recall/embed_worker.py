"""The embedding worker: ``python -m assistant.recall.embed_worker``, one model, JSON lines over stdin and stdout.

Requests: ``load`` {folder, threads} -> {identity, dimensions}; ``embed`` {texts} -> {vectors: base64 of little-endian
float32, row after row}.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.ports import Embedder
from assistant.core.wire import Emit, serve, worker_channel
from assistant.recall.embedders import load_embedder


class _Worker:
    """The one model of this process."""

    def __init__(self) -> None:
        self._embedder: Embedder | None = None

    def load(self, args: Mapping[str, Any], cancel: CancelToken, emit: Emit) -> Mapping[str, Any]:
        self._embedder = load_embedder(Path(args["folder"]), int(args.get("threads", 1)))
        self._embedder.embed(["ready"], cancel)  # the first run allocates
        return {"identity": self._embedder.identity, "dimensions": self._embedder.dimensions}

    def embed(self, args: Mapping[str, Any], cancel: CancelToken, emit: Emit) -> Mapping[str, Any]:
        if self._embedder is None:
            raise AssistantError("embedding.model", "No embedding model is loaded.", "Load one first.")
        vectors = self._embedder.embed(list(args["texts"]), cancel)
        return {"vectors": base64.b64encode(vectors.astype("<f4").tobytes()).decode("ascii")}


def main() -> None:
    """Serve until the other end is gone."""
    logging.basicConfig(level=logging.INFO)
    channel = worker_channel()
    worker = _Worker()
    serve(channel, {"load": worker.load, "embed": worker.embed})


if __name__ == "__main__":
    main()
