"""What recall says of its index: what a sync did, how it stands, and why it cannot be used."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assistant.core.errors import AssistantError
from assistant.recall.index.read_only import cannot_write, is_hindered


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did. files: read anew; vectors: made; errors: what could not be done, in words."""

    files: int
    added: int
    removed: int
    vectors: int
    errors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """How the index stands.

    stale: units without a vector of the present model; errors include a rebuilt index. problem: why the embedding model
    did not answer the last time, "" where it did. published: its vectors take part in searches.
    """

    files: int
    units: int
    vectors: int
    model: str
    stale: int
    errors: tuple[str, ...]
    problem: str = ""
    published: bool = True


def index_status(
    connection: sqlite3.Connection, units: int, vectors: int, model: str, problem: str, *, published: bool
) -> IndexStatus:
    """vectors: units that have one of the model. Cheap, since it is asked again and again."""
    (files,) = connection.execute("SELECT count(*) FROM files").fetchone()
    bad = connection.execute("SELECT path, problem FROM files WHERE problem != '' ORDER BY path").fetchall()
    errors = tuple(f"{path}: {why}" for path, why in bad)
    stale = units - vectors if model else 0
    return IndexStatus(files, units, vectors, model, stale, errors, problem, published)


@contextlib.contextmanager
def in_words(folder: Path) -> Iterator[None]:
    """A failure of the index, or of the disk under its folder, in words that a person can act on."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        if is_hindered(error):
            raise cannot_write(folder, error) from error
        raise AssistantError(
            "recall.index",
            f"The search index cannot be used: {error}.",
            "Check that the disk has room; `keepsake index rebuild` builds it anew.",
        ) from error
