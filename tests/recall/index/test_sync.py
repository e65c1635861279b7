"""The index is true to the files, whatever happens to either."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.values import RecallQuery
from assistant.recall.index.database import IndexFile
from assistant.recall.search import Recall
from assistant.workspace.layout import memory_files, nameless_files
from tests.recall.helpers import CLOCK, FakeEmbedder, SmallWorkspace, found, quiet, texts


def test_a_fact_written_a_moment_ago_is_found(workspace: SmallWorkspace, recall: Recall) -> None:
    workspace.remember("2026-11-01|you|the kayak is red")
    recall.sync(CancelToken(), quiet)
    for colour in ("blue", "teal", "grey", "pink"):
        workspace.remember(f"2026-11-02|you|the paddle is {colour}")
        assert texts(recall, colour)[0] == f"the paddle is {colour}"


def test_an_edit_of_equal_size_is_noticed(workspace: SmallWorkspace, by_words: Recall) -> None:
    for word in ("aaaa", "bbbb", "cccc"):
        workspace.write("MEMORY.md", f"2026-11-01|you|{word}\n")
        assert texts(by_words, word) == [word]
    assert texts(by_words, "aaaa") == []


def test_what_changed_while_the_app_was_closed(workspace: SmallWorkspace, state: Path) -> None:
    workspace.write("memory/a.md", "- apricot\n")
    workspace.write("memory/b.md", "- blueberry\n")
    first = Recall(workspace, state, None, CLOCK)
    first.sync(CancelToken(), quiet)
    first.close()
    workspace.write("memory/a.md", "- avocado\n")
    (workspace.root / "memory/b.md").unlink()
    second = Recall(workspace, state, None, CLOCK)
    assert texts(second, "avocado") == ["- avocado"]
    assert texts(second, "apricot") == [] and texts(second, "blueberry") == []
    assert second.status().files == 1
    second.close()


@pytest.mark.parametrize("file", ["memory/🐘.md", "memory/a[1].md", "memory/new/deeper/note.md", "memory/張 庭.md"])
def test_files_with_any_name_are_found(workspace: SmallWorkspace, by_words: Recall, file: str) -> None:
    workspace.remember("2026-11-01|you|something")
    by_words.sync(CancelToken(), quiet)
    workspace.write(file, "- persimmon\n")
    assert [hit.file for hit in found(by_words, "persimmon")] == [file]


def test_a_name_that_is_no_text_is_left_out_and_stops_nothing(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.write("memory/tea.md", "oolong\n")
    Path(os.fsdecode(bytes(workspace.root / "memory") + b"/caf\xe9.md")).write_text("oolong\n")
    assert [hit.file for hit in by_words.search(RecallQuery("oolong")).hits] == ["memory/tea.md"]
    assert memory_files(workspace.root) == ["memory/tea.md"]
    assert nameless_files(workspace.root) == ["memory/caf\\xe9.md"]


@pytest.mark.parametrize(
    "file", ["memory/.~keepsake-x1.md", "memory/log/2026-11-01.md", "memory/.hidden.md", "memory/x.txt", "other.md"]
)
def test_files_that_are_not_memory_are_left_alone(workspace: SmallWorkspace, by_words: Recall, file: str) -> None:
    workspace.write(file, "- persimmon\n")
    assert texts(by_words, "persimmon") == []


def test_a_symlink_is_not_followed(workspace: SmallWorkspace, by_words: Recall, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("- persimmon\n", encoding="utf-8")
    workspace.write("memory/a.md", "- apple\n")
    (workspace.root / "memory" / "x").symlink_to(outside)
    (workspace.root / "memory" / "y.md").symlink_to(outside / "secret.md")
    assert texts(by_words, "persimmon") == []


def test_a_renamed_file_is_not_embedded_again(
    workspace: SmallWorkspace, recall: Recall, embedder: FakeEmbedder
) -> None:
    path = workspace.write("memory/old.md", "# Fruit\n\n- persimmon\n- quince\n")
    recall.sync(CancelToken(), quiet)
    embedder.embedded.clear()
    path.rename(path.with_name("new.md"))
    workspace.remember("2026-11-01|you|apple")
    report = recall.sync(CancelToken(), quiet)
    assert embedder.embedded == ["apple"] and report.vectors == 1
    assert found(recall, "quince")[0].file == "memory/new.md"


def test_lines_that_moved_keep_their_id(workspace: SmallWorkspace, recall: Recall, embedder: FakeEmbedder) -> None:
    workspace.write("MEMORY.md", "2026-11-01|you|kayak\n2026-11-02|you|paddle\n")
    recall.sync(CancelToken(), quiet)
    before = found(recall, "paddle")[0]
    embedder.embedded.clear()
    workspace.write("MEMORY.md", "# Facts\n\n- a new one\n\n2026-11-01|you|kayak\n2026-11-02|you|paddle\n")
    recall.sync(CancelToken(), quiet)
    after = found(recall, "paddle")[0]
    assert (after.id, after.line) == (before.id, 6)
    assert not {"kayak", "paddle"} & {text for text in embedder.embedded if text != "paddle"} - {"paddle"}


def test_deleted_text_leaves_no_trace(workspace: SmallWorkspace, recall: Recall, state: Path) -> None:
    path = workspace.chat("20261101_100000", ("my pin is persimmonquince", "I see"))
    workspace.remember("2026-11-01|you|apple")
    recall.sync(CancelToken(), quiet)
    path.unlink()
    recall.sync(CancelToken(), quiet)
    for file in state.iterdir():
        assert b"persimmonquin" not in file.read_bytes(), file


def test_a_secret_that_an_editor_wrote_is_not_in_the_index(
    workspace: SmallWorkspace, recall: Recall, state: Path
) -> None:
    secret = "ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    workspace.write("MEMORY.md", f"- the deploy token is {secret}\n")
    workspace.chat("20261129_153022", (f"my token is {secret}", "Noted."), ("and the deploy?", "It ran."))
    recall.sync(CancelToken(), quiet)
    assert "«redacted 40 chars»" in " ".join(texts(recall, "deploy token"))
    recall.close()
    for path in state.rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes()
            assert secret[:20].lower().encode() not in path.read_bytes().lower(), path


def test_a_sync_that_was_stopped_goes_on_where_it_was(
    workspace: SmallWorkspace, recall: Recall, embedder: FakeEmbedder
) -> None:
    workspace.remember(*(f"2026-11-01|you|number {n}" for n in range(300)))
    token = CancelToken()

    def stop_at_128(done: int, total: int, what: str) -> None:
        if what == "vectors" and done >= 128:
            token.cancel()

    with pytest.raises(Cancelled):
        recall.sync(token, stop_at_128)
    status = recall.status()
    assert (status.units, status.vectors, status.stale) == (300, 128, 172)
    assert recall.sync(CancelToken(), quiet).vectors == 172
    assert len(embedder.embedded) == 300


def test_another_model_gets_its_own_vectors(workspace: SmallWorkspace, recall: Recall, state: Path) -> None:
    workspace.remember(*(f"2026-11-01|you|kayak {n}" for n in range(5)))
    recall.sync(CancelToken(), quiet)
    other = Recall(workspace, state, FakeEmbedder("other", 32), CLOCK)
    answer = other.search(RecallQuery("kayak"))
    assert answer.mode == "keyword" and answer.hits
    assert (other.status().vectors, other.status().stale) == (0, 5)
    other.sync(CancelToken(), quiet)
    assert other.search(RecallQuery("kayak")).mode == "hybrid"
    assert recall.search(RecallQuery("kayak")).mode == "keyword"
    with sqlite3.connect(state / "index.sqlite3") as connection:
        assert connection.execute("SELECT DISTINCT length(vector) FROM vectors").fetchall() == [(64,)]
    connection.close()
    other.close()


def test_the_same_name_with_other_dimensions_does_not_mix(
    workspace: SmallWorkspace, recall: Recall, state: Path
) -> None:
    workspace.remember("2026-11-01|you|kayak")
    recall.sync(CancelToken(), quiet)
    other = Recall(workspace, state, FakeEmbedder("fake", 16), CLOCK)
    assert other.search(RecallQuery("kayak")).mode == "keyword"
    other.sync(CancelToken(), quiet)
    assert other.search(RecallQuery("kayak")).mode == "hybrid"
    other.close()


class _BrokenEmbedder(FakeEmbedder):
    def embed(self, texts: object, cancel: CancelToken) -> np.ndarray:
        raise AssistantError("embedding.model", "The embedding model cannot be loaded.", "Build it again.")


def test_without_embeddings_words_go_on_and_it_is_said(workspace: SmallWorkspace, state: Path) -> None:
    recall = Recall(workspace, state, _BrokenEmbedder(), CLOCK)
    workspace.remember("2026-11-01|you|kayak")
    report = recall.sync(CancelToken(), quiet)
    assert report.added == 1 and "cannot be loaded" in report.errors[0]
    assert recall.warm(CancelToken()) is False
    assert recall.search(RecallQuery("kayak")).mode == "keyword"
    assert any("cannot be loaded" in error for error in recall.status().errors)
    recall.close()


def test_a_very_long_paragraph_is_found_by_its_end(workspace: SmallWorkspace, recall: Recall) -> None:
    workspace.write("memory/long.md", "word " * 20_000 + "persimmon\n")
    recall.sync(CancelToken(), quiet)
    assert "persimmon" in texts(recall, "persimmon")[0]


def test_private_chats_are_found_only_from_themselves(workspace: SmallWorkspace, by_words: Recall) -> None:
    path = workspace.chat("20261101_100000", ("persimmon", "yes"), head="- **Private**: yes")
    part = path.with_name("20261101_100000_part2.md")
    part.write_text(
        "# Chat: 20261101_100000 · 2\n\n## Conversation\n\n### 2026-11-02T10:00:00 · #2\n\n**User**:\n\n> persimmon\n"
    )
    assert texts(by_words, "persimmon") == []
    path.write_text(path.read_text(encoding="utf-8").replace("- **Private**: yes\n", ""), encoding="utf-8")
    assert {hit.id for hit in found(by_words, "persimmon")} == {"20261101_100000#1", "20261101_100000#2"}


def test_private_chats_are_not_told_from_an_index_that_has_them_still(
    workspace: SmallWorkspace, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lets = [True]
    recall = Recall(workspace, state, None, CLOCK, private=lambda: lets[0])
    workspace.chat("20261101_100000", ("persimmon", "yes"), head="- **Private**: yes")
    workspace.remember("2026-11-01|you|persimmon jam")
    assert len(found(recall, "persimmon")) == 2
    lets[0] = False
    monkeypatch.setattr("assistant.recall.search._REFRESH_SECONDS", -1)
    recall.on_behind = lambda: None  # who takes in what this search has no time for
    assert texts(recall, "persimmon") == ["persimmon jam"]
    day = RecallQuery("", since=date(2026, 11, 1))
    assert [hit.text for hit in recall.search(day).hits] == ["persimmon jam"]
    recall.close()


def test_a_file_that_cannot_be_read_as_text_is_named(workspace: SmallWorkspace, by_words: Recall) -> None:
    (workspace.root / "memory").mkdir()
    (workspace.root / "memory" / "bad.md").write_bytes(b"\x00\x01\x02" * 5000)
    workspace.remember("2026-11-01|you|kayak")
    assert texts(by_words, "kayak") == ["kayak"]
    assert any("memory/bad.md" in error for error in by_words.status().errors)


@pytest.mark.logs("index .* is no good", "search failed")
@pytest.mark.parametrize("damage", ["garbage", "cut", "foreign", "page"])
def test_a_damaged_index_is_built_anew(workspace: SmallWorkspace, state: Path, damage: str) -> None:
    workspace.remember(*(f"2026-11-01|you|kayak {n}" for n in range(200)))
    first = Recall(workspace, state, None, CLOCK)
    first.sync(CancelToken(), quiet)
    first.close()
    path = state / "index.sqlite3"
    data = path.read_bytes()
    if damage == "foreign":
        path.unlink()
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE something(else_)")
        connection.close()
    else:
        middle = data[:4096] + b"\xff" * 4096 * 3 + data[4 * 4096 :]
        path.write_bytes({"garbage": b"no database" * 999, "cut": data[: len(data) // 2], "page": middle}[damage])
    recall = Recall(workspace, state, None, CLOCK)
    assert len(found(recall, "kayak", limit=10)) == 10
    recall.sync(CancelToken(), quiet)
    status = recall.status()
    assert status.units == 200 and any("built anew" in error for error in status.errors)
    recall.close()


@pytest.mark.logs("index .* is no good", "search failed")
@pytest.mark.parametrize("sql", ["UPDATE units SET day = 'x' WHERE id = 7", "UPDATE units SET number = 1 << 40"])
def test_an_index_of_values_that_make_no_sense_is_built_anew(
    workspace: SmallWorkspace, state: Path, recall: Recall, sql: str
) -> None:
    workspace.remember(*(f"2026-11-01|you|kayak {n}" for n in range(9)))
    recall.sync(CancelToken(), quiet)
    recall.close()
    connection = sqlite3.connect(state / "index.sqlite3")
    connection.execute(sql)
    connection.commit()
    connection.close()
    assert len(found(recall, "kayak", limit=9)) == 9
    assert any("built anew" in error for error in recall.status().errors)


@pytest.mark.parametrize("how", ["rebuilt", "deleted"])
def test_an_index_that_another_process_threw_away_is_let_go(
    workspace: SmallWorkspace, state: Path, recall: Recall, how: str
) -> None:
    """Or what is learnt from then on would never be found by meaning."""
    workspace.remember("2026-11-01|you|the red kayak")
    recall.sync(CancelToken(), quiet)
    assert texts(recall, "kayak") == ["the red kayak"]
    workspace.remember("2026-11-02|you|the kitty is called Tom")
    if how == "rebuilt":
        other = Recall(workspace, state, FakeEmbedder(), CLOCK)
        other.rebuild(CancelToken(), quiet)
        other.close()
    else:
        for path in recall.files:
            path.unlink()
        recall.sync(CancelToken(), quiet)
    assert texts(recall, "猫")[0] == "the kitty is called Tom"
    assert recall.status().stale == 0 and recall.status().vectors == 2


def test_whoever_makes_vectors_hears_of_an_index_that_was_thrown_away(
    workspace: SmallWorkspace, state: Path, recall: Recall
) -> None:
    workspace.remember("2026-11-01|you|the red kayak")
    recall.sync(CancelToken(), quiet)
    texts(recall, "kayak")
    behind: list[str] = []
    recall.on_behind = lambda: behind.append("behind")
    texts(recall, "kayak")
    assert not behind
    for path in recall.files:
        path.unlink()
    assert texts(recall, "kayak") == ["the red kayak"] and behind


def test_a_pipe_where_a_chat_begins_holds_nothing_up(workspace: SmallWorkspace, by_words: Recall) -> None:
    begins = workspace.chat("20261101_100000", ("a red kayak", "yes"))
    begins.rename(begins.with_name("20261101_100000_part2.md"))
    os.mkfifo(begins)
    workspace.remember("2026-11-02|you|the blue kayak")
    assert "the blue kayak" in texts(by_words, "kayak")


def test_what_is_indexed_is_found_on_a_full_disk(
    workspace: SmallWorkspace, recall: Recall, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.remember("2026-11-01|you|the red kayak")
    recall.sync(CancelToken(), quiet)
    recall.close()
    whole = IndexFile.connect

    def connect(self: IndexFile) -> sqlite3.Connection:
        connection = whole(self)
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={pages}")
        return connection

    workspace.remember(*(f"2026-11-02|you|the blue kayak number {n}" for n in range(500)))
    with monkeypatch.context() as full:
        full.setattr(IndexFile, "connect", connect)
        with pytest.raises(AssistantError, match="full"):
            recall.sync(CancelToken(), quiet)
        for _ in range(2):
            assert texts(recall, "red kayak") == ["the red kayak"]
    recall.close()
    assert recall.sync(CancelToken(), quiet).added == 500
    assert recall.status().units == 501


def test_rebuild_gives_the_same_answers(workspace: SmallWorkspace, recall: Recall) -> None:
    workspace.remember(*(f"2026-11-{n + 1:02d}|you|kayak number {n}" for n in range(20)))
    recall.sync(CancelToken(), quiet)
    before = texts(recall, "kayak")
    report = recall.rebuild(CancelToken(), quiet)
    assert report.vectors == 20 and texts(recall, "kayak") == before


_OTHER_PROCESS = """
import sys
from pathlib import Path
from assistant.core.cancel import CancelToken
from assistant.core.values import RecallQuery
from assistant.recall.search import Recall
from assistant.workspace.layout import memory_files, nameless_files
from tests.recall.helpers import CLOCK, FakeEmbedder, SmallWorkspace
recall = Recall(SmallWorkspace(Path(sys.argv[1])), Path(sys.argv[2]), FakeEmbedder(), CLOCK)
recall.sync(CancelToken(), lambda *_: None)
print(len(recall.search(RecallQuery("kayak", limit=100)).hits), recall.status().stale)
"""


def test_two_processes_share_one_index(workspace: SmallWorkspace, recall: Recall, state: Path) -> None:
    workspace.remember(*(f"2026-11-01|you|kayak number {n}" for n in range(90)))
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    command = [sys.executable, "-c", _OTHER_PROCESS, str(workspace.root), str(state)]
    others = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(2)]
    recall.sync(CancelToken(), quiet)
    assert [process.communicate()[0].split() for process in others] == [["90", "0"]] * 2
    assert len(found(recall, "kayak", limit=100)) == 90
    assert recall.status().units == 90 and recall.status().stale == 0


def test_vectors_made_by_another_process_are_used(workspace: SmallWorkspace, recall: Recall, state: Path) -> None:
    workspace.remember("2026-11-01|you|kayak")
    assert recall.search(RecallQuery("kayak")).mode == "keyword"
    other = Recall(workspace, state, FakeEmbedder(), CLOCK)
    other.sync(CancelToken(), quiet)
    other.close()
    assert recall.search(RecallQuery("kayak")).mode == "hybrid"


def test_other_unit_rules_read_all_files_again_but_keep_the_vectors(
    workspace: SmallWorkspace, recall: Recall, state: Path, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.remember("2026-11-01|you|kayak")
    workspace.write("memory/fruit.md", "# Fruit\n\n- quince\n")
    recall.sync(CancelToken(), quiet)
    embedder.embedded.clear()
    monkeypatch.setattr("assistant.recall.index.database.UNIT_RULES", 99)
    monkeypatch.setattr("assistant.recall.index.sketches.UNIT_RULES", 99)
    after = Recall(workspace, state, embedder, CLOCK)
    report = after.sync(CancelToken(), quiet)
    assert (report.files, report.vectors, embedder.embedded) == (2, 0, [])
    assert after.search(RecallQuery("kayak")).mode == "hybrid" and texts(after, "quince")[0] == "- quince"
    assert after.sync(CancelToken(), quiet).files == 0
    after.close()


def test_search_while_a_sync_runs(workspace: SmallWorkspace, recall: Recall) -> None:
    workspace.remember(*(f"2026-11-01|you|kayak number {n}" for n in range(200)))
    modes = []

    def look(done: int, total: int, what: str) -> None:
        if what == "vectors" and done:
            workspace.remember(f"2026-11-02|you|persimmon{done}")
            assert texts(recall, f"persimmon{done}")[0] == f"persimmon{done}"
            modes.append(recall.search(RecallQuery("kayak")).mode)

    recall.sync(CancelToken(), look)
    assert modes and set(modes) == {"keyword"}  # half of the vectors would say half of the truth
    modes.clear()
    recall.sync(CancelToken(), look)
    assert modes and set(modes) == {"hybrid"}


def test_a_workspace_that_is_gone_for_a_while_keeps_its_index(
    workspace: SmallWorkspace, recall: Recall, embedder: FakeEmbedder
) -> None:
    workspace.remember("2026-11-01|you|kayak")
    recall.sync(CancelToken(), quiet)
    away = workspace.root.with_name("unplugged")
    workspace.root.rename(away)
    assert texts(recall, "kayak") == ["kayak"]
    assert "not there" in recall.sync(CancelToken(), quiet).errors[0]
    away.rename(workspace.root)
    embedder.embedded.clear()
    assert texts(recall, "kayak") == ["kayak"]
    assert recall.sync(CancelToken(), quiet).vectors == 0


def test_a_file_that_was_only_touched_is_not_taken_apart_again(
    workspace: SmallWorkspace, by_words: Recall, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = workspace.write("MEMORY.md", "2026-11-01|you|the kayak is red\n")
    by_words.sync(CancelToken(), quiet)
    os.utime(path, (1, 1))
    with monkeypatch.context() as untouched:
        untouched.setattr("assistant.recall.index.sync.sketches_of", None)
        assert by_words.sync(CancelToken(), quiet).files == 0
        assert texts(by_words, "kayak") == ["the kayak is red"]
    workspace.write("MEMORY.md", "2026-11-01|you|the kayak is blue\n")
    assert texts(by_words, "kayak") == ["the kayak is blue"]


def _closed(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Files that the system does not let us read: the tests may well run as root, who may read all."""
    real = Path.read_bytes

    def read_bytes(path: Path) -> bytes:
        if path.name in names:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)


