"""The day log: one line a turn, for people. It is never given to a model."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from datetime import datetime
from pathlib import Path

from assistant.workspace import layout
from assistant.workspace.chat_head import clean_title, printable
from assistant.workspace.chats import Chat
from assistant.workspace.disk import ends_with_newline
from assistant.workspace.entries import shortened
from assistant.workspace.redaction import redact
from assistant.workspace.safe_files import append_durably, locked, read_bytes, write_atomic

_LONGEST = 300  # characters of what was last said
_TELLING = 16  # characters; shorter sayings ("ok, thanks") are anybody's


class DayLog:
    """Appends to ``memory/log/<day>.md``. noted: is told which log was written."""

    def __init__(self, root: Path, state: Path, noted: Callable[[str], None] = lambda _: None) -> None:
        self._root = root
        self._noted = noted
        self._lock = state / "locks" / "log.lock"

    def add(self, time: datetime, chat_title: str, last_said: str, tools: Sequence[str] = (), failed: str = "") -> None:
        """Write one line for a turn that ended at ``time`` (its local day names the file)."""
        parts = [f'- {time:%H:%M} · chat "{_title(chat_title)}"', _short(last_said)]
        parts += [f"tools: {', '.join(map(_short, tools))}"] if tools else []
        parts += [f"failed: {_short(failed)}"] if failed else []
        file = layout.log_file(time.date())
        path = layout.resolve(self._root, file)
        with locked(self._lock):
            layout.make_folder(self._root, path.parent)
            start = "" if ends_with_newline(path) else "\n"
            append_durably(path, (start + " · ".join(part for part in parts if part) + "\n").encode())
            self._noted(file)

    def forget(self, chat: Chat, titles: Container[str]) -> int:
        """Remove the lines of a deleted chat's turns; how many. titles: of the chats that are left.

        A line is the chat's when it says what the chat's turns said, or bears its title and no other chat has that one.
        """
        title = _title(chat.title)
        own = {_short(text) for turn in chat.turns for text in (turn.user, turn.reply or "") if len(text) >= _TELLING}
        mark = f'chat "{title}"' if title and chat.title not in titles else ""

        def is_own(line: str) -> bool:
            return (bool(mark) and f" · {mark}" in line) or any(f" · {said}" in line for said in own)

        removed = 0
        with locked(self._lock):
            for file in layout.log_files(self._root):
                path = layout.resolve(self._root, file)
                lines = read_bytes(path).decode("utf-8", "surrogateescape").splitlines(keepends=True)
                kept = [line for line in lines if not is_own(line)]
                removed += len(lines) - len(kept)
                if len(kept) < len(lines):
                    write_atomic(path, "".join(kept).encode("utf-8", "surrogateescape"))
        return removed


def said_in(line: str) -> tuple[str, ...]:
    """What a line of a day log tells: what was last said, then its other parts; () for a line of another kind."""
    parts = line.removesuffix("\r").split(" · ")
    at = next((n for n, part in enumerate(parts) if n and part.startswith('chat "')), None)
    return () if at is None else (*([" · ".join(parts[at + 1 :])] if parts[at + 1 :] else []), *parts[at + 1 :])


def _title(title: str) -> str:
    return clean_title(redact(title).text).strip().replace('"', "'")


def _short(text: str) -> str:
    return shortened(printable(redact(text).text), _LONGEST)
