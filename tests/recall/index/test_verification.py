"""What a stat does not tell is found by reading the files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import Cancelled
from assistant.recall.index.verification import Verification
from assistant.recall.search import Recall
from tests.recall.helpers import SmallWorkspace, quiet, texts


@pytest.fixture(autouse=True)
def plain_stats(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stats as of a drive that keeps but size and time: of what the others add no tool can be made to lie here."""
    monkeypatch.setattr("assistant.recall.index.files._mark", lambda stat, now: (stat.st_size, stat.st_mtime_ns))


def replaced(path: Path, text: str) -> None:
    """Another text of that length and that time, as some sync programs leave it."""
    before = path.stat()
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_file_changed_behind_its_stat_is_found_by_reading_it(workspace: SmallWorkspace, by_words: Recall) -> None:
    path = workspace.write("memory/tea.md", "- oolong\n")
    workspace.write("memory/other.md", "- quince\n")
    by_words.sync(CancelToken(), quiet)
    replaced(path, "- sencha\n")
    by_words.sync(CancelToken(), quiet)
    assert texts(by_words, "sencha") == []  # nothing tells of it
    verification = Verification(workspace.root)
    assert by_words.verify(verification, CancelToken()) is False
    assert (verification.differing, verification.looked_at) == (["memory/tea.md"], 2)
    assert texts(by_words, "sencha") == ["- sencha"] and texts(by_words, "oolong") == []


def test_it_goes_in_portions_of_at_least_a_file(workspace: SmallWorkspace, by_words: Recall) -> None:
    paths = [workspace.write(f"memory/{n}.md", f"- tea {n}\n") for n in range(5)]
    by_words.sync(CancelToken(), quiet)
    replaced(paths[3], "- ale 3\n")
    verification = Verification(workspace.root)
    looked = []
    while by_words.verify(verification, CancelToken(), 0):
        looked.append(verification.looked_at)
    assert looked == [1, 2, 3, 4] and verification.differing == ["memory/3.md"]


def test_a_file_that_goes_or_closes_meanwhile_is_no_difference(
    workspace: SmallWorkspace, by_words: Recall, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = workspace.write("memory/tea.md", "- oolong\n")
    by_words.sync(CancelToken(), quiet)
    path.unlink()
    verification = Verification(workspace.root)
    assert not by_words.verify(verification, CancelToken()) and verification.differing == []


def test_it_can_be_stopped(workspace: SmallWorkspace, by_words: Recall) -> None:
    workspace.write("memory/tea.md", "- oolong\n")
    by_words.sync(CancelToken(), quiet)
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        by_words.verify(Verification(workspace.root), token)


def test_a_pipe_in_a_files_place_holds_nothing_up(workspace: SmallWorkspace, by_words: Recall) -> None:
    path = workspace.write("memory/tea.md", "- oolong\n")
    by_words.sync(CancelToken(), quiet)
    path.unlink()
    os.mkfifo(path)
    verification = Verification(workspace.root)
    assert by_words.verify(verification, CancelToken()) is False
    assert (verification.differing, verification.looked_at) == ([], 1)
