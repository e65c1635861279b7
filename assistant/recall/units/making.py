"""Units: what is found as one piece, made from the workspace's files.

An entry line of MEMORY.md or of a note is a unit; facts and notes fall into bullets and paragraphs; a chat's block (a
message and the reply to it) is one; other programs' files that lie in the workspace have units of their own. Day logs
are for people and are never indexed; nor is a private chat, unless the person lets it be found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import PurePosixPath

from assistant.core.values import Passage
from assistant.recall.index.link_names import names_of
from assistant.recall.index.sketches import Makers, Sketches, sketches_of_pieces, sketches_of_units
from assistant.recall.meaning.pieces import CONTEXT, MESSAGE
from assistant.recall.meaning.windows import PART
from assistant.recall.units.foreign import day_of_block, foreign_units
from assistant.recall.units.unit import Unit
from assistant.workspace.blocks import TextBlock
from assistant.workspace.chat_files import chat_of
from assistant.workspace.chats import Chat, Turn, link_turns, parse_chat, split_blocks
from assistant.workspace.entries import Entry, format_item
from assistant.workspace.fact_marks import block_item
from assistant.workspace.forget_edits import is_forgotten
from assistant.workspace.layout import ARCHIVE, MEMORY, is_foreign
from assistant.workspace.notes import parse_note
from assistant.workspace.unit_places import memory_pieces, note_pieces

_CONTEXT_CHARACTERS = 300
"""Of each neighbour; enough for a short turn, too little to drown the unit's own words."""


def units_of(file: str, text: str, first_part: str = "", *, private: bool = False) -> tuple[list[Unit], str]:
    """The units of a workspace file, by its relative POSIX name, and what is wrong with it ("" for nothing).

    first_part: for a further part of a chat the text of its first, which bears the title and says if it is private.
    private: the person lets what was said in private chats be found.
    """
    sketches, problem = sketches_of(file, text, first_part, private=private)
    return [sketches.unit(at) for at in range(len(sketches.digests))], problem


def sketches_of(file: str, text: str, first_part: str = "", *, private: bool = False) -> tuple[Sketches, str]:
    """The same, as sketches: a long file is not taken apart for what is known of it already."""
    if file.startswith("chats/"):
        chat = _part(text, first_part) if first_part else parse_chat(text)
        units, problem = ([], "") if chat.private and not private else chat_units(file, chat)
        return sketches_of_units(units), "" if first_part else problem
    if file in (MEMORY, ARCHIVE):
        kinds = ("archive", "archive") if file == ARCHIVE else ("fact", "entry")
        return sketches_of_pieces(file, "", memory_pieces(text), _makers(file, *kinds)), ""
    if is_foreign(file):
        units, problem = foreign_units(file, text)
        return sketches_of_units(units), problem
    return _note_sketches(file, text)


# --- memory -------------------------------------------------------------------------------------------------------


def _makers(file: str, block: str, entry: str, title: str = "") -> Makers:
    """block, entry: the kinds of units that these become."""
    return Makers(
        lambda uid, one: _block_unit(uid, file, block, title, one), lambda uid, one: _entry_unit(uid, file, entry, one)
    )


def _entry_unit(uid: str, file: str, kind: str, entry: Entry) -> Unit:
    words = "; ".join(item.text for item in entry.items)
    live = [item for item in entry.items if not item.replaced]
    ends = [item.until for item in live if item.until]
    return Unit(
        uid=uid,
        file=file,
        line=entry.line,
        kind=kind,
        day=entry.date,
        title="",
        text="; ".join(format_item(item) for item in entry.items),
        words=words,
        context="",
        passage=Passage("", PART.join(item.text for item in entry.items)),
        until=max(ends) if ends and len(ends) == len(live) else None,
        struck=not live,
    )


def _block_unit(uid: str, file: str, kind: str, title: str, block: TextBlock) -> Unit:
    heading = " › ".join(dict.fromkeys(part for part in (title, *block.headings) if part))
    marks = block_item(block.text)
    return Unit(
        uid=uid,
        file=file,
        line=block.line,
        kind=kind,
        day=day_of_block(file, block.text, block.headings),
        title=heading,
        text=block.text,
        words=block.text,
        context=heading,
        passage=Passage(f"{heading}: " if heading else "", block.text),
        until=marks.until,
        struck=marks.replaced,
    )


