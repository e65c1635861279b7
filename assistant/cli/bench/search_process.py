"""How much memory a process takes that searches and has no model: ``python -m assistant.cli.bench.search_process``.

Arguments: the workspace, the index's folder, a file of queries (JSON: identity, texts) and one of their vectors (npy).
Without arguments it imports the same and does nothing. Prints JSON: the peak of its memory, and how long things took.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.core.cancel import CancelToken
from assistant.core.clock import system_clock
from assistant.core.errors import AssistantError
from assistant.core.values import Passage, RecallQuery
from assistant.recall.search import Recall

if TYPE_CHECKING:
    import numpy as np

_MB = 1e6


@dataclass(frozen=True)
class _Known:
    """An embedder that knows a few texts."""

    identity: str
    vectors: dict[str, np.ndarray]

    @property
    def dimensions(self) -> int:
        return len(next(iter(self.vectors.values())))

    @property
    def query_map(self) -> np.ndarray | None:
        return None

    def embed(self, texts: Sequence[str], cancel: CancelToken) -> np.ndarray:
        import numpy as np

        return np.array([self.vectors[text] for text in texts])

    def embed_passages(self, passages: Sequence[Passage], cancel: CancelToken) -> list[np.ndarray]:
        raise AssertionError("this process only searches: everything was embedded before it began")

    embed_pieces = embed_passages


@dataclass(frozen=True)
class _Folder:
    root: Path


def measure(root: Path, index: Path, identity: str, queries: dict[str, np.ndarray], folder: Path) -> dict[str, float]:
    """peak_mb: of a process that searches; beyond_mb: above one that has only loaded the same libraries."""
    import numpy as np

    words, vectors = folder / "queries.json", folder / "queries.npy"
    words.write_text(json.dumps({"identity": identity, "texts": list(queries)}), encoding="utf-8")
    np.save(vectors, np.array(list(queries.values())))
    found = _child(str(root), str(index), str(words), str(vectors))
    return {**found, "beyond_mb": round(found["peak_mb"] - _child()["peak_mb"], 1)}


def _child(*arguments: str) -> dict[str, float]:
    command = [sys.executable, "-m", __spec__.name, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = " ".join(done.stderr.strip().splitlines()[-1:])
        raise AssistantError("bench.search", f"The search process ended: {said}", "Please report this.")
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main(arguments: Sequence[str]) -> None:
    from assistant.recall import lookup  # noqa: F401 - what a search loads, numpy with it

    figures: dict[str, Any] = {}
    if arguments:
        figures = _search(*arguments)
    sys.stdout.write(json.dumps({**figures, "peak_mb": _peak_mb()}))


def _peak_mb() -> float:
    """0 where the system does not tell. On Linux from /proc: getrusage counts what the parent had before the start."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
        return round(int(line.split()[1]) * 1024 / _MB, 1)
    if sys.platform == "win32":
        return 0.0
    import resource

    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MB, 1)


def _search(root: str, index: str, words: str, vectors: str) -> dict[str, float]:
    import numpy as np

    asked = json.loads(Path(words).read_text(encoding="utf-8"))
    embedder = _Known(asked["identity"], dict(zip(asked["texts"], np.load(vectors), strict=True)))
    recall = Recall(_Folder(Path(root)), Path(index), embedder, system_clock)
    took = []
    for text in asked["texts"]:
        answer = recall.search(RecallQuery(text, limit=10))
        if answer.mode != "hybrid":
            raise RuntimeError("a query had no vector")
        took.append(answer.took_ms)
    recall.close()
    return {"first_search_ms": round(took[0], 1)}


if __name__ == "__main__":
    main(sys.argv[1:])
