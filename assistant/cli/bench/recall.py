"""Searching ``--size`` units, beside a plain FTS5 table and beside the embedding model alone, on the same data."""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from assistant.cli.bench import prose, search_process
from assistant.cli.bench.figures import Report, median, milliseconds, percentile
from assistant.cli.bench.vector_mill import fill
from assistant.cli.context import Context
from assistant.core.cancel import CancelToken
from assistant.core.clock import system_clock
from assistant.core.errors import AssistantError
from assistant.core.values import Passage, RecallQuery
from assistant.recall.index.database import IndexFile
from assistant.recall.search import Recall
from assistant.workspace.workspace import Workspace

if TYPE_CHECKING:
    import numpy as np

    from assistant.runtime.embedding import WorkerEmbedder

_QUERIES_A_RUN = 40
_ALL_EMBEDDED = 10_000
_SOME_EMBEDDED = 2_000
"""Texts: up to so many are all embedded; of more only some, and the vectors of the others are made from those."""
_BARE = 200
"""Texts that the model embeds alone, to compare its speed."""
_CHANGES = 5
_Figures = dict[str, float | int | str | list[str]]


def run(context: Context, size: int, runs: int) -> Report:
    """size: units (0: 10 000). A query is timed once for each way, the ways in turn."""
    size = size or 10_000
    embedder = context.services.embedder
    if embedder is None:
        raise AssistantError("recall.no_model", "There is no embedding model to measure with.", "Run `make run` once.")
    with tempfile.TemporaryDirectory(prefix="keepsake-bench-") as name:
        folder = Path(name)
        workspace = Workspace(folder / "workspace", folder / "data", folder / "state", system_clock)
        workspace.prepare()
        figures: _Figures = {"files": prose.write_workspace(workspace.root, size)}
        recall = Recall(workspace, folder / "index", embedder, system_clock)
        try:
            figures |= _index(context, recall, embedder, folder / "index", size)
            figures |= _changed(workspace, recall)
            times = _search(recall, embedder, folder, size, runs * _QUERIES_A_RUN)
        finally:
            recall.close()
        figures |= _memory(workspace, embedder, folder)
    return _report(figures, times)


def _index(context: Context, recall: Recall, embedder: WorkerEmbedder, folder: Path, size: int) -> _Figures:
    """Keywords, then vectors, each on its own; the embedder is ready before it is timed."""
    recall.warm(CancelToken())
    words = milliseconds(lambda: recall.sync(CancelToken(), context.output.progress, vectors=False)) / 1000
    file = IndexFile(folder / "index.sqlite3")
    some = 0 if size <= _ALL_EMBEDDED else _SOME_EMBEDDED
    made = _embed_some(file, embedder, some) if some else {}
    stages = _Stages(context.output.progress)
    recall.sync(CancelToken(), stages)
    vectors, pieces = stages.seconds("vectors"), stages.seconds("pieces")
    status = recall.status()
    embedded = some or status.vectors
    seconds = made.get("seconds", vectors)
    bare = _bare(file, embedder)
    return {
        "units": status.units,
        "vectors": status.vectors,
        "vectors_made": embedded,
        "vectors_synthesised": int(made.get("synthesised", 0)),
        "index_keywords_s": round(words, 3),
        "index_vectors_s": round(seconds, 3),
        "index_pieces_s": round(made.get("pieces_seconds", pieces), 3),
        "vectors_per_s": round(embedded / seconds, 1),
        "bare_vectors_per_s": round(bare, 1),
    }


class _Stages:
    """How long each stage of a sync took, by what it tells of its progress."""

    def __init__(self, show: Callable[[int, int, str], None]) -> None:
        self._show = show
        self._first: dict[str, float] = {}
        self._last: dict[str, float] = {}

    def __call__(self, done: int, total: int, what: str) -> None:
        self._last[what] = time.perf_counter()
        self._first.setdefault(what, self._last[what])
        self._show(done, total, what)

    def seconds(self, what: str) -> float:
        return self._last.get(what, 0.0) - self._first.get(what, 0.0)


