"""Receipts are kept as they were, for ever."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.chat.forgotten_receipts import ReceiptsPlace
from assistant.chat.receipts import MemoryReceipts, ReceiptStore
from assistant.chat.row import FixedRow, row_from_json, row_to_json
from assistant.core.errors import AssistantError
from assistant.core.values import Block, LeftOut, PromptLine, Receipt, Role

_text = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40)
_lines = st.builds(PromptLine, _text, st.integers(0, 999), _text, _text, _text, st.integers(0, 99))
_left = st.builds(LeftOut, _text, st.integers(0, 999), _text)
_blocks = st.builds(Block, _text, st.sampled_from(Role), _text, st.integers(0, 99), st.lists(_lines).map(tuple))
_rows = st.builds(
    FixedRow,
    st.lists(_blocks).map(tuple),
    st.lists(_left).map(tuple),
    _text,
    _text,
    st.integers(0, 9),
    st.integers(0, 9),
)

ROW = FixedRow(
    (Block("tail", Role.SYSTEM, "x", 3, (PromptLine("MEMORY.md", 1, "fact", "tail", "MEMORY.md:1"),)),),
    (LeftOut("MEMORY.md", 9, "facts budget"),),
    "2026-11-30",
    "sha",
)


def _receipt(turn: int, *recalled: PromptLine) -> Receipt:
    left = (*ROW.left_out, LeftOut("chats/x.md", 2, "recall budget"))
    lines = (*ROW.lines, *recalled)
    return Receipt("c", turn, "model", lines, left, 100, 40, "hybrid", "<recalled>\n- é 你好\n</recalled>\n\n")


@given(_rows)
def test_a_row_survives_json(row: FixedRow) -> None:
    assert row_from_json(row_to_json(row)) == row


def test_a_receipt_comes_back_whole_in_another_process(tmp_path: Path) -> None:
    recalled = PromptLine("memory/tea.md", 4, "oolong", "meaning", "memory/tea.md:1", 5, 0.5)
    first = ReceiptStore(tmp_path)
    first.add_row("c", ROW)
    first.add(_receipt(1, recalled))
    assert ReceiptStore(tmp_path).get("c", 1) == _receipt(1, recalled)
    assert ReceiptStore(tmp_path).row("c") == ROW


def test_what_another_process_adds_is_seen(tmp_path: Path) -> None:
    reader, writer = ReceiptStore(tmp_path), ReceiptStore(tmp_path)
    writer.add_row("c", ROW)
    assert reader.row("c") == ROW
    writer.add(_receipt(1))
    assert reader.get("c", 1) == _receipt(1)


def test_what_is_added_while_another_window_forgets_a_chat_is_kept(tmp_path: Path) -> None:
    forgetter, writer = ReceiptStore(tmp_path / "receipts"), ReceiptStore(tmp_path / "receipts")
    told = PromptLine("chats/gone.md", 1, "quixotic", "keyword", "gone#1", 5)
    writer.add_row("c", ROW)
    writer.add(_receipt(1, told))
    adding = threading.Thread(target=lambda: [writer.add(_receipt(n, told)) for n in range(2, 40)])
    adding.start()
    while adding.is_alive():
        forgetter.forget("gone")
    adding.join()
    forgetter.forget("gone")
    again = ReceiptStore(tmp_path / "receipts")
    assert all(again.get("c", n) for n in range(1, 40))
    assert b"quixotic" not in (tmp_path / "receipts" / "c.jsonl").read_bytes()


def test_a_receipts_folder_that_is_no_folder_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "receipts").write_text("a file where the folder should be")
    for work in (lambda s: s.forget("gone"), lambda s: s.add_row("c", ROW)):
        with pytest.raises(AssistantError):
            work(ReceiptStore(tmp_path / "receipts"))


def test_a_line_cut_by_a_crash_costs_only_itself(tmp_path: Path) -> None:
    store = ReceiptStore(tmp_path)
    store.add_row("c", ROW)
    store.add(_receipt(1))
    path = tmp_path / "c.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    again = ReceiptStore(tmp_path)
    assert again.row("c") == ROW
    assert again.get("c", 1) is None
    again.add(_receipt(2))
    assert again.get("c", 2) == _receipt(2)
    assert ReceiptStore(tmp_path).get("c", 2) == _receipt(2)


def test_garbage_is_no_receipt(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_bytes(b"\0\0\nnot json\n[1]\n{}\n" + bytes(range(256)) + b"\n")
    store = ReceiptStore(tmp_path)
    assert store.row("c") is None
    store.add_row("c", ROW)
    assert store.row("c") == ROW


def test_what_was_left_out_comes_back_line_by_line_and_takes_little_room() -> None:
    left = [LeftOut("MEMORY.md", line, "older than the last 10 entries") for line in range(1, 9991)]
    left[5] = LeftOut("MEMORY.md", 6, "expired")
    left += [LeftOut("MEMORY.md", 9995, "token budget"), LeftOut("memory/a.md", 0, "recall budget")]
    taken = replace(ROW, left_out=tuple(left))
    stored = json.dumps(row_to_json(taken))
    assert row_from_json(json.loads(stored)) == taken
    assert len(stored) < 2_000


@pytest.mark.parametrize("instead", ["xx", "«forgotten»"], ids=["as long", "longer"])
def test_what_another_process_takes_out_is_gone_here_too(tmp_path: Path, instead: str) -> None:
    window, other = ReceiptStore(tmp_path / "receipts"), ReceiptStore(tmp_path / "receipts")
    told = PromptLine("memory/tea.md", 4, "Bo", "meaning", "memory/tea.md:1", 5)
    other.add_row("c", ROW)
    other.add(replace(_receipt(1, told), recalled_block="<recalled>\n- Bo\n</recalled>\n\n"))
    assert "Bo" in window.recalled_block("c", 1)
    other.rewrite(lambda data: data.replace(b"Bo", instead.encode()))
    other.add(_receipt(2))
    assert window.recalled_block("c", 1) == f"<recalled>\n- {instead}\n</recalled>\n\n"
    assert window.get("c", 2) == _receipt(2)


def test_a_temporary_chat_forgets_a_line_of_a_note_with_a_chinese_name() -> None:
    store, unit = MemoryReceipts(), "memory/食谱.md:0123456789"
    told = PromptLine("memory/食谱.md", 1, "oolong", "meaning", unit, 5)
    store.add(Receipt("t", 1, "m", (told,), (), 1, 0, "hybrid", "<recalled>\n- oolong\n</recalled>\n\n"))
    ReceiptsPlace(store).scrub(["never said"], [unit])
    assert "oolong" not in store.recalled_block("t", 1)


def test_thousands_of_lines_that_a_turn_left_out_take_little_room(tmp_path: Path) -> None:
    left = tuple(LeftOut("MEMORY.md", line, "recall budget") for line in range(1, 10_001))
    told = Receipt("c", 1, "m", (), left, 1, 0, "hybrid")
    ReceiptStore(tmp_path).add(told)
    assert ReceiptStore(tmp_path).get("c", 1) == told
    assert (tmp_path / "c.jsonl").stat().st_size < 1_000


def test_each_left_out_line_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    line = {"turn": 1, "lines": [], "left_out": [{"file": "MEMORY.md", "line": 9, "why": "recall budget"}]}
    (tmp_path / "c.jsonl").write_text(json.dumps(line) + "\n")
    found = ReceiptStore(tmp_path).get("c", 1)
    assert found is not None
    assert found.left_out == (LeftOut("MEMORY.md", 9, "recall budget"),)


def test_a_damaged_range_costs_its_line_and_not_the_memory(tmp_path: Path) -> None:
    line = {"turn": 1, "lines": [], "left_out": [{"file": "a", "line": 1, "last": 10**12, "why": "x"}]}
    (tmp_path / "c.jsonl").write_text(json.dumps(line) + "\n")
    assert ReceiptStore(tmp_path).get("c", 1) is None
