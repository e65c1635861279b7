"""Two programs fight over one file: the app writes through its door, an editor saves by rename as vim does."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap

import pytest

APP = """
import sys, pathlib, time, random
from datetime import datetime
from assistant.core.clock import fixed_clock
from assistant.core.errors import AssistantError
from assistant.workspace.ids import line_id
from assistant.workspace.memory import Conflict
from assistant.workspace.workspace import Workspace
base, name, seconds = pathlib.Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
clock = fixed_clock(datetime.fromisoformat("2026-11-29T15:30:22+08:00"))
ws = Workspace(base / "ws", base / "data", base / "state", clock)
end, n, choose = time.monotonic() + seconds, 0, random.Random(name)
while time.monotonic() < end:
    n += 1
    try:
        done = ws.memory.remember(f"{name} thing{n} is kept")
        match choose.randrange(4):
            case 0:
                ws.memory.strike(done.id)
            case 1:
                ws.memory.rewrite(done.id, f"{name} thing{n} is kept and reworded")
            case 2:
                read = ws.memory.read("MEMORY.md")
                answer = ws.memory.save("MEMORY.md", f"{name} fact{n} is kept\\n" + read.text, read.sha256)
                while isinstance(answer, Conflict):
                    assert answer.merged is not None or answer.theirs
                    text = f"{name} fact{n} is kept\\n" + answer.theirs
                    answer = ws.memory.save("MEMORY.md", text, answer.theirs_sha)
                print(f"{name} fact{n}", flush=True)
    except AssistantError as error:
        if error.code not in ("memory.unit", "workspace.busy"):
            raise
        if error.code == "workspace.busy":
            continue
    print(f"{name} thing{n}", flush=True)
"""
EDITOR = """
import sys, os, pathlib, time
base, name, seconds = pathlib.Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
path, temp = base / "ws" / "MEMORY.md", base / "ws" / f".{name}.swp"
end, n = time.monotonic() + seconds, 0
while time.monotonic() < end:
    n += 1
    before = path.read_bytes() if path.exists() else b""
    temp.write_bytes(before + f"- {name} line{n} is kept\\n".encode())
    temp.replace(path)
    print(f"{name} line{n}", flush=True)
    time.sleep(0.002)  # a person is slower still
"""


def run(code: str, *args: object) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(code), *map(str, args)], stdout=-1, text=True)


def fight(make, tmp_path, seconds: float) -> None:
    ws = make()
    (ws.root / "MEMORY.md").write_text("# Mine\n\n")
    ws.memory.note_disk_changes()
    programs = [run(APP, tmp_path, "app", seconds), run(EDITOR, tmp_path, "hand", seconds)]
    said = []
    for program in programs:
        out, _ = program.communicate(timeout=seconds + 60)
        assert program.returncode == 0
        said.append(out.split("\n")[:-1])
    assert min(map(len, said)) >= 3
    workspace = make()
    now = workspace.memory.read("MEMORY.md").text
    of_hand = set(re.findall(r"hand line\d+", now))
    assert set(said[1]) <= of_hand, "what was saved by hand is in the file"
    removed_by_hand = "".join(
        line for entry in workspace.journal.entries(actor="disk") for line in entry.diff.splitlines() if line[:1] == "-"
    )
    kept = set(re.findall(r"app (?:thing|fact)\d+\b", now + removed_by_hand))
    assert set(said[0]) <= kept, "what the app wrote is in the file, or the editor took it out and the journal has it"
    assert now.startswith(("# Mine", "app fact"))
    assert workspace.memory.note_disk_changes() == []
    assert not [path.name for path in workspace.root.iterdir() if path.name.startswith(".~keepsake-")]


def test_an_editor_and_the_app_fight_over_one_file(make, tmp_path):
    fight(make, tmp_path, 3)


@pytest.mark.long
def test_an_editor_and_the_app_fight_over_one_file_for_a_minute(make, tmp_path):
    fight(make, tmp_path, 60)