def _embed_some(file: IndexFile, embedder: WorkerEmbedder, some: int) -> dict[str, float]:
    """Real vectors for some texts, and made ones for the others."""
    from assistant.recall.meaning.models import model_number
    from assistant.recall.meaning.vectors import store_vectors

    connection = file.connect()
    try:
        model = model_number(connection, embedder.identity, embedder.dimensions)
        rows = connection.execute("SELECT hash, head, body FROM units WHERE id % 7 = 3 LIMIT ?", [some]).fetchall()
        passages = [Passage(head, body) for _, head, body in rows]
        windows: list[np.ndarray] = []
        pieces: list[np.ndarray] = []
        took = milliseconds(lambda: windows.extend(embedder.embed_passages(passages, CancelToken())))
        pieces_took = milliseconds(lambda: pieces.extend(embedder.embed_pieces(passages, CancelToken())))
        store_vectors(connection, model, [row[0] for row in rows], windows)
        synthesised = fill(connection, model, windows, pieces)
        return {"seconds": took / 1000, "pieces_seconds": pieces_took / 1000, "synthesised": synthesised}
    finally:
        connection.close()


def _bare(file: IndexFile, embedder: WorkerEmbedder) -> float:
    """Texts a second that the model makes into vectors, in its process, with nothing around it."""
    connection = file.connect()
    rows = connection.execute("SELECT head || body FROM units WHERE id % 7 = 3 LIMIT ?", [_BARE]).fetchall()
    connection.close()
    return len(rows) / milliseconds(lambda: embedder.embed([row[0] for row in rows], CancelToken())) * 1000


def _memory(workspace: Workspace, embedder: WorkerEmbedder, folder: Path) -> _Figures:
    writer = prose.Writer(seed=77)
    texts = [writer.question(number) for number in range(20)]
    queries = dict(zip(texts, embedder.embed(texts, CancelToken()), strict=True))
    found = search_process.measure(workspace.root, folder / "index", embedder.identity, queries, folder)
    return {f"search_process_{name}": value for name, value in found.items()}


def _search(recall: Recall, embedder: WorkerEmbedder, folder: Path, size: int, queries: int) -> dict[str, list[float]]:
    """Milliseconds of each query by each way; every query is new, so nothing is answered from memory."""
    plain = _plain_fts5(folder / "plain.sqlite3", prose.sentences(size))
    matrix = _random_vectors(size, embedder.dimensions)
    writer = prose.Writer(seed=99)
    asked = [writer.question(number) for number in range(queries + 3)]
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


def _plain_fts5(path: Path, texts: Iterable[str]) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
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


def _changed(workspace: Workspace, recall: Recall) -> _Figures:
    """From the end of a write to the search that shows it: a line in MEMORY.md, and one in a note among the others."""
    recall.search(RecallQuery("kayak", limit=1))

    def remember(word: str) -> None:
        workspace.memory.remember(f"The rare word of this benchmark is {word}.")

    def note(word: str) -> None:
        notes = sorted((workspace.root / "memory").glob("topic-*.md"))
        with notes[len(notes) // 2].open("a", encoding="utf-8") as file:
            file.write(f"- The rare word of this note is {word}.\n")

    ways: dict[str, Callable[[str], None]] = {"memory": remember, "file": note}
    return {
        f"changed_{name}_visible_ms": median([_visible(recall, way, f"{name}quixo{n}nality") for n in range(_CHANGES)])
        for name, way in ways.items()
    }


def _visible(recall: Recall, write: Callable[[str], None], word: str) -> float:
    write(word)
    query = RecallQuery(word, limit=1)
    found: list[bool] = []
    took = milliseconds(lambda: found.append(any(word in hit.text for hit in recall.search(query).hits)))
    if not found[0]:
        raise AssistantError("bench.lost", "What was just written was not found.", "Please report this.")
    return took


def _report(figures: _Figures, times: dict[str, list[float]]) -> Report:
    for name, values in times.items():
        figures |= {f"{name}_median_ms": median(values), f"{name}_p95_ms": percentile(values, 0.95)}
    figures["queries"] = len(times["recall"])
    ours = median(times["recall"])
    ratios = {
        "vs_fts5": round(ours / median(times["fts5"]), 3),
        "vs_embedding": round(ours / median(times["embedding"]), 3),
        "vectors_per_s": round(float(str(figures["vectors_per_s"])) / float(str(figures["bare_vectors_per_s"])), 3),
    }
    return Report(figures, ratios)
