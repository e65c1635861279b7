"""JSON lines between processes: whole, in order, stoppable, and never disturbed by what a library prints."""

from __future__ import annotations

import io
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.core.cancel import CancelToken
from assistant.core.errors import AssistantError, Cancelled
from assistant.core.wire import BEAT, VERSION, Channel, Emit, serve

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(st.text(st.characters()), JSON, max_size=4), max_size=4))
def test_every_message_comes_back_as_it_was(messages: list[dict[str, Any]]) -> None:
    pipe = io.BytesIO()
    for message in messages:
        Channel(io.BytesIO(), pipe).send(message)
    channel = Channel(io.BytesIO(pipe.getvalue()), io.BytesIO())
    assert [channel.receive() for _ in messages] == messages
    assert channel.receive() is None


@pytest.mark.logs("no protocol (line|message)")
def test_lines_that_are_no_messages_are_skipped_and_not_copied_into_the_log(caplog: pytest.LogCaptureFixture) -> None:
    noise = b"secret words\n[1]\n\xff\xfe\n" + b"[" * 100_000 + b'\n{"ok":1}\n{"text":"secret, cut'
    channel = Channel(io.BytesIO(noise), io.BytesIO())
    with caplog.at_level(logging.WARNING):
        assert channel.receive() == {"ok": 1}
        assert channel.receive() is None
    assert len(caplog.records) == 5
    assert "secret" not in caplog.text


class Served:
    """A server on a thread of this process, and this side's channel to it."""

    def __init__(self) -> None:
        self.running = threading.Event()
        there_in, here_out = os.pipe()
        here_in, there_out = os.pipe()
        self.out: BinaryIO = os.fdopen(here_out, "wb")
        self._into: BinaryIO = os.fdopen(here_in, "rb")
        self._there: list[BinaryIO] = [os.fdopen(there_in, "rb"), os.fdopen(there_out, "wb")]
        self.channel = Channel(self._into, self.out)
        self.thread = threading.Thread(target=self._serve)
        self.thread.start()

    def _serve(self) -> None:
        handlers = {"wait": self.wait, "echo": self.echo, "fail": self.fail, "bug": self.bug}
        serve(Channel(self._there[0], self._there[1]), handlers, beside={"quick": self.echo})

    def wait(self, _args: Mapping[str, Any], cancel: CancelToken, _emit: Emit) -> Mapping[str, Any]:
        self.running.set()
        cancel.wait(60)
        cancel.check()
        return {}

    def echo(self, args: Mapping[str, Any], _cancel: CancelToken, emit: Emit) -> Mapping[str, Any]:
        emit("half", {"of": args})
        return args

    def fail(self, _args: Mapping[str, Any], _cancel: CancelToken, _emit: Emit) -> Mapping[str, Any]:
        raise AssistantError("model.cut", "Cut.", "Copy it.")

    def bug(self, _args: Mapping[str, Any], _cancel: CancelToken, _emit: Emit) -> Mapping[str, Any]:
        raise PermissionError("no")

    def ask(self, ident: int, op: str, args: Mapping[str, Any] | None = None, version: int = VERSION) -> None:
        self.channel.send({"v": version, "id": ident, "op": op, "args": args or {}})

    def answer(self) -> tuple[int, str, Any]:
        while True:
            message = self.channel.receive()
            assert message is not None
            if message["event"] != BEAT:
                return message["id"], message["event"], message["data"]

    def left(self) -> list[Any]:
        """What was sent and not read, once the server has ended."""
        self._there[1].close()
        return list(iter(self.channel.receive, None))

    def end(self) -> None:
        if not self.out.closed:
            self.out.close()
        self.thread.join()
        for pipe in (self._into, *self._there):
            pipe.close()


@pytest.fixture
def served() -> Iterator[Served]:
    server = Served()
    yield server
    server.end()


