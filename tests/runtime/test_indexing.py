"""Keeping the index true while its folder comes and goes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assistant.core.events import IndexProgress, Notice
from assistant.core.values import RecallQuery
from tests.runtime.conftest import Stage


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
    assert {event.what for event in stage.of(IndexProgress) if event.done == event.total} == {"keywords", "vectors"}
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
