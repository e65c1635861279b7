"""Unit ids that stay the same as long as the text does."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field

_UNIT = re.compile(r"(?P<file>.+):(?P<hash>[0-9a-f]{10})(?:-(?P<n>[1-9][0-9]{0,8}))?", re.DOTALL)


def line_id(file: str, text: str) -> str:
    """``<file>:<10 hex digits>``: the SHA-256 of the line without the white space around it.

    file: name relative to the workspace, with ``/``. Lone surrogates in ``text`` are hashed as they stand.
    """
    return unit_id(file, line_digest(text), 1)


def line_digest(text: str) -> bytes:
    """What a line's id is made from, whole."""
    return hashlib.sha256(text.strip().encode("utf-8", "surrogatepass")).digest()


def short_digest(digest: bytes) -> bytes:
    """As much of it as an id shows: units of one file that share it are told apart by number."""
    return digest[:5]


def unit_id(file: str, digest: bytes, number: int) -> str:
    """The id of a file's unit. number: which of those with the same ``short_digest`` it is, from 1."""
    first = f"{file}:{short_digest(digest).hex()}"
    return first if number == 1 else f"{first}-{number}"


@dataclass
class UnitNames:
    """Gives every unit of a file an id of its own, also where a line stands in it twice: the second ends in ``-2``."""

    taken: dict[bytes, int] = field(default_factory=dict)

    def __call__(self, file: str, text: str) -> str:
        digest = line_digest(text)
        return unit_id(file, digest, self.number(digest))

    def number(self, digest: bytes) -> int:
        """Which of the file's units with this digest the next one is."""
        short = short_digest(digest)
        self.taken[short] = count = self.taken.get(short, 0) + 1
        return count


def split_id(uid: str) -> tuple[str, str, int]:
    """(file, id of its first such line, which of them) of the id of a memory line; ("", "", 0) for any other id."""
    match = _UNIT.fullmatch(uid)
    return (match["file"], f"{match['file']}:{match['hash']}", int(match["n"] or 1)) if match else ("", "", 0)