def test_events_come_before_the_result(served: Served) -> None:
    served.ask(7, "echo", {"text": "héllo\n中\u2028\ud83d"})
    assert served.answer() == (7, "half", {"of": {"text": "héllo\n中\u2028\ud83d"}})
    assert served.answer() == (7, "result", {"text": "héllo\n中\u2028\ud83d"})


@pytest.mark.logs("request bug failed")
def test_errors_come_in_words(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    served.ask(1, "fail")
    assert served.answer() == (1, "error", {"code": "model.cut", "message": "Cut.", "hint": "Copy it."})
    served.ask(2, "bug")
    assert served.answer()[2]["code"] == "wire.bug"
    served.ask(3, "nothing")
    assert served.answer()[2]["code"] == "wire.unknown"
    served.ask(4, "echo", version=99)
    assert served.answer()[2]["code"] == "wire.version"
    assert "request bug failed" in caplog.text
    caplog.clear()


def test_a_stop_reaches_a_busy_handler_and_one_that_waits(served: Served) -> None:
    served.ask(1, "wait")
    served.ask(2, "wait")
    served.running.wait()
    served.channel.send({"v": VERSION, "op": "stop", "id": 2})
    served.channel.send({"v": VERSION, "op": "stop", "id": 1})
    assert [served.answer()[:2] for _ in range(2)] == [(1, "error"), (2, "error")]
    served.channel.send({"v": VERSION, "op": "stop", "id": 1})
    served.ask(3, "echo")
    assert served.answer()[0] == 3


def test_quick_requests_are_answered_while_a_long_one_runs(served: Served) -> None:
    served.ask(1, "wait")
    served.running.wait()
    served.ask(2, "quick", {"n": 1})
    assert [served.answer()[:2] for _ in range(2)] == [(2, "half"), (2, "result")]
    served.channel.send({"v": VERSION, "op": "stop", "id": 1})
    assert served.answer()[0] == 1


def test_a_worker_beats_while_it_works_and_is_silent_otherwise(served: Served) -> None:
    served.ask(1, "wait")
    beats = [served.channel.receive() for _ in range(2)]
    assert all(beat and (beat["event"], beat["v"]) == (BEAT, VERSION) and beat["cpu"] > 0 for beat in beats)
    served.channel.send({"v": VERSION, "op": "stop", "id": 1})
    assert served.answer()[:2] == (1, "error")
    served.out.close()
    served.thread.join()
    assert served.left() == []


def test_the_end_of_the_other_side_ends_what_runs(served: Served) -> None:
    served.ask(1, "wait")
    served.running.wait()
    served.out.close()
    served.thread.join()


def test_cancelled_is_told_as_such(served: Served) -> None:
    served.ask(1, "wait")
    served.channel.send({"v": VERSION, "op": "stop", "id": 1})
    assert served.answer()[2]["code"] == "cancelled"
    with pytest.raises(Cancelled):
        token = CancelToken()
        token.cancel()
        token.check()


NOISY = """
import os, subprocess, sys
from assistant.core.wire import serve, worker_channel
channel = worker_channel()
def noise(args, cancel, emit):
    print("from Python")
    os.write(1, b"from a library\\n")
    subprocess.run([sys.executable, "-c", "print('from a child')"])
    emit("made", {})
    return {}
serve(channel, {"noise": noise})
"""


def test_what_libraries_print_goes_to_the_log_and_not_between_the_lines() -> None:
    asked = f'{{"v":{VERSION},"id":1,"op":"noise","args":{{}}}}\n'.encode()
    done = subprocess.run([sys.executable, "-c", NOISY], input=asked, capture_output=True, check=True)
    lines = [line for line in done.stdout.splitlines(keepends=True) if b'"event":"beat"' not in line]
    assert b"".join(lines) == b'{"id":1,"event":"made","data":{}}\n{"id":1,"event":"result","data":{}}\n'
    for text in (b"from Python", b"from a library", b"from a child"):
        assert text in done.stderr
