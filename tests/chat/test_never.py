"""What is never to be told in a chat again leaves its prompts, says so, and can come back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.chat.never import NEVER_HERE, Never
from assistant.chat.prompt import Draft, PromptRules
from assistant.chat.receipts import ReceiptStore
from assistant.core.values import LeftOut
from assistant.recall.search import Recall
from assistant.workspace.entries import parse_memory
from assistant.workspace.forgetting import FORGOTTEN
from assistant.workspace.ids import line_id
from assistant.workspace.workspace import Workspace

from .test_prompt import Talk

CELLO, CAT = "- I play the cello", "2026-11-01|you|cat is called Mo"


@pytest.fixture
def talk(workspace: Workspace, recall: Recall, receipts: ReceiptStore) -> Talk:
    (workspace.root / "MEMORY.md").write_text(f"# About me\n{CELLO}\n{CAT}\n", encoding="utf-8")
    return Talk(workspace, recall, receipts, PromptRules(window=4096, reply=256))


def _all(draft: Draft) -> str:
    return "\n".join(message.text for message in draft.prompt.messages)


@pytest.mark.parametrize(("line", "number", "word"), [(CELLO, 2, "cello"), (CAT, 3, "called Mo")])
def test_a_line_of_the_row_is_gone_from_the_next_turn_and_listed(talk: Talk, line: str, number: int, word: str) -> None:
    assert word in _all(talk.say("Hello"))
    talk.receipts.set_never(talk.id, line_id("MEMORY.md", line))
    draft = talk.say("And now?")
    assert word not in _all(draft)
    assert LeftOut("MEMORY.md", number, NEVER_HERE) in draft.prompt.left_out
    kept = talk.receipts.get(talk.id, 2)
    assert kept is not None and LeftOut("MEMORY.md", number, NEVER_HERE) in kept.left_out
    assert not talk.draft("Once more").new_row, "the row is renewed once"
    told = talk.receipts.get(talk.id, 1)
    assert told is not None and any(word in each.text for each in told.lines), "the old receipt stays as it was"


def test_it_comes_back_when_the_person_takes_it_back(talk: Talk) -> None:
    talk.receipts.set_never(talk.id, line_id("MEMORY.md", CELLO))
    assert "cello" not in _all(talk.say("Hello"))
    talk.receipts.set_never(talk.id, line_id("MEMORY.md", CELLO), False)
    assert "cello" in _all(talk.say("Hello again"))


def test_it_does_not_come_back_by_a_change_of_the_file_nor_by_search(talk: Talk) -> None:
    talk.say("Hello")
    talk.receipts.set_never(talk.id, line_id("MEMORY.md", CELLO))
    talk.say("What?")
    talk.workspace.memory.remember("the boiler was repaired")
    draft = talk.say("Do I play the cello?")
    assert "I play the cello" not in _all(draft).replace("Do I play the cello?", "")
    assert any(left.why == NEVER_HERE for left in draft.prompt.left_out)


def test_a_recalled_line_leaves_the_earlier_turns_too(talk: Talk) -> None:
    (talk.workspace.root / "memory").mkdir(exist_ok=True)
    note = talk.workspace.root / "memory" / "hotel.md"
    note.write_text("# Hotels\n\n- Zephyrina has the code QX77\n- Zephyrina has a garden\n", encoding="utf-8")
    first = talk.say("What do you know of Zephyrina?")
    assert "QX77" in _all(first) and "garden" in _all(first)
    unit = next(line.unit for line in first.recalled.lines if "QX77" in line.text)
    talk.receipts.set_never(talk.id, unit)
    draft = talk.say("And the code of Zephyrina, QX77?")
    told = _all(draft).replace("And the code of Zephyrina, QX77?", "")
    assert "QX77" not in told
    assert "garden" in told, "the rest of the block stays"
    assert LeftOut("memory/hotel.md", 3, NEVER_HERE) in draft.prompt.left_out


def test_what_is_told_to_be_gone_can_be_left_out_too(talk: Talk) -> None:
    talk.say("Hello")
    (talk.workspace.root / "MEMORY.md").write_text(f"# About me\n{CAT}\n", encoding="utf-8")
    draft = talk.draft("And now?")
    (gone,) = [line for line in draft.recalled.lines if line.unit.startswith("gone:")]
    talk.receipts.set_never(talk.id, gone.unit)
    assert "cello" not in _all(talk.draft("And now?"))


def test_another_chat_is_told_as_before(talk: Talk, recall: Recall, receipts: ReceiptStore) -> None:
    talk.receipts.set_never(talk.id, line_id("MEMORY.md", CELLO))
    assert "cello" in _all(Talk(talk.workspace, recall, receipts, talk.rules).draft("Hi"))


def test_a_chat_in_the_brief_can_be_kept_out(talk: Talk) -> None:
    other = talk.workspace.chats.create("Trip to Lisbon")
    turn = talk.workspace.chats.begin_turn(other, "Find me a quiet hotel", None)
    assert "Lisbon" in _all(talk.say("Hi"))
    talk.receipts.set_never(talk.id, f"{other}#{turn.n}")
    draft = talk.say("Hi again")
    assert "Lisbon" not in _all(draft)
    assert any(left.file.endswith(f"{other}.md") and left.why == NEVER_HERE for left in draft.prompt.left_out)


def test_a_cut_history_stays_cut_when_the_row_is_renewed(talk: Talk) -> None:
    talk.rules = PromptRules(window=400, reply=100)
    for n in range(12):
        talk.say(f"number {n} " + "words " * 30)
    row = talk.receipts.row(talk.id)
    assert row is not None and row.cut_at
    talk.receipts.set_never(talk.id, line_id("MEMORY.md", CELLO))
    draft = talk.draft("short")
    assert (draft.row.start, draft.row.cut_at) == (row.start, row.cut_at)
    assert "cello" not in _all(draft)


def test_a_row_with_forgotten_words_is_taken_anew_once(talk: Talk) -> None:
    talk.say("Hello")
    path = Path(talk.receipts._folder) / f"{talk.id}.jsonl"
    path.write_text(path.read_text().replace("I play the cello", FORGOTTEN), encoding="utf-8")
    talk.receipts = ReceiptStore(path.parent)
    (talk.workspace.root / "MEMORY.md").write_text(f"# About me\n{CAT}\n", encoding="utf-8")
    assert FORGOTTEN not in _all(talk.say("And now?"))
    assert not talk.draft("Again").new_row


def test_never_survives_a_restart_and_a_damaged_line(tmp_path: Path) -> None:
    store = ReceiptStore(tmp_path)
    store.set_never("c", "MEMORY.md:0123456789")
    store.set_never("c", "x#1")
    store.set_never("c", "x#1", False)
    with (tmp_path / "c.jsonl").open("ab") as file:
        file.write(b'{"never": \n')
    assert ReceiptStore(tmp_path).never("c").units == {"MEMORY.md:0123456789"}


def test_receipts_of_an_old_form_and_of_a_later_one_are_read(tmp_path: Path) -> None:
    old = {"file": "MEMORY.md", "line": 1, "text": "x", "why": "keyword", "unit": "u", "tokens": 3, "score": 0.5}
    new = {**old, "keyword_rank": 2, "of a later version": [1]}
    block = {"name": "facts", "role": "system", "text": "x", "tokens": 3, "lines": [old]}
    row = {"blocks": [block], "left_out": [], "taken": "2026-11-30", "memory": "", "start": 0, "bare": 0, "cut_at": 0}
    lines = [{"row": row}, {"turn": 1, "lines": [old, new], "left_out": []}]
    (tmp_path / "c.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    receipt = ReceiptStore(tmp_path).get("c", 1)
    assert receipt is not None
    assert [(line.keyword_rank, line.meaning_rank, line.private) for line in receipt.lines] == [
        (0, 0, False),
        (0, 0, False),
        (2, 0, False),
    ]


_bodies = st.lists(st.sampled_from(["", "# Head", "- a", "- b", "  more", "plain", "2026-11-01|you|x"]), max_size=12)


@given(_bodies, st.sets(st.sampled_from(["- a", "- b", "plain", "- a\n  more", "2026-11-01|you|x"])))
def test_what_is_left_out_and_what_stays_is_the_whole(body: list[str], never: set[str]) -> None:
    document = parse_memory("\n".join(body))
    units = frozenset(line_id("MEMORY.md", text) for text in never)
    kept, left, lost = Never(units).parted(document)
    lines = [n for n, _ in kept.fact_lines] + [e.line for e in kept.entries] + [one.line for one in left]
    assert sorted(lines) == sorted([n for n, _ in document.fact_lines] + [e.line for e in document.entries])
    assert set(lost) <= units
    assert not any(line_id("MEMORY.md", e.raw) in units for e in kept.entries)
