"""The day log: one line a turn, for people. It is never given to a model."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from assistant.workspace import layout
from assistant.workspace.chat_head import clean_title, printable
from assistant.workspace.disk import ends_with_newline
from assistant.workspace.redaction import redact
from assistant.workspace.safe_files import append_durably, locked

_LONGEST = 300  # characters of what was last said


class DayLog:
    """Appends to ``memory/log/<day>.md``."""

    def __init__(self, root: Path, state: Path) -> None:
        self._root = root
        self._lock = state / "locks" / "log.lock"

    def add(self, time: datetime, chat_title: str, last_said: str, tools: Sequence[str] = (), failed: str = "") -> None:
        """Write one line for a turn that ended at ``time`` (its local day names the file)."""
        title = clean_title(redact(chat_title).text).strip().replace('"', "'")
        parts = [f'- {time:%H:%M} · chat "{title}"', _short(last_said)]
        parts += [f"tools: {', '.join(map(_short, tools))}"] if tools else []
        parts += [f"failed: {_short(failed)}"] if failed else []
        path = layout.resolve(self._root, layout.log_file(time.date()))
        with locked(self._lock):
            layout.make_folder(self._root, path.parent)
            start = "" if ends_with_newline(path) else "\n"
            append_durably(path, (start + " · ".join(part for part in parts if part) + "\n").encode())


def _short(text: str) -> str:
    words = " ".join(printable(redact(text).text).split())
    return words if len(words) <= _LONGEST else words[: _LONGEST - 1].rstrip() + "…"
