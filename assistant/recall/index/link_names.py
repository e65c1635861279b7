"""By which names ``[[wikilinks]]`` find a note: its file name, its title, its aliases."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from assistant.recall.words.text import fold
from assistant.workspace.notes import wikilinks
from assistant.workspace.redaction import redact


def store_names(connection: sqlite3.Connection, file: int, names: Sequence[tuple[int, str]]) -> None:
    """Let a file have these names, in the transaction of the caller. names: (rank, name), the lower rank first."""
    connection.execute("DELETE FROM names WHERE file = ?", [file])
    rows = {(file, rank, plain_name(redact(name).text)) for rank, name in names}
    connection.executemany(
        "INSERT INTO names(file, rank, name) VALUES (?, ?, ?)", sorted(row for row in rows if row[2])
    )


def linked_files(connection: sqlite3.Connection, text: str) -> list[int]:
    """The notes that a text links to: by file name, else title, else alias."""
    sql = "SELECT file FROM names JOIN files ON files.id = file WHERE name = ? ORDER BY rank, path LIMIT 1"
    targets = wikilinks(text) if "[[" in text else ()
    found = (connection.execute(sql, [plain_name(target)]).fetchone() for target in targets)
    return list(dict.fromkeys(row[0] for row in found if row))


def plain_name(name: str) -> str:
    """A name as links are compared: without folders, ending, case, width and what SQLite does not take."""
    folded = fold(PurePosixPath(name.replace("\0", " ")).name.removesuffix(".md")).strip()
    return folded.encode("utf-8", "replace").decode("utf-8")


def names_of(file: str, title: str, aliases: Iterable[str]) -> list[tuple[int, str]]:
    """The names of a note, with their ranks."""
    return [(0, PurePosixPath(file).stem), (1, title), *((2, alias) for alias in aliases)]
