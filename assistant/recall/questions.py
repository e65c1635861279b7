"""A bank of everyday questions of no one in particular: what an embedding model makes of any question at all.

Models place questions apart from what answers them, and some texts near to every question. Both are corrected: a
query's vector is taken less the middle between the questions of its language and the units (recall@5 by meaning alone on
three labelled sets: 0.76 -> 0.78, 0.85 -> 0.88, 0.55 -> 0.56), and a unit loses a part of its mean nearness to the
questions that are nearest to it (-> 0.79, 0.88, 0.58). The bank is embedded once a model.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from functools import cache

import numpy as np

from assistant.core.resources import resource
from assistant.recall.text import LANGUAGES
from assistant.recall.vectors import STORED, matrix

_NEAREST = 10


@dataclass(frozen=True)
class Questions:
    """centres: (LANGUAGES, dimensions), the middle of each language's; directions: (questions, dimensions), each less
    the middle of its like and of length 1."""

    centres: np.ndarray
    directions: np.ndarray

    def nearness(self, vectors: np.ndarray) -> np.ndarray:
        """float32 (units,): how near each unit is to the questions nearest to it, on the mean.

        vectors: (units, dimensions), centred and of length 1.
        """
        cosine = vectors @ self.directions.T
        nearest = np.partition(cosine, -_NEAREST, axis=1)[:, -_NEAREST:]
        mean: np.ndarray = nearest.mean(axis=1)
        return mean


@cache
def bank() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """(language, questions of one kind), a kind after the other: the asker's own matters and those of others."""
    kinds: list[tuple[str, list[str]]] = []
    for line in resource("recall/questions.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            kinds.append((line.strip("[]"), []))
        elif line and not line.startswith("#"):
            kinds[-1][1].append(line)
    return tuple((language, tuple(texts)) for language, texts in kinds)


def bank_texts() -> list[str]:
    """All questions in the order in which their vectors are kept."""
    return [text for _, texts in bank() for text in texts]


def load_questions(connection: sqlite3.Connection, model: int, dimensions: int) -> Questions | None:
    """The bank as a model sees it; None while it is not embedded."""
    rows = connection.execute("SELECT vector FROM questions WHERE model = ? ORDER BY number", [model]).fetchall()
    blobs = [blob for (blob,) in rows if len(blob) == 2 * dimensions]
    return _questions(matrix(blobs, dimensions)) if len(blobs) == len(bank_texts()) else None


def store_questions(connection: sqlite3.Connection, model: int, vectors: np.ndarray) -> None:
    """Keep the bank's vectors, in the transaction of the caller. vectors: (questions, dimensions)."""
    connection.execute("DELETE FROM questions WHERE model = ?", [model])
    rows = [(model, number, vector.astype(STORED).tobytes()) for number, vector in enumerate(vectors)]
    connection.executemany("INSERT INTO questions(model, number, vector) VALUES (?, ?, ?)", rows)


def _questions(vectors: np.ndarray) -> Questions:
    middles: dict[str, list[np.ndarray]] = {language: [] for language in LANGUAGES}
    directions, start = [], 0
    for language, texts in bank():
        own = vectors[start : start + len(texts)]
        start += len(texts)
        middles[language].append(own.mean(axis=0))
        directions.append(own - own.mean(axis=0))
    centres = [np.mean(middles[language] or middles[LANGUAGES[0]], axis=0) for language in LANGUAGES]
    apart = np.concatenate(directions)
    apart /= np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), 1e-6)
    return Questions(np.array(centres, np.float32), apart.astype(np.float32))
