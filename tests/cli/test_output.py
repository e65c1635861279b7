"""What reaches a terminal, and what a script."""

from __future__ import annotations

import io
import re

import pytest

from assistant.cli.output import Output
from assistant.core.errors import AssistantError

SAID = "one\x1b]0;title\x07 two\n\tthree \x9b1m中文 🐌\r\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def say_all(out: io.StringIO, err: io.StringIO) -> None:
    output = Output(as_json=False, quiet=False, out=out, err=err)
    output.text(SAID)
    output.note(SAID)
    output.progress(1, 2, "load \x1b[1mmodel")
    output.error(AssistantError("remote.failed", f"The server failed: {SAID}."))


def test_a_terminal_obeys_no_word_of_a_model_or_a_server() -> None:
    out, err = Terminal(), Terminal()
    say_all(out, err)
    assert out.getvalue() == "one\ufffd]0;title\ufffd two\n\tthree \ufffd1m中文 🐌\n"
    assert re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", err.getvalue()) == ["\r"]  # of the progress itself
    assert "中文 🐌" in err.getvalue()


def test_a_json_line_on_a_terminal_is_whole() -> None:
    out = Terminal()
    Output(as_json=True, quiet=False, out=out, err=Terminal()).line({"text": "\x9b1m\x1b[1m"})
    assert out.getvalue() == '{"text": "\ufffd1m\\u001b[1m"}\n'


@pytest.mark.parametrize("text", [SAID, "\x1b[1m"])
def test_a_script_gets_each_character(text: str) -> None:
    out = io.StringIO()
    Output(as_json=False, quiet=False, out=out, err=io.StringIO()).text(text)
    assert out.getvalue() == text
