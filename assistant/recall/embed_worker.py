"""The embedding worker: ``python -m assistant.recall.embed_worker``, one model, JSON lines over stdin and stdout.

Requests: ``load`` {folder, threads} -> {identity, dimensions}; ``embed`` {texts} -> {vectors: base64 of little-endian
float32, row after row}; ``passages`` {passages: [[head, body], ...]} -> {vectors, windows: how many rows each has}.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.ports import Embedder
from assistant.core.values import Passage
from assistant.core.wire import Emit, serve, worker_channel
from assistant.recall.embedders import load_embedder

if TYPE_CHECKING:
    import numpy as np


class _Worker:
    """The one model of this process."""

    def __init__(self) -> None:
        self._embedder: Embedder | None = None

    def load(self, args: Mapping[str, Any], cancel: CancelToken, emit: Emit) -> Mapping[str, Any]:
        self._embedder = load_embedder(Path(args["folder"]), int(args.get("threads", 1)))
        self._embedder.embed(["ready"], cancel)  # the first run allocates
        return {"identity": self._embedder.identity, "dimensions": self._embedder.dimensions}

    def embed(self, args: Mapping[str, Any], cancel: CancelToken, emit: Emit) -> Mapping[str, Any]:
        return {"vectors": _packed([self._loaded().embed(list(args["texts"]), cancel)])}

    def passages(self, args: Mapping[str, Any], cancel: CancelToken, emit: Emit) -> Mapping[str, Any]:
        vectors = self._loaded().embed_passages([Passage(head, body) for head, body in args["passages"]], cancel)
        return {"vectors": _packed(vectors), "windows": [len(one) for one in vectors]}

    def _loaded(self) -> Embedder:
        if self._embedder is None:
            raise AssistantError("embedding.model", "No embedding model is loaded.", "Load one first.")
        return self._embedder


def _packed(vectors: Sequence[np.ndarray]) -> str:
    return base64.b64encode(b"".join(one.astype("<f4").tobytes() for one in vectors)).decode("ascii")


def main() -> None:
    """Serve until the other end is gone."""
    logging.basicConfig(level=logging.INFO)
    channel = worker_channel()
    worker = _Worker()
    serve(channel, {"load": worker.load, "embed": worker.embed, "passages": worker.passages})


if __name__ == "__main__":
    main()
