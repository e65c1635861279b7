"""The list of chats from the head and the tail of each file, remembered by what stat says of it."""

from __future__ import annotations

import json
import logging
import os
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from assistant.core.errors import AssistantError
from assistant.core.folders import make_private
from assistant.core.json_text import parse_json
from assistant.workspace.chat_files import read_head, read_tail, scan_chats
from assistant.workspace.chat_head import parse_head
from assistant.workspace.chats import parse_chat, time_of_id
from assistant.workspace.safe_files import write_atomic
from assistant.workspace.text_files import read_text

_log = logging.getLogger(__name__)
_VERSION = 2
_Key = list[list[int]]
_Files = list[tuple[Path, os.stat_result]]


@dataclass(frozen=True, slots=True)
class ChatInfo:
    """A chat as a list shows it. turns: blocks in all branches; times as written in the file; file: its first part."""

    id: str
    title: str
    created: str
    last_active: str
    turns: int
    tags: tuple[str, ...]
    private: bool
    file: str


_FIELDS = tuple(field.name for field in fields(ChatInfo))


class ChatList:
    """Lists the chats of a workspace. cache: a JSON file that may be deleted at any time."""

    def __init__(self, root: Path, cache: Path) -> None:
        self._root = root
        self._cache_path = cache
        self._known: dict[str, tuple[_Key, ChatInfo]] | None = None

    def list(self) -> list[ChatInfo]:
        """Newest first. A file that cannot be read is listed by its name alone."""
        before = self._load() if self._known is None else self._known
        now: dict[str, tuple[_Key, ChatInfo]] = {}
        for ident, files in scan_chats(self._root).items():
            key = [[stat.st_size, stat.st_mtime_ns] for _, stat in files]
            file = files[0][0].relative_to(self._root).as_posix()
            known = before.get(ident)
            fresh = known is None or known[0] != key or known[1].file != file
            now[ident] = (key, read_info(ident, files, file)) if fresh or known is None else known
        if now != before:
            self._save(now)
        self._known = now
        return sorted((info for _, info in now.values()), key=_newest, reverse=True)

    def _load(self) -> dict[str, tuple[_Key, ChatInfo]]:
        try:
            stored = parse_json(self._cache_path.read_bytes())
            if stored["version"] != _VERSION:
                return {}
            return {ident: (key, _info(values)) for ident, (key, values) in stored["chats"].items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            _log.debug("the list of chats is read anew: %s", error)
            return {}

    def _save(self, known: dict[str, tuple[_Key, ChatInfo]]) -> None:
        chats = {ident: (key, [getattr(info, name) for name in _FIELDS]) for ident, (key, info) in known.items()}
        try:
            make_private(self._cache_path.parent)
            write_atomic(self._cache_path, json.dumps({"version": _VERSION, "chats": chats}).encode())
        except (AssistantError, OSError) as error:
            _log.debug("the list of chats is not kept: %s", error)


def read_info(ident: str, files: _Files, file: str) -> ChatInfo:
    """What the list shows of one chat, from its head and its tail."""
    try:
        head = parse_head(read_head(files[0][0]))
        tail = next((tail for path, _ in reversed(files) if (tail := read_tail(path))), None)
        turns, last = (tail.n, tail.at) if tail else (0, "")
        if turns is None:
            chat = parse_chat([read_text(path).text for path, _ in files], ident)
            turns = max((turn.n for turn in chat.turns), default=0)
    except AssistantError as error:
        _log.debug("%s is listed by its name: %s", file, error)
        return ChatInfo(ident, "", time_of_id(ident), time_of_id(ident), 0, (), False, file)
    created = head.created or time_of_id(ident) or last or _mtime(files[0][1])
    return ChatInfo(
        ident, head.title, created, last or head.last_active or created, turns, head.tags, head.private, file
    )


def _info(values: list[Any]) -> ChatInfo:
    named = dict(zip(_FIELDS, values, strict=True))
    return ChatInfo(**{**named, "tags": tuple(named["tags"])})


def _mtime(stat: os.stat_result) -> str:
    return datetime.fromtimestamp(stat.st_mtime).astimezone().replace(microsecond=0).isoformat()


def _newest(info: ChatInfo) -> tuple[float, str]:
    try:
        return datetime.fromisoformat(info.last_active).timestamp(), info.id
    except (ValueError, OverflowError, OSError):
        return 0.0, info.id
