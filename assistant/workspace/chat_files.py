"""Where the parts of a chat are, and what the end of a file says, at a cost that does not grow with its length."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from assistant.core.errors import AssistantError
from assistant.workspace.chats import BLOCK
from assistant.workspace.disk import as_read_error
from assistant.workspace.layout import CHATS, leads_inside

PART_BYTES = 1_000_000  # past this a chat goes on in another file
HEAD_BYTES = 4096
_LONGEST_HEAD = 1_000_000
_CONVERSATION = re.compile("^(?:### |## (?:Conversation|对话记录)\r?$)".encode(), re.MULTILINE)
_TAIL_BYTES = 16_384
_PART = re.compile(r"(.+)_part([0-9]{1,4})")
_MONTH = re.compile(r"(\d{4})(\d{2})\d{2}_\d{6}")


@dataclass(frozen=True, slots=True)
class Tail:
    """The last block of a file. n: None where the heading names none; plain: nothing but its messages follows it."""

    n: int | None
    at: str
    plain: bool


def check_id(ident: str) -> str:
    """The id itself. Raises ("workspace.path") for what could lead out of the folder of chats."""
    if not ident or len(ident) > 200 or ident.startswith(".") or re.search(r"[/\\\0-\x1f]", ident):
        raise AssistantError("workspace.path", f"{ident[:60]!r} is no id of a chat.", "Choose a chat from the list.")
    return ident


def month_folder(root: Path, ident: str) -> Path:
    """Where a chat of that id belongs."""
    match = _MONTH.match(ident)
    return root / CHATS / (f"{match[1]}-{match[2]}" if match else "other")


def find_parts(root: Path, ident: str) -> list[Path]:
    """The files of a chat in order; empty when there is none. A person may have moved it to another folder."""
    first = month_folder(root, check_id(ident)) / f"{ident}.md"
    if not _is_ours(root, first):
        found = [folder / first.name for folder in chat_folders(root) if _is_ours(root, folder / first.name)]
        if not found:
            return []
        first = found[0]
    parts = [first]
    number = 2
    while _is_ours(root, following := part_path(first, number)):
        parts.append(following)
        number += 1
    return parts


def part_path(first: Path, part: int) -> Path:
    """The name of part 2, 3, ... of the chat whose first file is ``first``."""
    return first.with_name(f"{first.stem}_part{part}.md")


def chat_of(file: str) -> str:
    """The id of the chat that a file of ``chats/`` holds, or a part of."""
    name = PurePosixPath(file).stem
    part = _PART.fullmatch(name)
    return part[1] if part else name


def chat_folders(root: Path) -> list[Path]:
    """``chats/`` itself and the folders in it, by name; links are not followed."""
    top = root / CHATS
    if not leads_inside(root, top):
        return []
    try:
        with os.scandir(top) as entries:
            folders = [e.path for e in entries if e.is_dir(follow_symlinks=False) and not e.name.startswith(".")]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise as_read_error(error, top) from error
    return [top, *map(Path, sorted(folders))]


def scan_chats(root: Path) -> dict[str, list[tuple[Path, os.stat_result]]]:
    """Every chat's id with its files in order and what stat says of them."""
    found: dict[str, list[tuple[Path, os.stat_result]]] = {}
    for folder in chat_folders(root):
        stats = _stats(root, folder)
        firsts = {stem for stem in stats if not ((m := _PART.fullmatch(stem)) and m[1] in stats)} - found.keys()
        for stem in firsts:
            found[stem] = [(folder / f"{stem}.md", stats[stem])]
        further = [(m[1], int(m[2]), stem) for stem in stats if (m := _PART.fullmatch(stem)) and m[1] in firsts]
        for ident, _, stem in sorted(further):
            found[ident].append((folder / f"{stem}.md", stats[stem]))
    return found


def read_head(path: Path) -> str:
    """All that stands above the conversation, and what of that is in the first 4 KB; at most a megabyte."""
    try:
        with path.open("rb") as file:
            head = more = file.read(HEAD_BYTES)
            while more and len(head) < _LONGEST_HEAD and not _CONVERSATION.search(head):
                more = file.read(len(head))
                head += more
            return head.decode("utf-8", "replace")
    except OSError as error:
        raise as_read_error(error, path) from error


def read_tail(path: Path) -> Tail | None:
    """The last block of a file, read backwards from its end; None when it has no block."""
    for text in _from_end(path):
        text = "\n" + text
        at = len(text)
        while (at := text.rfind("\n##", 0, at)) >= 0:
            end = text.find("\n", at + 1)
            if match := BLOCK.fullmatch(text, at + 1, len(text) if end < 0 else end):
                after = text[match.end() :]
                return Tail(
                    int(match[2]) if match[2] else None, match[1], "\n## " not in after and "\n### " not in after
                )
    return None


def _is_ours(root: Path, path: Path) -> bool:
    try:
        return path.is_file() and leads_inside(root, path)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:  # then there is no such file
            return False
        raise as_read_error(error, path) from error


def _stats(root: Path, folder: Path) -> dict[str, os.stat_result]:
    """The Markdown files of a folder by name without ``.md``; hidden ones and links out are not ours."""
    try:
        with os.scandir(folder) as entries:
            shown = [e for e in entries if e.name.endswith(".md") and e.name[0] != "."]
            ours = (e for e in shown if e.is_file() and (not e.is_symlink() or leads_inside(root, Path(e.path))))
            return {e.name[:-3]: e.stat() for e in ours}
    except OSError as error:
        raise as_read_error(error, folder) from error


def _from_end(path: Path) -> Iterator[str]:
    """Ever larger pieces of the end of a file, each starting at a line; the last one is the whole file."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            length = _TAIL_BYTES
            while True:
                start = max(0, size - length)
                file.seek(start)
                data = file.read(size - start)
                # The first line of a piece is cut somewhere, unless the piece is the whole file.
                yield (data if start == 0 else data[data.find(b"\n") + 1 :]).decode("utf-8", "replace")
                if start == 0:
                    return
                length *= 4
    except OSError as error:
        raise as_read_error(error, path) from error
