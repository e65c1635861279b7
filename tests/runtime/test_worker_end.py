"""Why a worker ended, from what can be seen of it."""

from __future__ import annotations

import json
import signal
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.runtime.engine_end import ModelMark, engine_error, read_death, write_death
from assistant.runtime.memory_kills import MemoryKills
from assistant.runtime.worker_end import WorkerEnd, last_lines, worker_end

KILL, BUS, ABORT = -signal.SIGKILL, -signal.SIGBUS, -signal.SIGABRT


@pytest.mark.parametrize(
    ("status", "hung", "kills", "lines", "code", "how"),
    [
        (KILL, False, 0, (), "worker.died", "SIGKILL"),
        (KILL, False, 1, (), "worker.no_memory", "SIGKILL"),
        (KILL, True, 1, (), "worker.hung", "SIGKILL"),
        (-signal.SIGSEGV, False, 1, (), "worker.died", "SIGSEGV"),
        (BUS, False, 0, (), "worker.page_lost", "SIGBUS"),
        (0xC0000006, False, 0, (), "worker.page_lost", "exit status 0xc0000006"),
        (ABORT, False, 0, ("ggml_aligned_malloc: failed to allocate 2 MB",), "worker.no_memory", "SIGABRT"),
        (3, False, 0, ("MemoryError",), "worker.no_memory", "exit status 3"),
        (3, False, 0, ("KeyError: 'x'",), "worker.died", "exit status 3"),
        (-250, False, 0, (), "worker.died", "signal 250"),
    ],
)
def test_the_reason(status: int, hung: bool, kills: int, lines: tuple[str, ...], code: str, how: str) -> None:
    end = worker_end(status, hung, kills, lines)
    assert (end.code, end.how) == (code, how)
    assert end.error().message and end.error().code == code


def test_the_last_lines_are_those_of_this_worker(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("an earlier worker\n", encoding="utf-8")
    since = log.stat().st_size
    assert last_lines(log, since) == ()
    with log.open("ab") as file:
        file.write(b"one\n\n" + b"two \xff\n" + "".join(f"{n}\n" for n in range(3, 9)).encode())
    assert last_lines(log, since) == ("3", "4", "5", "6", "7", "8")
    assert last_lines(log, 0)[-1] == "8"
    assert last_lines(tmp_path / "none", 0) == last_lines(None, 0) == ()
    log.write_text("x" * 100_000, encoding="utf-8")
    assert [len(line) for line in last_lines(log, 0)] == [300]


def test_counters_of_both_kinds_of_control_groups(tmp_path: Path) -> None:
    events, control, vmstat = (tmp_path / name for name in ("memory.events", "memory.oom_control", "vmstat"))
    events.write_text("low 0\noom 9\noom_kill 2\noom_group_kill 7\n")
    control.write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 1\n")
    vmstat.write_text("nr_free_pages 5\noom_kill 40\n")
    kills = MemoryKills([events, control, vmstat, tmp_path / "none"])
    assert kills.count() == 43
    vmstat.write_text("oom_kill 41\n")
    assert kills.count() == 44


@given(st.binary(max_size=200))
def test_a_counter_that_is_no_counter_counts_nothing(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "strange"
    file.write_bytes(data)
    assert MemoryKills([file]).count() >= 0
    file.write_bytes(b"oom_kill many\noom_kill\noom_kill 1 2\n")
    assert MemoryKills([file]).count() == 0


def test_this_machines_counters_can_be_read() -> None:
    assert MemoryKills().count() >= 0


def test_what_became_of_a_model_file(tmp_path: Path) -> None:
    path = tmp_path / "a model.gguf"
    path.write_bytes(b"GGUF....")
    mark = ModelMark.of(path)
    bus, died = WorkerEnd("worker.page_lost", BUS), WorkerEnd("worker.died", -signal.SIGSEGV)
    assert engine_error(bus, mark).code == "model.unreadable"
    assert engine_error(died, mark).code == engine_error(bus, None).code == "engine.died"
    assert not (mark.gone or mark.changed)
    path.write_bytes(b"GGUF")
    assert mark.changed and not mark.gone
    assert engine_error(bus, mark).code == engine_error(died, mark).code == "model.changed"
    assert "a model.gguf" in engine_error(bus, mark).message
    assert engine_error(WorkerEnd("worker.no_memory", KILL), mark).code == "engine.no_memory"
    path.unlink()
    assert mark.gone and not mark.changed
    assert engine_error(bus, mark).code == "model.changed"
    assert not ModelMark.of(path).gone  # it never was there


def test_the_last_end_is_written_down_without_words_of_the_log(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "engine.log"
    assert read_death(log) is None
    end = WorkerEnd("worker.died", ABORT, ("what a person said",))
    write_death(log, end, engine_error(end, None), None)
    death = read_death(log)
    assert death and (death.code, death.how, death.model) == ("engine.died", "SIGABRT", "")
    written = list(log.parent.iterdir())
    assert all("person" not in path.read_text() for path in written)
    for edited in ([1], {**asdict(death), "at": 5}, {**asdict(death), "more": ""}, {"at": ""}):
        written[0].write_text(json.dumps(edited))
        assert read_death(log) is None


def test_an_end_that_cannot_be_written_down_is_still_told(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("in the way")
    end = WorkerEnd("worker.died", KILL)
    write_death(tmp_path / "logs" / "engine.log", end, engine_error(end, None), None)
    assert read_death(tmp_path / "logs" / "engine.log") is None
