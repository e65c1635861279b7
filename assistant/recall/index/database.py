"""The index file: SQLite in WAL mode, so that the window and the command line can share it.

Everything in it is derived from the workspace. A file that is damaged, foreign or of another layout is thrown away and
built anew, and a folder in its place is put aside; ``IndexFile.note`` says so.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from assistant.core.folders import make_private
from assistant.recall.index.read_only import cannot_write, is_hindered, opened_to_read, reads_only
from assistant.recall.units.unit import UNIT_RULES
from assistant.recall.words.postings import SCHEMA as WORDS_SCHEMA

LAYOUT = 14
"""Raised with every change of the tables; a change of what text is indexed raises ``units_value.UNIT_RULES``."""
_APPLICATION_ID = 0x4B505349  # "KPSI"
_BUSY_SECONDS = 5.0
_SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE files(
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, stat TEXT NOT NULL, sha256 TEXT NOT NULL, problem TEXT NOT NULL,
    private INTEGER NOT NULL);
CREATE TABLE units(
    id INTEGER PRIMARY KEY AUTOINCREMENT, file INTEGER NOT NULL, uid TEXT NOT NULL,
    kind TEXT NOT NULL, day INTEGER NOT NULL, until INTEGER NOT NULL, struck INTEGER NOT NULL,
    chat TEXT NOT NULL, number INTEGER NOT NULL, follows INTEGER NOT NULL DEFAULT 0, lang TEXT NOT NULL,
    renews INTEGER NOT NULL, hash BLOB NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL, head TEXT NOT NULL,
    body TEXT NOT NULL);
CREATE INDEX units_by_uid ON units(uid);
CREATE INDEX units_by_hash ON units(hash);
CREATE INDEX units_by_turn_before ON units(chat, follows) WHERE follows > 0;
CREATE TABLE places(
    file INTEGER NOT NULL, unit INTEGER NOT NULL, digest BLOB NOT NULL, line INTEGER NOT NULL,
    PRIMARY KEY(file, unit)) WITHOUT ROWID;
CREATE TABLE gone(seq INTEGER PRIMARY KEY AUTOINCREMENT, unit INTEGER NOT NULL);
CREATE TABLE names(file INTEGER NOT NULL, rank INTEGER NOT NULL, name TEXT NOT NULL);
CREATE INDEX names_by_name ON names(name);
CREATE INDEX names_by_file ON names(file);
CREATE TRIGGER file_gone AFTER DELETE ON files
    BEGIN DELETE FROM names WHERE file = old.id; END;
CREATE TABLE spoken(unit INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL);
CREATE INDEX spoken_by_first ON spoken(first, last, unit);
CREATE INDEX spoken_by_unit ON spoken(unit);
CREATE TRIGGER unit_gone AFTER DELETE ON units
    BEGIN DELETE FROM places WHERE file = old.file AND unit = old.id; DELETE FROM spoken WHERE unit = old.id; INSERT
    INTO gone(unit) VALUES (old.id); END;
CREATE TABLE models(
    id INTEGER PRIMARY KEY AUTOINCREMENT, identity TEXT NOT NULL UNIQUE, dimensions INTEGER NOT NULL,
    published INTEGER NOT NULL DEFAULT 0);
CREATE TABLE vectors(
    id INTEGER PRIMARY KEY AUTOINCREMENT, model INTEGER NOT NULL, hash BLOB NOT NULL, part INTEGER NOT NULL,
    vector BLOB NOT NULL, pieces BLOB, UNIQUE(model, hash, part));
CREATE INDEX vectors_whole ON vectors(model, id) WHERE pieces IS NULL;
CREATE TABLE query_maps(model INTEGER PRIMARY KEY, map BLOB NOT NULL);
CREATE TABLE questions(
    model INTEGER NOT NULL, number INTEGER NOT NULL, vector BLOB NOT NULL, PRIMARY KEY(model, number));
INSERT INTO meta VALUES ('birth', hex(randomblob(8)));
"""
"""Rows of units never change, and their ids are never given again; a reader in memory follows by what came (units,
vectors) and what went (gone). follows: the number of the turn before one on its branch, 0 for none. places: where
each stands in its file and what it was made from (see ``sketches``), apart since one line more at the top of a long
file changes all that follow. vectors: a text's windows, part 0, 1, …, as float16; pieces: in the row of part 0 the
vectors of what the text says sentence by sentence, one after the other, NULL while they are not made (see
``meaning.pieces``). A model's vectors take part in searches once it is ``published``. questions: the bank's, and
query_maps: where they point, of each model (float16). names: by which links find a note: its file name (rank 0), title
(1), aliases (2)."""

_log = logging.getLogger(__name__)


