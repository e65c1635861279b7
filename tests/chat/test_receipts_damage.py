"""Receipts on disk: what damage costs, and what two threads see."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from assistant.chat.receipts import ReceiptStore
from assistant.chat.row import FixedRow
from assistant.core.errors import AssistantError
from assistant.core.values import Block, PromptLine, Receipt, Role

CHAT = "20261130_120000"


def row(text: str) -> FixedRow:
    line = PromptLine("MEMORY.md", 1, text, "pinned")
    return FixedRow((Block("facts", Role.SYSTEM, text, 1, (line,)),), (), "2026-11-30T12:00:00+00:00", "")


def receipt(turn: int, block: str = "") -> Receipt:
    line = PromptLine("memory/tea.md", 1, f"recalled {turn}", "keyword", f"unit{turn}")
    return Receipt(CHAT, turn, "model", (line,), (), 10, 0, "keyword", block)


def test_a_line_that_a_crash_cut_short_costs_only_itself(receipts: ReceiptStore, tmp_path: Path) -> None:
    receipts.add_row(CHAT, row("- tea"))
    path = tmp_path / "data" / "receipts" / f"{CHAT}.jsonl"
    with path.open("ab") as file:
        file.write(b'{"turn": 1, "mod')
    again = ReceiptStore(path.parent)
    again.add(receipt(2, "block"))
    kept = ReceiptStore(path.parent).get(CHAT, 2)
    assert kept is not None
    assert [line.text for line in kept.lines] == ["- tea", "recalled 2"]
    assert ReceiptStore(path.parent).get(CHAT, 1) is None


@pytest.mark.parametrize(
    "damage",
    [
        b"[]",
        b"5",
        b'"turn"',
        b'{"turn": 2, "lines": 5}',
        b'{"turn": 2, "lines": [{"colour": 1}]}',
        b'{"turn": 2, "prompt_tokens": null}',
        b'{"turn": 2, "lines": [{"file": "a.md", "line": 1, "text": "t", "why": "tail", "unit": 5}]}',
        b'{"turn": 2, "lines": [{"file": "a.md", "line": null, "text": ["t"], "why": "tail"}]}',
        b'{"turn": 2, "left_out": [{"file": "a.md", "line": 1e400, "why": "cut"}]}',
        b"\xff\xfe\0",
        b"[" * 100_000,
        b"",
    ],
)
def test_damaged_lines_are_passed_over(receipts: ReceiptStore, tmp_path: Path, damage: bytes) -> None:
    receipts.add_row(CHAT, row("- tea"))
    receipts.add(receipt(1, "block"))
    path = tmp_path / "data" / "receipts" / f"{CHAT}.jsonl"
    with path.open("ab") as file:
        file.write(damage + b"\n")
    again = ReceiptStore(path.parent)
    kept = again.row(CHAT)
    assert kept is not None
    assert kept.system_text == "- tea"
    assert again.recalled_block(CHAT, 1) == "block"
    assert again.get(CHAT, 2) is None
    assert again.recalled_units(CHAT, {1, 2}) == {"unit1"}


def test_receipts_deleted_while_running_are_begun_anew(receipts: ReceiptStore, tmp_path: Path) -> None:
    receipts.add_row(CHAT, row("- tea"))
    receipts.add(receipt(1))
    (tmp_path / "data" / "receipts" / f"{CHAT}.jsonl").unlink()
    (tmp_path / "data" / "receipts").rmdir()
    assert receipts.row(CHAT) is None
    receipts.add_row(CHAT, row("- coffee"))
    receipts.add(receipt(2))
    assert receipts.get(CHAT, 2) is not None


def test_a_folder_that_cannot_be_made_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(AssistantError):
        ReceiptStore(tmp_path / "file" / "receipts").add(receipt(1))


def test_threads_that_read_at_once_see_each_receipt_once(receipts: ReceiptStore) -> None:
    writer = ReceiptStore(receipts._folder)
    written = threading.Event()

    def read() -> None:
        while not written.is_set():
            receipts.get(CHAT, 1)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for thread in readers:
        thread.start()
    for turn in range(1, 60):
        writer.add(receipt(turn))
    written.set()
    for thread in readers:
        thread.join()
    assert all(receipts.get(CHAT, turn) for turn in range(1, 60))
    assert receipts._loaded[CHAT].file.size == (receipts._folder / f"{CHAT}.jsonl").stat().st_size


def test_turns_after_a_damaged_row_do_not_show_the_one_before(receipts: ReceiptStore) -> None:
    receipts.add_row(CHAT, row("- tea"))
    receipts._append(CHAT, {"row": {"blocks": 1}})
    receipts.add(receipt(1))
    kept = ReceiptStore(receipts._folder).get(CHAT, 1)
    assert kept is not None
    assert [line.text for line in kept.lines] == ["recalled 1"]
    assert receipts.row(CHAT) is None
