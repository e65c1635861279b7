"""CASES 1-3, 5, 6, 8: chats on disk."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from assistant.core.events import TurnFailed
from assistant.runtime.composition import Places, compose
from assistant.ui.errors import ErrorDialog
from tests.cases.conftest import Keepsake, OpenHouse

# One process that forks a writer for each number of bytes after which it is killed, in the middle of whatever it
# writes, and then opens the workspace as the next start of the app would.
_TEAR = """
import json, os, pathlib, signal, sys
from datetime import datetime
from assistant.core.clock import fixed_clock
from assistant.workspace.workspace import Workspace

base = pathlib.Path(sys.argv[1])
WORDS, HALF, WHOLE = "Büro 3 Uhr 张庭\\n\\n### not a heading", "Ja, um", "Ja, um 3 Uhr 🐘\\n\\n> so"
EARLIER = [("first", "answer"), ("第二", "好的")]
real_write = os.write

def workspace(folder):
    clock = fixed_clock(datetime.fromisoformat("2026-11-29T15:30:22+08:00"))
    made = Workspace(folder / "ws", folder / "data", folder / "state", clock)
    made.prepare()
    return made

def write(ws, chat, told):
    turn = ws.chats.begin_turn(chat, WORDS)
    real_write(told, b"s")
    ws.chats.keep_partial(chat, turn.n, HALF)
    real_write(told, b"k")
    ws.chats.end_turn(chat, turn.n, WHOLE)
    real_write(told, b"e")

def killed_after(budget, folder):
    ws = workspace(folder)
    chat = ws.chats.create("Büro")
    for user, reply in EARLIER:
        ws.chats.end_turn(chat, ws.chats.begin_turn(chat, user).n, reply)
    out, told = os.pipe()
    child = os.fork()
    if child == 0:
        left = budget
        def torn(descriptor, data):
            nonlocal left
            if len(data) >= left:
                real_write(descriptor, bytes(data)[:left])
                os.kill(os.getpid(), signal.SIGKILL)
            left -= len(data)
            return real_write(descriptor, data)
        os.write = torn
        write(workspace(folder), chat, told)
        os._exit(0)
    os.close(told)
    with os.fdopen(out) as reader:
        said = reader.read()
    _, status = os.waitpid(child, 0)
    after = workspace(folder)
    after.chats.recover()
    after.chats.end_turn(chat, after.chats.begin_turn(chat, "Are you there?").n, "Yes.")
    turns = [(t.n, t.user, t.reply, t.mark) for t in after.chats.read(chat).turns]
    left = [p.name for p in (folder / "state" / "pending").glob("*.[ja]*") if p.suffix != ".alive"]
    return os.WIFEXITED(status), said, turns, left, after.chats.read(chat).problems

budget, ended = 1, False
while not ended:
    ended, *seen = killed_after(budget, base / str(budget))
    print(json.dumps([budget, *seen]))
    budget += int(sys.argv[2])
"""


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.long)])
def test_killed_at_any_byte_no_turn_and_no_word_is_lost(tmp_path: Path, step: int) -> None:
    """Case 1."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(_TEAR), str(tmp_path), str(step)],
        capture_output=True,
        text=True,
        check=True,
    )
    words, half, whole = "Büro 3 Uhr 张庭\n\n### not a heading", "Ja, um", "Ja, um 3 Uhr 🐘\n\n> so"
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(runs) >= 400 // step  # one for each byte of what is written
    begun = 0
    for budget, said, turns, left, problems in runs:
        assert [turn[1:] for turn in turns[:2]] == [["first", "answer", ""], ["第二", "好的", ""]], budget
        assert turns[-1][1:] == ["Are you there?", "Yes.", ""], budget
        assert [turn[0] for turn in turns] == list(range(1, len(turns) + 1)), budget
        assert (left, problems) == ([], []), budget
        if middle := turns[2:-1]:
            begun += 1
            assert middle[0][1] == words, budget
            assert middle[0][2:] in ([None, ""], [half, "interrupted"], [whole, ""]), budget
        assert middle or not said, budget
        assert "k" not in said or middle[0][2], budget
    assert begun > len(runs) // 2


