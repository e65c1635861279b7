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
    digest = hashlib.sha256(text.strip().encode("utf-8", "surrogatepass")).hexdigest()
    return f"{file}:{digest[:10]}"


@dataclass
class UnitNames:
    """Gives every unit of a file an id of its own, also where a line stands in it twice: the second ends in ``-2``."""

    taken: dict[str, int] = field(default_factory=dict)

    def __call__(self, file: str, text: str) -> str:
        uid = line_id(file, text)
        self.taken[uid] = count = self.taken.get(uid, 0) + 1
        return uid if count == 1 else f"{uid}-{count}"


def split_id(uid: str) -> tuple[str, str, int]:
    """(file, id of its first such line, which of them) of the id of a memory line; ("", "", 0) for any other id."""
    match = _UNIT.fullmatch(uid)
    return (match["file"], f"{match['file']}:{match['hash']}", int(match["n"] or 1)) if match else ("", "", 0)
