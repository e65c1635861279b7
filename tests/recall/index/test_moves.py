"""What was renamed or moved is found where it is now, at once, by its meaning too, and costs the model nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.values import RecallQuery
from assistant.recall.meaning.embedders import OnnxEmbedder
from assistant.recall.search import Recall
from tests.real_embeddings import embedding_model_path
from tests.recall.helpers import CLOCK, SmallWorkspace, quiet


@pytest.fixture(scope="module")
def model() -> OnnxEmbedder:
    return OnnxEmbedder(embedding_model_path())


@pytest.fixture
def recall(workspace: SmallWorkspace, state: Path, model: OnnxEmbedder) -> Iterator[Recall]:
    workspace.write("memory/garden/beans.md", "- the climbing plants need sticks from June on\n- harvest in August\n")
    workspace.write("memory/health.md", "# Health\n\n- toothache on the left, see somebody about it\n")
    workspace.chat("20261001_100000", ("我下周要去里斯本出差", "好的"), ("book a room near the river", "Done."))
    made = Recall(workspace, state, model, CLOCK)
    made.sync(CancelToken(), quiet)
    yield made
    made.close()


def _note(root: Path) -> None:
    (root / "memory/garden/beans.md").rename(root / "memory/garden/runner beans.md")


def _folder(root: Path) -> None:
    (root / "memory/garden").rename(root / "memory/外面")


def _month(root: Path) -> None:
    (root / "chats/2026-10").rename(root / "chats/2026-11")


def _copied(root: Path) -> None:
    """As some sync programs move: the bytes anew in another file, then the old one gone."""
    (root / "memory/new").mkdir()
    shutil.copyfile(root / "memory/health.md", root / "memory/new/health.md")
    (root / "memory/health.md").unlink()


@pytest.mark.parametrize("move", [_note, _folder, _month, _copied])
def test_a_move_is_found_by_meaning_at_once_without_the_model(
    workspace: SmallWorkspace, recall: Recall, move: Callable[[Path], None]
) -> None:
    asked = ("dentist", "support for beans", "Lisbon business trip", "hotel")
    before = {text: recall.search(RecallQuery(text)) for text in asked}
    move(workspace.root)
    after = {text: recall.search(RecallQuery(text)) for text in asked}  # before any sync
    for text in asked:
        assert after[text].mode == "hybrid"
        assert [hit.text for hit in after[text].hits] == [hit.text for hit in before[text].hits]
        assert all((workspace.root / hit.file).exists() for hit in after[text].hits)
        turns = [hit.id for hit in before[text].hits if hit.kind == "turn"]
        assert [hit.id for hit in after[text].hits if hit.kind == "turn"] == turns
    assert recall.sync(CancelToken(), quiet).vectors == 0
    assert recall.status().stale == 0 and recall.lone_vectors() == 0


def test_a_note_moved_and_edited_is_embedded_where_it_was_edited(workspace: SmallWorkspace, recall: Recall) -> None:
    path = workspace.root / "memory/health.md"
    text = path.read_text(encoding="utf-8") + "- new glasses in spring\n"
    path.unlink()
    workspace.write("memory/me/health.md", text)
    assert recall.sync(CancelToken(), quiet).vectors == 1
    assert recall.search(RecallQuery("glasses")).hits[0].text == "- new glasses in spring"


_MOVER = """
import sys
from pathlib import Path
root = Path(sys.argv[1])
for n in range(40):
    here, there = (root / "memory" / f"part {n + k}.md" for k in (0, 1))
    here.rename(there)
    (root / "MEMORY.md").write_text("".join(f"2026-11-01|you|kayak {i}\\n" for i in range(n)))
print("done", flush=True)
"""


def test_searches_go_on_while_another_process_moves_and_writes(workspace: SmallWorkspace, recall: Recall) -> None:
    workspace.write("memory/part 0.md", "- a persimmon tree\n")
    recall.sync(CancelToken(), quiet)
    with subprocess.Popen([sys.executable, "-c", _MOVER, str(workspace.root)], stdout=subprocess.PIPE) as mover:
        while mover.poll() is None:
            recall.search(RecallQuery("persimmon"))
    assert recall.search(RecallQuery("persimmon")).hits[0].file == "memory/part 40.md"
    recall.sync(CancelToken(), quiet)
    assert recall.status().stale == 0
