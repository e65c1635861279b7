"""Sessions of nanobot -> chats: JSON lines with one message each, or one Markdown file a session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assistant.workspace.chat_labels import CHINESE, ENGLISH
from assistant.workspace.chats import BLOCK, Chat, parse_chat
from assistant.workspace.imports import reading
from assistant.workspace.imports.times import local_iso
from assistant.workspace.imports.values import Found, FoundChat, FoundTurn, Skipped

_START = 4_096  # characters in which a chat shows that it is one
_PART_WORDS = {"image_url": "[picture]", "image": "[picture]", "input_audio": "[sound]", "audio": "[sound]"}


def read_session(path: Path, where: str) -> Iterator[Found]:
    """A line of metadata, then a message a line: ``role``, ``content``, ``timestamp``."""
    messages: list[dict[str, Any]] = []
    head: dict[str, Any] = {}
    for line in reading.json_lines(path, where):
        if isinstance(line, Skipped):
            yield line
        elif line[1].get("_type") == "metadata":
            head = head or line[1]
        elif "_type" not in line[1]:
            messages.append(line[1])
    created = local_iso(head.get("created_at")) or next(filter(None, (_at(m) for m in messages)), "") or _mtime(path)
    session = _Session(created)
    for message in messages:
        session.take(message)
    for reason, count in session.skipped.items():
        yield Skipped(reason, where, count)
    if not session.turns:
        yield Skipped("empty", where)
        return
    key = reading.text_of(head.get("key")) or path.stem
    yield FoundChat(key, _title(head, key), created, tuple(session.turns), where, "nanobot")


class _Session:
    """Messages in order -> turns; what an assistant says after a tool goes on in the same reply."""

    def __init__(self, created: str) -> None:
        self.turns: list[FoundTurn] = []
        self.skipped: Counter[str] = Counter()
        self._at = created

    def take(self, message: dict[str, Any]) -> None:
        role, words = reading.text_of(message.get("role")), message_words(message.get("content"))
        self._at = _at(message) or self._at
        if role == "user" and words:
            self._add(words, None)
        elif role == "assistant" and words:
            self._answer(words)
        elif role in ("tool", "function") or message.get("tool_calls"):
            self.skipped["tools"] += 1
        elif role in ("system", "developer"):
            self.skipped["system"] += 1
        else:
            self.skipped["empty" if role in ("user", "assistant") else "form"] += 1

    def _answer(self, words: str) -> None:
        if not self.turns:
            self._add("", words)
            return
        last = self.turns[-1]
        reply = words if last.reply is None else f"{last.reply}\n\n{words}"
        self.turns[-1] = FoundTurn(last.at, last.user, reply, last.after)

    def _add(self, user: str, reply: str | None) -> None:
        self.turns.append(FoundTurn(self._at, user, reply, len(self.turns) - 1 if self.turns else None))


def message_words(content: object) -> str:
    """The text of a message, whether it is one text or a list of parts."""
    if isinstance(content, str):
        return content if content.strip() else ""
    parts = content if isinstance(content, list) else []
    said = [_part_words(part) for part in parts]
    return "\n\n".join(words for words in said if words.strip())


def _part_words(part: object) -> str:
    if isinstance(part, dict):
        return reading.text_of(part.get("text")) or _PART_WORDS.get(reading.text_of(part.get("type")), "")
    return reading.text_of(part)


def is_chat_text(text: str) -> bool:
    """Whether a Markdown file is a session: it has a conversation, or blocks with a time and a speaker."""
    start = text[:_START]
    lines = [line.strip() for line in start.split("\n")]
    heads = {f"## {CHINESE.conversation}", f"## {ENGLISH.conversation}"}
    blocks = any(line.startswith("##") and BLOCK.fullmatch(line) for line in lines)
    speaks = any(f"**{word}" in start for word in (CHINESE.user, ENGLISH.user, CHINESE.assistant, ENGLISH.assistant))
    return (bool(heads.intersection(lines)) and (blocks or speaks)) or (blocks and speaks)


def read_chat_file(name: str, text: str, where: str) -> Iterator[Found]:
    """A session that is in our own form already: it is taken as it is."""
    chat = parse_chat(text, name)
    if not chat.turns:
        yield Skipped("empty", where)
        return
    times = [time for time in (chat.created, *(turn.at for turn in chat.turns)) if local_iso(time)]
    created = times[0] if times else ""
    if not created:
        yield Skipped("date", where)
        return
    yield FoundChat(_session_key(text, chat, name), chat.title, created, chat_turns(chat), where, "nanobot", text)


def chat_turns(chat: Chat) -> tuple[FoundTurn, ...]:
    """Its turns as found ones."""
    index = {turn.n: at for at, turn in enumerate(chat.turns)}
    return tuple(FoundTurn(t.at, t.user, t.reply, None if t.after is None else index.get(t.after)) for t in chat.turns)


def _session_key(text: str, chat: Chat, name: str) -> str:
    from assistant.workspace.chat_head import parse_head

    return parse_head(text[:_START]).session or chat.id or name


def _title(head: dict[str, Any], key: str) -> str:
    metadata = head.get("metadata")
    title = reading.text_of(metadata.get("title")) if isinstance(metadata, dict) else ""
    return title or reading.text_of(head.get("title")) or key


def _at(message: dict[str, Any]) -> str:
    return local_iso(message.get("timestamp"))


def _mtime(path: Path) -> str:
    try:
        return local_iso(path.stat().st_mtime)
    except OSError:
        return ""
