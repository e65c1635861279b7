"""A model's vectors are searched once all are there; until then, and whatever ends a pass, nothing is lost or mixed."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import Cancelled
from assistant.core.values import Passage, RecallQuery
from assistant.recall.search import Recall
from tests.recall.helpers import CLOCK, FakeEmbedder, SmallWorkspace, quiet, texts


def stop_at(token: CancelToken, after: int) -> object:
    def look(done: int, total: int, what: str) -> None:
        if what == "vectors" and done >= after:
            token.cancel()

    return look


def stored(state: Path) -> dict[int, int]:
    """How many vectors of each length in bytes the index holds."""
    connection = sqlite3.connect(state / "index.sqlite3")
    rows = connection.execute("SELECT length(vector), count(*) FROM vectors GROUP BY 1").fetchall()
    connection.close()
    return dict(rows)


def test_a_new_model_is_built_behind_the_old_one(workspace: SmallWorkspace, recall: Recall, state: Path) -> None:
    workspace.remember(*(f"2026-11-01|you|coffee number {n}" for n in range(200)))
    recall.sync(CancelToken(), quiet)
    assert recall.search(RecallQuery("espresso")).mode == "hybrid"
    new = Recall(workspace, state, FakeEmbedder("new", 32), CLOCK)
    token = CancelToken()
    with pytest.raises(Cancelled):
        new.sync(token, stop_at(token, 128))  # type: ignore[arg-type]
    assert (new.status().vectors, new.status().stale) == (128, 72)
    assert new.search(RecallQuery("coffee")).mode == "keyword"
    assert recall.search(RecallQuery("espresso")).mode == "hybrid"  # who has the old model loaded goes on with it
    assert stored(state) == {128: 200, 64: 128}
    assert new.sync(CancelToken(), quiet).vectors == 72
    assert new.search(RecallQuery("espresso")).mode == "hybrid" and texts(new, "coffee")
    assert recall.search(RecallQuery("coffee")).mode == "keyword"
    assert stored(state) == {64: 200}
    new.close()


def test_going_back_to_the_model_before_costs_nothing_until_the_new_one_is_ready(
    workspace: SmallWorkspace, recall: Recall, state: Path
) -> None:
    workspace.remember(*(f"2026-11-01|you|coffee number {n}" for n in range(100)))
    recall.sync(CancelToken(), quiet)
    new, token = Recall(workspace, state, FakeEmbedder("new", 32), CLOCK), CancelToken()
    with pytest.raises(Cancelled):
        new.sync(token, stop_at(token, 64))  # type: ignore[arg-type]
    new.close()
    assert recall.sync(CancelToken(), quiet).vectors == 0
    assert recall.search(RecallQuery("espresso")).mode == "hybrid"


def test_what_is_written_after_publishing_waits_for_the_next_pass(
    workspace: SmallWorkspace, recall: Recall, embedder: FakeEmbedder
) -> None:
    workspace.remember("2026-11-01|you|coffee")
    recall.sync(CancelToken(), quiet)
    workspace.remember("2026-11-02|you|dentist")
    answer = recall.search(RecallQuery("dentist"))
    assert answer.mode == "hybrid" and answer.hits[0].text == "dentist"
    assert (recall.status().vectors, recall.status().stale) == (1, 1)
    assert recall.sync(CancelToken(), quiet).vectors == 1
    assert recall.status().stale == 0


def test_progress_counts_texts_and_ends_at_all(workspace: SmallWorkspace, recall: Recall) -> None:
    workspace.remember(*(f"2026-11-01|you|coffee number {n}" for n in range(150)), *["2026-11-01|you|twice"] * 2)
    seen = []
    recall.sync(CancelToken(), lambda done, total, what: seen.append((done, total)) if what == "vectors" else None)
    assert seen == [(0, 151), (64, 151), (128, 151), (151, 151)]


class _ChangingEmbedder(FakeEmbedder):
    """Its model's files are replaced while it works: from the second request on it is another one."""

    def embed_passages(self, passages: list[Passage], cancel: CancelToken) -> list[np.ndarray]:  # type: ignore[override]
        if self.embedded:
            self.identity = "replaced"
        return super().embed_passages(passages, cancel)


