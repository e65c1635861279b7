"""The embedding model in a process of its own: started when first needed, given back after idling."""

from __future__ import annotations

import base64
import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.json_text import parse_json
from assistant.core.values import Passage
from assistant.recall.meaning.embedders import model_identity, read_query_map
from assistant.runtime.pulse import Patience
from assistant.runtime.worker_process import WorkerLost, WorkerProcess

if TYPE_CHECKING:
    import numpy as np

IDLE_SECONDS = 600.0
"""A worker unused this long is given back by ``retire`` (some 250 MB)."""
_CHARACTERS_A_REQUEST = 16_000
"""Texts sent at once: a second of work or two. A query is answered beside it."""
_RETRY_SECONDS = 30.0
PATIENCE = Patience(silent=60, hurried=20)
"""Nobody waits for it: a query goes by words meanwhile. Loading torch from a cold disk holds up its beats."""
_log = logging.getLogger(__name__)


class WorkerEmbedder:
    """core.ports.Embedder over ``python -m assistant.recall.meaning.embed_worker``; also recall's PatientEmbedder.

    The worker starts with the first text, or with ``warm_up`` in the background. A failed start is not tried again for
    30 s by queries; ``embed`` always tries. A worker that dies or hangs costs the query that waits for it, and is
    started anew. log: file for the worker's stderr; threads: for learning, 0 for what the machine has.
    """

    def __init__(
        self,
        model_dir: Path,
        log: Path | None = None,
        threads: int = 0,
        clock: Callable[[], float] = time.monotonic,
        patience: Patience = PATIENCE,
    ) -> None:
        self._folder = model_dir
        self._threads = threads
        self._clock = clock
        self._worker = WorkerProcess(
            "assistant.recall.meaning.embed_worker", log, {"OMP_WAIT_POLICY": "passive"}, patience
        )
        self._pool = ThreadPoolExecutor(1, "embedding-query")
        self._loading = threading.Lock()
        self._waiting: Future[Any] | None = None
        self._loaded_start = 0  # the worker's start that has the model loaded
        self._failed_at = -_RETRY_SECONDS
        self._used_at = clock()
        self._identity = ""
        self._dimensions = 0

    @property
    def identity(self) -> str:
        """Of the model folder; needs no worker. Raises AssistantError("embedding.model") where no model can be read."""
        if not self._identity:
            self._dimensions, self._identity = _read_dimensions(self._folder), _read_identity(self._folder)
        return self._identity

    @property
    def dimensions(self) -> int:
        """Of the vectors, as the model folder says."""
        return self._dimensions if self.identity else 0

    @property
    def query_map(self) -> np.ndarray | None:
        """See core.ports.Embedder; needs no worker."""
        return read_query_map(self._folder)

    @property
    def ready(self) -> bool:
        """True when the worker runs with the model loaded."""
        return self._worker.alive and self._loaded_start == self._worker.starts

    def warm_up(self) -> None:
        """Start the worker in the background; returns at once, does nothing while it starts or has just failed."""
        if not self._is_waiting() and not self.ready and self._clock() - self._failed_at >= _RETRY_SECONDS:
            self._waiting = self._submit(self._warm_up)

    def embed(self, texts: Sequence[str], cancel: CancelToken) -> np.ndarray:
        """See core.ports.Embedder. Raises AssistantError."""
        import numpy as np

        self._load(cancel)
        return self._request(texts, cancel) if texts else np.zeros((0, self.dimensions), np.float32)

    def embed_passages(self, passages: Sequence[Passage], cancel: CancelToken) -> list[np.ndarray]:
        """See core.ports.Embedder. Sent in small portions, so that queries get their turn. Raises AssistantError."""
        return self._portioned("passages", passages, cancel)

    def embed_pieces(self, passages: Sequence[Passage], cancel: CancelToken) -> list[np.ndarray]:
        """See core.ports.Embedder; as ``embed_passages``."""
        return self._portioned("pieces", passages, cancel)

    def embed_query(self, text: str, seconds: float) -> np.ndarray | None:
        """The text's vector if it is there within ``seconds``; None otherwise, the request is then taken back."""
        if not self.ready:
            self.warm_up()
            return None
        if self._is_waiting():
            return None
        cancel = CancelToken()
        self._waiting = waiting = self._submit(self._request, [text], cancel)
        if waiting is None:
            return None
        try:
            vector: np.ndarray = waiting.result(seconds)[0]
        except FutureTimeoutError:
            cancel.cancel()
            return None
        except (AssistantError, Cancelled) as error:
            _log.warning("no vector for a query: %s", error)
            return None
        except CancelledError:  # closed before its turn came
            return None
        return vector

    def retire(self, idle_seconds: float = IDLE_SECONDS) -> bool:
        """Give the worker back if it works for nobody and was not used for so long; True if it was. It starts again
        when needed. Returns at once.
        """
        if not self._loading.acquire(blocking=False):
            return False
        try:
            return self._clock() - self._used_at >= idle_seconds and self._worker.retire()
        finally:
            self._loading.release()

    def close(self) -> None:
        """End the worker and the thread that waits for it; it does not start again."""
        self._worker.end()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _submit(self, work: Callable[..., Any], *args: object) -> Future[Any] | None:
        """None where it was closed: a search may still run while the program ends."""
        try:
            return self._pool.submit(work, *args)
        except RuntimeError:
            return None

    def _is_waiting(self) -> bool:
        return self._waiting is not None and not self._waiting.done()

    def _warm_up(self) -> None:
        try:
            self._load(CancelToken())
        except Cancelled:
            _log.debug("the embedding model was not needed any more")
        except AssistantError as error:
            level = logging.DEBUG if error.code == "worker.closed" else logging.WARNING
            _log.log(level, "the embedding model did not start: %s", error)

    def _load(self, cancel: CancelToken) -> None:
        with self._loading:
            if self.ready:
                return
            try:
                answer = self._worker.call("load", {"folder": str(self._folder), "threads": self._threads}, cancel)
            except AssistantError:
                self._failed_at = self._clock()
                raise
            self._used_at = self._clock()  # whoever had it started comes again: a query did not wait for it
            if (answer["identity"], answer["dimensions"]) != (self.identity, self.dimensions):
                self._identity, self._dimensions = answer["identity"], answer["dimensions"]
            self._loaded_start = self._worker.starts

    def _request(self, texts: Sequence[str], cancel: CancelToken) -> np.ndarray:
        self._used_at = self._clock()
        answer = self._worker.call("embed", {"texts": list(texts)}, cancel)
        return _unpacked(answer["vectors"], len(texts), self.dimensions)

    def _portioned(self, what: str, passages: Sequence[Passage], cancel: CancelToken) -> list[np.ndarray]:
        return [vectors for portion in _portions(passages) for vectors in self._surely(what, portion, cancel)]

    def _surely(self, what: str, passages: Sequence[Passage], cancel: CancelToken) -> list[np.ndarray]:
        """Asked once more when the worker dies over it: a first index of hours must not end with one process."""
        try:
            self._load(cancel)
            return self._cut(what, passages, cancel)
        except AssistantError as error:
            unloaded = error.code == "embedding.unloaded"  # another one was started meanwhile
            if not unloaded and not isinstance(error, WorkerLost):
                raise
            _log.warning("the embedding worker died and is started anew: %s", error.code)
            self._load(cancel)
            return self._cut(what, passages, cancel)

    def _cut(self, what: str, passages: Sequence[Passage], cancel: CancelToken) -> list[np.ndarray]:
        import numpy as np

        self._used_at = self._clock()
        args = {"passages": [[passage.head, passage.body] for passage in passages]}
        answer = self._worker.call(what, args, cancel)
        vectors = _unpacked(answer["vectors"], sum(answer["rows"]), self.dimensions)
        return np.split(vectors, np.cumsum(answer["rows"])[:-1])