def test_a_file_that_may_not_be_read_is_named_and_taken_in_as_soon_as_it_may(
    workspace: SmallWorkspace, by_words: Recall, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.write("memory/tea.md", "- oolong\n")
    by_words.sync(CancelToken(), quiet)
    workspace.write("memory/tea.md", "- sencha\n")
    workspace.write("memory/new.md", "- quince\n")
    with monkeypatch.context() as closed:
        _closed(closed, "tea.md", "new.md")
        assert texts(by_words, "oolong") == ["- oolong"]  # what was known of it
        assert len([e for e in by_words.status().errors if "cannot be read: Permission denied" in e]) == 2
    assert texts(by_words, "sencha") == ["- sencha"] and texts(by_words, "quince") == ["- quince"]
    assert by_words.status().errors == ()


def test_a_folder_that_cannot_be_read_costs_nothing_of_the_index(
    workspace: SmallWorkspace, by_words: Recall, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.write("memory/drive/tea.md", "- oolong\n")
    workspace.write("memory/a.md", "- apple\n")
    by_words.sync(CancelToken(), quiet)
    real = os.scandir

    def scandir(folder: Path) -> object:
        if Path(folder).name == "drive":
            raise OSError(5, "Input/output error")
        return real(folder)

    with monkeypatch.context() as stuttering:
        stuttering.setattr("assistant.recall.index.files.os.scandir", scandir)
        report = by_words.sync(CancelToken(), quiet)
        assert report.errors == ("memory/drive cannot be read: Input/output error",)
        assert texts(by_words, "oolong") == ["- oolong"]
    (workspace.root / "memory/drive/tea.md").unlink()
    assert texts(by_words, "oolong") == []


def test_a_file_that_vanishes_during_the_pass_is_no_error(
    workspace: SmallWorkspace, by_words: Recall, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.write("memory/a.md", "- apple\n")
    there = workspace.write("memory/b.md", "- quince\n")
    real = Path.read_bytes

    def read_bytes(path: Path) -> bytes:
        there.unlink(missing_ok=True)
        return real(path)

    with monkeypatch.context() as vanishing:
        vanishing.setattr(Path, "read_bytes", read_bytes)
        assert by_words.sync(CancelToken(), quiet).errors == ()
    assert by_words.status().files == 1 and by_words.status().errors == ()


def test_a_moved_chat_keeps_its_rows_its_ids_and_its_vectors(
    workspace: SmallWorkspace, recall: Recall, embedder: FakeEmbedder, state: Path
) -> None:
    path = workspace.chat("20261101_100000", ("oolong or sencha", "sencha"), ("and cups", "two"))
    recall.sync(CancelToken(), quiet)
    before = {hit.id for word in ("sencha", "cups") for hit in found(recall, word)}
    rows = _rows(state)
    embedder.embedded.clear()
    path.parent.rename(path.parent.with_name("moved"))
    report = recall.sync(CancelToken(), quiet)
    assert (report.added, report.removed, report.vectors, embedder.embedded) == (0, 0, 0, [])
    after = [hit for word in ("sencha", "cups") for hit in found(recall, word)]
    assert {hit.id for hit in after} == before
    assert {hit.file for hit in after} == {"chats/moved/20261101_100000.md"}
    assert _rows(state) == rows


def test_a_moved_folder_of_notes_is_not_embedded_again(
    workspace: SmallWorkspace, recall: Recall, embedder: FakeEmbedder
) -> None:
    for n in range(20):
        workspace.write(f"memory/old/note {n}.md", f"- persimmon {n}\n- quince {n}\n")
    recall.sync(CancelToken(), quiet)
    embedder.embedded.clear()
    (workspace.root / "memory/old").rename(workspace.root / "memory/new")
    report = recall.sync(CancelToken(), quiet)
    assert embedder.embedded == [] and report.vectors == 0
    assert found(recall, "quince 7")[0].file == "memory/new/note 7.md"
    assert recall.lone_vectors() == 0 and recall.status().files == 20


def _rows(state: Path) -> list[tuple[int, str]]:
    connection = sqlite3.connect(state / "index.sqlite3")
    rows = connection.execute("SELECT id, uid FROM units ORDER BY id").fetchall()
    connection.close()
    return rows


def test_a_note_that_goes_by_its_name_keeps_its_vectors_under_another(
    workspace: SmallWorkspace, recall: Recall, embedder: FakeEmbedder
) -> None:
    path = workspace.write("memory/dentist.md", "- tuesday at three\n- bring the old pictures\n")
    recall.sync(CancelToken(), quiet)
    embedder.embedded.clear()
    path.rename(path.with_name("doctor.md"))
    report = recall.sync(CancelToken(), quiet)
    assert embedder.embedded == [] and report.vectors == 0
    hit = found(recall, "teeth pictures")[0]
    assert (hit.file, hit.title) == ("memory/doctor.md", "doctor")
    status = recall.status()
    assert (status.vectors, status.stale, recall.lone_vectors()) == (2, 0, 0)


_WRITER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE files SET stat = ''")
print("writing", flush=True)
sys.stdin.read()
connection.execute("ROLLBACK")
"""


def test_a_search_does_not_wait_for_another_process_that_writes_for_long(
    workspace: SmallWorkspace, recall: Recall, state: Path
) -> None:
    workspace.remember("2026-11-01|you|the kayak is red")
    recall.sync(CancelToken(), quiet)
    command = [sys.executable, "-c", _WRITER, str(state / "index.sqlite3")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout and writer.stdout.readline() == "writing\n"
        workspace.remember("2026-11-02|you|the paddle is blue")
        assert texts(recall, "kayak") == ["the kayak is red"]
        assert texts(recall, "paddle") == []
        writer.communicate()
    assert texts(recall, "paddle")[0] == "the paddle is blue"


def test_a_search_leaves_what_it_has_no_time_for_to_who_takes_it_in(workspace: SmallWorkspace, recall: Recall) -> None:
    asked: list[str] = []
    recall.on_behind = lambda: asked.append("behind")
    for n in range(400):
        workspace.write(f"memory/note {n:03d}.md", f"- persimmon {n} " + "and more of it " * 400)
    answer = recall.search(RecallQuery("persimmon"))
    assert answer.hits and asked and recall.status().files < 400
    recall.sync(CancelToken(), quiet)
    asked.clear()
    assert found(recall, "persimmon 399") and not asked and recall.status().files == 400


def test_vectors_go_with_the_last_text_they_are_of(workspace: SmallWorkspace, recall: Recall, state: Path) -> None:
    workspace.write("memory/a.md", "- kayak\n")
    workspace.write("memory/b.md", "# A\n\n- kayak\n- paddle\n")
    workspace.remember("2026-11-01|you|kayak", "2026-11-02|you|kayak", "2026-11-03|you|rudder")
    recall.sync(CancelToken(), quiet)
    (workspace.root / "memory" / "b.md").unlink()
    workspace.write("MEMORY.md", "2026-11-01|you|kayak\n")
    assert "rudder" not in texts(recall, "kayak rudder paddle")
    with sqlite3.connect(state / "index.sqlite3") as connection:
        left = connection.execute("SELECT count(DISTINCT hash) FROM vectors").fetchone()
        assert left == connection.execute("SELECT count(DISTINCT hash) FROM units").fetchone()
    connection.close()
    assert recall.lone_vectors() == 0


def test_the_index_can_be_read_before_the_first_search(workspace: SmallWorkspace, recall: Recall) -> None:
    workspace.remember("2026-11-01|you|kayak")
    recall.sync(CancelToken(), quiet)
    assert not recall.is_ready
    recall.prepare()
    assert recall.is_ready


def test_a_folder_that_moved_is_not_lost_where_a_search_has_no_time_for_all_of_it(
    workspace: SmallWorkspace, recall: Recall, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(30):
        workspace.write(f"memory/old/note {n}.md", f"- persimmon {n}\n")
    recall.sync(CancelToken(), quiet)
    embedder.embedded.clear()
    recall.on_behind = lambda: None
    monkeypatch.setattr("assistant.recall.search._REFRESH_SECONDS", 0.0)
    (workspace.root / "memory/old").rename(workspace.root / "memory/new")
    seen = [len(found(recall, "persimmon", limit=100)) for _ in range(3)]
    assert min(seen) >= 30
    recall.sync(CancelToken(), quiet)
    assert {hit.file.split("/")[1] for hit in found(recall, "persimmon", limit=100)} == {"new"}
    assert recall.status().files == 30 and not {"persimmon 3"} & {*embedder.embedded} and recall.lone_vectors() == 0


def test_a_search_does_not_wait_for_a_file_of_many_megabytes(
    workspace: SmallWorkspace, by_words: Recall, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.recall.index.sync._LARGE", 1_000)
    asked: list[str] = []
    by_words.on_behind = lambda: asked.append("behind")
    os.utime(workspace.write("memory/export.md", "- persimmon jam\n" * 100), (1, 1))
    workspace.write("memory/small.md", "- persimmon tea\n")
    assert texts(by_words, "persimmon") == ["- persimmon tea"] and asked
    by_words.sync(CancelToken(), quiet)
    asked.clear()
    assert "- persimmon jam" in texts(by_words, "persimmon") and not asked
