"""The tree of messages of one exported conversation -> our turns, every branch kept, the one shown last at the end."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from assistant.workspace.imports.reading import text_of
from assistant.workspace.imports.times import local_iso
from assistant.workspace.imports.values import FoundTurn

_PICTURES = ("image_asset_pointer",)
_SOUNDS = ("audio_asset_pointer", "real_time_user_audio_video_asset_pointer")
_OF_TOOLS = ("execution_output", "tether_browsing_display", "tether_quote", "system_error", "sonic_webpage")
_THOUGHTS = ("thoughts", "reasoning_recap")
_MARKER = re.compile("\ue200[^\ue201]{0,2000}\ue201")  # where a page stood that is not in the export
_PROFILE = ("user_editable_context", "model_editable_context")


@dataclass(frozen=True, slots=True)
class _Path:
    """How far a branch has come. turn: index of its last turn, None before the first; reply: its parts so far."""

    turn: int | None = None
    reply: tuple[str, ...] = ()


class Tree:
    """skipped: reason -> how many messages. Cycles, missing parents and nodes that nobody names lose no message."""

    def __init__(self, mapping: dict[str, Any], current: str, created: str) -> None:
        self._nodes = {key: node for key, node in mapping.items() if isinstance(node, dict)}
        self._created = created
        self._turns: list[FoundTurn] = []
        self._replies: list[tuple[str, ...]] = []
        self.skipped: Counter[str] = Counter()
        if len(self._nodes) < len(mapping):
            self.skipped["form"] += len(mapping) - len(self._nodes)
        self._shown = self._branch(current)
        self._children = self._find_children()

    def turns(self) -> Sequence[FoundTurn]:
        """The turns in an order in which each stands behind the one it follows."""
        seen: set[str] = set()
        roots = [key for key, node in self._nodes.items() if self._parent(node) is None]
        for key in (*self._last_shown(roots), *self._nodes):
            if key not in seen:
                self._walk(key, seen)
        return [
            FoundTurn(turn.at, turn.user, "\n\n".join(reply) if reply else None, turn.after)
            for turn, reply in zip(self._turns, self._replies, strict=True)
        ]

    def _walk(self, root: str, seen: set[str]) -> None:
        waiting = [(root, _Path())]
        while waiting:
            key, path = waiting.pop()
            if key in seen:
                continue
            seen.add(key)
            here = self._take(self._nodes[key].get("message"), path)
            following = self._last_shown(self._children.get(key, ()))
            waiting += [(child, here) for child in reversed(following)]

    def _take(self, message: Any, path: _Path) -> _Path:
        """Put a message into the turns; the path behind it."""
        if not isinstance(message, dict):
            return path
        role, words, why = _read(message)
        if why:
            self.skipped[why] += 1
        if why or not words:
            return path
        at = local_iso(message.get("create_time")) or self._time(path)
        if role == "user":
            return self._add(at, words, path.turn, ())
        if path.turn is None:
            return self._add(at, "", None, (words,))
        reply = (*path.reply, words)
        if self._replies[path.turn] == path.reply:
            self._replies[path.turn] = reply
            return _Path(path.turn, reply)
        asked = self._turns[path.turn]  # another reply to the same message: a turn beside it
        return self._add(at, asked.user, asked.after, reply)

    def _add(self, at: str, user: str, after: int | None, reply: tuple[str, ...]) -> _Path:
        self._turns.append(FoundTurn(at, user, None, after))
        self._replies.append(reply)
        return _Path(len(self._turns) - 1, reply)

    def _time(self, path: _Path) -> str:
        return self._created if path.turn is None else self._turns[path.turn].at

    def _parent(self, node: dict[str, Any]) -> str | None:
        parent = node.get("parent")
        return parent if isinstance(parent, str) and parent in self._nodes else None

    def _find_children(self) -> dict[str, list[str]]:
        """By the nodes' own lists, in their order, then by the parents that nodes name."""
        children: dict[str, dict[str, None]] = {}
        for key, node in self._nodes.items():
            listed = node.get("children")
            for child in listed if isinstance(listed, list) else ():
                if isinstance(child, str) and child in self._nodes and self._parent(self._nodes[child]) == key:
                    children.setdefault(key, {})[child] = None
        for key, node in self._nodes.items():
            if parent := self._parent(node):
                children.setdefault(parent, {})[key] = None
        return {key: list(found) for key, found in children.items()}

    def _branch(self, leaf: str) -> set[str]:
        found: set[str] = set()
        while leaf in self._nodes and leaf not in found:
            found.add(leaf)
            leaf = self._parent(self._nodes[leaf]) or ""
        return found

    def _last_shown(self, keys: Iterable[str]) -> list[str]:
        """What leads to the leaf that was shown last goes last: the newest turn of a chat is the one it opens at."""
        return sorted(keys, key=lambda key: key in self._shown)


def _read(message: dict[str, Any]) -> tuple[str, str, str]:
    """(role, words, why it is skipped or "")."""
    author, content, metadata = (message.get(name) for name in ("author", "content", "metadata"))
    role = text_of(author.get("role")) if isinstance(author, dict) else ""
    content = content if isinstance(content, dict) else {}
    kind = text_of(content.get("content_type"))
    if role not in ("user", "assistant"):
        return role, "", {"tool": "tools", "system": "system", "developer": "system"}.get(role, "form")
    if kind in _PROFILE:
        return role, "", "profile"
    if kind in _THOUGHTS:
        return role, "", "thoughts"
    hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation") is True
    if hidden or message.get("weight") in (0, 0.0):
        return role, "", "hidden"
    if kind in _OF_TOOLS or text_of(message.get("recipient")) not in ("", "all"):
        return role, "", "tools"
    words = [_MARKER.sub("", _words(kind, content)), *_attached(metadata)]
    return role, "\n\n".join(part for part in words if part.strip()), ""


def _attached(metadata: object) -> list[str]:
    """Files that were sent with the message, by name; pictures stand among its parts already."""
    files = metadata.get("attachments") if isinstance(metadata, dict) else None
    named = [file for file in files if isinstance(file, dict)] if isinstance(files, list) else []
    others = [f for f in named if not text_of(f.get("mime_type") or f.get("mimeType")).startswith("image/")]
    return [f"[{name[:200]}]" for file in others if (name := text_of(file.get("name")))]


def _words(kind: str, content: dict[str, Any]) -> str:
    parts = content.get("parts")
    if isinstance(parts, list):
        said = [_part(part) for part in parts]
        return "\n\n".join(words for words in said if words.strip())
    text = text_of(content.get("text")) or text_of(content.get("result"))
    if kind == "code" and text:
        language = text_of(content.get("language"))
        return f"```{language if language.isalnum() and language != 'unknown' else ''}\n{text}\n```"
    return text if text.strip() else ""


def _part(part: object) -> str:
    """A piece of a message; what is no text is named in brackets."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return ""
    kind = text_of(part.get("content_type"))
    if text := text_of(part.get("text")):
        return text
    if kind in _PICTURES:
        return "[picture]"
    return "[sound]" if kind in _SOUNDS else f"[{kind or 'attachment'}]"[:60]