def test_a_model_replaced_in_the_middle_does_not_mix(workspace: SmallWorkspace, state: Path) -> None:
    embedder = _ChangingEmbedder()
    recall = Recall(workspace, state, embedder, CLOCK)
    workspace.remember(*(f"2026-11-01|you|coffee number {n}" for n in range(100)))
    recall.sync(CancelToken(), quiet)
    assert recall.search(RecallQuery("espresso")).mode == "hybrid"
    connection = sqlite3.connect(state / "index.sqlite3")
    assert connection.execute("SELECT identity, published FROM models").fetchall() == [("replaced", 1)]
    assert connection.execute("SELECT count(*), count(DISTINCT model) FROM vectors").fetchone() == (100, 1)
    connection.close()
    recall.close()


def test_an_old_vector_of_a_query_is_not_compared_with_a_new_model(workspace: SmallWorkspace, state: Path) -> None:
    embedder = FakeEmbedder()
    recall = Recall(workspace, state, embedder, CLOCK)
    workspace.remember("2026-11-01|you|coffee", "2026-11-01|you|rent")
    recall.sync(CancelToken(), quiet)
    assert texts(recall, "espresso")[0] == "coffee"
    embedder.identity, embedder.dimensions = "other", 32
    assert recall.search(RecallQuery("espresso")).mode == "keyword"
    recall.sync(CancelToken(), quiet)
    assert texts(recall, "espresso")[0] == "coffee"
    recall.close()


class _DamagedEmbedder(FakeEmbedder):
    def embed_passages(self, passages: list[Passage], cancel: CancelToken) -> list[np.ndarray]:  # type: ignore[override]
        return [np.full((1, self.dimensions), np.nan, np.float32) for _ in passages]


def test_what_is_no_vector_is_not_stored(workspace: SmallWorkspace, state: Path) -> None:
    recall = Recall(workspace, state, _DamagedEmbedder(), CLOCK)
    workspace.remember("2026-11-01|you|coffee")
    assert "something else than vectors" in recall.sync(CancelToken(), quiet).errors[0]
    assert recall.search(RecallQuery("coffee")).mode == "keyword"
    assert stored(state) == {}
    recall.close()


_SYNC = """
import sys
from pathlib import Path
from assistant.core.cancel import CancelToken
from assistant.recall.search import Recall
from tests.recall.helpers import CLOCK, FakeEmbedder, SmallWorkspace

def look(done, total, what):
    if what == "vectors":
        print(done, flush=True)
        if done == int(sys.argv[3]):
            sys.stdin.read()  # until it is killed

embedder = FakeEmbedder("new", 32)
Recall(SmallWorkspace(Path(sys.argv[1])), Path(sys.argv[2]), embedder, CLOCK).sync(CancelToken(), look)
print("embedded", len(embedder.embedded), flush=True)
"""


@pytest.mark.parametrize("killed_at", [0, 64, 192, 300])
def test_a_pass_that_is_killed_goes_on_where_it_was(
    workspace: SmallWorkspace, recall: Recall, state: Path, killed_at: int
) -> None:
    workspace.remember(*(f"2026-11-01|you|coffee number {n}" for n in range(300)))
    recall.sync(CancelToken(), quiet)
    args = [sys.executable, "-c", _SYNC, str(workspace.root), str(state)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([*args, str(killed_at)], **pipes) as process:  # type: ignore[call-overload]
        while int(process.stdout.readline()) < killed_at:
            pass
        process.send_signal(signal.SIGKILL)
    assert recall.search(RecallQuery("espresso")).mode == "hybrid"  # the old model still serves
    rest = subprocess.run([*args, "-1"], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    assert rest.stdout.splitlines()[-1] == f"embedded {300 - killed_at}"
    assert stored(state) == {64: 300}
    assert recall.search(RecallQuery("coffee")).mode == "keyword"
    assert recall.status().vectors == 0
