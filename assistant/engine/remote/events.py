"""Server-sent events of a streamed reply: bytes in, JSON values out.

A server may send anything. A line that is no event is left out, as the standard says (html.spec.whatwg.org, 9.2.6); an
event that should hold JSON and does not ends the reply, since what it said is lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from assistant.core.errors import AssistantError

_LONGEST_LINE = 4 << 20
"""Bytes: the longest that real servers send are whole tool calls of some kilobytes."""
_MOST_LINES = 1_000
"""Of one event; each further one means reading all of them again, and none has more than a few."""
_END = "[DONE]"


class EventReader:
    """``over`` once the server has said that this was all. Also reads the one JSON object of a server that does not
    stream.
    """

    def __init__(self, host: str) -> None:
        self._host = host
        self._held = bytearray()
        self._data: list[str] = []
        self._whole: bool | None = None
        self.over = False

    def push(self, piece: bytes) -> Iterator[Any]:
        """The JSON values that are whole now, in turn. Raises AssistantError("remote.answer") where one is none."""
        start = max(0, len(self._held) - 1)
        self._held += piece
        if self._whole is None and (begun := self._held.lstrip()):
            self._whole = begun.startswith(b"{")
        if self._whole:
            self._check_length(len(self._held))
            return
        if self._held.find(b"\n", start) < 0 and self._held.find(b"\r", start) < 0:
            self._check_length(len(self._held))
            return
        for line in self._lines():
            yield from self._take(line)

    def finish(self) -> list[Any]:
        """What came without an end of line."""
        rest, self._held = bytes(self._held), bytearray()
        if self._whole:
            found = _json(rest.decode("utf-8", "replace"))
            if found is None:
                raise unreadable(self._host)
            return [found]
        return [*self._take(rest.decode("utf-8", "replace")), *self._take("")]

    def _lines(self) -> list[str]:
        """The whole lines; a CR at the very end may still be half of an end of line, so it waits."""
        whole = self._held
        last = max(whole.rfind(b"\n"), whole.rfind(b"\r", 0, -1)) + 1
        done, self._held = bytes(whole[:last]), bytearray(whole[last:])
        self._check_length(len(self._held))
        lines = done.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")[:-1]
        self._check_length(max(map(len, lines), default=0))
        return [line.decode("utf-8", "replace") for line in lines]

    def _take(self, line: str) -> list[Any]:
        """The value that this line completes, if it does."""
        if self.over:
            return []
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "error" and value:  # an older llama-server
            return [{"error": _json(value) or value}]
        if name == "data":
            return self._add(value)
        if not line and self._data:
            raise unreadable(self._host)
        return []

    def _add(self, value: str) -> list[Any]:
        """JSON that goes over several data lines is read once it is whole; some servers leave out the empty line."""
        if value.strip() == _END and not self._data:
            self.over = True
            return []
        if not value and not self._data:
            return []
        self._data.append(value)
        self._check_length(sum(map(len, self._data)))
        if len(self._data) > _MOST_LINES:
            raise unreadable(self._host)
        found = _json("\n".join(self._data))
        if found is None:
            if len(self._data) > 1 and _json(value) is not None:  # the one before was broken, and no empty line said so
                raise unreadable(self._host)
            return []
        self._data.clear()
        return [found]

    def _check_length(self, length: int) -> None:
        if length > _LONGEST_LINE:
            raise unreadable(self._host)


def unreadable(host: str) -> AssistantError:
    """Its answer makes no sense."""
    return AssistantError(
        "remote.answer",
        f"{host} sent something that is no reply of a model.",
        "Check the address of the server in the settings, and the server itself.",
    )


def _json(text: str) -> Any:
    """The value; None for what is none, and for null."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