def test_ruined_chats_cost_only_themselves_and_are_named(keepsake: Keepsake, tmp_path: Path) -> None:
    """Case 2."""
    chats = tmp_path / "ws" / "chats" / "2026-11"
    ident = "20261129_153022"
    for number in range(4):
        (chat,) = _chats_of(tmp_path, ("Büro 张庭 Grüße", "好的，明天见"), title=f"Sound {number}", number=number)
        ident = chat
    text = (tmp_path / "ws" / "chats" / f"{ident[:4]}-{ident[4:6]}" / f"{ident}.md").read_bytes()
    chats.mkdir(exist_ok=True)
    ruined = {
        "20261101_000001": b"\0" * 65536,
        "20261101_000002": text.replace("张".encode(), "张".encode()[:2]),
        "20261101_000003": text.replace(b"- **Created**:", b"- **Created**"),
        "20261101_000004": text.replace(b"- **Session ID**: " + ident.encode(), b"- **Session ID**: [1, {"),
        "20261101_000005": b"",
        "20261101_000006": text[: len(text) // 2],
        "20261101_000007": text.replace(b"- **Session ID**: " + ident.encode() + b"\n", b""),
        "20261101_000008": text.replace(b"- **Created**: 20", b"- **Created**: twenty "),
        "20261101_000009": text.replace(b"- **Participants**", b"- **Private**: [1, {\n- **Participants**"),
    }
    for name, raw in ruined.items():
        (chats / f"{name}.md").write_bytes(raw)
    listed = {chat["id"]: chat for chat in keepsake("--json", "chats", "list").json["chats"]}
    assert len([chat for chat in listed.values() if chat["title"].startswith("Sound")]) >= 4
    assert ruined.keys() <= listed.keys()
    for name in ruined:
        shown = keepsake("--json", "chats", "show", name)
        assert shown.code == 0, shown.err
        if name not in ("20261101_000001", "20261101_000005", "20261101_000006"):
            (turn,) = shown.json["turns"]
            assert "Grüße" in turn["user"], name
            assert turn["reply"] == "好的，明天见", name
    wrong = " ".join(check["name"] for check in keepsake("--json", "doctor").json["checks"] if not check["ok"])
    for name in ruined:
        assert f"{name}.md" in wrong
    assert listed["20261101_000009"]["private"], "what is no plain no may have been meant as a yes"


def test_every_byte_that_is_cut_out_of_a_chat_leaves_the_rest(tmp_path: Path) -> None:
    """Case 2: a person's file with one byte missing is read, and can be gone on with."""
    (ident,) = _chats_of(tmp_path, ("Büro 张庭", "好的"), ("second 第二", "reply 回答"))
    services = compose(Places(tmp_path / "ws", tmp_path / "config", tmp_path / "st"), {})
    path = services.workspace.chats.path(ident)
    whole = path.read_bytes()
    start = whole.index(b"## Conversation")
    for cut in range(start, len(whole)):
        path.write_bytes(whole[:cut] + whole[cut + 1 :])
        said = " ".join(f"{turn.user} {turn.reply}" for turn in services.read_chat(ident).turns)
        words = [word for word in ("Büro", "张庭", "好的", "second", "第二", "reply", "回答") if word not in said]
        assert len(words) <= 1, (cut, whole[max(0, cut - 10) : cut + 10], said)
        start = services.workspace.chats.begin_turn(ident, "and on")
        services.workspace.chats.end_turn(ident, start.n, "it goes")
        turns = services.read_chat(ident).turns
        assert [(turn.n, turn.user, turn.reply) for turn in turns][-1] == (start.n, "and on", "it goes"), cut
    services.close()


def test_a_full_disk_keeps_the_old_chat_and_the_words_stay_in_the_window(
    scripted: OpenHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 3."""
    import errno
    import os

    house = scripted(["First reply."])
    house.say("first words")
    path = house.services.workspace.chats.path(house.chat)
    before = path.read_bytes()
    real_write = os.write

    def full(descriptor: int, data: bytes) -> int:
        if Path(f"/proc/self/fd/{descriptor}").readlink().is_relative_to(house.folder):
            raise OSError(errno.ENOSPC, "No space left on device")
        return real_write(descriptor, data)

    monkeypatch.setattr(os, "write", full)
    house.write("precious words")
    house.wait(lambda: house.window.page.composer.text() == "precious words")
    monkeypatch.undo()
    dialog = house.window.findChild(ErrorDialog)
    assert dialog is not None
    assert "disk is full" in " ".join(label.text() for label in dialog.findChildren(_label()))
    dialog.accept()
    assert path.read_bytes() == before
    assert [failed.error.code for failed in house.seen(TurnFailed)] == ["disk.full"]
    house.events.clear()
    house.turn(lambda: house.write(""))
    assert [turn.user for turn in house.turns()] == ["first words", "precious words"]


TITLES = [
    '<>:"/\\|?*',
    "🐘 👩‍👩‍👧",
    "x" * 300,
    "ends with a dot.",
    "CON",
    "nul.md",
    "   ",
    "# Chat: [x](y)",
    "张\u3000庭",
]


@pytest.mark.parametrize("title", TITLES)
def test_any_title_is_saved_and_found_again(keepsake: Keepsake, tmp_path: Path, title: str) -> None:
    """Case 5, by the command line."""
    (ident,) = _chats_of(tmp_path, ("hello there", "hi"))
    assert keepsake("chats", "rename", ident, title).code == 0
    (chat,) = keepsake("--json", "chats", "list").json["chats"]
    assert chat["title"] == title
    assert keepsake("--json", "chats", "show", ident).json["title"] == title
    hits = keepsake("--json", "recall", "hello").json["hits"]
    assert [hit["id"] for hit in hits] == [f"{ident}#1"]
    assert hits[0]["title"].strip() == title.strip()


def test_the_command_line_and_the_window_share_one_workspace(scripted: OpenHouse, tmp_path: Path) -> None:
    """Case 6: two programs write into one chat at once; nothing interleaves, the window shows both."""
    house = scripted(lambda messages: f"You said {messages[-1].text.split()[-1]}.")
    house.say("window 0")
    other = subprocess.Popen(
        [sys.executable, "-c", _OTHER, str(tmp_path), house.chat], stdout=subprocess.PIPE, text=True
    )
    with other:
        for number in range(1, 6):
            house.say(f"window {number}")
    assert other.returncode == 0
    house.wait(lambda: len(house.turns()) == 11)
    turns = house.turns()
    assert [turn.n for turn in turns] == list(range(1, 12))
    assert all(turn.reply == f"You said {turn.user.split()[-1]}." for turn in turns if turn.user.startswith("window"))
    assert [turn.reply for turn in turns if turn.user.startswith("script")] == [f"script reply {n}" for n in range(5)]
    house.services.rename_chat(house.chat, "Both")
    house.wait(lambda: house.window.topbar.title.whole() == "Both")


_OTHER = """
import pathlib, sys
from assistant.runtime.composition import Places, compose
base = pathlib.Path(sys.argv[1])
services = compose(Places(base / "ws", base / "config", base / "state"), {})
for n in range(5):
    turn = services.workspace.chats.begin_turn(sys.argv[2], f"script {n}")
    services.workspace.chats.end_turn(sys.argv[2], turn.n, f"script reply {n}")
services.close()
"""


def test_what_the_command_line_writes_appears_in_an_open_window(scripted: OpenHouse, tmp_path: Path) -> None:
    """Case 6: a chat that another program goes on with is shown without a click."""
    house = scripted(["Hello."])
    house.say("hi")
    subprocess.run([sys.executable, "-c", _OTHER, str(tmp_path), house.chat], check=True)
    house.wait(lambda: len(house.shown()) == 6)
    assert house.shown()[-1] == ("script 4", "script reply 4")


def _label() -> type:
    from PySide6.QtWidgets import QLabel

    return QLabel


def _chats_of(folder: Path, *turns: tuple[str, str], title: str = "", number: int = 0) -> list[str]:
    """A chat written by the app itself, a year and more ago; its id."""
    from datetime import datetime

    now = datetime.fromisoformat(f"2025-11-29T15:30:{number:02d}+08:00")
    services = compose(Places(folder / "ws", folder / "config", folder / "st", now), {})
    chats = services.workspace.chats
    ident = chats.create(title)
    for user, reply in turns:
        chats.end_turn(ident, chats.begin_turn(ident, user).n, reply)
    services.close()
    return [ident]