# --- notes --------------------------------------------------------------------------------------------------------


def _note_sketches(file: str, text: str) -> tuple[Sketches, str]:
    """Sections of a topic note, by bullet and paragraph, with its title (else its name) in front."""
    note = parse_note(text)
    title = note.title or PurePosixPath(file).stem
    pieces = note_pieces(text, note.body_line)
    sketches = sketches_of_pieces(file, title, pieces, _makers(file, "note", "note", title))
    return replace(sketches, names=names_of(file, note.title, note.aliases)), note.problem or ""


# --- chats --------------------------------------------------------------------------------------------------------


def first_part_of(file: str) -> str:
    """The file in which a chat begins; ``file`` itself unless it is a further part."""
    return re.sub(r"_part\d+\.md$", ".md", file) if file.startswith("chats/") else file


def chat_units(file: str, chat: Chat) -> tuple[list[Unit], str]:
    """A unit a block, with those around it on its branch as context; a last one that is not answered yet is none."""
    ident = chat_of(file)
    title = "" if chat.title in (ident, PurePosixPath(file).stem) else chat.title
    units = []
    turns = chat.turns[:-1] if chat.turns and chat.turns[-1].reply is None else chat.turns
    newest = {turn.after: turn for turn in turns}  # of those that follow a turn
    for turn in chat.turns:
        before = chat.by_number.get(turn.after) if turn.after else None
        if is_forgotten(turn.user):
            continue
        units.append(_turn_unit(file, ident, title, turn, before, newest.get(turn.n), _speakers(chat)))
    return units, "; ".join(str(problem) for problem in chat.problems)


def _part(text: str, first_part: str) -> Chat:
    """A further part under the head of the first; that an answered turn stands in another part is no problem of it."""
    blocks, _ = split_blocks(text)
    first = next((block.n for block in blocks if block.n), 1)
    turns, _ = link_turns(blocks, range(1, first))
    return replace(parse_chat(first_part), turns=turns, problems=())


def _speakers(chat: Chat) -> tuple[str, str]:
    names = [name for name in chat.participants if name]
    return (names[0], names[1]) if len(names) >= 2 else ("you", "Keepsake")


def _turn_unit(
    file: str, ident: str, title: str, turn: Turn, before: Turn | None, after: Turn | None, speakers: Sequence[str]
) -> Unit:
    reply = turn.reply or ""
    spoken = [f"{who}: {said}" for who, said in zip(speakers, (turn.user, reply), strict=True) if said.strip()]
    around = [title, *_end_of(before)]
    if after:
        around.append(after.user[:_CONTEXT_CHARACTERS])
    return Unit(
        uid=f"{ident}#{turn.n}",
        file=file,
        line=turn.line,
        kind="turn",
        day=_day(turn.at),
        title=title,
        text="\n".join(spoken),
        words=f"{turn.user}\n{reply}",
        context="\n".join(part for part in around if part),
        passage=turn_passage(title, turn, before),
        chat=ident,
        number=turn.n,
        follows=turn.after or 0,
    )


def turn_passage(title: str, turn: Turn, before: Turn | None) -> Passage:
    """What is embedded of a turn: its day in front of each window, then both messages, whole, and what led to them."""
    lead = " ".join(part for part in (title, *_end_of(before)) if part)
    return Passage(f"[{turn.at[:10]}] ", f"{turn.user}{MESSAGE}{turn.reply or ''}{CONTEXT}({lead})")


def _end_of(before: Turn | None) -> tuple[str, ...]:
    """The end of both messages of the turn before."""
    if before is None:
        return ()
    return before.user[-_CONTEXT_CHARACTERS:], (before.reply or "")[-_CONTEXT_CHARACTERS:]


def _day(at: str) -> date | None:
    try:
        return date.fromisoformat(at[:10])
    except ValueError:
        return None
