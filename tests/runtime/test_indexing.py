"""Keeping the index true while its folder comes and goes."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from assistant.core.cancel import CancelToken
from assistant.core.events import IndexProgress, Notice, WorkspaceChanged
from assistant.core.values import RecallQuery
from tests.recall.helpers import FakeEmbedder
from tests.runtime.conftest import Stage


class SlowEmbedder(FakeEmbedder):
    """Holds still in the middle, until told to go on."""

    def __init__(self) -> None:
        super().__init__()
        self.held, self.go_on = threading.Event(), threading.Event()
        self._after = 0

    def hold_after(self, texts: int) -> None:
        self._after = texts

    def embed(self, texts: Sequence[str], cancel: CancelToken) -> np.ndarray:
        if len(self.embedded) >= self._after and not self.go_on.is_set():
            self.held.set()
            self.go_on.wait(30)
        return super().embed(texts, cancel)


def sync(stage: Stage) -> None:
    stage.services.indexing.sync_later()
    stage.services.lanes.index.submit(lambda: None).result(30)


def found(stage: Stage, words: str) -> int:
    return len(stage.services.search(RecallQuery(words)).hits)


@pytest.mark.logs("search failed")
def test_an_index_that_cannot_be_written_is_said_and_ends_the_progress(stage: Stage) -> None:
    stage.services.remember("the kayak is red")
    sync(stage)
    assert found(stage, "kayak") == 1
    folder = stage.services.workspace.state
    stage.services.recall.close()  # and begins anew where it was
    shutil.rmtree(folder)
    folder.write_text("in the way")
    stage.events.clear()
    sync(stage)
    assert [notice.error for notice in stage.of(Notice)] == [True]
    ended = {event.what for event in stage.of(IndexProgress) if event.done == event.total}
    assert ended == {"keywords", "vectors", "pieces"}
    assert found(stage, "kayak") == 0
    folder.unlink()
    sync(stage)
    assert found(stage, "kayak") == 1


def test_state_deleted_while_running_is_built_again(stage: Stage) -> None:
    stage.services.remember("the kayak is red")
    sync(stage)
    shutil.rmtree(stage.folder / "state" / "state")
    chat = stage.services.new_chat()
    stage.services.send(chat, "Where is the paddle?")
    stage.wait_for_end()
    assert stage.services.receipt(chat, 1) is not None
    sync(stage)
    assert found(stage, "kayak") == 1


def test_closing_in_the_middle_of_the_start_leaves_nothing(tmp_path: Path) -> None:
    for _ in range(5):
        stage = Stage(tmp_path)
        stage.services.start()
        stage.services.close()  # the guards of conftest see a watcher that was left behind


def test_a_change_seen_while_the_services_close_is_let_go(stage: Stage) -> None:
    indexing = stage.services.indexing
    indexing.start()
    stage.services.remember("the kayak is red")
    stage.services.close()
    indexing._settler.sign()  # an event that was on its way
    indexing._settled()  # a burst that had ended by then


def test_at_the_start_files_are_read_for_what_their_stats_do_not_tell(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.recall.index.files._mark", lambda stat, now: (stat.st_size, stat.st_mtime_ns))
    path = stage.services.workspace.root / "memory" / "tea.md"
    path.write_text("- oolong\n")
    sync(stage)
    before = path.stat()
    path.write_text("- sencha\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert found(stage, "sencha") == 0
    stage.services.indexing.verify_later()
    stage.wait(lambda: bool(stage.of(WorkspaceChanged)))
    assert found(stage, "sencha") == 1


def test_what_other_programs_write_is_learnt_without_being_asked(stage: Stage) -> None:
    indexing = stage.services.indexing
    indexing.start()
    for lane in (stage.services.lanes.index, stage.services.lanes.keeping):
        lane.submit(lambda: None).result(30)
    assert indexing.state().watch.how == "events"
    stage.events.clear()
    (stage.services.workspace.root / "memory" / "tea.md").write_text("- oolong\n")
    stage.wait(lambda: bool(stage.of(WorkspaceChanged)))
    stage.wait(lambda: any(event.what == "keywords" and event.done for event in stage.of(IndexProgress)))
    assert [state.path for state in indexing.files() if state.units] == ["memory/tea.md"]


def learning_held(stage: Stage) -> SlowEmbedder:
    """Three hundred lines of which a hundred are learnt, until ``go_on`` is set."""
    embedder = SlowEmbedder()
    stage.services.recall._embedder._embedder = embedder
    lines = "".join(f"2026-11-01|you|kayak number {n}\n" for n in range(300))
    (stage.services.workspace.root / "MEMORY.md").write_text(lines)
    embedder.hold_after(100)
    stage.services.indexing.sync_later()
    embedder.held.wait(30)
    return embedder


def test_paused_learning_goes_on_where_it_was_and_words_are_indexed_meanwhile(stage: Stage) -> None:
    embedder, indexing, root = learning_held(stage), stage.services.indexing, stage.services.workspace.root
    indexing.pause()
    embedder.go_on.set()
    stage.services.lanes.index.submit(lambda: None).result(30)
    stage.services.lanes.index.submit(lambda: None).result(30)
    state = indexing.state()
    assert (state.meaning, indexing.paused) == ("paused", True) and 0 < state.done < state.total == 300
    stage.events.clear()
    (root / "memory" / "tea.md").write_text("- oolong\n")
    sync(stage)
    assert stage.services.search(RecallQuery("oolong")).hits[0].text == "- oolong"
    indexing.resume()
    stage.services.lanes.index.submit(lambda: None).result(30)
    state = indexing.state()
    assert (state.meaning, state.status.stale) == ("ready", 0)
    assert len([text for text in embedder.embedded if "kayak" in text]) == 300
    learning = [(event.done, event.total) for event in stage.of(IndexProgress) if event.what == "vectors"]
    assert (learning[-2], max(total for _, total in learning)) == ((301, 301), 301)  # not anew from nothing


def test_a_file_that_changes_is_not_kept_waiting_by_a_long_learning(stage: Stage) -> None:
    embedder, indexing, root = learning_held(stage), stage.services.indexing, stage.services.workspace.root
    (root / "memory" / "tea.md").write_text("- oolong\n")
    stage.events.clear()
    indexing.sync_later()
    embedder.go_on.set()
    for _ in range(3):
        stage.services.lanes.index.submit(lambda: None).result(30)
    progress = stage.of(IndexProgress)
    read = next(n for n, event in enumerate(progress) if event.what == "keywords" and event.total == 1 < n)
    learnt = next(n for n, event in enumerate(progress) if event.what == "vectors" and event.done == event.total > 1)
    assert 0 <= read < learnt
    assert indexing.state().status.stale == 0
    assert len([text for text in embedder.embedded if "kayak" in text]) == 300


def test_a_long_learning_does_not_put_off_the_watch(stage: Stage) -> None:
    embedder, indexing = learning_held(stage), stage.services.indexing
    indexing.start()
    stage.wait(lambda: indexing.state().watch.how == "events")
    (stage.services.workspace.root / "memory" / "tea.md").write_text("- oolong\n")
    stage.wait(lambda: bool(stage.of(WorkspaceChanged)))
    embedder.go_on.set()
