"""Notes as whole files: renamed and deleted through the one door, each as one entry that undo takes back."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Protocol

from assistant.core.errors import AssistantError
from assistant.workspace.layout import ARCHIVE, LOGS, TOPICS, topic_file
from assistant.workspace.memory_values import Edit
from assistant.workspace.notes import parse_note
from assistant.workspace.text_files import TextFile

_INLINE = re.compile(r"(aliases|alias)[ \t]*:[ \t]*\[(.*)\][ \t]*")
_BLOCK = re.compile(r"(aliases|alias)[ \t]*:[ \t]*")
_ITEM = re.compile(r"([ \t]*)-[ \t]")


class Door(Protocol):
    """The part of Memory that this needs."""

    def read(self, file: str) -> TextFile: ...
    def change_many(self, edits: Sequence[Edit], actor: str, summary: str, *, keep_secrets: bool = False) -> str: ...


def rename_note(memory: Door, file: str, to: str, keep_links: bool, actor: str = "you") -> str:
    """Give a note another name; returns the id that undo takes.

    keep_links: the note answers to its old name too (as an alias) where neither its title nor an alias says it.
    Nothing else is changed. Raises ("memory.note") for what is no note or is not there, ("memory.taken") for a name
    that another note has, ("workspace.path") for a name that no note may have.
    """
    read = _existing(memory, file)
    name = topic_file(to.removeprefix(f"{TOPICS}/").removesuffix(".md"))
    if memory.read(name).sha256 and name.casefold() != file.casefold():
        raise AssistantError("memory.taken", f"There is a note called {name} already.", "Choose another name.")
    old = file.removeprefix(f"{TOPICS}/").removesuffix(".md")
    text = with_alias(read.text, old) if keep_links else read.text
    edits = [Edit(name, text, ""), Edit(file, None, read.sha256)]
    return memory.change_many(edits, actor, f"Renamed {file} to {name}", keep_secrets=True)


def delete_note(memory: Door, file: str, actor: str = "you") -> str:
    """Remove a note; returns the id that undo takes. Raises ("memory.note") as rename_note."""
    read = _existing(memory, file)
    return memory.change_many([Edit(file, None, read.sha256)], actor, f"Deleted {file}", keep_secrets=True)


def with_alias(text: str, alias: str) -> str:
    """A note that answers to ``alias``, in its front matter; as it is where it does already or that cannot be read."""
    note = parse_note(text)
    known = {name.casefold() for name in (note.title, *note.aliases)}
    if note.problem or alias.casefold() in known:
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    body = text.removeprefix("\ufeff")
    mark = text[: len(text) - len(body)]
    value = json.dumps(alias, ensure_ascii=False)
    if note.body_line == 1:
        return f"{mark}---{newline}aliases: [{value}]{newline}---{newline}{newline}{body}"
    lines = body.split("\n")
    added = _added(lines[: note.body_line - 1], value)
    made = f"{mark}{chr(10).join([*added, *lines[note.body_line - 1 :]])}"
    after = parse_note(made)
    return made if not after.problem and {alias, *note.aliases} <= set(after.aliases) else text


def _added(front: list[str], value: str) -> list[str]:
    """The lines of the front matter with one alias more."""
    for at, line in enumerate(front):
        ending = "\r" if line.endswith("\r") else ""
        bare = line.removesuffix("\r")
        if inline := _INLINE.fullmatch(bare):
            inner = inline[2].strip()
            joined = f"{inner}, {value}" if inner else value
            return [*front[:at], f"{inline[1]}: [{joined}]{ending}", *front[at + 1 :]]
        if _BLOCK.fullmatch(bare):
            item = _ITEM.match(front[at + 1]) if at + 1 < len(front) else None
            return [*front[: at + 1], f"{item[1] if item else '  '}- {value}{ending}", *front[at + 1 :]]
    ending = "\r" if front[0].endswith("\r") else ""
    return [*front[:-1], f"aliases: [{value}]{ending}", front[-1]]


def _existing(memory: Door, file: str) -> TextFile:
    if not file.startswith(f"{TOPICS}/") or file.startswith(f"{LOGS}/") or file == ARCHIVE:
        raise AssistantError("memory.note", f"{file} is no note.", "Only notes can be renamed or deleted.")
    read = memory.read(file)
    if not read.sha256:
        raise AssistantError("memory.note", f"There is no note {file}.", "Look at the list of files.")
    return read
