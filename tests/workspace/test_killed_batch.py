"""A process that is killed (-9) while it changes several files, before every single step: nothing is lost."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

PROGRAM = """
import os, pathlib, shutil, signal, sys
from datetime import datetime
from assistant.core.clock import fixed_clock
from assistant.workspace import disk, safe_files
from assistant.workspace.layout import ARCHIVE, MEMORY
from assistant.workspace.memory import Conflict, Edit
from assistant.workspace.workspace import Workspace

base, archived = pathlib.Path(sys.argv[1]), sys.argv[2] == "archived"
OLD = {MEMORY: "stays\\r\\nmoves one\\r\\nmoves two\\r\\n", "memory/b.md": "- gone\\n- kept\\n"}
NEW = {MEMORY: "stays\\r\\n", "memory/b.md": "- kept\\n", ARCHIVE: "moves one\\nmoves two\\n"}
if archived:
    OLD[ARCHIVE] = "earlier\\n"
    NEW[ARCHIVE] = "earlier\\nmoves one\\nmoves two\\n"


def opened():
    clock = fixed_clock(datetime.fromisoformat("2026-11-29T15:30:22+08:00"))
    workspace = Workspace(base / "ws", base / "data", base / "state", clock)
    workspace.prepare()
    return workspace


def fresh():
    for part in ("ws", "data", "state"):
        shutil.rmtree(base / part, ignore_errors=True)
    (base / "ws" / "memory").mkdir(parents=True)
    for file, text in OLD.items():
        (base / "ws" / file).write_bytes(text.encode())
    return opened()


def texts(workspace):
    files = (MEMORY, "memory/b.md", ARCHIVE)
    return {f: (workspace.root / f).read_bytes().decode() for f in files if (workspace.root / f).exists()}


def change(workspace):
    read = workspace.memory.read
    edits = [Edit(f, text.replace("\\r", ""), read(f).sha256) for f, text in NEW.items()]
    return workspace.memory.change_many(edits, "upkeep", "Tidied up")


def die_at(step):
    # Every call that touches the disk is a step; the process dies before it.
    count = 0

    def counted(function):
        def call(*words, **named):
            nonlocal count
            count += 1
            if count == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*words, **named)

        return call

    for name in ("write", "fsync", "link", "open", "unlink", "rename", "replace", "close"):
        setattr(os, name, counted(getattr(os, name)))
    safe_files.exchange = counted(safe_files.exchange)
    pathlib.Path.replace = counted(pathlib.Path.replace)
    pathlib.Path.unlink = counted(pathlib.Path.unlink)


step = 0
while True:
    step += 1
    workspace = fresh()
    if not (child := os.fork()):
        die_at(step)
        change(workspace)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    now = texts(workspace)
    for file, text in now.items():
        assert text in (OLD.get(file), NEW[file]), (step, file, text)
    for line in ("stays", "moves one", "moves two", "kept"):
        assert any(line in text for text in now.values()), (step, line, now)
    after = opened()
    after.memory.note_disk_changes()
    assert texts(after) == now
    for entry in after.journal.entries():
        assert entry.after_sha == after.memory.read(entry.path).sha256, (step, entry)
    assert len({entry.path for entry in after.journal.entries()}) == len(after.journal.entries()), step
    if now != NEW and now != OLD:  # the rest is done by doing it again
        changed = {entry.path for entry in after.journal.entries()}
        assert changed == {f for f in NEW if now.get(f) == NEW[f]}, (step, changed)
    if now == NEW:
        for entry in after.journal.entries():
            assert not isinstance(after.memory.undo(entry.id), Conflict)
        assert texts(after) == OLD, (step, texts(after))
    else:
        change(after)
        assert texts(after) == NEW, (step, texts(after))
    if status == 0:
        break
    assert os.WTERMSIG(status) == signal.SIGKILL
print(step)
"""


@pytest.mark.parametrize("archive", ["archived", "new"])
def test_killed_at_every_step_nothing_is_lost(tmp_path, archive):
    program = [sys.executable, "-c", textwrap.dedent(PROGRAM), str(tmp_path), archive]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20, "it died at many different places"
