"""Two programs at once, and programs that die at any moment."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

OPEN = """
import sys, pathlib
from datetime import datetime
from assistant.core.clock import fixed_clock
from assistant.workspace.workspace import Workspace
base = pathlib.Path(sys.argv[1])
clock = fixed_clock(datetime.fromisoformat("2026-11-29T15:30:22+08:00"))
ws = Workspace(base / "ws", base / "data", base / "state", clock)
"""


def start(code: str, *args: object) -> subprocess.Popen[str]:
    program = OPEN + textwrap.dedent(code)
    return subprocess.Popen([sys.executable, "-c", program, *map(str, args)], stdout=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> str:
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return out


def kill_after(process: subprocess.Popen[str], lines: int) -> str:
    assert process.stdout
    last = ""
    for _ in range(lines):
        last = process.stdout.readline()
    process.kill()
    process.wait()
    process.stdout.close()
    return last


def test_two_programs_write_memory_and_one_chat_at_once(ws, make, tmp_path):
    ident = ws.chats.create()
    code = """
    ident, name = sys.argv[2:]
    for n in range(25):
        ws.memory.remember(f"{name} noted thing number{n}")
        turn = ws.chats.begin_turn(ident, f"{name} {n}")
        ws.chats.end_turn(ident, turn.n, f"reply to {name} {n}")
    """
    writers = [start(code, tmp_path, ident, name) for name in ("ann", "bob")]
    for writer in writers:
        finish(writer)
    turns = ws.chats.read(ident).turns
    assert [t.n for t in turns] == list(range(1, 51))
    assert all(t.reply == f"reply to {t.user}" for t in turns)
    texts = sorted(item.text for entry in ws.memory.document().entries for item in entry.items)
    assert texts == sorted(f"{name} noted thing number{n}" for name in ("ann", "bob") for n in range(25))
    assert make().memory.note_disk_changes() == []
    assert len(ws.journal.entries()) == 50


def test_a_program_killed_at_any_point_loses_no_turn(ws, make, tmp_path):
    ident = ws.chats.create()
    code = """
    ident, first = sys.argv[2], int(sys.argv[3])
    print("ready", flush=True)
    for n in range(first, first + 100000):
        turn = ws.chats.begin_turn(ident, f"question {n}\\n" + "x" * 3000)
        print("begun", turn.n, flush=True)
        ws.chats.keep_partial(ident, turn.n, f"half {n}")
        print("kept", turn.n, flush=True)
        ws.chats.end_turn(ident, turn.n, f"answer {n}\\n" + "y" * 3000)
        print("ended", turn.n, flush=True)
    """
    for lines in range(1, 13):
        process = start(code, tmp_path, ident, 1000 * lines)
        word, _, number = kill_after(process, lines).strip().partition(" ")
        store = make().chats
        recovered = store.recover()
        turns = store.read(ident).turns
        assert [t.n for t in turns] == list(range(1, len(turns) + 1))
        for turn in turns:
            said, _, rest = turn.user.partition("\n")
            assert rest == "x" * 3000
            if turn.reply is not None:
                n = said.removeprefix("question ")
                assert turn.reply in (f"half {n}", f"answer {n}\n" + "y" * 3000)
                assert turn.mark == ("interrupted" if turn.reply.startswith("half") else "")
        if word:
            assert len(turns) >= int(number or 0)
        if word in ("kept", "ended"):
            assert turns[int(number) - 1].reply is not None
        assert all(turns[n - 1].mark == "interrupted" for _, n in recovered)
        assert store.recover() == []


def test_a_reply_of_a_living_program_is_left_to_it(ws, make, tmp_path):
    ident = ws.chats.create()
    start_of_turn = ws.chats.begin_turn(ident, "q")
    ws.chats.keep_partial(ident, start_of_turn.n, "so far")
    other = make()
    assert other.chats.recover() == []
    ws.chats.end_turn(ident, start_of_turn.n, "whole")
    assert other.chats.read(ident).turns[0].reply == "whole"
    ws.close()


def test_a_reply_that_was_written_before_the_crash_is_not_written_twice(ws, make, tmp_path):
    ident = ws.chats.create()
    code = """
    turn = ws.chats.begin_turn(sys.argv[2], "q")
    ws.chats.keep_partial(sys.argv[2], turn.n, "half")
    ws.chats._write_reply(sys.argv[2], turn.n, "whole", "")
    print("written", flush=True)
    sys.stdin.read()
    """
    kill_after(start(code, tmp_path, ident), 1)
    assert make().chats.recover() == []
    assert [(t.reply, t.mark) for t in ws.chats.read(ident).turns] == [("whole", "")]
    assert not list(Path(tmp_path / "state" / "pending").glob("*.json"))


def test_a_program_killed_while_it_remembers_loses_nothing(ws, make, tmp_path):
    (ws.root / "MEMORY.md").write_bytes(b"\xef\xbb\xbf# By hand\r\n\r\ntext")
    code = """
    print("ready", flush=True)
    for n in range(int(sys.argv[2]), 10**9):
        ws.memory.remember(f"fact {n} stands")
        print(n, flush=True)
    """
    expected: list[str] = []
    for lines in range(1, 9):
        last = kill_after(start(code, tmp_path, 1000 * lines), lines).strip()
        raw = (ws.root / "MEMORY.md").read_bytes()
        assert raw.startswith(b"\xef\xbb\xbf# By hand\r\n\r\ntext")
        assert raw.endswith((b"text", b"\r\n"))
        workspace = make()
        texts = [item.text for entry in workspace.memory.document().entries for item in entry.items]
        sure = [f"fact {n} stands" for n in range(1000 * lines, int(last) + 1)] if last.isdigit() else []
        assert texts[: len(expected)] == expected
        assert texts[len(expected) :][: len(sure)] == sure
        expected = texts
        newest = workspace.journal.entries(limit=1)
        assert not newest or newest[0].after_sha == workspace.memory.read("MEMORY.md").sha256
