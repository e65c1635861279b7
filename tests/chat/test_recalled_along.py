"""What comes along with a recalled line, and how the old is told when the past is asked about."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant.chat.prompt import Draft, PromptBuilder, PromptRules, Question
from assistant.chat.receipts import ReceiptStore
from assistant.core.cancel import CancelToken
from assistant.core.values import PromptLine, RecallQuery
from assistant.recall.meaning.embedders import OnnxEmbedder
from assistant.recall.search import Recall
from assistant.workspace.workspace import Workspace
from tests.fakes import FakeEngine
from tests.real_embeddings import embedding_model_path

PATIENT_MS = 30_000.0


def _draft(workspace: Workspace, recall: Recall, receipts: ReceiptStore, said: str, window: int = 4096) -> Draft:
    chat = workspace.chats.read(workspace.chats.create("Now"))
    rules = PromptRules(window=window, reply=256)
    return PromptBuilder(workspace, recall, receipts, FakeEngine(), rules).build(Question(chat, (), said, patient=True))


def _linked_hotel(workspace: Workspace) -> str:
    notes = workspace.root / "memory"
    (notes / "Rua Augusta.md").write_text("Third house on the left, blue door\n", encoding="utf-8")
    other = workspace.chats.create("Lisbon")
    for said in ("The hotel Zephyrina is in [[Rua Augusta]]", "And breakfast ends at ten"):
        turn = workspace.chats.begin_turn(other, said, None)
        workspace.chats.end_turn(other, turn.n, "Noted.")
    return other


def test_a_linked_note_and_the_next_turn_come_along_with_source_and_reason(
    workspace: Workspace, recall: Recall, receipts: ReceiptStore
) -> None:
    other = _linked_hotel(workspace)
    lines = _draft(workspace, recall, receipts, "Where is Zephyrina?").recalled.lines
    whys = {line.file.rpartition("/")[2]: line.why for line in lines}
    assert lines[0].unit == f"{other}#1" and lines[0].why in ("keyword", "meaning")
    assert whys["Rua Augusta.md"] == "linked" and "memory/Rua Augusta.md] Third house" in lines[1].text
    assert lines[1].score == 0.0, "it did not match by itself"


def test_never_here_holds_for_what_comes_along(workspace: Workspace, recall: Recall, receipts: ReceiptStore) -> None:
    _linked_hotel(workspace)
    chat = workspace.chats.read(workspace.chats.create("Now"))
    linked = next(hit for hit in recall.search(RecallQuery("Zephyrina")).hits if "linked" in hit.why)
    receipts.set_never(chat.id, linked.id)
    builder = PromptBuilder(workspace, recall, receipts, FakeEngine(), PromptRules(window=4096, reply=256))
    draft = builder.build(Question(chat, (), "Where is Zephyrina?"))
    assert draft.recalled.lines and "blue door" not in draft.recalled.text


@pytest.fixture
def by_meaning(workspace: Workspace, tmp_path: Path) -> Iterator[Recall]:
    embedder = OnnxEmbedder(embedding_model_path())
    made = Recall(workspace, tmp_path / "state", embedder, workspace.clock, PATIENT_MS)
    yield made
    made.close()


OLD_AND_NEW = [
    (
        "2025-01-10|you|~~My dentist is Dr Vos on Lijnbaan~~ · superseded 2026-05-02",
        "2026-05-02|you|My dentist is Dr Okafor on Coolsingel",
        "what was my old dentist?",
        "who is my dentist?",
        ("Vos", "Okafor"),
    ),
    (
        "2025-01-10|you|~~牙医是王医生，在北京路~~ · superseded 2026-05-02",
        "2026-05-02|you|牙医是李医生，在南京路",
        "以前的牙医是谁？",
        "我的牙医是谁？",
        ("王医生", "李医生"),
    ),
]


@pytest.mark.real
@pytest.mark.parametrize(("old", "new", "past", "present", "names"), OLD_AND_NEW)
def test_the_past_is_told_with_its_day_and_the_present_before_it(
    workspace: Workspace,
    receipts: ReceiptStore,
    by_meaning: Recall,
    old: str,
    new: str,
    past: str,
    present: str,
    names: tuple[str, str],
) -> None:
    others = [f"2026-0{n % 9 + 1}-03|you|remark {n} about the garden and the sea" for n in range(30)]
    (workspace.root / "MEMORY.md").write_text("\n".join([old, new, *others, ""]), encoding="utf-8")
    by_meaning.sync(CancelToken(), lambda *_: None)
    hits = by_meaning.search(RecallQuery(present)).hits
    assert names[1] in hits[0].text
    (below,) = (hit for hit in hits[1:] if names[0] in hit.text)
    assert below.why["superseded"] < 0 and below.date == "2025-01-10" and "superseded 2026-05-02" in below.text
    asked = by_meaning.search(RecallQuery(past)).hits
    assert names[0] in " ".join(hit.text for hit in asked[:2])
    told: tuple[PromptLine, ...] = _draft(workspace, by_meaning, receipts, past).recalled.lines
    (line,) = (line for line in told if names[0] in line.text)
    assert "2025-01-10" in line.text and "no longer true since 2026-05-02" in line.text
