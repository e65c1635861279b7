"""The embedding worker: ``python -m assistant.recall.meaning.embed_worker``, one model, JSON lines over its pipes.

Requests: ``load`` {folder, threads} -> {identity, dimensions}; ``embed`` {texts} -> {vectors: base64 of little-endian
float32, row after row}; ``passages`` and ``pieces`` {passages: [[head, body], ...]} -> {vectors, rows: how many each
has}.

``embed`` is for queries: it is answered beside the others, whose threads step back behind everything else.
"""

from __future__ import annotations

import base64
import contextlib
import logging
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError
from assistant.core.ports import Embedder
from assistant.core.values import Passage
from assistant.core.wire import Emit, serve, worker_channel
from assistant.recall.meaning.embedders import OnnxEmbedder, load_embedder

if TYPE_CHECKING:
    import numpy as np


_Embed = Callable[[Sequence[Passage], CancelToken], "list[np.ndarray]"]
_NICE = 10
"""Learning gets what others leave, and still a tenth of a core that somebody else uses in full."""


class _Worker:
    """The one model of this process."""

    def __init__(self) -> None:
        self._embedder: Embedder | None = None
        self._pool = ThreadPoolExecutor(1, "learning", _step_back)
        self._shares = 1

    def load(self, args: Mapping[str, Any], cancel: CancelToken, emit: Emit) -> Mapping[str, Any]:
        """threads 0: as many as there are cores for learning, where they can step back; a query takes one."""
        threads = int(args.get("threads", 0)) or _threads()
        self._embedder = load_embedder(Path(args["folder"]), threads)
        # Texts side by side, one thread each, not several threads a text: no one waits for another, and vectors
        # are the same to the last bit.
        self._shares = threads if isinstance(self._embedder, OnnxEmbedder) else 1
        self._pool = ThreadPoolExecutor(self._shares, "learning", _step_back)
        self._embedder.embed(["ready"], cancel)  # the first run allocates
        return {"identity": self._embedder.identity, "dimensions": self._embedder.dimensions}

    def embed(self, args: Mapping[str, Any], cancel: CancelToken, emit: Emit) -> Mapping[str, Any]:
        return {"vectors": _packed([self._loaded().embed(list(args["texts"]), cancel)])}

    def passages(self, args: Mapping[str, Any], cancel: CancelToken, emit: Emit) -> Mapping[str, Any]:
        return self._shared_out(self._loaded().embed_passages, args, cancel)

    def pieces(self, args: Mapping[str, Any], cancel: CancelToken, emit: Emit) -> Mapping[str, Any]:
        return self._shared_out(self._loaded().embed_pieces, args, cancel)

    def _shared_out(self, embed: _Embed, args: Mapping[str, Any], cancel: CancelToken) -> Mapping[str, Any]:
        """Dealt out by length, so that all threads end at about the same time."""
        passages = [Passage(head, body) for head, body in args["passages"]]
        order = sorted(range(len(passages)), key=lambda n: -len(passages[n].body))
        hands = [hand for n in range(self._shares) if (hand := order[n :: self._shares])]
        played = self._pool.map(lambda hand: embed([passages[n] for n in hand], cancel), hands)
        vectors: dict[int, np.ndarray] = {}
        for hand, some in zip(hands, played, strict=True):
            vectors.update(zip(hand, some, strict=True))
        rows = [vectors[n] for n in range(len(passages))]
        return {"vectors": _packed(rows), "rows": [len(one) for one in rows]}

    def _loaded(self) -> Embedder:
        if self._embedder is None:
            raise AssistantError("embedding.unloaded", "No embedding model is loaded.", "Load one first.")
        return self._embedder


def _threads() -> int:
    """All cores where threads can step back, else half of them."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return max((os.cpu_count() or 1) // 2, 1)


def _step_back() -> None:
    """Lower this thread's priority; only Linux does so for one thread of a process."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)


def _packed(vectors: Sequence[np.ndarray]) -> str:
    return base64.b64encode(b"".join(one.astype("<f4").tobytes() for one in vectors)).decode("ascii")


def main() -> None:
    """Serve until the other end is gone."""
    logging.basicConfig(level=logging.INFO)
    channel = worker_channel()
    worker = _Worker()
    serve(
        channel,
        {"load": worker.load, "passages": worker.passages, "pieces": worker.pieces},
        beside={"embed": worker.embed},
    )


if __name__ == "__main__":
    main()
