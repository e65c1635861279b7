"""A worker process is started when needed, stopped when asked, replaced when it dies, and never left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.runtime.pulse import Patience
from assistant.runtime.worker_process import WorkerLost, WorkerProcess

MODULE = "tests.runtime.fake_worker"


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[WorkerProcess]:
    process = WorkerProcess(MODULE, tmp_path / "logs" / "worker.log", {"KEEPSAKE_TEST": "1"})
    yield process
    process.close()
    assert not process.alive


def code_of(error: pytest.ExceptionInfo[AssistantError]) -> str:
    return error.value.code


def test_it_starts_when_first_needed_and_once(worker: WorkerProcess) -> None:
    assert (worker.alive, worker.pid, worker.starts) == (False, None, 0)
    first = worker.call("echo", {"text": "中\ud83d", "events": 3}, CancelToken())
    again = worker.call("echo", {}, CancelToken())
    assert first == {"pid": worker.pid, "text": "中\ud83d", "events": 3}
    assert (again["pid"], worker.starts) == (first["pid"], 1)


def test_events_come_in_order_and_the_result_last(worker: WorkerProcess) -> None:
    events = list(worker.request("echo", {"events": 500}, CancelToken()))
    assert [data.get("n") for _, data in events[:-1]] == list(range(500))
    assert events[-1][0] == "result"


def test_a_huge_message_goes_both_ways(worker: WorkerProcess) -> None:
    text = "x中\n" * 4_000_000
    assert worker.call("echo", {"text": text}, CancelToken())["text"] == text


def test_an_error_of_the_worker_is_raised_here(worker: WorkerProcess) -> None:
    with pytest.raises(AssistantError) as caught:
        worker.call("fail", {}, CancelToken())
    assert caught.value.as_dict() == {"code": "model.cut", "message": "Cut.", "hint": "Copy it."}
    assert worker.call("echo", {}, CancelToken())["pid"] == worker.pid


def test_a_stop_ends_a_request_with_what_it_has(worker: WorkerProcess) -> None:
    cancel = CancelToken()
    request = worker.request("wait", {}, cancel)
    assert next(request) == ("waiting", {})
    cancel.cancel()
    assert list(request) == [("result", {"stopped": True})]


def test_a_stop_without_a_result_is_cancelled(worker: WorkerProcess) -> None:
    cancel = CancelToken()
    with pytest.raises(Cancelled):
        for _ in worker.request("give_up", {}, cancel):
            cancel.cancel()


def test_a_stop_before_the_request_counts(worker: WorkerProcess) -> None:
    cancel = CancelToken()
    cancel.cancel()
    assert worker.call("wait", {}, cancel) == {"stopped": True}


def test_leaving_early_stops_the_request(worker: WorkerProcess) -> None:
    request = worker.request("wait", {}, CancelToken())
    next(request)
    request.close()
    assert worker.call("echo", {"text": "next"}, CancelToken())["text"] == "next"


def test_a_death_is_told_once_and_the_next_request_has_a_new_worker(worker: WorkerProcess) -> None:
    seen = []
    with pytest.raises(AssistantError) as caught:
        for event, _ in worker.request("die", {}, CancelToken()):
            seen.append(event)
    assert (seen, code_of(caught)) == (["last"], "worker.died")
    assert worker.call("echo", {}, CancelToken())["pid"] == worker.pid
    assert worker.starts == 2


def test_a_kill_between_requests_is_not_even_noticed(worker: WorkerProcess) -> None:
    pid = worker.call("echo", {}, CancelToken())["pid"]
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert worker.call("echo", {}, CancelToken())["pid"] != pid


def test_all_who_wait_for_a_dying_worker_are_told(worker: WorkerProcess) -> None:
    pid = worker.call("echo", {}, CancelToken())["pid"]
    codes = []

    def ask() -> None:
        try:
            worker.call("wait", {}, CancelToken())
        except AssistantError as error:
            codes.append(error.code)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    session = worker._session
    assert session is not None
    pause = threading.Event()
    while len(session._waiting) < len(threads):
        pause.wait(0.01)
    os.kill(pid, signal.SIGKILL)
    for thread in threads:
        thread.join()
    assert codes == ["worker.died"] * 8


def test_closing_ends_a_request_that_streams(worker: WorkerProcess) -> None:
    started, codes = threading.Event(), []

    def stream() -> None:
        try:
            for _ in worker.request("wait", {}, CancelToken()):
                started.set()
        except AssistantError as error:
            codes.append(error.code)

    thread = threading.Thread(target=stream)
    thread.start()
    started.wait()
    worker.close()
    thread.join()
    assert codes in ([], ["worker.closed"])
    assert not worker.alive


def test_a_worker_that_hangs_is_killed_even_while_somebody_writes_to_it(worker: WorkerProcess) -> None:
    request = worker.request("hang", {}, CancelToken())
    next(request)
    pid = worker.pid
    codes = []

    def write() -> None:
        try:
            worker.call("echo", {"text": "x" * 1_000_000}, CancelToken())
        except AssistantError as error:
            codes.append(error.code)

    thread = threading.Thread(target=write)
    thread.start()
    worker.close()
    thread.join()
    with pytest.raises(AssistantError, match="ended"):
        list(request)
    assert pid is not None and not Path(f"/proc/{pid}").exists()
    assert codes in ([], ["worker.closed"])


@pytest.fixture
def strict(tmp_path: Path) -> Iterator[WorkerProcess]:
    """Has little patience with workers that hang."""
    process = WorkerProcess(MODULE, tmp_path / "log", patience=Patience(silent=3, hurried=3, idle=5))
    yield process
    process.close()


def test_a_worker_that_gives_no_sign_of_life_is_ended(strict: WorkerProcess) -> None:
    strict.call("echo", {}, CancelToken())
    hanging = strict.pid
    with pytest.raises(WorkerLost) as caught:
        strict.call("hang", {}, CancelToken())
    assert (code_of(caught), caught.value.end.how, caught.value.start) == ("worker.hung", "SIGKILL", 1)
    assert strict.call("echo", {}, CancelToken())["pid"] != hanging


def test_a_worker_that_beats_and_does_nothing_is_ended(strict: WorkerProcess) -> None:
    with pytest.raises(WorkerLost) as caught:
        strict.call("wait", {}, CancelToken())
    assert code_of(caught) == "worker.hung"


def test_a_worker_that_computes_may_take_its_time(strict: WorkerProcess) -> None:
    """Longer than it may be silent or idle."""
    assert strict.call("compute", {"seconds": 6}, CancelToken())["seconds"] == 6


def test_the_last_lines_of_the_log_tell_why_it_ended(worker: WorkerProcess) -> None:
    with pytest.raises(WorkerLost) as caught:
        worker.call("die", {"code": 3, "said": "ggml: failed to allocate buffer"}, CancelToken())
    assert (code_of(caught), caught.value.end.how) == ("worker.no_memory", "exit status 3")
    assert caught.value.end.lines == ("ggml: failed to allocate buffer",)


def test_an_end_that_nobody_waited_for_is_told_at_the_next_start(tmp_path: Path) -> None:
    lost: list[tuple[str, int]] = []
    worker = WorkerProcess(MODULE, on_lost=lambda end, start: lost.append((end.how, start)))
    pid = worker.call("echo", {}, CancelToken())["pid"]
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert lost == []
    worker.call("echo", {}, CancelToken())
    assert lost == [("SIGKILL", 1)]
    worker.close()
    worker.call("echo", {}, CancelToken())
    worker.close()
    assert len(lost) == 1  # what is closed is not lost


def test_only_an_idle_worker_retires(worker: WorkerProcess) -> None:
    assert not worker.retire()
    request = worker.request("wait", {}, CancelToken())
    next(request)
    assert not worker.retire()
    request.close()
    pid = worker.call("echo", {}, CancelToken())["pid"]
    assert worker.retire()
    assert not worker.alive and not Path(f"/proc/{pid}").exists()
    assert worker.call("echo", {}, CancelToken())["pid"] != pid


def test_what_asks_while_the_environment_changes_has_the_new_one(
    worker: WorkerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    close = worker.close

    def close_and_be_asked() -> None:
        close()
        worker.call("echo", {}, CancelToken())  # as another thread may, just then

    monkeypatch.setattr(worker, "close", close_and_be_asked)
    worker.set_environment({"KEEPSAKE_TEST": "2"})
    monkeypatch.undo()
    assert worker.call("environment", {"name": "KEEPSAKE_TEST"}, CancelToken()) == {"value": "2"}
    assert worker.starts == 1


def test_ends_of_different_versions_say_so(worker: WorkerProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assistant.runtime.worker_process.VERSION", 1)
    with pytest.raises(AssistantError) as caught:
        worker.call("echo", {}, CancelToken())
    assert str(caught.value) == "Keepsake was updated while it ran. Close it and start it again."


def test_closing_twice_and_unstarted_is_fine(worker: WorkerProcess) -> None:
    worker.close()
    worker.call("echo", {}, CancelToken())
    worker.close()
    worker.close()


def test_what_comes_after_the_end_starts_none_again(worker: WorkerProcess) -> None:
    worker.call("echo", {}, CancelToken())
    worker.end()
    with pytest.raises(AssistantError) as caught:
        worker.call("echo", {}, CancelToken())
    assert (code_of(caught), worker.alive, worker.starts) == ("worker.closed", False, 1)


def test_many_threads_share_one_worker(worker: WorkerProcess) -> None:
    answers: list[int] = []

    def ask(number: int) -> None:
        numbers = range(number * 100, number * 100 + 20)
        answers.extend(worker.call("echo", {"n": n}, CancelToken())["n"] for n in numbers)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == sorted(number * 100 + step for number in range(6) for step in range(20))
    assert worker.starts == 1


def test_a_module_that_is_not_there_is_one_clear_error(tmp_path: Path) -> None:
    worker = WorkerProcess("tests.runtime.no_such_worker", tmp_path / "log")
    with pytest.raises(AssistantError) as caught:
        worker.call("echo", {}, CancelToken())
    assert code_of(caught) == "worker.died"
    worker.close()
    assert "no_such_worker" in (tmp_path / "log").read_text()


def test_modules_of_the_current_folder_are_not_imported(
    worker: WorkerProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('a stranger')")
    (tmp_path / "assistant.py").write_text("raise SystemExit('a stranger')")
    monkeypatch.chdir(tmp_path)
    assert worker.call("echo", {}, CancelToken())["pid"] == worker.pid


def test_a_log_does_not_grow_for_ever(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"old\n" * 500_000)
    worker = WorkerProcess(MODULE, log)
    worker.call("echo", {}, CancelToken())
    worker.close()
    assert log.stat().st_size < 1_000_000


PARENT = f"""
import os, sys
from assistant.core.cancel import CancelToken
from assistant.runtime.pulse import Patience
from assistant.runtime.worker_process import WorkerLost, WorkerProcess
worker = WorkerProcess({MODULE!r})
for event, data in worker.request("wait", {{}}, CancelToken()):
    print(worker.pid, flush=True)
"""


def test_a_worker_ends_with_its_parent() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    handle = os.pidfd_open(pid)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    _wait_for_end(handle)


def _wait_for_end(handle: int) -> None:
    """Until the process of a pidfd has ended."""
    import select

    ended, _, _ = select.select([handle], [], [], 30)
    os.close(handle)
    assert ended


def test_ctrl_c_is_left_to_the_parent(worker: WorkerProcess) -> None:
    pid = worker.call("echo", {}, CancelToken())["pid"]
    os.kill(pid, signal.SIGINT)
    assert worker.call("echo", {}, CancelToken())["pid"] == pid


def test_a_worker_with_no_place_for_its_log_works_without(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("in the way")
    worker = WorkerProcess(MODULE, tmp_path / "logs" / "worker.log")
    assert worker.call("echo", {}, CancelToken())["pid"] == worker.pid
    worker.close()


def test_a_worker_that_cannot_be_started_is_said_in_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "no python"))
    worker = WorkerProcess(MODULE)
    with pytest.raises(AssistantError) as failed:
        worker.call("echo", {}, CancelToken())
    assert failed.value.code == "worker.start"
    worker.close()
