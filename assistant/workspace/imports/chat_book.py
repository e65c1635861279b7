"""Which conversations were imported already, and which of their turns: known by the chats' own files."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from assistant.core.clock import Clock
from assistant.core.errors import AssistantError
from assistant.workspace.chat_files import read_head
from assistant.workspace.chat_head import printable
from assistant.workspace.chat_store import ChatStore
from assistant.workspace.chats import parse_chat
from assistant.workspace.imports.chat_text import (
    chat_digest,
    chat_parts,
    clean_turn,
    origin,
    origin_of,
    turn_digest,
    with_only,
)
from assistant.workspace.imports.ledger import ImportedChat
from assistant.workspace.imports.nanobot_sessions import chat_turns
from assistant.workspace.imports.values import FoundChat
from assistant.workspace.redaction import redact


class ChatBook:
    """Takes found chats one by one and keeps none of their words. redacted: secrets taken out; turns: new ones."""

    def __init__(self, chats: ChatStore, system: str, clock: Clock) -> None:
        self._chats, self._system, self._clock = chats, system, clock
        self._origins: dict[str, list[str]] | None = None
        self._seen: dict[str, set[bytes]] = {}
        self.redacted = 0
        self.turns = 0

    def take(self, found: FoundChat) -> FoundChat | None:
        """The chat as it is to be written: cleaned, only with turns that are not here yet; None when all are."""
        cleaned = self._clean(found)
        known = self._known(origin(self._system, found))
        digests = [turn_digest(turn) for turn in cleaned.turns]
        fresh = [at for at, digest in enumerate(digests) if digest not in known]
        known.update(digests)
        if not fresh:
            return None
        self.turns += len(fresh)
        return cleaned if len(fresh) == len(digests) else with_only(cleaned, fresh)

    def write(self, chat: FoundChat, note: Callable[[ImportedChat], None]) -> ImportedChat:
        """Put a chat that ``take`` gave into the workspace. note: is told of it before it is there."""
        written = ImportedChat("", len(chat.turns), chat_digest(chat.turns))

        def parts(ident: str) -> list[str]:
            note(replace(written, id=ident))
            return chat_parts(ident, self._system, chat)

        return replace(written, id=self._chats.place(self._moment(chat), parts))

    def _clean(self, found: FoundChat) -> FoundChat:
        if found.text:  # what it says is what our parser reads of it
            text = redact(printable(found.text))
            self.redacted += text.count
            return replace(found, text=text.text, turns=chat_turns(parse_chat(text.text)))
        turns = []
        for turn in found.turns:
            said, count = clean_turn(turn)
            self.redacted += count
            turns.append(said)
        return replace(found, turns=tuple(turns))

    def _known(self, key: str) -> set[bytes]:
        if self._origins is None:
            self._origins = self._read_origins()
        if key not in self._seen:
            self._seen[key] = set()
            for ident in self._origins.get(key, ()):
                self._seen[key].update(map(turn_digest, self._chats.read(ident).turns))
        return self._seen[key]

    def _read_origins(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for info in self._chats.list():
            try:
                key = origin_of(read_head(self._chats.path(info.id)))
            except AssistantError:
                continue
            if key:
                found.setdefault(key, []).append(info.id)
        return found

    def _moment(self, chat: FoundChat) -> datetime:
        """When it began, as its own clock showed it."""
        created = re.sub(r"(?:Z|[+-]\d{2}:?\d{2})$", "", chat.created)
        try:
            return datetime.fromisoformat(created)
        except ValueError:
            return self._clock()