class IndexFile:
    """Opens connections to one index file, building it when it is missing and replacing it when it is no good.

    One made by other rules of how files become units has all files read again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.note = ""
        self.hindrance = ""
        """Why it could last only be read; "" where it could be written."""

    def connect(self) -> sqlite3.Connection:
        """A connection usable from any thread (one at a time), in autocommit mode.

        Where nothing can be written it is one to read by (``read_only.reads_only``), as long as there is an index.
        """
        make_private(self.path.parent)
        self.hindrance = ""
        if fault := self._fault():
            self._renew(fault)
        try:
            return self._open()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                raise
            if is_hindered(error):
                return self._open_to_read(error)
            self._renew(error)
            return self._open()

    def connect_to_write(self) -> sqlite3.Connection:
        """The same where the index can be written; else raises AssistantError("recall.index")."""
        connection = self.connect()
        if reads_only(connection):
            connection.close()
            raise cannot_write(self.path.parent, self.hindrance)
        return connection

    def _fault(self) -> str:
        """What an attempt to open it would not tell, or not at once; "" for nothing.

        The log of an index is only made after its first page, so one with a log and no page is cut; whoever has it
        open would keep us waiting.
        """
        if any(path.is_dir() and not path.is_symlink() for path in self._files()):
            return "a folder is in its place"
        file, log, *_ = self._files()
        try:
            return "it was cut off" if log.exists() and not file.stat().st_size else ""
        except OSError:
            return ""

    def _renew(self, why: object) -> None:
        _log.warning("the index %s is no good and is built anew: %s", self.path, why)
        self.discard(f"The index was damaged and is built anew ({why}).")

    def place(self) -> tuple[int, int] | None:
        """Names the file itself, whatever takes its name later; None where there is none."""
        try:
            stat = self.path.stat()
        except OSError:
            return None
        return stat.st_dev, stat.st_ino

    def discard(self, note: str) -> None:
        """Remove the file with its companions; every connection to it must be closed. Raises OSError.

        A folder of that name is none of ours: it gets another name, whatever is in it.
        """
        self.note = note
        for path in self._files():
            if path.is_dir() and not path.is_symlink():
                aside = _free_name(path)
                path.rename(aside)
                self.note = f"A folder stood where the search index is kept; it is {aside.name} now. The index is new."
            else:
                path.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        return [self.path.with_name(self.path.name + suffix) for suffix in ("", "-wal", "-shm", "-journal")]

    def _open(self) -> sqlite3.Connection:
        new = not self.path.exists()
        connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            if new:
                self.path.chmod(0o600)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute("PRAGMA secure_delete=ON")
            self._prepare(connection)
            self._follow_rules(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_to_read(self, error: Exception) -> sqlite3.Connection:
        """What there is of an index that cannot be written; raises the error where that is nothing."""
        connection = opened_to_read(self.path, _BUSY_SECONDS)
        try:
            if self._is_ours(connection):
                self.hindrance = str(error)
                return connection
        except sqlite3.Error:
            pass
        connection.close()
        raise error

    def _prepare(self, connection: sqlite3.Connection) -> None:
        if self._is_ours(connection):
            return
        with writing(connection):
            if self._is_ours(connection):  # another process was quicker
                return
            if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise sqlite3.DatabaseError("it has another layout")
            for statement in (_SCHEMA + WORDS_SCHEMA).split(";\n"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute(f"PRAGMA application_id={_APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version={LAYOUT}")

    def _follow_rules(self, connection: sqlite3.Connection) -> None:
        """Under other rules, forget how the files were when they were read: passes over them do the rest."""
        if meta(connection, "unit_rules") == str(UNIT_RULES):
            return
        with writing(connection):
            connection.execute("UPDATE files SET stat = '?', sha256 = ''")
            set_meta(connection, "unit_rules", str(UNIT_RULES))

    def _is_ours(self, connection: sqlite3.Connection) -> bool:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (layout,) = connection.execute("PRAGMA user_version").fetchone()
        return (application, layout) == (_APPLICATION_ID, LAYOUT)


def _free_name(path: Path) -> Path:
    names = (path.with_name(f"{path.name}.aside{n or ''}") for n in itertools.count())
    return next(name for name in names if not os.path.lexists(name))


def birth(connection: sqlite3.Connection) -> str:
    """Names this build of the index: another one after it was thrown away."""
    return meta(connection, "birth")


def meta(connection: sqlite3.Connection, key: str) -> str:
    """A word about the whole index; "" for none."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", [key]).fetchone()
    return str(row[0]) if row else ""


def set_meta(connection: sqlite3.Connection, key: str, value: str) -> None:
    """In the transaction of the caller."""
    connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)", [key, value])


@contextlib.contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[None]:
    """A transaction that takes the write lock at once, so that what it reads cannot change under it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        roll_back(connection)


def roll_back(connection: sqlite3.Connection) -> None:
    """End the transaction that is still open; a full disk has ended it already, and that is what is to be heard of."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")


@contextlib.contextmanager
def reading(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """A transaction in which everything is read as of one moment; part of the one that is open, if there is one."""
    if connection.in_transaction:
        yield connection
        return
    connection.execute("BEGIN")
    try:
        yield connection
    finally:
        roll_back(connection)


@contextlib.contextmanager
def patience(connection: sqlite3.Connection, seconds: float) -> Iterator[None]:
    """Until the end of the block wait no longer than that for others who write."""
    connection.execute(f"PRAGMA busy_timeout={round(seconds * 1000)}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout={round(_BUSY_SECONDS * 1000)}")


def begin_soon(connection: sqlite3.Connection, seconds: float) -> bool:
    """Begin a transaction with the write lock; False when another connection holds it for longer than that."""
    try:
        with patience(connection, seconds):
            connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError:
        return False
    return True
