"""A small workspace and a small embedder for the tests of recall."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import numpy as np

from assistant.core.cancel import CancelToken
from assistant.core.clock import fixed_clock
from assistant.core.values import Hit, Passage, RecallQuery
from assistant.recall.search import Recall

NOW = datetime.fromisoformat("2026-11-30T12:00:00+01:00")
CLOCK = fixed_clock(NOW)


class SmallWorkspace:
    """A folder with the files of a workspace, written as a person would."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)

    def write(self, file: str, text: str) -> Path:
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def remember(self, *lines: str) -> None:
        """Append lines to MEMORY.md."""
        with (self.root / "MEMORY.md").open("a", encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in lines))

    def chat(self, ident: str, *turns: tuple[str, str], head: str = "", title: str = "") -> Path:
        lines = [f"# Chat: {title or ident}", "", "## Metadata", "", f"- **Session ID**: {ident}", *head.splitlines()]
        lines += ["", "## Conversation", ""]
        for number, (user, reply) in enumerate(turns, 1):
            lines += [f"### 2026-11-{number:02d}T10:00:00+01:00 · #{number}", ""]
            lines += ["**User**:", "", f"> {user}", "", "**Assistant**:", "", f"> {reply}", ""]
        return self.write(f"chats/{ident[:4]}-{ident[4:6]}/{ident}.md", "\n".join(lines))


class FakeEmbedder:
    """Words as directions: texts that share words, or words of the same meaning, are near each other."""

    MEANINGS = ({"coffee", "espresso", "咖啡"}, {"dentist", "teeth"}, {"cat", "猫", "kitty"}, {"rent", "房租"})

    def __init__(self, identity: str = "fake", dimensions: int = 64) -> None:
        self.identity = identity
        self.dimensions = dimensions
        self.query_map: np.ndarray | None = None
        self.embedded: list[str] = []  # of what is in the workspace

    def embed(self, texts: Sequence[str], cancel: CancelToken) -> np.ndarray:
        cancel.check()
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().replace("，", " ").split():
                vectors[row] += self._direction(word.strip(".,;:?!()[]"))
            vectors[row, 0] += 1e-3
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def embed_passages(self, passages: Sequence[Passage], cancel: CancelToken) -> list[np.ndarray]:
        """One window each."""
        texts = [passage.head + passage.body for passage in passages]
        vectors = self.embed(texts, cancel)
        self.embedded += texts
        return [vector[None] for vector in vectors]

    def embed_pieces(self, passages: Sequence[Passage], cancel: CancelToken) -> list[np.ndarray]:
        """None."""
        return [np.zeros((0, self.dimensions), np.float32) for _ in passages]

    def _direction(self, word: str) -> np.ndarray:
        for meaning in self.MEANINGS:
            if word in meaning:
                word = min(meaning)
        seed = zlib.crc32(f"{self.identity}:{word}".encode("utf-8", "replace"))
        return np.random.default_rng(seed).standard_normal(self.dimensions).astype(np.float32)


def quiet(done: int, total: int, what: str) -> None:
    """Progress that nobody looks at."""


def found(recall: Recall, text: str, **options: object) -> tuple[Hit, ...]:
    """The hits of a query."""
    return recall.search(RecallQuery(text, **options)).hits  # type: ignore[arg-type]


def texts(recall: Recall, text: str, **options: object) -> list[str]:
    return [hit.text for hit in found(recall, text, **options)]
