"""What an embedding model makes of any question at all, from a bank of everyday questions of no one in particular.

Models place questions apart from what answers them, and some texts near to every question. Three things mend it:
- a query's vector is taken less the middle between the questions of its language and the units (recall@5 by meaning
  alone on three labelled sets: 0.76 -> 0.78, 0.85 -> 0.88, 0.55 -> 0.56);
- it is turned by the model's query map, where it has one (see tools/embedding/query_map.py; with all else in place
  0.870 -> 0.885, 0.897 -> 0.918, 0.663 -> 0.668);
- a unit loses a part of its mean nearness to the questions nearest to it ("hub" units; 0.78 -> 0.79, 0.88, and
  0.56 -> 0.58).
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from functools import cache

import numpy as np

from assistant.core.resources import resource
from assistant.recall.index.database import writing
from assistant.recall.meaning.vectors import STORED, matrix
from assistant.recall.words.text import LANGUAGES

_NEAREST = 10


@dataclass(frozen=True)
class Questions:
    """centres: (LANGUAGES, dimensions), the middle of each language's; directions: (questions, dimensions), each less
    the middle of its like, turned, of length 1; spreads: (LANGUAGES,), see ``spread``; turn: (dimensions, dimensions),
    the query map."""

    centres: np.ndarray
    directions: np.ndarray
    spreads: np.ndarray
    turn: np.ndarray | None = None

    def direction(self, vector: np.ndarray, language: str, units: np.ndarray) -> np.ndarray:
        """Where a query points, of length 1. vector: as the embedder gave it; units: the middle of what it asks for."""
        centred = vector - (units + self.centres[LANGUAGES.index(language)]) / 2
        turned: np.ndarray = _turned(centred[None], self.turn)[0]
        return turned

    def spread(self, language: str) -> float:
        """How much the cosines of unlike questions vary: on this scale the model tells texts of a language apart."""
        return float(self.spreads[LANGUAGES.index(language)])

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


def questions_from(vectors: np.ndarray, turn: np.ndarray | None = None) -> Questions:
    """The bank as a model sees it. vectors: (questions, dimensions) in the order of ``bank_texts``."""
    middles: dict[str, list[np.ndarray]] = {language: [] for language in LANGUAGES}
    directions, start = dict[str, list[np.ndarray]](), 0
    for language, texts in bank():
        own = vectors[start : start + len(texts)]
        start += len(texts)
        middles[language].append(own.mean(axis=0))
        directions.setdefault(language, []).append(_turned(own - own.mean(axis=0), turn))
    centres = [np.mean(middles[language] or middles[LANGUAGES[0]], axis=0) for language in LANGUAGES]
    apart = {language: np.concatenate(parts) for language, parts in directions.items()}
    spreads = [_spread(apart.get(language, apart[LANGUAGES[0]])) for language in LANGUAGES]
    return Questions(np.array(centres, np.float32), np.concatenate(list(apart.values())), np.array(spreads), turn)


def _spread(directions: np.ndarray) -> float:
    cosine = directions @ directions.T
    return float(cosine[np.triu_indices(len(cosine), 1)].std())


# --- in the index -------------------------------------------------------------------------------------------------


def has_questions(connection: sqlite3.Connection, model: int) -> bool:
    """Whether a model has embedded the whole bank."""
    (count,) = connection.execute("SELECT count(*) FROM questions WHERE model = ?", [model]).fetchone()
    return int(count) == len(bank_texts())


def load_questions(connection: sqlite3.Connection, model: int, dimensions: int) -> Questions | None:
    """The bank as a model sees it; None while it is not embedded."""
    rows = connection.execute("SELECT vector FROM questions WHERE model = ? ORDER BY number", [model]).fetchall()
    blobs = [blob for (blob,) in rows if len(blob) == 2 * dimensions]
    if len(blobs) != len(bank_texts()):
        return None
    row = connection.execute("SELECT map FROM query_maps WHERE model = ?", [model]).fetchone()
    fits = row is not None and len(row[0]) == 2 * dimensions * dimensions
    turn = np.frombuffer(row[0], STORED).reshape(dimensions, dimensions).astype(np.float32) if fits else None
    return questions_from(matrix(blobs, dimensions), turn)


def store_questions(connection: sqlite3.Connection, model: int, vectors: np.ndarray) -> None:
    """Keep the bank's vectors. vectors: (questions, dimensions)."""
    rows = [(model, number, vector.astype(STORED).tobytes()) for number, vector in enumerate(vectors)]
    with writing(connection):
        _touch(connection)
        connection.execute("DELETE FROM questions WHERE model = ?", [model])
        connection.executemany("INSERT INTO questions(model, number, vector) VALUES (?, ?, ?)", rows)


def store_query_map(connection: sqlite3.Connection, model: int, turn: np.ndarray | None, dimensions: int) -> None:
    """Keep a model's query map, or that it has none (any more); nothing is written where it is kept already."""
    fits = turn is not None and turn.shape == (dimensions, dimensions)
    blob = turn.astype(STORED).tobytes() if turn is not None and fits else b""
    row = connection.execute("SELECT map FROM query_maps WHERE model = ?", [model]).fetchone()
    if blob == (row[0] if row else b""):
        return
    with writing(connection):
        _touch(connection)
        connection.execute("INSERT OR REPLACE INTO query_maps(model, map) VALUES (?, ?)", [model, blob])


def edition(connection: sqlite3.Connection) -> str:
    """Another one whenever the bank or a map was stored."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'questions'").fetchone()
    return str(row[0]) if row else ""


def _touch(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES ('questions', hex(randomblob(8)))")


def _turned(rows: np.ndarray, turn: np.ndarray | None) -> np.ndarray:
    rows = rows if turn is None else rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)
    rows = rows if turn is None else rows + rows @ turn
    unit: np.ndarray = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)
    return unit.astype(np.float32)
