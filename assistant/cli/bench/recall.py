"""Searching ``--size`` units, beside a plain FTS5 table and beside the embedding model alone, on the same data."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.cli.bench import corpus
from assistant.cli.bench.figures import Report, median, milliseconds, percentile
from assistant.cli.context import Context
from assistant.core.cancel import CancelToken
from assistant.core.clock import system_clock
from assistant.core.errors import AssistantError
from assistant.core.values import RecallQuery
from assistant.recall.search import Recall
from assistant.workspace.workspace import Workspace

if TYPE_CHECKING:
    import numpy as np

    from assistant.runtime.embedding import WorkerEmbedder

_QUERIES_A_RUN = 40


def run(context: Context, size: int, runs: int) -> Report:
    """size: units (0: 10 000). A query is timed once for each way, the ways in turn."""
    size = size or 10_000
    embedder = context.services.embedder
    if embedder is None:
        raise AssistantError("recall.no_model", "There is no embedding model to measure with.", "Run `make run` once.")
    with tempfile.TemporaryDirectory(prefix="keepsake-bench-") as folder:
        workspace = Workspace(Path(folder) / "workspace", Path(folder) / "data", Path(folder) / "state", system_clock)
        workspace.prepare()
        corpus.write_memory(workspace.root, size)
        recall = Recall(workspace, Path(folder) / "index", embedder, system_clock)
        try:
            figures = _index(context, recall, embedder)
            figures |= {"units": recall.status().units, "vectors": recall.status().vectors}
            times = _search(recall, embedder, list(corpus.sentences(size)), runs * _QUERIES_A_RUN)
            figures["changed_file_visible_ms"] = _changed(workspace, recall)
        finally:
            recall.close()
    return _report(figures, times)


def _index(context: Context, recall: Recall, embedder: WorkerEmbedder) -> dict[str, float | int | str | list[str]]:
    """Keywords, then vectors, each on its own; the embedder is ready before it is timed."""
    recall.warm(CancelToken())
    words = milliseconds(lambda: recall.sync(CancelToken(), context.output.progress, vectors=False))
    vectors = milliseconds(lambda: recall.sync(CancelToken(), context.output.progress))
    return {"index_keywords_s": round(words / 1000, 3), "index_vectors_s": round(vectors / 1000, 3)}


def _search(recall: Recall, embedder: WorkerEmbedder, texts: Sequence[str], queries: int) -> dict[str, list[float]]:
    """Milliseconds of each query by each way; every query is new, so nothing is answered from memory."""
    plain = _plain_fts5(texts)
    matrix = _random_vectors(len(texts), embedder.dimensions)
    asked = list(corpus.sentences(queries + 3, seed=99))
    ways: dict[str, Callable[[str], object]] = {
        "recall": lambda text: recall.search(RecallQuery(text, limit=10)),
        "fts5": lambda text: _ask_fts5(plain, text),
        "embedding": lambda text: _ask_vectors(embedder, matrix, text),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    numbers = count()
    for text in asked:
        for name, way in ways.items():
            question = f"{text} {next(numbers)}"
            times[name].append(milliseconds(lambda way=way, question=question: way(question)))  # type: ignore[misc]
    plain.close()
    return {name: values[3:] for name, values in times.items()}


def _plain_fts5(texts: Sequence[str]) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute("create virtual table plain using fts5(text, tokenize='unicode61')")
    connection.executemany("insert into plain values (?)", ((text,) for text in texts))
    return connection


def _ask_fts5(connection: sqlite3.Connection, text: str) -> object:
    terms = " OR ".join(f'"{word}"' for word in text.replace('"', " ").split())
    found = connection.execute("select rowid from plain where plain match ? order by bm25(plain) limit 10", (terms,))
    return found.fetchall()


def _random_vectors(rows: int, columns: int) -> np.ndarray:
    import numpy as np

    return np.random.default_rng(1).standard_normal((rows, columns), dtype=np.float32)


def _ask_vectors(embedder: WorkerEmbedder, matrix: np.ndarray, text: str) -> object:
    import numpy as np

    return np.argpartition(matrix @ embedder.embed([text], CancelToken())[0], -10)[-10:]


def _changed(workspace: Workspace, recall: Recall) -> float:
    """From the end of a write to the search that shows it."""
    workspace.memory.remember("The rare word of this benchmark is quixotonality.")
    query = RecallQuery("quixotonality", limit=1)
    took = milliseconds(lambda: recall.search(query))
    if not recall.search(query).hits:
        raise AssistantError("bench.lost", "What was just written was not found.", "Please report this.")
    return round(took, 3)


def _report(figures: dict[str, float | int | str | list[str]], times: dict[str, list[float]]) -> Report:
    for name, values in times.items():
        figures |= {f"{name}_median_ms": median(values), f"{name}_p95_ms": percentile(values, 0.95)}
    figures["queries"] = len(times["recall"])
    ours = median(times["recall"])
    ratios = {
        "vs_fts5": round(ours / median(times["fts5"]), 3),
        "vs_embedding": round(ours / median(times["embedding"]), 3),
    }
    return Report(figures, ratios)
