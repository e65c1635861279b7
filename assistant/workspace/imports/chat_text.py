"""A found conversation as the files of a chat: our own form, redacted, marked with where it came from."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from assistant.workspace.chat_files import PART_BYTES
from assistant.workspace.chat_format import format_reply, format_turn
from assistant.workspace.chat_head import clean_title, format_part_head, printable, with_pointer
from assistant.workspace.chat_labels import ENGLISH, labels_of
from assistant.workspace.chats import Turn, parse_chat
from assistant.workspace.imports.values import FoundChat, FoundTurn
from assistant.workspace.redaction import redact

_WORDS = {"Chat": "Imported", "会话": "导入自"}
_ORIGIN = re.compile(rf"^- \*\*(?:{'|'.join(_WORDS.values())})\*\*[:：] ?(\S+ .+?)\s*$", re.MULTILINE)
_LONGEST_KEY = 120


def origin_of(head: str) -> str:
    """``<system> <key>`` of a chat that was imported, from the start of its file; else ""."""
    found = _ORIGIN.search(head)
    return found[1] if found else ""


def origin(system: str, chat: FoundChat) -> str:
    """What names the conversation for ever, on one line."""
    key = " ".join(printable(chat.key).split())
    if len(key) > _LONGEST_KEY or redact(key).count:
        key = hashlib.sha256(key.encode()).hexdigest()[:32]
    return f"{system} {key or '-'}"


def clean_turn(turn: FoundTurn) -> tuple[FoundTurn, int]:
    """The turn as it may be written, and how many secrets were taken out."""
    user, reply = redact(printable(turn.user)), redact(printable(turn.reply or ""))
    said = replace(turn, user=user.text, reply=reply.text if turn.reply is not None else None)
    return said, user.count + reply.count


def turn_digest(turn: FoundTurn | Turn) -> bytes:
    """Equal for the same words at the same time, whether found or read back."""
    parts = f"{turn.at}\0{turn.user}\0{turn.reply or ''}"
    return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).digest()[:12]


def chat_digest(turns: Sequence[FoundTurn | Turn]) -> str:
    """Of a whole chat: another one when anything in it was said or changed since."""
    return hashlib.sha256(b"".join(map(turn_digest, turns))).hexdigest()[:24]


def with_only(chat: FoundChat, kept: Sequence[int]) -> FoundChat:
    """The chat with some of its turns; what followed one that is left out begins anew."""
    place = {old: new for new, old in enumerate(kept)}
    turns = [chat.turns[old] for old in kept]
    turns = [replace(turn, after=None if turn.after is None else place.get(turn.after)) for turn in turns]
    return replace(chat, turns=tuple(turns), text="")


def chat_parts(ident: str, system: str, chat: FoundChat) -> list[str]:
    """The texts of its files; ``chat`` is cleaned already. All its turns count as summarized: see 0020."""
    if chat.text:
        return [_as_it_is(ident, system, chat)]
    parts = [_head(ident, system, chat)]
    size = len(parts[0].encode())
    for block in _blocks(chat.turns):
        length = len(block.encode())
        if size > PART_BYTES:
            parts.append(format_part_head(ident, len(parts) + 1, chat.created))
            size = 0
        parts[-1] += block
        size += length
    return parts


def _blocks(turns: Sequence[FoundTurn]) -> Iterator[str]:
    for n, turn in enumerate(turns, 1):
        # Without an arrow a turn follows the one before it; "#0" says that it follows none.
        follows = turn.after + 1 if turn.after is not None else 0
        block = format_turn(turn.at, n, turn.user, None if follows == n - 1 else follows)
        yield block if turn.reply is None else block + format_reply(turn.reply)


def _head(ident: str, system: str, chat: FoundChat) -> str:
    title = redact(clean_title(chat.title.strip())).text
    fields = {
        ENGLISH.session: ident,
        ENGLISH.created: chat.created,
        ENGLISH.participants: f"you, {chat.partner}",
        ENGLISH.tags: system,
        _WORDS[ENGLISH.chat]: origin(system, chat),
        ENGLISH.summarized: f"#{len(chat.turns)}",
    }
    lines = [f"- **{name}**: {value}" for name, value in fields.items()]
    return "\n".join(
        [f"# {ENGLISH.chat}: {title}", "", f"## {ENGLISH.metadata}", "", *lines, "", f"## {ENGLISH.conversation}", ""]
    )


def _as_it_is(ident: str, system: str, chat: FoundChat) -> str:
    """A file in our own form keeps its words and its language; only where it came from is added."""
    text = chat.text if chat.text.endswith("\n") else chat.text + "\n"
    labels = labels_of(text[:4096])
    last = max((turn.n for turn in parse_chat(text, ident).turns), default=0)
    text = with_pointer(text, last)
    pointer = re.search(rf"^- \*\*[^*\n]+\*\*[:：] ?#{last}$", text, re.MULTILINE)
    at = pointer.start() if pointer else 0
    return f"{text[:at]}- **{_WORDS[labels.chat]}**: {origin(system, chat)}\n{text[at:]}"
