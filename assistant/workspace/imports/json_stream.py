"""The objects of a large JSON file one by one, in bounded memory.

Only braces and strings are looked at, so an array of hundreds of megabytes is parted at the speed of a regular
expression, and an object that is no valid JSON costs itself alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

_CHUNK = 1_000_000
MOST_OBJECT = 64_000_000  # bytes; a longer one is passed over
_NEXT = re.compile(rb'["{}]')
_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)


class TooLarge:
    """Stands for an object longer than MOST_OBJECT."""


class CutOff:
    """Stands for an object that the file ends in."""


def json_objects(file: BinaryIO) -> Iterator[bytes | TooLarge | CutOff]:
    """The bytes of every outermost object, whatever stands around them: ``[{…}, {…}]``, ``{…}`` or lines of them.

    Raises what reading the file raises.
    """
    scan = _Scan()
    while chunk := file.read(_CHUNK):
        yield from scan.feed(chunk)
    if scan.open:
        yield CutOff()


class _Scan:
    """Where the scan stands. buffer: from the start of the open object, or of what was not looked at yet."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._at = 0
        self._depth = 0
        self._in_string = False
        self._dropping = False

    @property
    def open(self) -> bool:
        return self._depth > 0

    def feed(self, chunk: bytes) -> Iterator[bytes | TooLarge]:
        self._buffer += chunk
        while self._close_object():
            yield TooLarge() if self._dropping else bytes(self._buffer[: self._at])
            self._forget()
        self._trim()

    def _close_object(self) -> bool:
        """Go on behind the end of the outermost object; False when more bytes are needed."""
        while True:
            if self._in_string and not self._end_string():
                return False
            found = _NEXT.search(self._buffer, self._at)
            if found is None:
                self._at = len(self._buffer)
                return False
            self._at = found.end()
            mark = found[0]
            if mark == b'"':
                self._in_string = self._depth > 0  # a quote between objects belongs to none
            elif mark == b"{":
                if self._depth == 0:
                    del self._buffer[: found.start()]
                    self._at = 1
                self._depth += 1
            elif self._depth:
                self._depth -= 1
                if self._depth == 0:
                    return True

    def _end_string(self) -> bool:
        found = _STRING.match(self._buffer, self._at)
        self._at = found.end() if found else self._at
        if self._at >= len(self._buffer) or self._buffer[self._at] != 0x22:
            return False  # more to come, or a backslash whose character is in the next chunk
        self._at += 1
        self._in_string = False
        return True

    def _trim(self) -> None:
        if self._depth and len(self._buffer) > MOST_OBJECT:
            self._dropping = True
        if self._dropping or not self._depth:
            del self._buffer[: self._at]
            self._at = 0

    def _forget(self) -> None:
        del self._buffer[: self._at]
        self._at = 0
        self._dropping = False
