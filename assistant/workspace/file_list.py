"""The memory files with size, time and who wrote each last: by stat alone, so that thousands list at once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from assistant.workspace import layout
from assistant.workspace.memory_values import MemoryFileInfo
from assistant.workspace.notes import parse_note
from assistant.workspace.seen import Seen, SeenCopies
from assistant.workspace.text_files import TextFile, read_text


class FileList:
    """A file's problem is known from when it was last seen; only what changed since, or is a log, is read for it."""

    def __init__(self, root: Path, seen: SeenCopies) -> None:
        self._root = root
        self._seen = seen
        self._problems: dict[str, tuple[int, int, str]] = {}

    def files(self) -> list[MemoryFileInfo]:
        """All memory files that exist, the day logs last."""
        seen = self._seen.files() or {}
        names = (*layout.memory_files(self._root), *layout.foreign_files(self._root), *layout.log_files(self._root))
        found = [self._info(file, seen) for file in names]
        return [info for info in found if info]

    def _info(self, file: str, seen: Mapping[str, Seen]) -> MemoryFileInfo | None:
        try:
            stat = os.stat(f"{self._root}/{file}")  # noqa: PTH116 - paths as objects cost more than the look itself
        except FileNotFoundError:  # gone since the folder was listed
            return None
        known = seen.get(file)
        same = known is not None and (known.size, known.modified_ns) == (stat.st_size, stat.st_mtime_ns)
        actor = "" if known is None else known.actor if same else "disk"
        problem = known.problem if known and same else self._problem(file, stat)
        modified = datetime.fromtimestamp(int(stat.st_mtime)).astimezone().isoformat()
        return MemoryFileInfo(file, layout.kind_of(file), stat.st_size, modified, problem, actor)

    def _problem(self, file: str, stat: os.stat_result) -> str:
        if layout.is_foreign(file):  # it is the doctor who reads them all
            return ""
        known = self._problems.get(file)
        if known is None or known[:2] != (stat.st_size, stat.st_mtime_ns):
            problem = problem_of(file, read_text(self._root / file))
            known = self._problems[file] = (stat.st_size, stat.st_mtime_ns, problem)
        return known[2]


def problem_of(file: str, text: TextFile) -> str:
    """What is wrong with a memory file, in words, or ""."""
    return text.problem or (parse_note(text.text).problem if layout.kind_of(file) == "topic" else "")
