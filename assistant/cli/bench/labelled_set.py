"""A labelled recall set: units, questions, and which units answer them; written out as a workspace of one's own.

The format is that of resources/recall/everyday/README.md: memory.jsonl, chats.jsonl and queries.jsonl.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from assistant.core.errors import AssistantError
from assistant.core.values import Hit
from assistant.workspace.chat_files import month_folder
from assistant.workspace.chat_format import format_reply, format_turn
from assistant.workspace.chat_head import format_head
from assistant.workspace.entries import format_entry
from assistant.workspace.layout import MEMORY


@dataclass(frozen=True, slots=True)
class Question:
    """A query and the ids of the units that answer it.

    gold: what answers, empty where nothing is known; need_all: every gold is needed, else each alone is enough;
    also: right in part, neither required nor wrong; stale: older versions, to rank below the gold; as_of: the asker's
    day.
    """

    id: str
    text: str
    kind: str
    lang: str
    gold: frozenset[str]
    need_all: bool
    also: frozenset[str]
    stale: frozenset[str]
    as_of: date

    @property
    def labelled(self) -> frozenset[str]:
        return self.gold | self.also | self.stale


@dataclass(frozen=True, slots=True)
class LabelledUnit:
    """A memory item or one turn of a chat, under the id that the questions name."""

    id: str
    day: date
    text: str


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """name: of its folder; items, chats: as in the files; questions: in file order."""

    name: str
    items: Sequence[Mapping[str, Any]]
    chats: Sequence[Mapping[str, Any]]
    questions: tuple[Question, ...]

    def units(self) -> Iterator[LabelledUnit]:
        """Every item and every turn on its own."""
        for item in self.items:
            yield LabelledUnit(item["id"], date.fromisoformat(item["date"]), item["text"])
        for chat in self.chats:
            for number, turn in enumerate(chat["turns"], 1):
                yield LabelledUnit(f"{chat['id']}#{number}", date.fromisoformat(turn["at"][:10]), turn["text"])


@dataclass(frozen=True, slots=True)
class Places:
    """Where a set's units stand in a workspace: items by the line in MEMORY.md, turns by the block that holds them."""

    items: Mapping[int, str]
    turns: Mapping[str, Sequence[str]]

    def ids(self, hit: Hit, labelled: frozenset[str]) -> list[str]:
        """What a hit stands for. A block holds a message and its reply: of both what is labelled, or else the first."""
        if hit.id in self.turns:
            both = self.turns[hit.id]
            return [turn for turn in both if turn in labelled] or [both[0]]
        return [self.items.get(hit.line, hit.id) if hit.file == MEMORY else hit.id]


def load_set(folder: Path) -> LabelledSet:
    """Read a set. Raises ("bench.set") where a file is missing or not of the format."""
    try:
        memory, chats, queries = (list(_lines(folder / f"{name}.jsonl")) for name in ("memory", "chats", "queries"))
        found = LabelledSet(folder.resolve().name, memory, chats, tuple(_question(query) for query in queries))
        known = {unit.id for unit in found.units()}
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"There is no labelled set in {folder}: {error}."
        raise AssistantError("bench.set", message, "See resources/recall/everyday/README.md for the format.") from error
    strange = {one for question in found.questions for one in question.labelled} - known
    if strange or not found.questions:
        what = f"its questions name {min(strange)}, which is no unit" if strange else "it holds no question"
        raise AssistantError("bench.set", f"The labelled set in {folder} cannot be used: {what}.", "Correct its files.")
    return found


def write_set(labelled: LabelledSet, root: Path) -> Places:
    """Write the units as MEMORY.md and chat files below ``root``, which has none."""
    lines = ["# Memory", ""]
    items: dict[int, str] = {}
    for item in labelled.items:
        lines.append(format_entry(date.fromisoformat(item["date"]), item["source"], [item["text"]]))
        items[len(lines)] = item["id"]
    root.mkdir(parents=True, exist_ok=True)
    (root / MEMORY).write_text("\n".join(lines) + "\n", encoding="utf-8")
    turns: dict[str, list[str]] = {}
    for chat in labelled.chats:
        turns |= _write_chat(root, chat)
    return Places(items, turns)


def _write_chat(root: Path, chat: Mapping[str, Any]) -> dict[str, list[str]]:
    """One chat file: a block for each message with the reply to it. Returns which turns a block holds."""
    ident = datetime.fromisoformat(chat["started"]).strftime("%Y%m%d_%H%M%S")
    while (path := month_folder(root, ident) / f"{ident}.md").exists():
        ident += "_2"
    text = format_head(ident, ident, chat["started"])
    blocks: dict[str, list[str]] = {}
    number, is_open = 0, False
    for order, turn in enumerate(chat["turns"], 1):
        user = turn["role"] == "user"
        if user or not is_open:
            number += 1
            text += format_turn(turn["at"], number, turn["text"] if user else "")
        if not user:
            text += format_reply(turn["text"])
        is_open = user
        blocks.setdefault(f"{ident}#{number}", []).append(f"{chat['id']}#{order}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return blocks


def _lines(path: Path) -> Iterator[Any]:
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.strip():
            yield json.loads(line)


def _question(query: Mapping[str, Any]) -> Question:
    return Question(
        id=query["id"],
        text=query["query"],
        kind=query["kind"],
        lang=query["lang"],
        gold=frozenset(query["gold"]),
        need_all=query.get("need") == "all",
        also=frozenset(query.get("also", ())),
        stale=frozenset(query.get("stale", ())),
        as_of=date.fromisoformat(query["as_of"]),
    )
