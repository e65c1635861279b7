"""Turns and replies added to the files of a chat, at a cost that does not grow with its length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from assistant.core.errors import AssistantError
from assistant.workspace import chat_files as files
from assistant.workspace.append_log import AppendLog
from assistant.workspace.chat_calls import SavedCall
from assistant.workspace.chat_format import format_call, format_reply, format_turn
from assistant.workspace.chat_head import format_part_head, parse_head
from assistant.workspace.chat_labels import Labels
from assistant.workspace.chats import Chat, link_turns, split_blocks
from assistant.workspace.disk import ends_with_newline, read_bytes
from assistant.workspace.safe_files import write_atomic
from assistant.workspace.thoughts import NO_THOUGHT, Thought


class TurnWriter:
    """The caller holds the chat's lock, and gives texts that may be written. parts: all files of the chat, in order."""

    def __init__(self, appends: AppendLog) -> None:
        self._appends = appends
        self._last: dict[Path, tuple[int, int, int]] = {}  # size and time of a file, and its last turn then

    def last_number(self, parts: Sequence[Path], read: Callable[[], Chat]) -> int:
        """The number of the newest turn, 0 where there is none. read: the chat, where the file's end does not say."""
        for path in reversed(parts):
            stat = path.stat()
            if (known := self._last.get(path)) and known[:2] == (stat.st_size, stat.st_mtime_ns):
                return known[2]
            if tail := files.read_tail(path):
                if tail.n is None or not tail.plain:  # a block without a number may stand behind it
                    return max(turn.n for turn in read().turns)
                self._remember(path, tail.n)
                return tail.n
        return 0

    def add_turn(self, ident: str, parts: Sequence[Path], n: int, said: str, after: int | None, at: str) -> None:
        """What the person said, as turn ``n``. after: the turn it follows, None for the one before it; at: ISO time."""
        head = parse_head(files.read_head(parts[0]))
        block = format_turn(at, n, said, after, head.labels)
        target = parts[-1]
        if target.stat().st_size > files.PART_BYTES:
            target = files.part_path(parts[0], len(parts) + 1)
            opening = format_part_head(ident, len(parts) + 1, at, head.labels)
            write_atomic(target, _encoded(opening + block, head.crlf))
        else:
            self._append(ident, target, block, head.crlf)
        self._remember(target, n)

    def add_reply(
        self, ident: str, parts: Sequence[Path], n: int, text: str, mark: str, thought: Thought = NO_THOUGHT
    ) -> None:
        """The reply under turn ``n``, wherever that stands. Raises ("chat.turn")."""
        self._add_below(ident, parts, n, lambda labels: format_reply(text, mark, labels, thought))

    def add_call(self, ident: str, parts: Sequence[Path], n: int, call: SavedCall) -> None:
        """A tool that was used for turn ``n``. Raises ("chat.turn")."""
        self._add_below(ident, parts, n, lambda labels: format_call(call, labels))

    def _add_below(self, ident: str, parts: Sequence[Path], n: int, make: Callable[[Labels], str]) -> None:
        head = parse_head(files.read_head(parts[0]))
        reply = make(head.labels)
        with_blocks = next(((path, tail) for path in reversed(parts) if (tail := files.read_tail(path))), None)
        if with_blocks and with_blocks[1].n == n and with_blocks[1].plain:
            self._append(ident, with_blocks[0], reply, head.crlf)
            if n == self._last.get(with_blocks[0], (0, 0, 0))[2]:
                self._remember(with_blocks[0], n)
        else:
            _insert(parts, n, reply, head.crlf)

    def _append(self, ident: str, path: Path, text: str, crlf: bool) -> None:
        start = "" if ends_with_newline(path) else "\n"
        self._appends.append(ident, path, _encoded(start + text, crlf))

    def _remember(self, path: Path, n: int) -> None:
        stat = path.stat()
        self._last[path] = (stat.st_size, stat.st_mtime_ns, n)


def _insert(parts: Sequence[Path], n: int, reply: str, crlf: bool) -> None:
    """Put a reply, or a call, at the end of its own block, behind which others stand by now."""
    texts = [read_bytes(path).decode("utf-8", "surrogateescape") for path in parts]
    blocks = [block for part, text in enumerate(texts, 1) for block in split_blocks(text, part)[0]]
    turns, _ = link_turns(blocks)
    block = next((block for block, turn in zip(blocks, turns, strict=True) if turn.n == n), None)
    if block is None:
        raise AssistantError("chat.turn", f"There is no turn #{n} in this chat.", "Reload the chat.")
    lines = texts[block.part - 1].split("\n")
    end = block.end - 1
    while end > block.line and not lines[end - 1].strip():
        end -= 1
    inserted = _encoded(reply, crlf).decode().removesuffix("\n").split("\n")
    lines[end:end] = inserted
    write_atomic(parts[block.part - 1], "\n".join(lines).encode("utf-8", "surrogateescape"))


def _encoded(text: str, crlf: bool) -> bytes:
    return (text.replace("\n", "\r\n") if crlf else text).encode()
