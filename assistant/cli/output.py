"""How the command line speaks: JSON values on stdout, words for people, one line of error on stderr."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import sys
from datetime import date, datetime
from pathlib import Path
from typing import Any, TextIO

from assistant.core.errors import AssistantError

_OBEYED = dict.fromkeys([*range(0x20), 0x7F, *range(0x80, 0xA0)], "\ufffd") | {
    ord("\n"): "\n",
    ord("\t"): "\t",
    ord("\r"): "",
}
"""What a terminal obeys rather than shows, in the place of which something is shown: a text may be a model's, a
server's or another program's, and none of them is to move the cursor or call the window something else.
"""


class Output:
    """json: nothing but JSON on stdout. quiet: no words for people besides what was asked for."""

    def __init__(self, *, as_json: bool, quiet: bool, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self.as_json = as_json
        self._quiet = quiet
        self._out = out or sys.stdout or _nowhere()  # Python has none where the shell closed it
        self._err = err or sys.stderr or _nowhere()

    def value(self, value: Any, words: str) -> None:
        """The result: as one JSON value, or in words."""
        if self.as_json:
            self.line(value)
        elif words:
            self.text(words + "\n")

    def line(self, value: Any) -> None:
        """One JSON line at once."""
        self.text(json.dumps(plain(value), ensure_ascii=False) + "\n")

    def text(self, text: str) -> None:
        """Text to stdout at once; what the terminal cannot show is replaced, never an error.

        Raises BrokenPipeError when its reader has gone, AssistantError("output") when it cannot be written.
        """
        encoding, text = self._out.encoding or "utf-8", _shown_on(self._out, text)
        try:
            self._out.write(text.encode(encoding, "replace").decode(encoding, "replace"))
            self._out.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            silence(self._out)
            message = f"The output cannot be written: {error.strerror or error}."
            raise AssistantError("output", message, "Make room, or send it elsewhere.") from error

    def note(self, words: str) -> None:
        """A remark for a person; not with --quiet or --json."""
        if not self._quiet and not self.as_json:
            print(_shown_on(self._err, words), file=self._err, flush=True)

    def progress(self, done: int, total: int, what: str) -> None:
        """A progress line, on a terminal only."""
        if self._err.isatty() and not self._quiet:
            shown = f"{100 * done // total} %" if total else f"{done}"
            end = "\n" if total and done >= total else ""
            print(f"\r{_shown_on(self._err, what)}: {shown}   ", end=end, file=self._err, flush=True)

    def error(self, error: AssistantError) -> None:
        """One line: what, why, what to do; with --json also the error value on stdout."""
        if self.as_json:
            self.line({"error": error.as_dict()})
        self.note_error(error)

    def note_error(self, error: AssistantError) -> None:
        """Only the line on stderr: the value on stdout says more than an error does."""
        line = _shown_on(self._err, " ".join(str(error).split()))
        print(f"keepsake: {line}", file=self._err, flush=True)


def _shown_on(stream: TextIO, text: str) -> str:
    """The text as it stands, but for a terminal what it would obey."""
    return text.translate(_OBEYED) if stream.isatty() else text


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


def silence(stream: TextIO) -> None:
    """Send what is still in its buffer nowhere: flushing it at exit would fail again, with a message of Python's."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def use_utf8(stream: TextIO | None) -> None:
    """Read UTF-8 whatever the locale is; what is none becomes U+FFFD."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors="replace")


def plain(value: Any) -> Any:
    """The value as JSON knows it: dataclasses as objects, dates and paths as text."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(v) for v in value]
    if isinstance(value, datetime | date):
        return value.isoformat()
    return str(value) if isinstance(value, Path) else value
