"""An edit of a long file costs what changed, and leaves the index as if all had been read anew."""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.core.cancel import CancelToken
from assistant.recall.index.database import IndexFile
from assistant.recall.index.sync import Changes, sync_files
from assistant.recall.search import Recall
from assistant.workspace.entries import is_entry, parse_entry
from tests.recall.helpers import SmallWorkspace, found, quiet

_BLOCKS = (
    "# Home",
    "## Garden",
    "#",
    "",
    "- the kayak is red",
    "  - the kayak is red",
    "- the paddle\n  is in the shed",
    "- dentist · until 2026-12-01",
    "~~- old~~",
    "Two lines of\na paragraph.",
    "```",
    "~~~\n# no heading\n2026-11-01|you|no entry\n~~~",
    "2026-11-01|you|the kayak is red",
    " 2026-11-01|you|the kayak is red ",
    "2026-11-01 |you|~~dentist~~ · superseded 2026-11-20；rent · until 2026-12-31",
    "2026-02-30|you|no such day",
    "2026-11-01|you|；\t；",
    "\u00a02026-11-01|you|the kayak is red",
    "2026-11-02|you|back on Friday | or Saturday",
    "2026-11-28 · a day of its own",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "long " * 300 + "end. " * 3,
    "---",
    "title: Boats",
)
_FILES = ("MEMORY.md", "memory/archive.md", "memory/boats.md")
_texts = st.tuples(st.lists(st.sampled_from(_BLOCKS), max_size=14), st.sampled_from(("\n", "\r\n")), st.booleans()).map(
    lambda drawn: "\n".join(drawn[0]).replace("\n", drawn[1]) + drawn[1] * drawn[2]
)


def _sync(connection: sqlite3.Connection, root: Path) -> Changes:
    return sync_files(connection, root, CancelToken(), quiet)


def _contents(connection: sqlite3.Connection) -> list[tuple[object, ...]]:
    """All that is indexed, but for the numbers of rows."""
    sql = (
        "SELECT path, problem, uid, line, digest, kind, day, until, struck, lang, renews, hash, title, units.text, "
        "head, body, words.text, context, (SELECT group_concat(first || '-' || last) FROM spoken WHERE unit = units.id)"
        " FROM units JOIN files ON files.id = units.file JOIN unit_words words ON words.unit = units.id "
        "JOIN places ON places.file = files.id AND places.unit = units.id ORDER BY path, uid"
    )
    return connection.execute(sql).fetchall()


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(_FILES), st.lists(_texts, min_size=2, max_size=5))
def test_any_edits_leave_what_reading_anew_makes(file: str, states: list[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        workspace = SmallWorkspace(folder / "workspace")
        kept = IndexFile(folder / "kept.sqlite3").connect()
        for number, text in enumerate(states):
            workspace.write(file, "").write_bytes(text.encode())
            _sync(kept, workspace.root)
            new = IndexFile(folder / f"{number}.sqlite3").connect()
            _sync(new, workspace.root)
            there, wanted = _contents(kept), _contents(new)
            new.close()
            assert there == wanted
            assert kept.execute("SELECT count(*) FROM units").fetchone() == (len(wanted),)
            assert kept.execute("SELECT count(*) FROM places").fetchone() == (len(wanted),)
        kept.close()


@given(st.sampled_from(_BLOCKS) | st.text("2026-1|；\\\t x\r\x85\u00a0", max_size=24))
def test_a_line_is_an_entry_where_it_can_be_taken_apart_as_one(line: str) -> None:
    for one in (line, f"2026-11-01|you|{line}"):
        assert is_entry(one) == (parse_entry(one) is not None)


@pytest.mark.parametrize("file", _FILES)
def test_one_line_more_makes_one_unit_more(tmp_path: Path, file: str) -> None:
    workspace = SmallWorkspace(tmp_path / "workspace")
    connection = IndexFile(tmp_path / "index.sqlite3").connect()
    lines = ["# Boats", "", *(f"- fact {n}" for n in range(50)), *(f"2026-11-01|you|entry {n}" for n in range(50))]
    workspace.write(file, "\n".join(lines))
    assert _sync(connection, workspace.root).added == 100
    rows = connection.execute("SELECT id FROM units").fetchall()
    for at, line in ((2, "- at the top"), (60, "2026-11-02|you|in the middle"), (len(lines), "- at the end")):
        workspace.write(file, "\n".join([*lines[:at], line, *lines[at:]]))
        changes = _sync(connection, workspace.root)
        assert changes.added == 1
        assert set(rows) < set(connection.execute("SELECT id FROM units").fetchall())
    connection.close()


def test_hits_name_the_line_where_they_stand_now(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.write("MEMORY.md", "- a kayak\n\n2026-11-01|you|a paddle\n2026-11-01|you|a paddle\n")
    assert {hit.line for hit in found(by_words, "paddle")} == {3, 4}
    workspace.write("MEMORY.md", "- new\n- a kayak\n\n2026-11-01|you|a paddle\n- newer\n2026-11-01|you|a paddle\n")
    assert {(hit.line, hit.id[-2:]) for hit in found(by_words, "paddle")} >= {(6, "-2")}
    assert [hit.line for hit in found(by_words, "kayak")] == [2]


@pytest.mark.logs("a unit at line 1")
def test_a_unit_that_cannot_be_made_hides_no_other(
    workspace: SmallWorkspace, by_words: Recall, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(text: str) -> object:
        raise ValueError("what a parser does not take")

    workspace.write("MEMORY.md", "2026-11-01|you|a paddle\n")
    by_words.sync(CancelToken(), quiet)
    with monkeypatch.context() as patched:
        patched.setattr("assistant.recall.units.making.block_item", broken)
        workspace.write("MEMORY.md", "- a kayak\n2026-11-01|you|a paddle\n2026-11-01|you|a boat\n")
        assert found(by_words, "boat") and found(by_words, "paddle") and not found(by_words, "kayak")
    assert by_words.status().errors == ("MEMORY.md: not understood: what a parser does not take",)
    workspace.write("MEMORY.md", "- a kayak\n2026-11-01|you|a paddle\n")
    assert found(by_words, "kayak") and by_words.status().errors == ()