def _unpacked(vectors: str, rows: int, dimensions: int) -> np.ndarray:
    import numpy as np

    return np.frombuffer(base64.b64decode(vectors), "<f4").reshape(rows, dimensions)


def _portions(passages: Sequence[Passage]) -> list[list[Passage]]:
    """The passages in order, in portions of a few thousand characters."""
    portions: list[list[Passage]] = []
    room = 0
    for passage in passages:
        size = len(passage.head) + len(passage.body)
        if not portions or room < size:
            portions.append([])
            room = _CHARACTERS_A_REQUEST
        portions[-1].append(passage)
        room -= size
    return portions


def _read_dimensions(folder: Path) -> int:
    for name, key in (("manifest.json", "dimensions"), ("config.json", "hidden_size")):
        try:
            value = parse_json((folder / name).read_text(encoding="utf-8")).get(key)
        except (OSError, ValueError, AttributeError):
            continue
        if isinstance(value, int) and value > 0:
            return value
    raise AssistantError(
        "embedding.model",
        f"There is no embedding model in {folder}.",
        "Build or download it; until then search works by keywords.",
    )


def _read_identity(folder: Path) -> str:
    try:
        return model_identity(folder)
    except OSError as error:
        raise AssistantError(
            "embedding.model",
            f"The embedding model in {folder} cannot be read: {error.strerror or error}.",
            "Check its permissions and its disk; until then search works by keywords.",
        ) from error
